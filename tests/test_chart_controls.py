"""Live controls: expressions, named numbers, answers and sentences that follow them."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest
import vl_convert
from altair.expr.core import ConstExpression
from chart_samples import bar_chart, model_in
from scaleright import charts
from scaleright.outputs import VEGALITE_MIME


def test_a_control_is_an_expression_and_an_unknown_name_is_answered(live):
    assert str(live.price * 24 + live.load) == "((price * 24) + load)"
    assert live.note == "free text"
    with pytest.raises(AttributeError, match="did you mean price"):
        live.prices


def test_a_chart_carries_the_controls_it_uses_and_no_others(live):
    spec = charts.show(
        bar_chart(alt.datum.usd * live.price), alt="Two bars of cost.", controls=live
    ).bundle[VEGALITE_MIME]
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
    meta = charts.show(
        bar_chart(alt.datum.usd * live.price), alt="Two bars of cost.", controls=live
    ).bundle[VEGALITE_MIME]["usermeta"]["scaleright"]
    assert [c["name"] for c in meta["controls"]] == ["chip", "price"] and meta["follow"]["chip"][
        "B"
    ] == {"price": 4.0}
    with pytest.raises(ValueError, match="'prices' is no parameter"):
        live.follow("chip", {"A": {"prices": 2.0}})


def test_a_named_number_is_computed_from_what_it_names(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    assert (cost.text, str(cost)) == ("$16.00", "$16.00")
    assert live.used_in("cost_text") == (["price", "chips"], ["cost", "cost_text"])
    card = charts.answer_card(
        "It costs <b>{cost}</b> an hour.", range="$12 to $20", controls=live, cost=cost
    )
    assert str(card) == "It costs $16.00 an hour. Range: $12 to $20."
    assert [d["name"] for d in model_in(card)["defined"]] == ["cost", "cost_text"]


def test_the_facts_of_an_answer_follow_the_controls_and_only_the_others_are_of_the_defaults(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    low = live.number("low", live.price * 6, 12.0, "usd")
    day = live.words(
        "day", live.choose_text("chip", {"A": "2026-09-29", "B": "2026-11-02"}), "2026-09-29"
    )
    card = charts.answer_card(
        "It costs {cost}.",
        range="from {low}",
        as_of=day,
        model_error="5 %",
        controls=live,
        cost=cost,
        low=low,
    )
    assert (
        str(card) == "It costs $16.00. Range: from $12.00. Data as of 2026-09-29. Model error: 5 %."
    )
    assert {"low_text", "day_text"} <= {d["name"] for d in model_in(card)["defined"]}
    assert [c["name"] for c in model_in(card)["controls"]] == ["chip", "price", "chips"]
    assert 'data-sr-note="Your case. The model error is of the chapter\'s defaults."' in card.markup
    assert (
        "data-sr-note"
        not in charts.answer_card("{cost}", range="{low}", controls=live, cost=cost, low=low).markup
    )


def test_a_sentence_follows_the_controls(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    shown = charts.sentence(
        "At <i>{where}</i> it costs {cost}.", controls=live, cost=cost, where="A & B"
    )
    assert str(shown) == "At A & B it costs $16.00."
    assert '<span class="sr-live" data-sr-signal="cost">$16.00</span>' in shown.markup
    assert [c["name"] for c in model_in(shown)["controls"]] == ["price", "chips"]


def test_the_least_of_several_is_found_in_the_page_with_its_word(live):
    least, word = live.least(
        "bill",
        [live.price * 3, live.price + 1, 1 / live.load + 4],
        ConstExpression("['three', 'one', 'load']"),
    )
    assert set(live.used_in(str(word))[1]) == {"bill", "bill_all"}
    chart = (
        alt.Chart(pd.DataFrame({"row": [0]}))
        .transform_calculate(_out="'@' + format(bill, '.1f') + ' ' + " + str(word))
        .mark_text()
        .encode(text="_out:N")
    )
    spec = charts.show(chart, alt="The least of three.", controls=live).bundle[VEGALITE_MIME]
    assert (
        "@3.0 one" in vl_convert.vegalite_to_svg(spec | {"width": 300, "autosize": "pad"})
        and str(least) == "bill"
    )


def test_a_choice_offers_only_what_all_its_tables_hold(live):
    live.record("chip", {"A": {"watts": 1.0}, "B": {"watts": 2.0}})
    live.choose_text("chip", {"A": "one"})
    assert live.describe("chip")["choices"] == ["A"]
    with pytest.raises(ValueError, match="no row for chip = 'A'; there are B"):
        live.choose_text("chip", {"B": "two"})
