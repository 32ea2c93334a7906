"""Chapters whose cells run in this process, without a kernel, and what their pages say by them.

The cells of a case run once a process, and only as far as somebody asks; all tests read what they
have made, and nobody changes it.
"""

import contextlib
import io
import operator
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch

import numpy as np
from scaleright.charts import answers as card
from scaleright.charts import live
from scaleright.charts.displays import Display, plain_text
from scaleright.charts.templates import filled
from scaleright.ops import where
from scaleright.outputs import ANSWER_MIME
from scaleright.parameters import Case
from scaleright.press import Book
from scaleright.press.evaluate import run_cells
from scaleright.press.texts import Code, code_cells, declared
from scaleright.quantity import Quantity, evaluate
from scaleright.quantity.graph import in_order, parameter

BOOK = Book(Path(__file__).resolve().parents[1])
_BENEATH = {"Also", "Range", "Data as of", "Model error"}
"""Labels of a card's lines that hold numbers."""


def _markup(shown: Any) -> str:
    """What a page shows of an output."""
    return shown.markup if isinstance(shown, Display) else ""


def _cells(chapter: str) -> tuple[Code, ...]:
    return code_cells(BOOK.text(chapter))


@dataclass(frozen=True)
class Page:
    """What a chapter's page says, as quantities that follow its controls.

    controls : each parameter's, None where no control can set it
    follow : by menu and option, what other controls are set to
    there : whether there is an answer, where some choices rule out others
    words : what the card says, the lines beneath the sentence included
    """

    controls: Mapping[str, dict | None]
    follow: Mapping[str, Mapping[Any, Mapping[str, Any]]]
    there: Any
    words: Any

    def controlled_by(self, of: live.Controls) -> Self:
        """The same, with the controls of a chapter as they are now."""
        controls = {name: of.describe(name) for name in vars(of.given)}
        return replace(self, controls=controls, follow=dict(of._follow))

    def answers(self, values: Mapping[str, Any]) -> str:
        """What the card says if the controls are set so; empty if they cannot be, or if it has no
        answer.
        """
        if not self.offers({name: value for name, value in values.items() if value is not None}):
            return ""
        found = self.read(self.followed(values), self.there, self.words)
        return str(found[-1]) if all(found) else ""

    def offers(self, values: Mapping[str, Any]) -> bool:
        """Whether the page has a control for each of these values that can be set to it."""
        controls = ((self.controls.get(name), value) for name, value in values.items())
        return all(of is not None and value in of.get("choices", [value]) for of, value in controls)

    def followed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Where controls stand that are set so: those that are left open follow the menus."""
        at: dict[str, Any] = {}
        for name, value in values.items():
            if value is not None:
                follow = self.following(name, value)
                at |= {of: there for of, there in follow.items() if values.get(of) is None}
                at[name] = value
        return at

    def following(self, name: str, option: Any) -> dict[str, Any]:
        """What other controls are set to when a menu is."""
        return dict(self.follow.get(name, {}).get(option, {}))

    def options(self, name: str) -> list[Any]:
        """The options of a menu."""
        return (self.controls[name] or {})["choices"]

    def grays_out(self, name: str, options: Sequence[Any]) -> list[bool]:
        """Whether the page grays out each option of a menu at the declared case; all at once."""
        follow = [self.following(name, option) for option in options]
        columns = {of: [row.get(of) for row in follow] for row in follow for of in row}
        rest = {of: (self.controls[of] or {})["value"] for of in columns}
        at = {
            of: [rest[of] if one is None else one for one in each] for of, each in columns.items()
        }
        at[name] = [*options]
        (there,) = self.read({of: np.array(each) for of, each in at.items()}, self.there)
        return [not one for one in np.broadcast_to(there, len(options))]

    @staticmethod
    def read(at: Mapping[str, Any], *wanted: Any) -> list[Any]:
        """What is wanted where controls are set so; controls that do not move it say nothing."""
        live = [of for of in wanted if isinstance(of, Quantity)]
        behind = {parameter(node) for node in in_order(live)}
        found = iter(evaluate(live, {of: value for of, value in at.items() if of in behind}))
        return [next(found) if isinstance(of, Quantity) else of for of in wanted]


class Run:
    """The cells of a chapter at a case: the declared one, or one that differs by some values.

    names : what the cells that have run have made
    answer : what the answer tells machines, and its text
    page : what the page shows, as of its answer
    sentences : beneath the answer, those that cells have shown
    """

    def __init__(self, chapter: str, values: Mapping[str, Any]) -> None:
        given = declared(chapter, BOOK)
        self.chapter = chapter
        self.names: dict[str, Any] = {}
        self.answer: dict[str, Any] = {}
        self.page = Page({}, {}, True, "")
        self.sentences: list[str] = []
        self._case = Case(given, {of.name: of.default for of in given} | dict(values))
        self._controls: list[live.Controls] = []
        self._done = 0
        self._at_answer: dict[str, Any] = {}

    def until(self, name: str = "") -> dict[str, Any]:
        """What is there by the time of the answer, or until there is a name."""
        while not (name in self.names if name else self.answer):
            assert self._done < len(_cells(self.chapter)), f"no {name or 'answer'} is made"
            self._next()
        return dict(self.names) if name else self._at_answer

    def whole(self) -> dict[str, Any]:
        """What is there in the end."""
        while self._done < len(_cells(self.chapter)):
            self._next()
        return self.names

    def _next(self) -> None:
        """Run another cell."""
        cell, shown = _cells(self.chapter)[self._done], list[Any]()
        answers = "answer" in cell.tags
        heard = self._hearing() if answers else contextlib.nullcontext()
        with heard, self._open(), contextlib.redirect_stdout(io.StringIO()):
            run_cells([cell], self._case, shown.append, self.names)
            self.sentences += [str(of) for of in shown if 'class="sr-said"' in _markup(of)]
            if answers:
                told = shown[-1]._repr_mimebundle_()
                self.answer = told[ANSWER_MIME] | {"text": told["text/plain"]}
                self._at_answer = dict(self.names)
                self.page = self.page.controlled_by(*self._controls)
        self._done += 1

    def _hearing(self) -> AbstractContextManager:
        """Note what the card says and asks."""
        said, slots = self._noting(card.said), self._adding(card.slots)
        return patch.multiple(card, said=said, slots=slots, _judge=self._asking(card._judge))

    def _open(self) -> AbstractContextManager:
        """Let what is shown belong to this page, whichever chapters have run in between."""
        return patch.object(live, "_PAGE", self._controls)

    def aside(self) -> AbstractContextManager:
        """Let what is shown belong to a page like this one, to which it adds nothing."""
        return patch.object(live, "_PAGE", [live.Controls(self._case)])

    def _noting(self, said: Any) -> Any:
        def noted(text: str, when: Any, otherwise: str, names: Mapping[str, Any]) -> Any:
            words, instead = (filled(plain_text(of), names) for of in (text, otherwise))
            now = words if when is None else where(when, words, instead)
            self.page = replace(self.page, words=now)
            return said(text, when, otherwise, names)

        return noted

    def _adding(self, slots: Any) -> Any:
        def beneath(texts: Mapping[str, str], names: Mapping[str, Any]) -> Any:
            lines = [
                f" {of}: " + filled(plain_text(texts[of]), names) for of in texts if of in _BENEATH
            ]
            self.page = replace(self.page, words=reduce(operator.add, lines, self.page.words))
            return slots(texts, names)

        return beneath

    def _asking(self, judge: Any) -> Any:
        def weighed(asked: Sequence[tuple[Quantity, str]], known: Mapping[str, Any]) -> str:
            there = reduce(operator.and_, [there for there, _ in asked])
            self.page = replace(self.page, there=there)
            return judge(asked, known)

        return weighed


@cache
def _shared(chapter: str, values: frozenset[tuple[str, Any]]) -> Run:
    return Run(chapter, dict(values))


def shared(chapter: str, /, **values: Any) -> Run:
    """The one run of a chapter at its declared case, or at one that differs by these values."""
    return _shared(chapter, frozenset(values.items()))


def computed(chapter: str, until: str = "", /, **case: Any) -> dict[str, Any]:
    """What the cells of a chapter have made by the time of its answer, or until there is a name."""
    return shared(chapter, **case).until(until)


def cells(chapter: str, until: str = "", /, **case: Any) -> SimpleNamespace:
    """The same as attributes."""
    return SimpleNamespace(**computed(chapter, until, **case))


@cache
def page(chapter: str) -> Page:
    """The page of a chapter, by its cells up to the answer at the declared case."""
    run = shared(chapter)
    run.until()
    return run.page
