"""A chapter's parameters: declared once, in the cell tagged `parameters`, and checked before
anything runs.

Each line of that cell is one parameter and the only place that says so:

    name: type = default  # meaning [unit] (low..high)

A comment line right below continues it, since a line of code has at most 100 columns.
`type` is float, int, str or bool, with `| None` where the value may be left out. The parenthesis
holds the bounds of a number, or the choices of a text (`a | b`), or `accelerators` or `models` for
any name in that table, or the bounds of a day (`date 2022-09-01..today`), which is a text such as
"2026-09-29". Choices that end in `, or a config.json` are of models, and the path of a file with a
model of the reader's own is taken as well. What no value can say by itself stands below, in
comments of the form

    # check: rule(name, other), rule(name)

with the functions of `scaleright.rules`, which refuse values that do not go together. The lines
feed the command line, the reader's table, a chart's slider and, inside the chapter, `case()`, which
`supplied` gives a case outside of a notebook.
papermill's own inspection reads the same lines (all but those with `| None`, which its pattern
lacks).

`declaration` reads the lines and takes one value, `case` checks and holds a reader's values,
`own_models` are models of the reader's own.
"""

from scaleright.parameters.case import (
    COLUMNS,
    Case,
    ParameterError,
    accepted,
    case,
    impossible,
    read_grid,
    refusal,
    rows,
    supplied,
    table,
    validate,
)
from scaleright.parameters.declaration import (
    FORM,
    DeclarationError,
    Declared,
    Parameter,
    known_rules,
    parse,
    show,
)

__all__ = [
    "COLUMNS",
    "FORM",
    "Case",
    "DeclarationError",
    "Declared",
    "Parameter",
    "ParameterError",
    "accepted",
    "case",
    "impossible",
    "known_rules",
    "parse",
    "read_grid",
    "refusal",
    "rows",
    "show",
    "supplied",
    "table",
    "validate",
]
