"""What the process has done from which runs are forked (see `pool`): IPython and the library's
rooms for chapters are imported, the tables read and judged, and what every chapter asks of them is
found.
"""

import gc
import pkgutil
from contextlib import suppress
from importlib import import_module

import scaleright
from scaleright.press import COLLECTED_AFTER

gc.set_threshold(COLLECTED_AFTER)
for _name in ("joblib", "scaleright.cli", "scaleright.press.worker", "IPython.core.completerlib"):
    import_module(_name)
# What fails here fails again, and is reported, in the chapter that needs it.
for _module in pkgutil.walk_packages(scaleright.__path__, "scaleright."):
    if not _module.name.startswith(("scaleright.press", "scaleright.cli")):
        with suppress(Exception):
            import_module(_module.name)
with suppress(Exception):
    from scaleright import charts

    # what Altair imports only when it draws
    charts.show(charts.lines([{"x": 1.0}], "x", {"y": "x"}, "number", "x", "y"), "One line drawn.")
with suppress(Exception):
    from scaleright import catalog
    from scaleright.catalog import specs

    for _table in catalog.package(catalog.data_dir()):
        with suppress(Exception):
            catalog.unnoted(_table)
    specs.prepare()
gc.collect()
gc.freeze()  # what all runs share is not to be walked through, and so copied, by each
