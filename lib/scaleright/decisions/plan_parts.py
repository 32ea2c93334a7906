"""What a plan consists of: nine steps, each with the chapter that it is from, and what is to give
where a workload cannot be met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from scaleright.catalog import own_source
from scaleright.formulas import lookup
from scaleright.ops import first_case
from scaleright.units import COUNTS, figure, in_units

STEPS = (
    "Demand",
    "Supply and budget: own, rent or call an API, and where",
    "The right size of model",
    "Hardware",
    "Layout",
    "Levers, in order",
    "What to measure first",
    "Energy and carbon",
    "What would change the answer",
)
"""The nine steps of the Scale-Right Decision Tree (F13)."""
SOURCE = "Clarifai's Scale-Right Decision Tree"


FREE = 1e12
"""A deadline [d], or a budget [USD], that binds nothing."""


@lookup
def limited(limit: Any) -> bool:
    """Whether a limit binds, a quantity or not.

    >>> limited(30.0), limited(FREE)
    (True, False)
    """
    return limit is not FREE


@dataclass(frozen=True)
class Asked:
    """A question put to a chapter: its name, its parameters for this case, and what it answers: by
    the name under which the chapter has it (`run.usd`), the figure.
    """

    chapter: str
    parameters: Mapping[str, Any]
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The question on the command line.

        >>> Asked("buy_or_rent", {"accelerator": "H100 SXM", "hours_per_day": 4.0}).command
        'scaleright run buy_or_rent -p accelerator="H100 SXM" -p hours_per_day=4'
        """
        said = (f"-p {name}={_shell(value)}" for name, value in self.parameters.items())
        return " ".join([f"scaleright run {self.chapter}", *said])

    @property
    def address(self) -> str:
        """The page of the chapter with its controls set so, from the root of the site.

        >>> Asked("buy_or_rent", {"accelerator": "H100 SXM"}).address
        'notebooks/buy_or_rent.html?accelerator=H100+SXM'
        """
        query = urlencode({name: _plain(value) for name, value in self.parameters.items()})
        return f"notebooks/{self.chapter}.html{'?' if query else ''}{query}"

    def record(self) -> dict[str, Any]:
        """It as plain data."""
        return {
            "chapter": self.chapter,
            "parameters": dict(self.parameters),
            "figures": {name: figure(of) for name, of in self.figures.items()},
            "command": self.command,
            "address": self.address,
        }


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and value == float(f"{value:g}") else str(value)


def _shell(value: Any) -> str:
    """A value as another process takes it: a model of the reader's own by its file."""
    text = own_source(str(value)) or _plain(value)
    return (
        text if text.replace(".", "").replace("-", "").replace("+", "").isalnum() else f'"{text}"'
    )


@dataclass(frozen=True)
class Step:
    """A step of a plan.

    says : what to do, in a sentence
    because : why, the weightiest first; or what it consists of
    asked : the chapters behind it
    """

    says: str
    because: Sequence[str] = ()
    asked: Sequence[Asked] = ()


@dataclass(frozen=True)
class Relaxation:
    """A change of what is asked with which the workload can be met.

    says : in a sentence
    parameter, value : of the workload, and what it would have to be
    share : how much it changes, over what was asked [1]
    also : other parameters that have to change with it, by name
    """

    says: str
    parameter: str
    value: Any
    share: float
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Broken:
    """A constraint that cannot be kept.

    says : which, and by how much
    relaxations : what would help, the least change first
    """

    says: str
    relaxations: Sequence[Relaxation] = ()


@dataclass(frozen=True)
class Part:
    """The plan of one kind of work.

    work : what is done, in words
    decision : in a dozen words
    number : the one number, in words
    sure : how sure it is, in words
    because : one reason
    steps : nine, in the order of `STEPS`; fewer where the workload cannot be met
    broken : what cannot be met, None if everything can
    figures : what a machine reads, by name with the unit in it
    """

    work: str
    decision: str
    number: str
    sure: str
    because: str
    steps: Sequence[Step] = ()
    broken: Broken | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The plan as lines of text."""
        lines = [self.work, f"  {self.decision}", f"  {self.number}", f"  How sure: {self.sure}"]
        lines += [f"  Because {self.because}"]
        if self.broken:
            lines += ["", f"  It cannot be met: {self.broken.says}"]
            told = enumerate(self.broken.relaxations)
            lines += [f"  {'Least change:' if not at else 'Or:'} {of.says}" for at, of in told]
        said: dict[str, int] = {}
        for number, (name, step) in enumerate(zip(STEPS, self.steps, strict=False), 1):
            lines += ["", f"{number}. {name}", f"   {step.says}"]
            lines += [f"   - {reason}" for reason in step.because]
            for of in step.asked:
                first = said.setdefault(of.command, number)
                how = of.command if first == number else f"as in step {first}"
                lines.append(f"   chapter {of.chapter}: {how}")
        return lines

    def record(self) -> dict[str, Any]:
        """It as plain data."""
        steps = [
            {
                "step": number,
                "name": name,
                "says": step.says,
                "because": [*step.because],
                "asked": [of.record() for of in step.asked],
            }
            for number, (name, step) in enumerate(zip(STEPS, self.steps, strict=False), 1)
        ]
        broken = self.broken and {
            "says": self.broken.says,
            "relaxations": [vars(of) for of in self.broken.relaxations],
        }
        said = ("work", "decision", "number", "sure", "because")
        return {name: getattr(self, name) for name in said} | {
            "met": self.broken is None,
            "broken": broken,
            "figures": {
                name: figure(of) if isinstance(of, float) else of
                for name, of in self.figures.items()
            },
            "steps": steps,
        }


@lookup
def in_words(probability: Any) -> Any:
    """How sure a choice is, in words that people use; a quantity or not.

    >>> in_words(0.97), in_words(0.8), in_words(0.65), in_words(0.5)
    ('almost certain', 'likely', 'more likely than not', 'it could go either way')
    """
    words = ((0.95, "almost certain"), (0.75, "likely"), (0.6, "more likely than not"))
    cases = [(probability >= least, said) for least, said in words]
    return first_case(cases, "it could go either way")


@lookup
def chance(probability: float) -> str:
    """A probability in words, never a certainty.

    >>> chance(0.81), chance(0.9999), chance(0.0)
    ('81 %', 'over 99 %', 'under 1 %')
    """
    if probability > 0.995:
        return "over 99 %"
    return percent(probability) if probability >= 0.01 else "under 1 %"


@lookup
def percent(share: float) -> str:
    """A share in words.

    >>> percent(0.1234), percent(0.004), percent(2.5)
    ('12 %', '0.4 %', '250 %')
    """
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 1 else f"{value:.1g} %"


@lookup
def count(value: float, digits: int = 3) -> str:
    """A large number as people say it.

    >>> count(2_880_000), count(5000.0), count(2e12)
    ('2.88 million', '5,000', '2.00 trillion')
    """
    return in_units(value, COUNTS, digits).strip()


@lookup
def many(number: float, noun: str) -> str:
    """So many of a thing.

    >>> many(1, "engine"), many(1200, "engine")
    ('1 engine', '1,200 engines')
    """
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"
