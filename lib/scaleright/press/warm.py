"""What a warm kernel has done before it is forked (see `kernels`): Jupyter's kernel and the
library's rooms for chapters are imported, the tables read and judged, and what every chapter asks
of them is found.
"""

import gc
import pkgutil
import sys
from contextlib import suppress
from importlib import import_module

import scaleright
from scaleright.press import COLLECTED_AFTER

gc.set_threshold(COLLECTED_AFTER)
# Nobody debugs a build: what is None is not imported, though typeshed has only modules here.
sys.modules.setdefault("debugpy", None)  # pyrefly: ignore[no-matching-overload]
for _name in (
    *("joblib", "scaleright.parameters", "ipykernel.kernelapp", "ipykernel.ipkernel"),
    # what a kernel imports only when it starts
    *("IPython.core.completerlib", "IPython.core.oinspect", "IPython.extensions.storemagic", "pdb"),
    *("tornado.gen", "tornado.platform.asyncio"),
):
    import_module(_name)
# Its patterns are compiled.
import_module("ipykernel.kernelapp").IPKernelApp().parse_command_line(["-f", ""])
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
gc.freeze()  # what is shared with every kernel is not to be walked through, and so copied, by each
