"""One look for all charts, live controls, the answer card and tables.

`controls(case).given` are the chapter's parameters as quantities; `bars`, `lines`, `stacked_parts`,
`tornado` and `predicted_vs_measured` build charts from rows or from quantities, to which `rule`
adds a line and `band` a strip; `show` hands a chart to the page; `answer_card`, `sentence`, `table`
and `parameters_table` are the rest of a chapter's displays, `sheet` a table of the library, and
`at_defaults` marks one that follows no control. What some chapters draw or say is imported
from its own module: `busy`, `intervals`, `market`, `platforms`, `ranking`, `weights`.
"""

from scaleright.charts.answers import answer_card, beneath_strip, sentence
from scaleright.charts.choosing import (
    confidence,
    how_sure,
    odds,
    predicted_within,
    worth_of_knowing,
)
from scaleright.charts.displays import Display
from scaleright.charts.live import Controls, LiveNumber, controls
from scaleright.charts.marks import (
    band,
    bars,
    lines,
    rule,
    stacked_parts,
)
from scaleright.charts.render import show
from scaleright.charts.sureness import predicted_vs_measured, tornado
from scaleright.charts.tables import (
    at_defaults,
    claims,
    folded,
    held_out_test,
    parameters,
    parameters_table,
    sheet,
    table,
)
from scaleright.charts.templates import phrase
from scaleright.charts.words import between, listed, say, unit_words
