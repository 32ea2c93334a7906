"""What a page says about itself."""

from __future__ import annotations

import os
import subprocess

import pytest
from scaleright.press import about
from scaleright.press.repository import Repository
from small_book import small_book

PAGES = ["book/index", "notebooks/tiny", "notebooks/tiny/busy"]


@pytest.fixture
def history(tmp_path):
    """A book with four commits: all of it, its chapter's text, its front page, and what stands
    behind the chapter.
    """
    made = small_book(tmp_path / "kept")
    who = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who |= {
        f"GIT_{role}_{what}": "a@b"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }

    def commit(day: str) -> None:
        at = f"{day}T23:30:00-05:00"
        env = os.environ | who | {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        for words in (["add", "-A"], ["commit", "-q", "-m", day]):
            subprocess.run(["git", *words], cwd=made.root, env=env, check=True)

    subprocess.run(["git", "init", "-q"], cwd=made.root, check=True)
    commit("2026-01-05")
    made.text("tiny").write_text(made.text("tiny").read_text() + "\nMore.\n")
    commit("2026-02-06")
    (made.root / "book" / "index.md").write_text("# Other\n")
    commit("2026-03-07")
    package = made.root / "lib" / "scaleright" / "chapters" / "tiny"
    package.mkdir(parents=True)
    (package / "page.py").write_text("")
    commit("2026-04-08")
    return made


@pytest.mark.processes
def test_a_page_is_as_old_as_its_last_commit_in_any_zone(history, monkeypatch):
    expected = {PAGES[0]: "2026-03-07", PAGES[1]: "2026-04-08", PAGES[2]: "2026-04-08"}
    for zone in ("UTC", "Pacific/Kiritimati"):
        monkeypatch.setenv("TZ", zone)
        assert about.changed(history, PAGES) == expected


@pytest.mark.processes
def test_without_a_whole_history_no_day_is_told(history, tmp_path):
    shallow = ["git", "clone", "-q", "--depth", "1", history.root.as_uri(), tmp_path / "part"]
    subprocess.run(shallow, check=True)
    assert about.changed(type(history)(tmp_path / "part"), PAGES) == {}
    assert about.changed(small_book(tmp_path / "plain"), PAGES) == {}


def test_a_report_goes_where_the_book_is_hosted():
    assert about.report(Repository(""), "book/index") == ""
    other = Repository("https://forge.example/o/r")
    assert about.report(other, "book/index") == "https://forge.example/o/r/issues"


def test_a_page_can_be_cited_without_a_day():
    cited = about.cited("notebooks/a", "Why?", "People", "A Book", "")
    assert cited["sentence"].startswith("People. “Why?” In: A Book, version")
    assert "year" not in cited["bibtex"] and "title = {Why?}" in cited["bibtex"]


def test_what_is_folded_looked_up_or_hidden_takes_no_time_to_read():
    told = "<h2>Why it is so</h2><p>One two <b>three</b>.</p>"
    more = (
        "<details><summary>More</summary><p>not read</p><details><p>nor</p></details></details>"
        "<p hidden>no</p><script>var no = 1;</script><pre>no</pre><p class='sr-alt'>no</p>"
        "<table><tr><th>7</th><td>12 GB</td></tr></table>"
    )
    assert about.words(told) == 7 and about.words(told + more) == 8
    assert about.words("<details open><p>seen at once</p></details>") == 3
    longest = "<p>" + "word " * (about.WORDS_PER_MINUTE * about.LONGEST_MIN) + "</p>"
    assert about.minutes(longest) == 10 and about.minutes(longest + "<p>more</p>") == 11
