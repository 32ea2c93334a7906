"""Sentences that are cells of a notebook, as in

    %%say if saving > 0
    Owning saves **{saving:usd}** a year.
    %%otherwise
    Rent: owning costs {-saving:usd} more a year.

The lines are Markdown, one paragraph, and name quantities as `templates` says; the condition and
what is said where it does not hold may be left out. A notebook shows the sentence with its values,
a page keeps it on those of its controls.
"""

import re
import string
import sys
from collections.abc import Mapping
from typing import Any

from scaleright.charts.answers import paragraph
from scaleright.charts.displays import Display
from scaleright.charts.templates import found

_OTHERWISE = re.compile("^%%otherwise$", re.MULTILINE)
_FIELD = "\N{OBJECT REPLACEMENT CHARACTER}"


def sentence_of(line: str, cell: str, names: Mapping[str, Any]) -> Display:
    r"""What a cell says of the names of its notebook; `line` stands behind its `%%say`.

    Raises
    ------
    LookupError : a name that there is not; the nearest is offered.
    ValueError : a line that is no condition, or only one of the two that belong together.

    >>> from types import SimpleNamespace as N
    >>> from scaleright.charts.live import controls
    >>> _ = controls(N(parameters=()))
    >>> cell = "Own.\n%%otherwise\n**Rent**: owning costs {-saving:usd} more."
    >>> sentence_of("if saving > 0", cell, {"saving": -2.0})
    Rent: owning costs $2.00 more.
    """
    text, *others = _OTHERWISE.split(cell)
    condition = re.fullmatch("if (.+)", line.strip())
    if len(others) != (1 if condition else 0) or (line.strip() and not condition):
        raise ValueError(f"`%%say if CONDITION` and `%%otherwise` belong together: %%say {line}")
    provided = found(condition[1], names) if condition else None
    return paragraph(_html(text), provided, _html("".join(others)), names)


def _html(template: str) -> str:
    """Markdown as HTML, with what stands in braces as it is."""
    from markdown_it import MarkdownIt

    plain, fields = "", []
    for text, field, kind, _ in string.Formatter().parse(" ".join(template.split())):
        plain += text
        if field is not None:
            plain += _FIELD
            fields.append(f"{{{field}:{kind}}}" if kind else f"{{{field}}}")
    each = iter(fields)
    text = MarkdownIt().renderInline(plain).replace("{", "{{").replace("}", "}}")
    return re.sub(_FIELD, lambda _: next(each), text)


def known_to_notebook() -> None:
    """Have the notebook that asks, if one does, know `%%say`."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return

    from IPython.core.magic import no_var_expand

    def say(line: str, cell: str) -> Display:
        return sentence_of(line, cell, shell.user_ns)

    say.__doc__ = __doc__
    shell.register_magic_function(no_var_expand(say), "cell", "say")
