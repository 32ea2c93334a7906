"""A Sphinx extension for the site: what the theme needs to know, local copies of outside scripts,
none a page lacks use for.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType

import pybtex.plugin
from pybtex.database import Entry
from pybtex.style import FormattedEntry
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.template import FieldIsMissing, field, sentence
from sphinx.search import js_index

from scaleright.catalog import shared
from scaleright.files import file_type, parsed, read_text
from scaleright.outputs import page_json
from scaleright.press import about, diagrams, markup, pictures
from scaleright.press.pages import notebook_file
from scaleright.press.repository import Repository
from scaleright.press.vendor import copy_mathjax, copy_vega

STYLE = "scaleright"


class Keys(BaseLabelStyle):
    """A source is called by its key."""

    def format_labels(self, sorted_entries: Iterable) -> Iterator[str]:
        """The keys of entries."""
        return (entry.key for entry in sorted_entries)


class Style(Plain):
    """Sorted by author and year; titles keep their capitals, which other styles take away."""

    default_label_style = Keys
    _written: Mapping[str, FormattedEntry] = MappingProxyType({})

    def __init__(self, **given):
        super().__init__(**given)
        self._in_order, self.sort = self.sort, self._sort

    def _sort(self, entries: Iterable[Entry]) -> list[Entry]:
        """In their order: Sphinx, which asks for all of them, then asks for each of them twice."""
        found = self._in_order(entries)
        self._written = _written(found)
        return found

    def format_entry(self, label, entry, bib_data=None) -> FormattedEntry:  # noqa: D102  of the style above
        return self._written.get(label) or super().format_entry(label, entry, bib_data)

    def format_title(self, e, which_field, as_sentence=True):  # noqa: D102  of the style above
        title = field(which_field)
        return sentence[title] if as_sentence else title


@shared
def _written(entries: list[Entry]) -> Mapping[str, FormattedEntry]:
    """All sources as the book writes them, by key, but for those that lack a field."""
    style, found = Style(), {}
    for entry in entries:
        with suppress(FieldIsMissing):
            found[entry.key] = style.format_entry(entry.key, entry)
    return MappingProxyType(found)


def register_style() -> None:
    """Make the style known to Sphinx by its name."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", STYLE, Style)


_MARKS = {
    "design-tabs": r"sd-tab-",
    "copybutton": r'class="highlight',
    "clipboard": r'class="highlight',
    "take": r'<figure class="sr-chart',
    "hints": r'class="sr-term|#id\d+" title=',
}
"""Scripts of extensions, with the mark in the HTML of a page that needs each."""


def _needed(filename: str, body: str) -> bool:
    mark = next((mark for key, mark in _MARKS.items() if key in filename), None)
    return mark is None or re.search(mark, body) is not None


def lean_scripts(_app, _pagename, _templatename, context, _doctree) -> None:
    """Drop the scripts of extensions from pages whose text has nothing for them to do."""
    body = context.get("body") or ""
    context["script_files"] = [
        js
        for js in context.get("script_files", [])
        if _needed(str(getattr(js, "filename", None) or js), body)
    ]


def _parts(pagename: str) -> list[str]:
    """The chapter, and the scenario if it is the page of one; nothing for other pages."""
    return pagename.split("/")[1:] if pagename.startswith("notebooks/") else []


def launch(app, pagename, _templatename, context, _doctree) -> None:
    """Tell the theme where the notebook of a page can be opened and downloaded; a scenario opens
    that of its chapter.
    """
    parts, options = _parts(pagename), app.config.html_theme_options
    if parts:
        repository = Repository(
            options.get("repository_url") or "", options.get("repository_branch") or "main"
        )
        buttons = options.get("launch_buttons") or {}
        context["launch"] = repository.links(
            parts[0], buttons.get("binderhub_url", ""), buttons.get("colab_url", "")
        )
        context["notebook"] = context["pathto"](notebook_file(pagename), 1)


def turn(app, pagename, _templatename, context, _doctree) -> None:
    """Lead from chapter to chapter past the scenarios between them, and from a scenario to its
    chapter.
    """
    relations = app.env.collect_relations()
    for way, side in (("prev", 1), ("next", 2)):
        page = pagename
        while page and (page == pagename or len(_parts(page)) == 2):
            page = relations.get(page, (None, None, None))[side]
        if len(_parts(pagename)) == 2:
            page = pagename.rpartition("/")[0] if way == "prev" else None
        found = (
            {"link": context["pathto"](page), "title": app.env.titles[page].astext()}
            if page
            else None
        )
        context[way] = found


def valid_markup(app, _pagename, _templatename, context, _doctree) -> None:
    """Mend what the tools beneath write, and tell the theme what the page may load and run."""
    if context.get("body"):
        body = markup.plain_citations(markup.plain_frames(context["body"]))
        body = markup.figure_links(markup.numbered_figures(markup.hinted_citations(body)))
        body = markup.numbered_equations(body)
        context["body"] = markup.distinct_regions(body)
    contents = context["toctree"]
    context["toctree"] = lambda **options: markup.captions(contents(**options))
    scripts = [getattr(js, "attributes", {}).get("body") for js in context["script_files"]]
    boot = markup.inline(Path(app.builder.theme.get_theme_dirs()[0]) / "layout.html")
    context["policy"] = markup.policy([*boot, *filter(None, scripts)])


def tell_search(app, pagename, _templatename, context, _doctree) -> None:
    """Tell the page of the search which words mean the same, and by which people ask for a page."""
    if pagename == "search":
        known = Path(app.srcdir) / "book" / "search.yml"
        words = parsed(read_text(known), "YAML", known.name) if file_type(known) else {}
        context["search_words"] = page_json({"same": [], "pages": {}} | words)


def fold_cells(app, _config) -> None:
    """Write folded cells as the book does."""
    from myst_nb.sphinx_ import HideCodeCellNode

    app.add_node(HideCodeCellNode, override=True, html=(markup.open_fold, markup.close_fold))


def search_chapters_only(app, _doctree) -> None:
    """Keep scenarios, which repeat their chapter, out of the search."""
    if len(_parts(app.env.docname)) == 2:
        app.env.metadata[app.env.docname]["nosearch"] = ""


def share_cores(app, _env, _docnames) -> None:
    """Let every core read and write pages, for which Jupyter Book has no option."""
    app.parallel = os.cpu_count() or 1
    if numbering := app.extensions.get(
        "sphinx_multitoc_numbering"
    ):  # changes a class before the work is shared, and says nothing of it
        numbering.parallel_read_safe = numbering.parallel_write_safe = True


def bring_vendor(app) -> None:
    """Put MathJax and Vega beside the other static files of an HTML build.

    A page's link to a static file bears a mark of its content if the file is there when the page
    is written: each build begins without any, so that an incremental one finds what a clean one
    finds. MathJax comes at once; Vega, to which no page links so, another core bundles meanwhile.
    """
    if app.builder.format != "html":
        return
    static, bundled = Path(app.outdir) / "_static", Path(app.doctreedir).parent / "bundled"
    shutil.rmtree(static, ignore_errors=True)
    copy_mathjax(static)
    worker = get_context("fork").Process(target=copy_vega, args=(bundled,))
    worker.start()

    def finish(_app, exception) -> None:
        worker.join()
        if worker.exitcode:
            shutil.rmtree(bundled, ignore_errors=True)
        if exception is None:
            copy_vega(bundled)  # what the other process could not do fails here, and says why
            shutil.copytree(bundled, static, dirs_exist_ok=True)

    app.connect("build-finished", finish)


def write_entrance(app, exception) -> None:
    """Write the page at the site's root, which points to the first one; Jupyter Book's own lacks a
    title and an icon.
    """
    if exception is None and app.builder.format == "html":
        # an empty icon, so that no browser asks for one that is not there
        first, policy = f"{app.config.root_doc}.html", "default-src 'none'; img-src data:"
        title = app.config.html_title or app.config.project
        (Path(app.outdir) / "index.html").write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{title}</title>'
            '<link rel="icon" href="data:,">'
            f'<meta http-equiv="refresh" content="0; url={first}"></head>'
            f'<body><a href="{first}">Start here</a></body></html>\n',
            encoding="utf-8",
        )


def always_write(app, env, _added, _changed, _removed) -> list[str]:
    """Write some pages even if they have not changed: one, or Sphinx would not bring the static
    files back, and those with entries for the index, which it does not read from the old search.
    """
    entries = env.get_domain("index").entries
    return [app.config.root_doc, *sorted(page for page, found in entries.items() if found)]


def forget_words(app, exception) -> None:
    """Drop words from the search that no page has any more, which Sphinx keeps with no pages."""
    index = Path(app.outdir) / "searchindex.js"
    if exception is None and app.builder.format == "html":
        data = js_index.loads(index.read_text(encoding="utf-8"))
        for terms in (data["terms"], data["titleterms"]):
            for word in [word for word, pages in terms.items() if pages == []]:
                del terms[word]
        index.write_text(js_index.dumps(data), encoding="utf-8")


def setup(app) -> dict:
    """Register the hooks."""
    # asked for each citation, and answered from the files of all packages
    once = functools.cache(pybtex.plugin.entry_points)
    pybtex.plugin.entry_points = once  # pyrefly: ignore[bad-assignment]
    register_style()
    diagrams.register(app)
    app.add_config_value(
        "comments_config", {}, ""
    )  # Jupyter Book sets it for an extension that is left out
    app.connect("env-get-outdated", always_write)
    app.connect("env-before-read-docs", share_cores)
    app.connect("html-page-context", markup.mark_mentions_of_page, priority=790)
    app.connect("html-page-context", markup.mark_terms_of_page, priority=800)
    app.connect("html-page-context", lean_scripts, priority=900)
    app.connect("html-page-context", valid_markup, priority=950)
    app.connect("config-inited", fold_cells)
    app.connect("html-page-context", launch)
    app.connect("html-page-context", turn)
    app.connect("html-page-context", tell_search)
    app.connect("html-page-context", about.tell)
    app.connect("html-page-context", pictures.tell_social)
    app.connect("doctree-read", search_chapters_only)
    app.connect("builder-inited", bring_vendor)
    app.connect("build-finished", write_entrance)
    app.connect("build-finished", forget_words)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
