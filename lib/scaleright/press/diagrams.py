"""Diagrams that explain, drawn by code where a page says `{diagram}` and a name.

They are drawn in the page's own ink, so that they follow light and dark and paper. Their numbers
are the library's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

BLUE, ORANGE, GREEN, GRAY = "#4c78a8", "#e07b39", "#54a24b", "#8a929b"


def _text(x: float, y: float, words: str, anchor: str = "middle", size: int = 13) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"'
        f' fill="currentColor">{escape(words)}</text>'
    )


def _box(x: float, y: float, width: float, height: float, color: str, share: float = 0.3) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{color}"'
        f' fill-opacity="{share}" stroke="{color}"/>'
    )


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    return (
        f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="currentColor" fill="none"'
        ' stroke-width="1.5" marker-end="url(#sr-head)"/>'
    )


_HEAD = (
    '<defs><marker id="sr-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
    ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
)


_BACK = (
    '<path d="M190 192Q150 206 118 188" stroke="currentColor" fill="none" stroke-width="1.5"'
    ' marker-end="url(#sr-head)"/>'
)


def token_path() -> tuple[str, str]:
    """A token's path through a chip: the drawing, and what it shows."""
    lines = [
        _HEAD,
        *(_box(8, 20, 118, 200, BLUE), _text(67, 40, "Memory (HBM)")),
        *(
            _box(20, 56, 94, 66, BLUE, 0.5),
            _text(67, 86, "weights"),
            _text(67, 104, "all used", size=11),
        ),
        *(_box(20, 136, 94, 66, ORANGE, 0.5), _text(67, 166, "KV cache")),
        _text(67, 184, "of each request", size=11),
        *(_box(176, 20, 166, 200, GRAY), _text(259, 40, "Chip")),
        *(_box(190, 56, 138, 46, GREEN, 0.4), _text(259, 84, "multiply")),
        *(_box(190, 112, 138, 40, GREEN, 0.4), _text(259, 137, "attention")),
        *(_box(190, 162, 138, 40, GREEN, 0.4), _text(259, 187, "choose the token")),
        *(_arrow(116, 88, 188, 79), _arrow(116, 160, 188, 134)),
        *(_arrow(259, 102, 259, 111), _arrow(259, 152, 259, 161)),
        *(_arrow(259, 202, 259, 244), _text(259, 262, "next token")),
        _BACK,
        _text(152, 220, "kept", size=11),
    ]
    told = (
        "A token's path through a chip: for each token all weights that are used, and the KV cache"
        " of its request, come from memory to the chip, which multiplies, attends to earlier tokens"
        " and chooses the next one, whose keys and values are kept. The weights are read once for"
        " all requests of a batch, the cache for each."
    )
    return _svg("".join(lines), 350, 270), told


def pipeline_bubble(stages: int = 4, batches: int = 8) -> tuple[str, str]:
    """What a pipeline bubble is: the drawing, and what it shows."""
    width, height, slots = 24, 26, batches + stages - 1
    lines = []
    for stage in range(stages):
        y = 24 + stage * (height + 6)
        lines.append(_text(4, y + 18, f"stage {stage + 1}", "start", 12))
        for slot in range(slots):
            x, batch = 58 + slot * (width + 2), slot - stage
            busy = 0 <= batch < batches
            lines.append(
                _box(x, y, width, height, BLUE if busy else ORANGE, 0.45 if busy else 0.15)
            )
            lines.append(_text(x + width / 2, y + 18, str(batch + 1) if busy else "–", size=11))
    bottom = 24 + stages * (height + 6) + 14
    lines += [
        _arrow(58, bottom, 58 + slots * (width + 2), bottom),
        _text(58, bottom + 18, "time", "start", 12),
    ]
    share = (slots - batches) / slots  # as drawn
    told = (
        f"A pipeline bubble: {stages} stages hand {batches} micro-batches on. A stage can begin"
        " only when the first micro-batch reaches it, and waits at the end for the others, so that"
        f" {100 * share:.0f} % of its time is idle: {stages - 1} of {slots} slots. More"
        " micro-batches make the bubble smaller, more stages make it larger."
    )
    return _svg("".join(lines), 62 + slots * (width + 2), bottom + 26), told


_PARTS = {
    "depreciation_usd": "value lost",
    "capital_usd": "cost of capital",
    "power_usd": "electricity",
    "facility_usd": "data center",
    "maintenance_usd": "maintenance",
    "insurance_and_tax_usd": "insurance and tax",
    "people_usd": "people",
}


def cents(parts: Mapping[str, float]) -> list[tuple[str, int]]:
    """The parts of a sum in whole cents of a dollar, the largest first, together a dollar.

    >>> cents({"a": 1.0, "b": 1.0, "c": 4.0})
    [('c', 67), ('a', 17), ('b', 16)]
    """
    total = sum(parts.values())
    exact = {name: 100 * usd / total for name, usd in parts.items()}
    whole = {name: int(share) for name, share in exact.items()}
    short = 100 - sum(whole.values())
    for name in sorted(exact, key=lambda name: (whole[name] - exact[name], name))[:short]:
        whole[name] += 1
    return sorted(whole.items(), key=lambda part: (-part[1], part[0]))


def dollar() -> tuple[str, str]:
    """Where a dollar goes that is spent on an owned chip in use all day: the drawing, and what it
    shows.
    """
    from scaleright.costs.ownership import Ownership

    bill = Ownership.typical("H100 SXM", "data center").owned_usd_per_year(24.0)
    largest = cents({_PARTS[name]: usd for name, usd in asdict(bill).items()})
    said = ", ".join(f"{_cents(share)} {name}" for name, share in largest)
    told = (
        "Where each dollar goes that an owned H100 SXM costs, in a data center and in use all day:"
        f" {said}."
    )
    return _bars(largest), told


def _cents(count: int) -> str:
    return "1 cent" if count == 1 else f"{count} cents"


def _bars(parts: Sequence[tuple[str, int]], colors: Sequence[str] = (BLUE,)) -> str:
    """Cents of a dollar as bars under each other, each with its name before it; bars of several
    colors begin where the last one ends, as they add up.
    """
    lines, begin, adding = [], 0.0, len(colors) > 1
    scale = 165 / (sum(share for _, share in parts) if adding else parts[0][1])
    for i, (name, share) in enumerate(parts):
        y, width = 8 + i * 30, share * scale
        lines += [
            _text(124, y + 16, name, "end"),
            _box(132 + begin, y, max(width, 1), 22, colors[i % len(colors)], 0.6),
            _text(138 + begin + width, y + 16, f"{share} ¢", "start"),
        ]
        begin += width * adding
    return _svg("".join(lines), 350, 16 + 30 * len(parts))


RUN_CHIPS = 1024
"""Of the training run whose dollar is drawn: failures grow with them."""


def training_dollar() -> tuple[str, str]:
    """Where a dollar of a training run goes, as published runs go: the drawing, and what it
    shows.
    """
    from scaleright.costs.platforms import goodput
    from scaleright.costs.pretraining import reliability, run_chip_hours
    from scaleright.costs.whole_runs import whole_runs

    kept = goodput(RUN_CHIPS, **reliability())
    hours = run_chip_hours(1.0, 1, 1, 1.0, 0.0, 0.0, 0.0, kept, **whole_runs().factors)
    parts = {
        "fastest steps (t)": hours.least,
        "usual layout (\u2113)": hours.layout_hours,
        "failures (g)": hours.failures_hours,
        "beyond (b)": hours.beyond_hours,
    }
    shares = dict(cents(parts))
    steps, layout, failures, beyond = (shares[name] for name in parts)
    told = (
        f"Where a dollar of a training run goes, as published runs go: {_cents(steps)} for steps in"
        f" the fastest layout, {_cents(layout)} for a slower one, {_cents(failures)} for failures"
        f" (on {RUN_CHIPS:,} chips) and {_cents(beyond)} for everything beyond."
    )
    drawn = [(name, shares[name]) for name in parts]
    return _bars(drawn, (BLUE, GREEN, ORANGE, GRAY)), told


def _svg(drawing: str, width: float, height: float) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        f' aria-hidden="true" font-family="inherit">{drawing}</svg>'
    )


DRAWN: dict[str, Callable[[], tuple[str, str]]] = {
    "token_path": token_path,
    "pipeline_bubble": pipeline_bubble,
    "dollar": dollar,
    "training_dollar": training_dollar,
}


def figure(name: str) -> str:
    """A diagram as a page shows it, with what it shows under it.

    >>> figure("pipeline_bubble").count("<rect")
    44
    """
    svg, told = DRAWN[name]()
    return f'<figure class="sr-diagram">{svg}<figcaption>{escape(told)}</figcaption></figure>'


PLACES = {
    "inference_roofline": ("token_path", "step"),
    "parallelism": ("pipeline_bubble", "network"),
    "token_cost": ("dollar", "pay"),
    "pretraining_cost": ("training_dollar", "steps"),
}
"""The chapter that each diagram explains something of, and a word of the heading it belongs to."""
WHY = "## Why"


def place(cells: list[dict[str, Any]], chapter: str) -> None:
    """Put the diagram of a chapter, if it has one, at the end of the part that it explains: of the
    chapter's reasons the one with that word in its heading, else the first.
    """
    if chapter not in PLACES:
        return
    (name, word), heads = PLACES[chapter], list(_headings(cells))
    whys = [at for at, (_, _, head) in enumerate(heads) if head.startswith(WHY)]
    if not whys:
        return
    rest = heads[whys[0] + 1 :]
    ends = [at for at, (_, _, head) in enumerate(rest) if head.startswith("## ")]
    parts = rest[: ends[0] if ends else len(rest)]
    told = next((at for at, (*_, head) in enumerate(parts) if word in head.lower()), 0)
    number, line, _ = rest[told + 1] if told + 1 < len(rest) else (len(cells), 0, "")
    made = {"cell_type": "markdown", "id": f"diagram-{name.replace('_', '-')}", "metadata": {}}
    made["source"] = f"```{{diagram}} {name}\n```"
    if line:  # the next part begins within a cell
        cell, lines = cells[number], "".join(cells[number]["source"]).split("\n")
        after = cell | {"id": f"{cell.get('id', 'cell')}-on", "source": "\n".join(lines[line:])}
        cells[number : number + 1] = [cell | {"source": "\n".join(lines[:line])}, made, after]
    else:
        cells.insert(number, made)


def _headings(cells: list[dict[str, Any]]) -> Iterator[tuple[int, int, str]]:
    """Cell and line of each heading, with its text."""
    for number, cell in enumerate(cells):
        lines = "".join(cell["source"]).split("\n") if cell["cell_type"] == "markdown" else []
        for line, text in enumerate(lines):
            if text.startswith("##"):
                yield number, line, text


def register(app) -> None:
    """Let pages say `{diagram}`."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Diagram(Directive):
        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            name = self.arguments[0]
            if name not in DRAWN:
                raise self.error(f"no diagram {name!r}; there are: {', '.join(sorted(DRAWN))}")
            return [nodes.raw("", figure(name), format="html")]

    app.add_directive("diagram", Diagram)
