"""How each chapter is asked one question about serving: its cells' quantities at the case, in its
own words; nothing is computed here.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from answer_cases import REQUESTS, TOKENS_PER_DAY, Serving, choices
from scaleright import catalog
from scaleright.chapters.architecture_bets.model import benchmarks
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_tables import engines_in, servers
from scaleright.quantity import evaluate
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

PER_SECOND = TOKENS_PER_DAY / (HOURS_PER_DAY * SECONDS_PER_HOUR)


class Answer(NamedTuple):
    """What a chapter says of a case; NaN where it cannot, None where it does not say.

    usd : price of a million output tokens with their prompts [USD]
    tokens_per_s : of one chip at full load [token/s]
    group : chips that share a copy of the model [1]
    fleet : chips for `TOKENS_PER_DAY` [1]
    whole_usd : price where whole groups are paid for [USD]
    """

    usd: float | None = None
    tokens_per_s: float | None = None
    group: float | None = None
    fleet: float | None = None
    whole_usd: float | None = None


def at(case: dict, *wanted) -> tuple:
    """Quantities at a case; names on which none of them depends say nothing of them."""
    return tuple(float(value) for value in evaluate(wanted, case))


def request_of(case: Serving) -> dict:
    names = ("input_tokens", "output_tokens", "cached_share")
    of = dict(zip(names, map(float, REQUESTS[case.request]), strict=True))
    return of | {
        "model": case.model,
        "precision": case.form,
        "pace_tokens_per_s": case.pace,
        "utilization": case.load,
    }


def like(case: Serving, choices: Iterable[str]) -> str | None:
    """The choice of a chapter that is of the same shape as the model."""
    shape = catalog.model(case.model).name
    return next((name for name in choices if catalog.model(name).name == shape), None)


def by_token_cost(pages: dict, case: Serving) -> Answer | None:
    of = pages["token_cost"]
    if case.chip not in of.tables.chips:
        return None
    here = request_of(case) | {"accelerator": case.chip}
    if case.paid == "own":
        here |= {"chip_usd": of.tables.chips[case.chip]["chip_usd"]}
    else:
        here |= {"contract": case.paid}
    price = of.price.owned if case.paid == "own" else of.price.rented
    speed = of.speed
    fleet = of.service.whole_groups(TOKENS_PER_DAY, speed)[0].chips
    return Answer(*at(here, price, speed.tokens_per_s, speed.chips, fleet))


def chosen_there(case: Serving) -> dict:
    """The case in the names of hardware_compare."""
    paid = {"paid": "own"} if case.paid == "own" else {"paid": "rent", "contract": case.paid}
    demand = {"tokens_per_s": PER_SECOND / case.load}
    return request_of(case) | paid | demand | {"chip": case.chip, "least_providers": 1}


def by_hardware_compare(pages: dict, case: Serving) -> Answer:
    of = pages["hardware_compare"].any_chip
    wanted = of.usd, of.speed.tokens_per_s, of.speed.group, of.chips, of.whole_usd
    return Answer(*at(chosen_there(case), *wanted))


def hour_of(pages: dict, case: Serving) -> float:
    """What the case pays for an hour of a chip [USD/h]."""
    of = pages["hardware_compare"].any_chip
    return at(chosen_there(case), of.hour.usd, of.whole_usd)[0]


def engine_of(pages: dict, case: Serving) -> tuple[str, float, float]:
    """Format, chips and batch of the engine that serves a case."""
    of = pages["token_cost"].speed
    here = {k: v for k, v in request_of(case).items() if k != "utilization"}
    here |= {"accelerator": case.chip}
    form, chips, batch = evaluate([of.precision, of.chips, of.batch], here)
    return str(form), float(chips), float(batch)


def split(d: Deployment) -> tuple[int, int, int]:
    """How an engine shares a model between its chips."""
    return d.tensor, d.expert, d.attention_data


def by_inference_roofline(pages: dict, case: Serving) -> Answer | None:
    """At the format, the chips and the batch that the others find."""
    options = choices("inference_roofline")
    name = like(case, options["model"])
    known = case.chip in options["accelerator"] and case.chip in pages["token_cost"].tables.chips
    if not (name and known) or case.paid == "own":
        return None
    form, group, batch = engine_of(pages, case)
    there = request_of(case) | {"accelerator": case.chip, "model": name, "precision": form}
    del there["pace_tokens_per_s"]
    there |= {"batch": batch, "contract": case.paid}
    of, chosen = pages["inference_roofline"].many, servers((name,), (case.chip,), (form,))
    engines = [one for one in engines_in(case.model, case.chip, form)[0] if one.chips == group]
    for chips in ("fewest", "8"):
        wanted = of.usd_per_million, of.tokens_per_s, of.server.chips
        usd, together, held = at(there | {"chips": chips}, *wanted)
        if held != group:
            continue
        server = chosen[name, case.chip, form, str(int(group))].server
        if all(split(one) == split(server) for one in engines):  # else another engine serves it
            return Answer(usd, together / group, group)
    return None


def by_architecture_bets(pages: dict, case: Serving) -> Answer | None:
    """With every paid hour used, as its table says."""
    of, options, shapes = pages["architecture_bets"], choices("architecture_bets"), benchmarks()
    prompt, answer, cached = REQUESTS[case.request]
    shape = catalog.model(case.model).name
    same = [
        (kind, name)
        for kind in ("mixture", "dense")
        for name in options[kind]
        if catalog.model(shapes.loc[name, "model"]).name == shape
    ]
    if not same or case.chip not in options["bet"] or cached:
        return None
    ((kind, name),), own = same, case.paid == "own"
    here = {"input_tokens": prompt, "output_tokens": answer, kind: name, "precision": case.form}
    here |= {"bet": case.chip, "bet_usd_per_hour": hour_of(pages, case) if own else 0.0}
    here |= {"contract": of.case.contract.value if own else case.paid}
    rows = of.served_table(of.found, 1 / case.pace).to_dict("records")
    row = rows[0 if kind == "mixture" else 2]
    columns = "price of a million", "tokens/s of a chip", "chips of an engine"
    usd, speed, group = at(here, *(row[column] for column in columns))
    return Answer(usd / case.load, speed, group)


def by_vendor_claims(pages: dict, case: Serving) -> Answer | None:
    """By the usual engines, which it names beside the fastest layouts."""
    of, options = pages["vendor_claims"], choices("vendor_claims")
    name = like(case, options["model"])
    side = next((side for side in ("newer", "older") if case.chip in options[side]), None)
    known = name and side and case.request in options["request"] and case.pace in options["speed"]
    if not known or case.paid == "own" or case.form not in options[f"{side}_precision"]:
        return None
    usual = of.usual
    here = {
        f"{side}_precision": case.form,
        "model": name,
        "request": case.request,
        "speed": case.pace,
        "utilization": case.load,
    }
    here |= {side: case.chip, "contract": case.paid}
    served = getattr(usual, side)
    wanted = getattr(usual, f"{side}_usd"), served.tokens_per_s, served.chips
    return Answer(*at(here, *wanted))


def by_inference_ladder(pages: dict, case: Serving) -> Answer | None:
    """Of one service without levers, at a peak that leaves its chips as idle as the case has
    them.
    """
    of, options = pages["inference_ladder"], choices("inference_ladder")
    name = like(case, options["model"])
    prompt, answer, cached = REQUESTS[case.request]
    if not name or case.chip not in options["accelerator"] or cached or case.paid == "own":
        return None
    here = {"model": name, "accelerator": case.chip, "precision": case.form}
    here |= {"requests_per_s": PER_SECOND / answer, "input_tokens": prompt, "contract": case.paid}
    here |= {"output_tokens": answer, "peak_to_mean": 1 / case.load}
    here |= dict.fromkeys(("services", "variants"), 1)
    here |= {"repeated_share": 0.0, "tpot_ms": 1e3 / case.pace, "batching": "continuous"}
    today = of.climb.steps[0]
    fleet, whole_usd, *rest = at(here, today.chips, of.saved.dear, *sum(today.served, ()))
    speeds = [(most * answer / n, n) for n, most in zip(rest[::2], rest[1::2], strict=True)]
    served = [speed for speed in speeds if speed[0] > 0]
    rate, group = max(served, default=(math.nan, math.nan))
    return Answer(None, rate, group, fleet, whole_usd)


ASKERS: dict[str, Callable[[dict, Serving], Answer | None]] = {
    "token_cost": by_token_cost,
    "hardware_compare": by_hardware_compare,
    "inference_roofline": by_inference_roofline,
    "inference_ladder": by_inference_ladder,
    "architecture_bets": by_architecture_bets,
    "vendor_claims": by_vendor_claims,
}
