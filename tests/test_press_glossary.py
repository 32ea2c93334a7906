"""The glossary, its words in the chapters, and how sources are written."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pybtex.plugin
from pybtex.database import parse_string
from scaleright.press import diagrams, markup, sphinx_site

ROOT = Path(__file__).resolve().parents[1]
MEANS = markup.terms((ROOT / "book" / "glossary.md").read_text(encoding="utf-8"))


def test_the_glossary_has_the_words_of_the_field_each_in_one_to_three_sentences():
    asked = (
        "MFU TTFT TPOT goodput PUE WUE HBM MIG ZeRO interactivity reserved spot|KV cache|on demand"
        "|tensor parallel|pipeline parallel|data parallel|expert parallel|context parallel"
        "|mixture of experts|speculative decoding|critical batch"
    )
    first, *others = asked.split("|")
    assert {*first.split(), *others} <= set(MEANS)
    assert len(set(MEANS.values())) >= 80
    for name, means in MEANS.items():
        assert means.endswith(".") and 3 < len(means.split()) < 60, name
        assert len(re.findall(r"[.] [A-Z]", means)) < 3 and "{" not in means, name


def test_only_the_first_mention_is_marked_and_nothing_that_is_a_link_code_or_rewritten():
    find = markup.term_pattern(["KV cache", "decode", "MFU"])
    where = {name: f"g.html#{name}" for name in ("KV cache", "decode", "MFU")}
    body = (
        '<h1>MFU</h1><p>By <code>MFU</code> <a href="#">MFU</a>'
        ' <span class="sr-live" data-sr-signal="a">MFU</span> then <em>MFU</em>, MFU,'
        " decoder, Decode.</p><script>MFU</script><p hidden>KV cache</p><p>KV caches</p>"
    )
    marked = markup.mark_terms(body, find, {name: f"{name} it is" for name in where}, where)
    found = re.findall(r'(.{4})<a class="sr-term" href="g.html#[^"]*" title="([^"]*)">', marked)
    assert found == [("<em>", "MFU it is"), ("er, ", "decode it is"), ("><p>", "KV cache it is")]
    assert re.sub(r'<a class="sr-term"[^>]*>(.*?)</a>', r"\1", marked) == body


def test_words_that_mean_the_same_are_told_once():
    means = {"MoE": "Many.", "mixture of experts": "Many."}
    find, where = markup.term_pattern([*means]), dict.fromkeys(means, "g.html#m")
    marked = markup.mark_terms("<p>Mixtures of MoE: a mixture of experts.</p>", find, means, where)
    assert marked.count("sr-term") == 1


def test_titles_keep_their_capitals_and_sources_are_sorted_under_their_keys():
    sphinx_site.register_style()
    style = pybtex.plugin.find_plugin("pybtex.style.formatting", sphinx_site.STYLE)()
    text = (
        "@misc{b, title={LLMs on H100}, author={B. Zet}, year=2020}"
        "@article{a, title={A {GPU} of NVIDIA}, author={A. Alf}, journal={J}, year=2021}"
    )
    entries = list(style.format_entries(parse_string(text, "bibtex").entries.values()))
    assert [entry.label for entry in entries] == ["a", "b"]
    said = [entry.text.render_as("text") for entry in entries]
    assert "A GPU of NVIDIA" in said[0] and "LLMs on H100" in said[1]


def test_diagrams_follow_the_page_and_say_what_they_show():
    for name in diagrams.DRAWN:
        drawn = ET.fromstring(diagrams.figure(name))
        svg, words = drawn
        assert svg.tag == "svg" and words.tag == "figcaption" and len(words.text.split()) > 20
        assert {text.get("fill") for text in svg.iter("text")} == {"currentColor"}
        width = float(svg.get("viewBox").split()[2])
        for text in svg.iter("text"):
            assert 0 <= float(text.get("x")) <= width
    assert sum(share for _, share in diagrams.cents({"a": 1, "b": 1, "c": 1})) == 100
    shares = re.findall(r"(\d+) cents?", diagrams.dollar()[1])
    assert sum(map(int, shares)) == 100 and len(shares) == 7
    shares = re.findall(r"(\d+) cents?", diagrams.training_dollar()[1])
    assert sum(map(int, shares)) == 100 and len(shares) == 4


def test_a_diagram_stands_at_the_end_of_the_part_that_it_explains():
    told = ["# Split?", "## Why\n\n### Memory", "More.", "### The network", "Of it.", "## How sure"]
    cells = [{"cell_type": "markdown", "source": text} for text in told]
    diagrams.place(cells, "parallelism")
    shown = [cell["source"] for cell in cells]
    assert shown == [*told[:5], "```{diagram} pipeline_bubble\n```", told[5]]
    diagrams.place(other := cells[:1], "parallelism")  # no reasons, no place
    assert other == cells[:1]
    elsewhere = [{"cell_type": "markdown", "source": text} for text in told]
    diagrams.place(elsewhere, "token_cost")  # no such heading: the first part
    assert elsewhere[3]["source"].endswith("dollar\n```")
    diagrams.place(elsewhere, "mlperf")
    assert len(elsewhere) == len(told) + 1
    within = [{"cell_type": "markdown", "source": "## Why\n\n### You pay\n\nSo.\n\n### Next"}]
    diagrams.place(within, "token_cost")
    shown = [cell["source"] for cell in within]
    assert shown == ["## Why\n\n### You pay\n\nSo.\n", "```{diagram} dollar\n```", "### Next"]


def test_each_diagram_stands_in_a_chapter():
    for chapter in diagrams.PLACES:
        text = (ROOT / "notebooks" / "text" / f"{chapter}.md").read_text(encoding="utf-8")
        assert diagrams.WHY in text, chapter
    assert {name for name, _ in diagrams.PLACES.values()} == set(diagrams.DRAWN)
