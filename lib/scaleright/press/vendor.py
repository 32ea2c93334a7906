"""The two outside scripts of the site, served from the site itself: Vega and MathJax.

Both come out of installed packages at build time, so that neither is committed and neither is
requested from another host.
"""

from __future__ import annotations

import importlib.metadata
import shutil
from functools import lru_cache
from pathlib import Path

from scaleright.files import write_whole

_MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")
"""What a page of formulas may ask for: the engine, its fonts, and the TeX packages it loads on
demand.
"""


@lru_cache(maxsize=1)
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vega`, `vegaLite` and `vegaEmbed` on
    the window.

    Making it takes almost two seconds: it is kept among the user's caches, for each version.
    """
    from joblib import Memory
    from platformdirs import user_cache_path

    version = importlib.metadata.version("vl-convert-python")
    try:
        return Memory(user_cache_path("scaleright"), verbose=0).cache(_bundle)(version)
    except OSError:  # nothing can be kept there
        return _bundle(version)


def _bundle(version: str) -> str:
    """The script of this version of vl-convert; the function around it keeps the short names that
    it declares out of the page's own.
    """
    import vl_convert

    # Its stub asks for what it does not need.
    bundle = vl_convert.javascript_bundle()  # pyrefly: ignore[missing-argument]
    return "(function () {" + bundle + "})();\n"


def _mathjax_home() -> Path:
    """Folder of MathJax inside the package `sphinx-mathjax-offline`, whose name no import statement
    can spell.
    """
    files = importlib.metadata.files("sphinx-mathjax-offline") or []
    engine = next((file for file in files if file.name == _MATHJAX[0]), None)
    if engine is None:
        raise FileNotFoundError(
            "vendor: the package sphinx-mathjax-offline is not installed; pip install -r"
            " requirements.txt"
        )
    return Path(str(engine.locate())).parent


def copy_vega(static: Path) -> None:
    """Write `vendor/vega.js` under a static folder, unless it is there."""
    target = static / "vendor" / "vega.js"
    if not target.exists():
        write_whole(target, vega_bundle())


def copy_mathjax(static: Path) -> None:
    """Write `vendor/mathjax/` under a static folder; leaves what is there already.

    Raises
    ------
    FileNotFoundError : if the package that carries MathJax is missing.
    """
    home = _mathjax_home()
    for name in _MATHJAX:
        source, copy = home / name, static / "vendor" / "mathjax" / name
        if copy.exists():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copyfile(source, copy)
