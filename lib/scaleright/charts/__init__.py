"""One look for all charts, live controls, the answer card and tables.

`controls(case).given` are the chapter's parameters as quantities; `bars`, `ranking`, `intervals`,
`lines`, `stacked_parts`, `tornado`, `predicted_vs_measured` and `boundary` build charts from rows
or from quantities, to which `rule` adds a line, `band` a strip and `dots` named points; `show`
hands a chart to the page; `answer_card`, `sentence`, `table` and `parameters_table` are the rest of
a chapter's displays, `sheet` a table of the library, and `at_defaults` marks one that follows no
control.
"""

from scaleright.charts import lean
from scaleright.charts.answers import answer_card, beneath_strip, sentence
from scaleright.charts.busy import utilization, utilization_source
from scaleright.charts.choosing import (
    confidence,
    how_sure,
    odds,
    predicted_within,
    worth_of_knowing,
)
from scaleright.charts.displays import Display
from scaleright.charts.dots import dots
from scaleright.charts.intervals import intervals
from scaleright.charts.live import Controls, LiveNumber, controls
from scaleright.charts.market import scatter, timeline
from scaleright.charts.marks import (
    band,
    bars,
    lines,
    rule,
)
from scaleright.charts.plane import boundary
from scaleright.charts.progress import progress
from scaleright.charts.radar import profile, radar
from scaleright.charts.ranking import ranking
from scaleright.charts.render import show
from scaleright.charts.spreads import spread
from scaleright.charts.stacks import stacked_parts
from scaleright.charts.standing import standing
from scaleright.charts.sureness import predicted_vs_measured, tornado
from scaleright.charts.tables import (
    at_defaults,
    claims,
    folded,
    parameters,
    parameters_table,
    sealed_test,
    sheet,
    table,
)
from scaleright.charts.templates import phrase
from scaleright.charts.weights import (
    every_format,
    measured_format,
    weights_format,
    weights_formats,
)
from scaleright.charts.words import listed, say, unit_words
