"""One question about training, asked of every chapter, decision and claim that can answer, gets one
answer to the digits shown.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scaleright import catalog, charts, footprint, transformer
from scaleright.costs import fastest_steps
from scaleright.costs.clusters import cluster_chips, goodput
from scaleright.costs.fastest_steps import Steps
from scaleright.costs.platforms import BATCHES, best_step, usual_sequence
from scaleright.costs.pretraining import STEP_PARTS, reliability, run_chip_hours
from scaleright.costs.training_fleet import Fleet, cheapest_fleet, left_out
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.decisions.parallelism_selector import SIMPLER_WITHIN, choose
from scaleright.decisions.parallelism_tables import networks_of, run_of
from scaleright.press import Book, parameters
from scaleright.press.parameters import Case, chapter_notebook, declared
from scaleright.quantity import evaluate

BOOK = Book(Path(__file__).resolve().parents[1])
CASES = [
    ("Llama-2-7B", "H100 SXM", 256, "4M", "BF16"),
    ("Llama-2-7B", "A100 SXM 80GB", 128, "4M", "BF16"),
    ("Llama-3.1-8B", "B200", 64, "4M", "FP8"),
    ("Llama-3.1-8B", "H100 SXM", 1024, "16M", "BF16"),
    ("Llama-3.1-8B", "TPU v5p", 256, "4M", "BF16"),
    ("Qwen3-32B", "H200 SXM", 512, "4M", "FP8"),
    ("Qwen3-32B", "GB300", 64, "16M", "BF16"),
    ("Llama-3.1-70B", "H100 SXM", 256, "4M", "BF16"),
    ("Llama-3.1-70B", "GB300", 512, "16M", "FP8"),
    ("Llama-3.1-70B", "MI300X", 256, "4M", "BF16"),
    ("Llama-3.1-70B", "MI350X", 512, "4M", "FP8"),
    ("Llama-3.1-405B", "H100 SXM", 16_384, "16M", "BF16"),
    ("Llama-3.1-405B", "B200", 2048, "16M", "FP8"),
    ("Mixtral-8x7B", "H100 SXM", 256, "4M", "BF16"),
    ("Mixtral-8x7B", "B300", 128, "4M", "FP8"),
    ("DeepSeek-V3", "H200 SXM", 2048, "16M", "FP8"),
]
"""Model, chip, how many, batch, format: dense and mixtures, small and large, three vendors."""
NAMES = ("model", "accelerator", "chips", "batch", "precision")
asked = pytest.mark.parametrize("of", CASES, ids=lambda of: f"{of[0]} on {of[2]} {of[1]}")


def case_of(of: tuple) -> dict[str, Any]:
    return dict(zip(NAMES, of, strict=True))


def computed(chapter: str, **case: Any) -> dict[str, Any]:
    """What a chapter's cells have computed by the time of its answer."""
    given = declared(chapter, BOOK)
    values = {parameter.name: parameter.default for parameter in given} | case
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parameters, "case", lambda: Case(given, values))
        for cell in chapter_notebook(BOOK.text(chapter)).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, chapter, "exec"), names)
            if "answer" in cell.metadata.get("tags", []):
                return names
    raise AssertionError(f"{chapter} has no cell tagged answer")


@pytest.fixture(scope="module")
def pretraining():
    return computed("pretraining_cost")


@pytest.fixture(scope="module")
def parallelism():
    return computed("parallelism")


@pytest.fixture(scope="module")
def steps():
    return Steps.over(dict.fromkeys(of[0] for of in CASES))


def searched(of: tuple) -> dict[str, Any]:
    """The step as claims and tables of published runs take it: the best of all layouts."""
    model, chip, chips, batch, form = of
    sequence = usual_sequence(catalog.model(model))
    form = form if cluster_chips()[chip].dense.get(form.lower()) else "BF16"
    return best_step(model, chip, chips, sequence, BATCHES[batch] // sequence, form)


def pretraining_footprint(names: dict[str, Any]) -> footprint.Footprint:
    """As the chapter has it, below its answer."""
    drawn = footprint.machines(names["steps"].names)["H100 SXM"]
    place = footprint.place("United States")
    hours = names["run"].hours.total
    return footprint.Footprint.of(footprint.Machine(**drawn), hours, 1.0, place)


def said(seconds: float) -> str:
    return charts.say(seconds, "duration")


@asked
def test_the_page_of_pretraining_has_the_step_of_the_whole_search(pretraining, of):
    whole, run = searched(of), pretraining["run"]
    (step_s, hours) = evaluate([sum(run.step.parts.values()), run.hours.total], case_of(of))
    assert step_s == pytest.approx(whole["step_s"], rel=1e-5)
    tokens, parts = pretraining["case"].tokens.value, {name: whole[name] for name in STEP_PARTS}
    kept = goodput(of[2], **reliability())
    expected = run_chip_hours(tokens, BATCHES[of[3]], of[2], **parts, goodput=kept).total
    assert hours == pytest.approx(expected, rel=1e-5)


@asked
def test_a_fleet_costs_what_a_run_on_as_many_chips_does(pretraining, steps, of):
    case, run = case_of(of), pretraining["run"]
    usual = pretraining["steps"]
    assert set(of[2:3]) <= set(usual.sizes) and usual.names == steps.names
    rent = pretraining["on_all"][of[1]].hour.listed.rent.value
    usd, pace = evaluate(
        [
            run.usd / pretraining["case"].tokens * 1e6,
            pretraining["case"].tokens / (run.days * 86_400),
        ],
        case | {"rent_usd_per_hour": rent, "paid": "rent"},
    )
    fleet = Fleet.on(steps, SimpleNamespace(**case), of[1], of[2], rent)
    assert fleet.usd.value == pytest.approx(usd, rel=1e-6)
    assert fleet.tokens_per_s.value == pytest.approx(pace, rel=1e-6)


@asked
def test_splitting_a_run_takes_the_step_that_pretraining_costs(of):
    model, chip, chips, batch, form = of
    sequence, whole = usual_sequence(catalog.model(model)), searched(of)
    form = form if cluster_chips()[chip].dense.get(form.lower()) else "BF16"
    size = {"chips": chips, "sequence": sequence, "global_batch": BATCHES[batch] // sequence}
    run = run_of(
        SimpleNamespace(
            model=model,
            accelerator=chip,
            precision=form,
            task="pretrain",
            **size,
            **networks_of(chip),
        )
    )
    ways = contenders(run)
    times = {name: float(found[2].total) for name, found in ways.items() if found[2] is not None}
    assert min(times.values()) == pytest.approx(whole["step_s"], rel=1e-6)
    assert times[choose(times)] <= whole["step_s"] * (1 + SIMPLER_WITHIN) * (1 + 1e-6)


@asked
def test_the_page_on_splitting_names_the_step_that_is_costed(parallelism, of):
    """Where it offers the case; if it takes another split, the page says that of the fastest."""
    model, chip, chips, batch, form = of
    offer, split = parallelism["offer"], parallelism["split"]
    if (model, chips) not in offer.shortlist.table or (chip, form) not in offer.speeds:
        pytest.skip("the page does not offer this case")
    sequence, whole = usual_sequence(catalog.model(model)), searched(of)
    case = {
        "model": model,
        "accelerator": chip,
        "chips": chips,
        "sequence": sequence,
        "global_batch": BATCHES[batch] // sequence,
        "precision": form,
    } | networks_of(chip)
    fastest, taken = evaluate([split.fastest_s, split.seconds], case)
    assert said(fastest) == said(whole["step_s"])
    assert fastest <= taken <= fastest * (1 + SIMPLER_WITHIN)


def test_a_budget_buys_the_tokens_that_pretraining_costs(pretraining):
    """Scaling laws turn dollars into arithmetic by the share of peak that the same run keeps."""
    laws, case = computed("scaling_laws"), {"model": "Llama-3.1-8B", "chips": 256, "batch": "4M"}
    parameters = transformer.parameters(catalog.model("Llama-3.1-8B")).total
    for name in ("H100 SXM", "B200", "MI300X", "TPU v6e"):
        usd, tokens = pretraining["on_all"][name].usd, pretraining["case"].tokens.value
        (cost,) = evaluate([usd], case)
        chip = laws["chips"][name]
        (flop,) = evaluate(
            [laws["flop"]],
            {
                "budget_usd": cost,
                "accelerator": name,
                "mfu": chip["mfu"],
                "rent_usd_per_hour": chip["rent_usd_per_hour"],
            },
        )
        assert flop == pytest.approx(6 * parameters * tokens, rel=1e-3)


def test_a_run_draws_what_sustainability_says_of_its_chip_hours(pretraining):
    """At the same share of the time at work, the input that the page names."""
    page = computed("sustainability", task="training")
    run, made = pretraining["run"], pretraining_footprint(pretraining)
    case = {"chip_hours": run.hours.total.value, "utilization": 1.0}
    energy, carbon = evaluate([page["made"].energy.total, page["made"].carbon.total], case)
    assert energy == pytest.approx(made.energy.total.value, rel=1e-6)
    assert carbon == pytest.approx(made.carbon.total.value, rel=1e-6)


def test_the_sizes_of_a_fleet_are_those_that_pretraining_offers():
    (chips,) = [of for of in declared("pretraining_cost", BOOK) if of.name == "chips"]
    assert tuple(chips.choices) == fastest_steps.SIZES


@pytest.mark.parametrize("pace", [1e4, 2e5, 3e6])
def test_the_cheapest_fleet_is_the_platform_that_pretraining_names(pretraining, steps, pace):
    """At the pace of a fleet, on as many chips of each platform as it takes."""
    case = SimpleNamespace(model="Llama-3.1-70B", batch="4M", precision="BF16")
    rents = {name: pretraining["on_all"][name].hour.listed.rent.value for name in steps.names}
    fleets = {name: Fleet.of(steps, case, name, rents[name], pace) for name in steps.names}
    runs = [name for name, fleet in fleets.items() if fleet.runs.value]
    best = cheapest_fleet(fleets)
    per_million = {
        name: evaluate(
            [pretraining["on_all"][name].usd / pretraining["case"].tokens * 1e6],
            vars(case) | {"chips": fleets[name].chips.value},
        )[0]
        for name in runs
    }
    seen = [name for name in runs if fleets[name].step.trust.seen.value]
    assert best.platform.value == min(seen, key=per_million.__getitem__)
    assert best.usd.value == pytest.approx(min(per_million[name] for name in seen), rel=1e-6)
    for name in runs:
        fewer = [n for n in steps.sizes if n < fleets[name].chips.value]
        assert fleets[name].tokens_per_s.value >= pace
        for n in fewer[-1:]:
            assert not Fleet.on(steps, case, name, n, rents[name], pace).runs.value


def test_a_pace_that_no_fleet_keeps_has_no_price_and_says_why(steps):
    case = SimpleNamespace(model="Llama-3.1-405B", batch="4M", precision="BF16")
    fleets = {name: Fleet.of(steps, case, name, 2.0, 1e9) for name in steps.names}
    best = cheapest_fleet(fleets)
    assert best.platform.value == "" and not best.usd.value > 0
    assert {fleet.why.value for fleet in fleets.values()} <= {
        "none of the clusters offered is as fast.",
        "no layout fits.",
    }


def test_chips_that_no_cluster_is_built_of_say_why():
    why = left_out()
    assert set(why) | set(cluster_chips()) == set(catalog.accelerators())
    assert not set(why) & set(cluster_chips())
    assert "servers are joined" in why["H100 NVL"] and "listings" in why["GB200"]
