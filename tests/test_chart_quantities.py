"""Sentences, tables and charts of quantities: said once, read by Python and by the page."""

import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from chart_samples import svg_of, texts_of
from IPython.core.interactiveshell import InteractiveShell
from ownership_samples import CARD
from scaleright import charts
from scaleright.chapters.buy_or_rent.model import QUESTIONS, deployment, tree
from scaleright.charts.cells import sentence_of
from scaleright.charts.intervals import intervals
from scaleright.charts.market import dots, spread
from scaleright.claims import ledger, stored
from scaleright.ops import where
from scaleright.outputs import ANSWER_MIME, TABLE_MIME
from scaleright.quantity import Quantity, choose, given
from scaleright.ranges import Ends
from vega import signal_texts

NOW = {"price": 2.0, "load": 0.4, "chips": 8, "chip": "A"}


@pytest.fixture
def case(live):
    """The quantities of a small case, which is the page's."""
    return live.given


def told(display: charts.Display, **moved) -> dict[str, str]:
    """What the page writes into the live numbers of a display after some of its controls moved."""
    markup = display.markup
    (model,) = re.findall(r'class="sr-model">(.*?)</script>', markup, re.DOTALL)
    expressions = {entry["name"]: entry["expr"] for entry in json.loads(model)["defined"]}
    names = re.findall(r'data-sr-(?:signal|label)="(\w+)"', markup)
    (texts,) = signal_texts([NOW | moved], expressions, [f"{name}_text" for name in names])
    return dict(zip(names, texts, strict=True))


def test_a_sentence_names_quantities_and_follows_them(case):
    bill = case.price * case.chips
    verdict = where(bill > 100, charts.phrase("dear at {case.price:usd}"), "cheap")
    shown = charts.sentence("{case.chips:whole} chips cost {bill:usd}: {verdict}.")
    assert str(shown) == "8 chips cost $16.00: cheap." and verdict.value == "cheap"
    assert told(shown) == {"chips": "8", "bill": "$16.00", "verdict": "cheap"}
    other = {"chips": "50", "bill": "$500", "verdict": "dear at $10.00"}
    assert told(shown, price=10.0, chips=50) == other


def test_a_sentence_says_plain_numbers_and_words_as_they_are(case):
    share, place = 0.25, "A & B"
    assert share and place
    shown = charts.sentence("{share:percent} at {place}, {case.price:usd}.")
    assert str(shown) == "25 % at A & B, $2.00."
    assert told(shown) == {"price": "$2.00"}


@pytest.mark.parametrize(
    "template, says",
    [
        ("{bil:usd}", "unknown quantity of this chapter in a sentence 'bil'; nearest: bill"),
        ("{case.prise:usd}", "unknown part of 'case' 'prise'; nearest: price"),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_the_nearest(case, template, says):
    bill = case.price * 2
    assert bill.value
    with pytest.raises(LookupError, match=says):
        charts.sentence(template)


def test_a_sentence_computes_and_chooses_words(case):
    bill, chips = case.price * case.chips, 8
    text = "It {if bill > 20:is {if bill > 99:too dear|dear}|takes {bill:usd}} for {chips}, {1 / 4}"
    shown = charts.sentence(text + "{if bill > 20:, {2 * bill:usd} for two}.")
    assert str(shown) == "It takes $16.00 for 8, 0.250." and chips < bill.value
    for price, one, two in ((3.0, "is dear", ", $48.00 for two"), (20.0, "is too dear", None)):
        assert [*told(shown, price=price).values()] == [one, two or ", $320 for two"]
    with pytest.raises(ValueError, match="<b> in a phrase, which is plain text"):
        charts.sentence("{if bill > 20:<b>dear</b>|cheap}")
    with pytest.raises(ValueError, match=r"computes \{2 bill\}, which is no expression"):
        charts.sentence("{2 bill:usd}")


def test_a_cell_says_markdown_of_the_names_of_its_notebook(case):
    names = {"case": case, "bill": case.price * case.chips}
    cell = "**{bill:usd}** for {case.chips:whole} chips,\n[dear](a.html) & *5 %* {{of}} it.\n"
    shown = sentence_of("", cell, names)
    assert str(shown) == "$16.00 for 8 chips, dear & 5 % {of} it."
    assert '<a href="a.html">dear</a> &amp; <em>' in shown.markup
    assert "<strong><span" in shown.markup and told(shown, price=3.0)["bill"] == "$24.00"
    asked = "Dear.\n%%otherwise\n{bill:usd} is **cheap**.\n"
    shown = sentence_of("if bill > 20", asked, names)
    assert str(shown) == "$16.00 is cheap." and "Dear." in shown.markup
    assert str(sentence_of("if 3 > 2", asked, names)) == "Dear."
    for line, told_so in (("", "belong together"), ("unless bill", "belong together")):
        with pytest.raises(ValueError, match=told_so):
            sentence_of(line, asked, names)
    for line, text in (("", "{bil:usd}"), ("if bil > 20", asked)):
        with pytest.raises(LookupError, match="in a sentence 'bil'; nearest: bill"):
            sentence_of(line, text, names)


def test_a_notebook_knows_sentences_once_its_controls_are_made(case):
    shell = InteractiveShell.instance()
    try:
        charts.controls(SimpleNamespace(parameters=()))
        ran = shell.run_cell("cost = {'a': 2.0}\n")
        ran = shell.run_cell("%%say if cost['a'] > 3\nDear.\n%%otherwise\n{cost['a']:usd} a day.")
        assert ran.success and str(ran.result) == "$2.00 a day."
    finally:
        InteractiveShell.clear_instance()


def test_one_quantity_said_in_two_ways_keeps_both(case):
    bill = case.price * 1234.5
    shown = charts.sentence("{bill:usd}, to be exact {bill:usd 6}")
    assert list(told(shown).values()) == ["$2,470", "$2,469.00"] and bill.value == 2469.0


def test_two_quantities_of_one_name_are_refused(case):
    bill = case.price * 2
    charts.sentence("{bill:usd}")
    bill = bill + 1
    with pytest.raises(ValueError, match="two quantities of this page are called 'bill'"):
        charts.sentence("{bill:usd}")
    price = case.chips * 2
    with pytest.raises(ValueError, match="'price', as a parameter of the chapter"):
        charts.sentence("{price:usd}")
    assert price.value == 16


def test_an_answer_names_what_it_tells_machines_alone(case):
    bill = case.price * case.chips
    low = bill / 2
    shown = charts.answer_card(
        "It costs {bill:usd}.", range="from {low:usd}", quantities={"low": (low, "usd")}
    )
    assert str(shown) == "It costs $16.00. Range: from $8.00."
    assert shown.bundle[ANSWER_MIME]["quantities"]["low"]["value"] == 8.0
    assert told(shown, price=4.0) == {"bill": "$32.00", "low": "$16.00"}


def test_cells_of_a_table_follow_and_files_have_their_values(case):
    rows = [
        {"chips": n, "bill": case.price * n, "verdict": where(case.price * n > 9, "dear", "cheap")}
        for n in (1, 10)
    ]
    shown = charts.table(pd.DataFrame(rows), "Bills", formats={"bill": "usd"})
    assert "10  $20.00  dear" in str(shown)
    assert list(told(shown, price=0.5).values()) == ["$0.50", "cheap", "$5.00", "cheap"]
    data = shown.bundle[TABLE_MIME]["data"]
    assert data[1] == {"chips": 10, "bill": 20.0, "verdict": "dear"}


def test_rows_of_a_table_may_give_a_parameter_in_another_column(case):
    rows = pd.DataFrame({"of": [1, 10], "chips": case.chips, "bill": case.price * case.chips})
    formats = {"chips": "whole", "bill": "usd"}
    shown = charts.table(rows, "Bills", formats=formats, along={case.chips: "of"})
    assert "10  $20.00" in str(shown)
    data = shown.bundle[TABLE_MIME]["data"]
    assert data == [{"chips": 1, "bill": 2.0}, {"chips": 10, "bill": 20.0}]


def test_a_choice_offers_only_what_its_table_has(live, case):
    rent = choose({"A": {"usd": 2.0}}, case.chip)
    charts.sentence("{rent.usd:usd}")
    assert rent.usd.value == 2.0
    assert live.describe("chip")["choices"] == ["A"]


def test_a_choice_offers_no_more_than_it_was_declared_with(live, case):
    every = {name: {"watts": 1.0} for name in ("C", "B", "A")}
    live.signal(choose(every, case.chip).watts + choose(every, "C").watts)
    assert live.describe("chip")["choices"] == ["B", "A"]


def test_rows_may_give_what_is_no_parameter_of_the_chapter(case):
    chip = given("of_a_row", "A")
    watts = choose({"A": {"watts": 700.0}, "B": {"watts": 300.0}}, chip).watts
    rows = pd.DataFrame({"of_a_row": ["A", "B"], "power": watts * case.chips})
    assert charts.table(rows, "Power", along=chip).bundle[TABLE_MIME]["data"] == [
        {"power": 5600.0},
        {"power": 2400.0},
    ]


def test_a_chapter_keeps_two_or_three_claims_and_says_whose_they_are_and_where_the_others_stand(
    capsys,
):
    charts.claims(stored.taught("vendor_claims"))
    shown = capsys.readouterr().out
    found = ledger.findings("vendor_claims")
    assert sum(finding.claim.statement in shown for finding in found) == 3 < len(found)
    assert f"of the {len(found)} claims on this question hold as they stand" in shown
    assert "scaleright claims --chapter vendor_claims" in shown
    assert "Token Cost Analysis, “What is the cost-per-experiment" in shown and "(2023)" in shown


def test_lines_run_along_a_parameter_and_follow_the_others(live, case):
    months = given("months", 0.0)
    spent = {"rent": months * case.price, "own": 3.0 + months * 0.0}
    rows = pd.DataFrame({"months": [0, 10]})
    chart = charts.lines(rows, "months", spent, "usd", "months", "USD", along=months)
    calculated = chart.to_dict()["layer"][0]["transform"]
    assert {"calculate": "(datum.months * price)", "as": "_value_0"} in calculated
    assert {"rent", "own"} <= set(texts_of(chart))


def test_bars_stacks_and_swings_of_quantities_move(live, case):
    bars = charts.bars({"one": case.price, "all": case.price * 10}, "what", None, "usd", "USD")
    assert {"$2.00", "$20.00"} <= set(texts_of(bars))
    assert {"$3.00", "$30.00"} <= set(texts_of(bars, price=3.0))
    parts = {"rent": {"fixed": 1.0, "use": case.price}, "own": {"fixed": 5.0, "use": 0.0}}
    stack = charts.stacked_parts(parts, "usd", "USD", category="plan")
    assert {"$5.00", "$8.00"} <= set(texts_of(stack, price=7.0))
    ends = {"price": Ends(case.price, case.price / 2, case.price * 2)}
    tornado = charts.tornado(ends, case.price * 8, "usd", "USD")
    assert "$4.00 to $16.00" in texts_of(tornado, price=1.0)


def test_estimates_keep_their_ranges_and_those_without_a_number_go(live, case):
    rows = [{"size": 8.0, "name": "few"}, {"size": 64.0, "name": "many"}]
    gain = where(case.chips < 64, where(case.load > 0, case.price, float("nan")), float("nan"))
    estimate = (gain / 2, gain, gain * 2)
    chart = intervals(rows, "name", estimate, "times", "gain", along={case.chips: "size"})
    words = texts_of(chart, price=3.0)
    assert "few" in words and "3.00 times" in words and "many" not in words
    words = texts_of(chart, load=0.0)
    assert "no result" in words and "none of them can be compared" in words


def test_the_text_alternative_of_a_chart_follows(live, case):
    bill = case.price * case.chips
    chart = charts.bars({"rent": bill}, "way", None, "usd", "USD")
    shown = charts.show(chart, alt="Renting {case.chips:whole} chips costs {bill:usd}.")
    assert str(shown) == "Renting 8 chips costs $16.00."
    assert f'aria-label="{shown}"' in shown.markup
    assert [*told(shown, price=10.0).values()] == ["Renting 8 chips costs $80.00."]


@pytest.mark.parametrize("hours", [0.5, 5.0, 20.0])
def test_the_tree_as_a_table_is_that_of_each_case(hours):
    rows = tree(CARD, given("rent", 0.5), 0.3, given("hours", hours), 50.0)
    for row, change in zip(rows.itertuples(), QUESTIONS.values(), strict=True):
        of = {"hours_per_day": hours} | change
        moving = 50.0 * of.get("accelerators", 1)
        verdict = deployment(CARD, 0.5, 0.3, of.pop("hours_per_day"), moving, **of)
        found = [cell.value if isinstance(cell, Quantity) else cell for cell in row[2:5]]
        assert found == [verdict.what, verdict.rule, "yes" if verdict.agrees else "no"]


def test_the_readers_own_dots_follow_and_all_others_stay(case, live):
    rows, within = [{"model": "A", "size": 2.0, "tokens": 30.0}], [(1, 9), (1, 99)]
    words, kinds = ["parameters", "tokens"], ["number", "number"]
    yours = {"yours": (3 * case.price, 1.0 * case.chips)}

    chart = dots(rows, "size", "tokens", "model", words, kinds, within, yours)

    def placed(**moved):
        aria = r'aria-label="parameters: ([\d.]+); tokens: ([\d.]+)'
        return re.findall(aria, svg_of(chart, **moved))

    assert {("2", "30"), ("6", "8")} <= {*placed()}
    assert {("2", "30"), ("9", "8")} <= {*placed(price=3.0)}


def test_a_row_that_no_control_chooses_is_said_as_any_other(case):
    fixed = choose({"A": {"watts": 700}, "B": {"watts": 300}}, "B").watts * case.chips
    shown = charts.sentence("They take {fixed:W}.")
    assert fixed.value == 2400 and told(shown, chips=2) == {"fixed": "600 W"}


def test_a_spread_draws_the_rows_and_the_values_that_quantities_say(case, live):
    rows = [
        {"of": "A", "watts": 700, "provider": "one", "segment": "cloud"},
        {"of": "B", "watts": 300, "provider": "two", "segment": "cloud"},
    ]
    of, watts = given("of", "A"), given("watts", 700)
    of_rows = {of: "of", watts: "watts"}
    chart = spread(
        rows, "of", watts * case.load, "W", "power [W]", only=of == case.chip, along=of_rows
    )
    assert "280 W" in texts_of(chart) and "120 W" not in texts_of(chart)
    assert "150 W" in texts_of(chart, chip="B", load=0.5)


def test_a_tag_in_a_phrase_is_refused():
    with pytest.raises(ValueError, match="<strong> in a phrase, which is plain text"):
        charts.phrase("for <strong>nothing</strong>")
