"""One parameter, and which values it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from scaleright.names import brief, suggestion
from scaleright.numerals import finite, meant
from scaleright.parameters import own_models
from scaleright.units import MINUS

_OTHER_MONEY = re.compile(r"[€£¥₹]|\b(EUR|GBP|JPY|CNY|CHF|INR|CAD|AUD)\b", re.IGNORECASE)
_PER_CHIP = re.compile(r"(/\s*|\bper |\bof one |\bof an? )(gpu|accelerator|chip)\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SPOKEN = {
    "$": "USD",
    "dollar": "USD",
    "hour": "h",
    "hr": "h",
    "second": "s",
    "sec": "s",
    "watt": "W",
    "gram": "g",
    "liter": "L",
    "yr": "year",
}
"""Words for units, as people say them."""
CATALOG = {"accelerators": "accelerator", "models": "model"}
"""Tables whose names may be choices, and the function of `catalog` that looks one up."""
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_KINDS = {
    "float": "a finite number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
}


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: `low` and `high` bound a number, `choices` are the names allowed
    else.

    `catalog` is the table ("accelerators" or "models") from which the choices come but for the
    `words` before them; aliases count as well. `own` is whether a model of the reader's own is
    taken; `more`, of what any other is taken that a page cannot choose: "model" (one that writes)
    or "accelerator". `days` are the first
    and the last day of a date, the last as "today" where it is that of the reader.
    """

    name: str
    type: str
    default: Any
    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple = ()
    catalog: str = ""
    words: tuple[str, ...] = ()
    optional: bool = False
    days: tuple[str, str] | None = None
    own: bool = False
    more: str = ""

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        if self.low is not None:
            text = f"{show(self.low)} to {show(self.high)}"
        elif self.days:
            text = f"a day from {self.days[0]} to {self.days[1]}"
        elif self.catalog:
            many = len(self.choices) - len(self.words)
            text = ", ".join([*self.words, f"any of {many} {self.catalog}"])
        else:
            text = ", ".join(map(str, self.choices)) or {"bool": "true, false"}.get(
                self.type, "any text"
            )
        text += f", or another {self.more}" if self.more else ""
        text += ", or a config.json" if self.own else ""
        return text + (", or none" if self.optional else "")

    def accept(self, given: Any) -> Any:
        """The value in its type, a catalog name in its full form.

        Raises
        ------
        ValueError : the value is not allowed; says what is, and what was probably meant.

        >>> load = Parameter("load", "float", 0.4, "share of paid hours", "1", 0.01, 1.0)
        >>> load.accept("0.5")
        0.5
        >>> load.accept(40)
        Traceback (most recent call last):
        ValueError: load = 40: outside 0.01 to 1; did you mean 0.4 (40 %)?
        """
        if given is None or (self.optional and str(given).strip().casefold() in ("none", "")):
            if self.optional:
                return None
            raise ValueError(f"{self.name} = None: needs a value, {self.allowed}")
        value = self._typed(given)
        if not self._within(value):
            unit = "" if self.unit in ("", "1") else f" {self.unit}"
            hint = "" if "%" in str(given) else self._slip(value)
            raise ValueError(
                f"{self.name} = {show(value)}: outside {show(self.low)} to"
                f" {show(self.high)}{unit}{hint}"
            )
        if self.days:
            return self._day(value, *self.days)
        if own_models.is_file(self, value):
            return own_models.accepted(self, value)
        if self.catalog and value not in self.words:
            from scaleright import catalog

            try:
                return getattr(catalog, CATALOG[self.catalog])(value).name
            except LookupError as error:
                said = brief(value)
                reason = error.args[0].replace(f" {said}", "", 1)
                raise ValueError(f"{self.name} = {said}: {reason}{self._or_own()}") from None
        if self.choices and value not in self.choices:
            if self.own and own_models.known(value):
                return value
            if self.more and (named := _OTHERS[self.more](value)):
                return named
            raise ValueError(
                f"{self.name} = {brief(value)}: not among the choices;"
                f" {suggestion(value, self.choices)}{self._or_own()}"
            )
        return value

    def _or_own(self) -> str:
        return "; or the path of a config.json" if self.own else ""

    def _within(self, value: Any) -> bool:
        return self.low is None or self.high is None or self.low <= value <= self.high

    def _typed(self, given: Any) -> Any:
        text = str(given).strip()
        try:
            if self.type == "str" and isinstance(given, (str, date) if self.days else str):
                return str(given)
            if self.type == "bool":
                return _TRUTH[text.casefold()]
            if self.type in ("int", "float") and not isinstance(given, bool):
                return self._whole_or_not(self._number(text))
        except (ValueError, KeyError):
            pass
        allowed = f"; allowed: {self.allowed}" if self.type not in ("str", "bool") else ""
        raise ValueError(
            f"{self.name} = {brief(given)}: needs {_KINDS[self.type]}{allowed}"
            f"{self._plain(text) if self.type in ('int', 'float') else ''}"
        )

    def _whole_or_not(self, number: float) -> float | int:
        """A number in the parameter's type; raises ValueError where it has none."""
        if self.type == "float":
            return number
        if number != int(number):
            raise ValueError
        return int(number)

    def _number(self, text: str) -> float:
        """A finite number as the page's own fields write it: dollars, groups of thousands, the
        percent of a share, print's minus. Digits are those of ASCII.
        """
        text = text.replace(MINUS, "-")
        if self.unit.startswith("USD"):
            text = text.removeprefix("$").lstrip()
        if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
            text = text.replace(",", "")
        if text.endswith("%") and self._is_share():
            return finite(text[:-1]) / 100
        return finite(text)

    def _is_share(self) -> bool:
        return (
            self.unit == "1" and self.type == "float" and self.high is not None and self.high <= 1
        )

    def _plain(self, text: str) -> str:
        """What to say of a number that was given with its unit, another currency or a decimal
        comma, or in thousands; nothing where what was meant is not sure.
        """
        if _OTHER_MONEY.search(text):
            return (
                "; prices are in US dollars (USD), so convert it first"
                if "USD" in self.unit
                else ""
            )
        number, written = meant(text) or (None, "")
        if number is None or (written and not self._means(written)):
            return ""
        try:
            value = self._whole_or_not(number)
        except ValueError:
            return ""
        if not self._within(value) or (self.choices and value not in self.choices):
            return ""
        unit = f" in {self.unit}" if self.unit not in ("", "1") else ""
        return f"; write the plain number{unit}: {value:.12g}"

    def _means(self, unit: str) -> bool:
        """Whether a unit as people write it is the parameter's own."""

        def words(text: str) -> list[str]:
            found = (word.rstrip("s") or word for word in re.findall(r"[A-Za-z]+|\$", text))
            return [_SPOKEN.get(word.casefold(), word).casefold() for word in found]

        own, said = words(self.unit or self.meaning), words(unit)
        return bool(said) and (said == own[: len(said)] if self.unit else set(said) <= set(own))

    def _day(self, given: str, first: str, last: str) -> str:
        try:
            if not _DAY.fullmatch(given.strip()):
                raise ValueError
            day = date.fromisoformat(given.strip())
        except ValueError:
            raise ValueError(
                f"{self.name} = {brief(given)}: needs a date written YYYY-MM-DD; allowed:"
                f" {self.allowed}"
            ) from None
        if day > date.today():
            raise ValueError(
                f"{self.name} = {given!r}: lies in the future; allowed: {self.allowed}"
            )
        if not first <= day.isoformat() <= (last if last != "today" else day.isoformat()):
            raise ValueError(f"{self.name} = {given!r}: outside {first} to {last}")
        return day.isoformat()

    def _slip(self, value: float) -> str:
        low, high = self.low, self.high
        assert low is not None and high is not None
        if self.unit in ("1", "share") and high <= 1 < value <= 100 and low <= value / 100 <= high:
            return f"; did you mean {show(value / 100)} ({show(value)} %)?"
        if (
            value > high
            and low <= value / 8 <= high
            and _PER_CHIP.search(f"{self.meaning} {self.unit}")
        ):
            return f"; looks like the price of an 8-GPU node: per GPU {value / 8:.2f}"
        return ""


def _chip(name: str) -> str:
    """An accelerator of the catalog by its name or an alias; empty where there is none."""
    from scaleright import catalog

    try:
        return catalog.accelerator(name).name
    except LookupError:
        return ""


_OTHERS = {"model": own_models.decoder, "accelerator": _chip}
"""What is taken beside the choices where `Parameter.more` says so."""


def show(value: Any) -> str:
    """Write a value for a reader.

    >>> show(1e9), show(0.4), show(True), show(None)
    ('1,000,000,000', '0.4', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.12g}" if isinstance(value, (int, float)) else str(value)
