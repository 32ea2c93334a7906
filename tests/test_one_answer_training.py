"""One question about training, asked of every chapter, decision and claim that can answer, gets one
answer to the digits shown.
"""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from answer_cases import TRAINING, choices
from chapter_cells import BOOK, Run, computed
from scaleright import catalog, charts, footprint, transformer
from scaleright.chapters.parallelism.model import SIMPLER_WITHIN, choose
from scaleright.chapters.parallelism.tables import networks_of, run_of
from scaleright.costs import fastest_steps, training_fleet
from scaleright.costs.cluster_grid import CLUSTERS
from scaleright.costs.platforms import BATCHES, FREE, best_step, cluster_chips, goodput
from scaleright.costs.pretraining import STEP_PARTS, reliability, run_chip_hours
from scaleright.costs.training_fleet import left_out
from scaleright.costs.whole_runs import whole_runs
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.parameters import validate
from scaleright.press import plans
from scaleright.press.texts import declared
from scaleright.quantity import evaluate
from scaleright.training.layout import usual_sequence

NAMES = ("model", "accelerator", "chips", "batch", "precision")
TUNED = ("typical", "best quarter")
asked = pytest.mark.parametrize("of", TRAINING, ids=lambda of: f"{of[0]} on {of[2]} {of[1]}")


def case_of(of: tuple) -> dict[str, Any]:
    return dict(zip(NAMES, of, strict=True))


@pytest.fixture(scope="session")
def pretraining():
    return computed("pretraining_cost")


@pytest.fixture(scope="session")
def scaling():
    return computed("scaling_laws")


@pytest.fixture(scope="session")
def parallelism():
    return computed("parallelism")


@pytest.fixture(scope="session")
def hardware():
    return computed("hardware_compare", task="training")


def searched(of: tuple) -> dict[str, Any]:
    """The step as claims and tables of published runs take it: the best of all layouts."""
    model, chip, chips, batch, form = of
    sequence = usual_sequence(catalog.model(model))
    form = form if cluster_chips()[chip].dense.get(form.lower()) else "BF16"
    return best_step(model, chip, chips, sequence, BATCHES[batch] // sequence, form)


def pretraining_footprint(names: dict[str, Any]) -> footprint.Footprint:
    """As the chapter has it, below its answer."""
    drawn = footprint.machines(["H100 SXM"])["H100 SXM", "training"]
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
    taken = parts | {"goodput": kept, **whole_runs().factors}
    expected = run_chip_hours(tokens, BATCHES[of[3]], of[2], **taken).total
    assert hours == pytest.approx(expected, rel=1e-5)


def test_comparing_chips_costs_what_a_run_on_as_many_of_them_does(pretraining, hardware):
    """The cases of the models that both offer, each with its best batch, however well tuned."""
    assert pretraining["case"].tokens.value == training_fleet.TOKENS
    pages = {shape.name: name for name, shape in hardware["tables"].models.items()}
    both = [of for of in TRAINING if of[0] in pages]
    assert len(both) >= 6
    for of, tuning in product(both, TUNED):
        compared(pretraining, hardware, of, pages[of[0]], tuning)


def compared(pretraining, hardware, of: tuple, page: str, tuning: str) -> None:
    """The price of a case in both chapters, at the hour of the one; `page` is what the other calls
    its model.
    """
    _, chip, chips, _, form = of
    row, run = hardware["tables"].trained[page, form, chip], pretraining["run"]
    paces = {n: n * row[f"{tuning} at {n}"] for n in fastest_steps.SIZES}
    fewer = [pace for n, pace in paces.items() if n < chips and pace > 0]
    pace = (max(fewer, default=1.0) + paces[chips]) / 2  # which just so many keep
    priced, asked = hardware["any_chip"], {"model": page, "training_precision": form, "chip": chip}
    asked |= {"tokens_per_s": pace, "least_providers": 1, "utilization": 1.0}
    asked |= {"contract": "on demand", "tuning": tuning}
    group, hour, usd = evaluate([priced.speed.group, priced.hour.usd, priced.usd], asked)
    assert group == chips, of
    (cost,) = evaluate(
        [run.usd / pretraining["case"].tokens * 1e6],
        case_of(of) | {"rent_usd_per_hour": hour, "paid": "rent", "batch": FREE, "tuning": tuning},
    )
    assert usd == pytest.approx(cost, rel=1e-5), of
    assert charts.say(usd, "usd") == charts.say(cost, "usd"), of


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


def test_the_page_on_splitting_names_the_step_that_is_costed(parallelism):
    """In the cases that it offers; if it takes another split, the page says that of the fastest."""
    offer, split = parallelism["offer"], parallelism["split"]
    offered = [
        (model, chip, chips, batch, form)
        for model, chip, chips, batch, form in TRAINING
        if (model, chips) in offer.shortlist.table and (chip, form) in offer.speeds
    ]
    assert len(offered) >= 8
    for of in offered:
        model, chip, _, batch, _ = of
        sequence, whole = usual_sequence(catalog.model(model)), searched(of)
        size = {"sequence": sequence, "global_batch": BATCHES[batch] // sequence}
        asked = {name: value for name, value in case_of(of).items() if name != "batch"}
        case = asked | size | networks_of(chip)
        fastest, taken = evaluate([split.fastest_s, split.seconds], case)
        assert said(fastest) == said(whole["step_s"]), of
        assert fastest <= taken <= fastest * (1 + SIMPLER_WITHIN), of


@pytest.mark.parametrize("paid", ["on demand", "reserved", "spot"])
def test_a_budget_buys_the_tokens_that_pretraining_costs(pretraining, scaling, paid):
    """Scaling laws turn dollars into arithmetic by the share of peak that the same run keeps."""
    case = {"model": "Llama-3.1-8B", "chips": 256, "batch": FREE, "contract": paid}
    parameters = transformer.parameters(catalog.model("Llama-3.1-8B")).total
    tokens, known = pretraining["case"].tokens.value, 0
    for name in ("H100 SXM", "B200", "MI300X", "A100 SXM 80GB"):
        there = {"accelerator": name, "mfu": scaling["chips"][name]["mfu"], "contract": paid}
        (cost,) = evaluate([pretraining["on_all"][name].usd], case)
        (flop,) = evaluate([scaling["flop"]], there | {"budget_usd": cost})
        bought = 6 * parameters * tokens if cost > 0 else float("nan")  # where nobody sells it so
        assert flop == pytest.approx(bought, rel=1e-3, nan_ok=True)
        known += flop > 0
    assert known >= 2


def test_the_rule_of_thumb_takes_the_share_of_peak_that_whole_runs_keep():
    usual = {of.name: of.default for of in declared("scaling_math", BOOK)}
    kept = training_fleet.share_of_peak(usual["accelerator"])
    assert usual["utilization"] == pytest.approx(kept, abs=0.03)


def test_a_run_draws_what_sustainability_says_of_its_chip_hours(pretraining):
    """At the same share of the time at work, the input that the page names."""
    page = computed("sustainability", task="training")
    run, made = pretraining["run"], pretraining_footprint(pretraining)
    case = {"chip_hours": run.hours.total.value, "utilization": 1.0}
    energy, carbon = evaluate([page["made"].energy.total, page["made"].carbon.total], case)
    assert energy == pytest.approx(made.energy.total.value, rel=1e-6)
    assert carbon == pytest.approx(made.carbon.total.value, rel=1e-6)


def test_the_sizes_of_a_fleet_are_those_that_pretraining_offers(pretraining):
    """On its page; other sizes, and all batches, are those that the chapter on how many chips
    weighs.
    """
    assert tuple(pretraining["live"].describe("chips")["choices"]) == fastest_steps.SIZES
    given, weighed = choices("pretraining_cost"), choices("cluster_efficiency")
    assert given["chips"] == weighed["chips"] == CLUSTERS
    assert given["batch"] == (FREE, *BATCHES) == weighed["batch"]


def test_how_a_run_is_tuned_and_in_which_format_is_said_in_the_same_words_wherever_it_is_asked():
    """And begins with the same: the chapters, and the plan."""
    chapters = "pretraining_cost", "cluster_efficiency", "ablation_cost", "hardware_compare"
    every = [{of.name: of for of in declared(name, BOOK)} for name in chapters]
    every.append({of.name: of for of in plans.declared_workload()})
    said = {(of["tuning"].default, of["tuning"].meaning, of["tuning"].choices) for of in every}
    assert len(said) == 1
    forms = [of["precision"] for of in (every[0], every[1], every[-1])]
    assert len({(of.default, of.meaning, of.choices) for of in forms}) == 1
    assert every[3]["training_precision"].choices == forms[0].choices


@pytest.mark.parametrize("tuning", TUNED)
def test_a_run_takes_as_long_where_the_number_of_its_chips_is_weighed(pretraining, tuning):
    """On the chips that the reader has in mind, with a batch of theirs or the best."""
    weighed, run = computed("cluster_efficiency"), pretraining["run"]
    yours = weighed["yours"]
    offered = [of for of in TRAINING if of[0] in weighed["grid"].models]
    assert len(offered) >= 6
    for of, batch in product(offered, (FREE, None)):
        asked = case_of(of) | {"tuning": tuning, "tokens": 8e12, "contract": "on demand"}
        asked |= {"batch": batch or of[3]}
        wanted = [run.hours.total, run.usd, run.days, run.step.tokens]
        same = [yours.run.hours.total, yours.usd, yours.days, yours.batch]
        here, there = evaluate(wanted, asked), evaluate(same, asked)
        assert here == pytest.approx(there, rel=1e-4, nan_ok=True), of


def test_the_usual_format_is_that_of_the_published_run(pretraining):
    """DeepSeek-V3 trained in FP8, which an A100 lacks."""
    form = fastest_steps.format_there(
        pretraining["case"].accelerator, pretraining["case"].precision
    )
    for model, chip, expected in (
        ("DeepSeek-V3", "H100 SXM", "FP8"),
        ("DeepSeek-V3", "A100 SXM 80GB", "BF16"),
        ("Llama-3.1-405B", "B200", "BF16"),
    ):
        assert evaluate([form], {"model": model, "accelerator": chip})[0] == expected


@pytest.mark.parametrize("pace", [1e4, 2e5, 3e6])
@pytest.mark.parametrize("form", ["BF16", "FP8"])
def test_the_cheapest_chip_is_the_platform_that_is_cheapest_to_pretrain_on(
    pretraining, hardware, pace, form
):
    """Each on as many chips as it takes for the pace; whatever the fit has seen, and apart."""
    asked = {"model": "Llama-3.3-70B", "training_precision": form, "tokens_per_s": pace}
    asked |= {"least_providers": 1, "utilization": 1.0}
    asked |= {"contract": pretraining["case"].contract.value, "paid": "rent"}
    rows, best = hardware["any_chip"].at(**asked), hardware["best"]
    bills = {}
    for name, row in rows.iterrows():
        case = {"model": "Llama-3.1-70B", "precision": form, "batch": FREE}
        usd = pretraining["on_all"][name].usd / pretraining["case"].tokens * 1e6
        (bills[name],) = evaluate([usd], case | {"chips": row["chips"]})
        rent = pretraining["on_all"][name].hour.usd.value
        assert row["usd"] / row["hour_usd"] == pytest.approx(bills[name] / rent, rel=1e-5)
    trusted = {name for name in rows.index if rows.loc[name, "fitted"] > 0}
    seen = {name: usd for name, usd in bills.items() if name in trusted}
    assert trusted == {name for name in rows.index if hardware_seen(pretraining, name)}
    found = evaluate([best.chip, best.seen], asked)
    assert found == [min(bills, key=bills.__getitem__), min(seen, key=seen.__getitem__)]


def hardware_seen(names: dict[str, Any], chip: str) -> bool:
    """Whether the page on pretraining says that the fit has seen a chip's architecture."""
    return names["on_all"][chip].step.trust.seen.value


def test_chips_that_no_cluster_is_built_of_say_why():
    why = left_out()
    assert set(why) | set(cluster_chips()) == set(catalog.accelerators())
    assert not set(why) & set(cluster_chips())
    assert "servers are joined" in why["H100 NVL"] and "nobody lists" in why["GB200"]


def test_a_run_of_the_chapter_says_what_its_page_says(pretraining):
    case = validate(declared("pretraining_cost", BOOK), case_of(TRAINING[2]))
    run = Run("pretraining_cost", case)
    run.until()
    (usd,) = evaluate([pretraining["run"].usd], case_of(TRAINING[2]))
    assert charts.say(usd, "usd") in run.answer["text"]
