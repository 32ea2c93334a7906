"""Live controls: numbers, answers and sentences that follow them."""

from types import SimpleNamespace

import pytest
from chart_samples import USD, bar_chart, model_in
from scaleright import charts
from scaleright.outputs import VEGALITE_MIME
from scaleright.quantity import choose, given


def test_a_chart_carries_the_controls_it_uses_and_no_others(live):
    spec = charts.show(bar_chart(USD * live.given.price), alt="Two bars of cost.").bundle[
        VEGALITE_MIME
    ]
    assert [p["name"] for p in spec["params"]] == ["price"]
    assert spec["params"][0]["bind"] | {"step": 0} == {
        "input": "range",
        "min": 0.05,
        "max": 15,
        "step": 0,
        "name": "rent of one chip [USD per hour] ",
    }
    (control,) = spec["usermeta"]["scaleright"]["controls"]
    assert control["log"] and not control["whole"] and control["value"] == 2.0


def test_kinds_of_controls(live):
    kinds = {
        name: (live.describe(name) or {}).get("kind")
        for name in ("chip", "price", "load", "chips", "taxed", "note")
    }
    assert kinds == {
        "chip": "choice",
        "price": "number",
        "load": "number",
        "chips": "number",
        "taxed": "flag",
        "note": None,
    }
    assert live.describe("load")["percent"] and live.describe("chips")["whole"]


def test_a_choice_that_others_follow_comes_with_them(live):
    live.follow("chip", {"A": {"price": 2.0}, "B": {"price": 4.0}})
    meta = charts.show(bar_chart(USD * live.given.price), alt="Two bars of cost.").bundle[
        VEGALITE_MIME
    ]["usermeta"]["scaleright"]
    assert [c["name"] for c in meta["controls"]] == ["chip", "price"]
    assert meta["follow"]["chip"]["B"] == {"price": 4.0}
    with pytest.raises(ValueError, match="'prices' is no parameter"):
        live.follow("chip", {"A": {"prices": 2.0}})


def test_a_control_that_waits_for_a_choice_comes_with_it_and_says_so(live):
    live.only("chip", {"A": ["price"], "B": ["price", "load"]})
    meta = charts.show(bar_chart(USD * live.given.price), alt="Two bars of cost.").bundle[
        VEGALITE_MIME
    ]["usermeta"]["scaleright"]
    assert [c["name"] for c in meta["controls"]] == ["chip", "price"]
    assert meta["controls"][1]["only"] == {"chip": ["A", "B"]}
    assert live.describe("load")["only"] == {"chip": ["B"]} and "only" not in live.describe("chips")
    with pytest.raises(ValueError, match="'chip' or 'prices'"):
        live.only("chip", {"A": ["prices"]})


def test_a_bar_without_a_number_is_left_out_where_no_words_stand_for_it(live):
    usd = {"rent": live.given.price, "buy": float("nan")}
    kept = charts.bars(usd, "way", None, "usd", "USD").to_dict()
    short = charts.bars(usd, "way", None, "usd", "USD", lacking=None).to_dict()
    assert "isFinite(datum._value)" in [
        step.get("filter") for layer in short["layer"] for step in layer["transform"]
    ]
    assert (kept["height"], short["height"]) == (60, {"step": 30})


def test_a_number_of_a_sentence_is_computed_from_what_it_names(live):
    case = live.given
    cost = case.price * case.chips
    said = live.number("cost", cost, "usd")
    assert (said.text, str(said)) == ("$16.00", "$16.00")
    assert live.used_in("cost_text") == (["price", "chips"], ["cost", "cost_text"])
    card = charts.answer_card("It costs <b>{cost:usd}</b> an hour.", range="$12 to $20")
    assert str(card) == "It costs $16.00 an hour. Range: $12 to $20."
    assert [d["name"] for d in model_in(card)["defined"]] == ["cost", "cost_text"]


def test_the_facts_of_an_answer_follow_the_controls_and_only_the_others_are_of_the_defaults(live):
    case = live.given
    bill = SimpleNamespace(cost=case.price * case.chips, low=case.price * 6)
    day = choose({"A": {"day": "2026-09-29"}, "B": {"day": "2026-11-02"}}, case.chip).day
    card = charts.answer_card(
        "It costs {bill.cost:usd}.", range="from {bill.low:usd}", as_of="{day}", model_error="5 %"
    )
    assert bill.low.value == 12.0 and day.value == "2026-09-29"
    assert (
        str(card) == "It costs $16.00. Range: from $12.00. Data as of 2026-09-29. Model error: 5 %."
    )
    assert {"bill_low_text", "day_text"} <= {d["name"] for d in model_in(card)["defined"]}
    assert [c["name"] for c in model_in(card)["controls"]] == ["chip", "price", "chips"]
    assert 'data-sr-note="Your case. The model error is of the chapter\'s defaults."' in card.markup
    assert (
        "data-sr-note" not in charts.answer_card("{bill.cost:usd}", range="{bill.low:usd}").markup
    )


def test_a_sentence_follows_the_controls(live):
    cost, place = live.given.price * live.given.chips, "A & B"
    shown = charts.sentence("At <i>{place}</i> it costs {cost:usd}.")
    assert str(shown) == f"At {place} it costs $16.00." and cost.value == 16.0
    assert '<span class="sr-live" data-sr-signal="cost">$16.00</span>' in shown.markup
    assert [c["name"] for c in model_in(shown)["controls"]] == ["price", "chips"]


def test_a_choice_offers_only_what_all_its_tables_hold(live):
    chip = live.given.chip
    live.signal(choose({"A": {"watts": 1.0}, "B": {"watts": 2.0}}, chip).watts)
    live.signal(choose({"A": {"words": "one"}}, chip).words)
    assert live.describe("chip")["choices"] == ["A"]
    with pytest.raises(ValueError, match="no row for chip = 'A'; there are B"):
        live.signal(choose({"B": {"words": "two"}}, given("chip", "B")).words)


def test_a_strip_of_some_controls_refuses_one_that_there_is_not(live):
    of = charts.sentence("What they move.")
    shown = charts.beneath_strip(of, "price", "chip")
    assert 'data-sr-names="price chip"' in shown.markup and shown.markup.endswith(of.markup)
    assert [c["name"] for c in model_in(shown)["controls"]] == ["price", "chip"]
    with pytest.raises(LookupError, match="control of this chapter 'prise'; nearest: price"):
        charts.beneath_strip(of, "prise")
