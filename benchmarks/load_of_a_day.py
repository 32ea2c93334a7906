"""How fast a day of a fleet is simulated: events a second on one core, and requests.

Steps of answers alone are taken together until something happens; a loop takes an event for each
step of each engine.
"""

from __future__ import annotations

from dataclasses import replace

from scaleright.chapters.load_of_a_day.simulated import Rules, simulated
from scaleright.inference.engine_events import Steps
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.traffic import TRACES, load_of, requests

from benchmarks.timing import line, quick, seconds


class OneByOne(Steps):
    """Steps of answers alone, an event each."""

    most = 1


def main(arguments: list[str] | None = None) -> None:
    """Measure a fleet of four engines under each trace."""
    span_s = 30.0 if quick(__doc__, arguments) else 1200.0
    curve = engines_in("Llama-3.1-8B", "H100 SXM")[1][0]
    for name in TRACES:
        load = load_of(name)
        seats = int(float(curve.batch_at(1 / 30, load)))
        rate = 3 * curve.at(float(seats), load).requests_per_s
        coming = requests(name, [float(rate)], span_s)

        def run(kind: type[Steps], coming=coming, seats=seats):
            return simulated(kind(curve, seats), [replace(one) for one in coming], Rules(4))

        found = run(Steps)
        together, apart = seconds(lambda: run(Steps), 2), seconds(lambda: run(OneByOne), 1)
        figure = f"{found.events / together:,.0f} events, {len(coming) / together:,.0f} requests/s"
        line(name, figure, apart / together)


if __name__ == "__main__":
    main()
