"""The one look of the book's charts: fixed colors, system fonts, text that follows light and dark.

Every color has a contrast of at least 3:1 against the light and against the dark page, so that one
palette serves both; text is drawn in `currentColor` and takes the page's ink. Color never carries a
meaning alone: marks are labeled directly.
"""

BLUE, VERMILLION, GREEN, PURPLE = "#2b7cd3", "#bf3d12", "#1f9161", "#8f4fb8"
GOLD, CYAN, GRAY, ROSE = "#b58500", "#2699b8", "#656e78", "#e8609a"

CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, GOLD, CYAN, ROSE, GRAY)
"""Order in which series without a meaning of their own take colors."""

VENDOR = {
    "NVIDIA": GREEN,
    "AMD": VERMILLION,
    "Google": BLUE,
    "AWS": GOLD,
    "Intel": CYAN,
    "other": GRAY,
}
COST = {
    "chips": BLUE,
    "server": CYAN,
    "network": PURPLE,
    "power": GOLD,
    "facility": GREEN,
    "people": VERMILLION,
    "capital": GRAY,
    "rent": ROSE,
}
TIME = {"compute": BLUE, "memory": VERMILLION, "communication": GOLD, "idle": GRAY}
CHOICE = {"rent": ROSE, "own": BLUE, "buy": BLUE, "hybrid": GOLD, "api": GREEN}
SEGMENT = {"hyperscaler": BLUE, "neocloud": GREEN, "marketplace": VERMILLION, "index": GRAY}

_NAMED = {
    name.lower(): color
    for group in (VENDOR, COST, TIME, CHOICE, SEGMENT)
    for name, color in group.items()
}
_NAMED |= {"cooling": GREEN, "electricity": _NAMED["power"], "staff": _NAMED["people"]}
_NAMED |= {"renting": ROSE, "rented": ROSE, "owning": BLUE, "owned": BLUE}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK = "currentColor"


def color_of(name: str) -> str | None:
    """The fixed color of a vendor, a cost part, a time part, a choice or a market segment; None for
    any other name.

    A qualifier after the word keeps the color: "power and cooling" is power, "own (colocation)" is
    own.

    >>> color_of("NVIDIA"), color_of("power and cooling") == COST["power"], color_of("weights")
    ('#1f9161', True, None)
    """
    words = str(name).lower().replace("_", " ").split()
    return _NAMED.get(" ".join(words)) or (_NAMED.get(words[0]) if words else None)


def colors_for(names) -> list[str]:
    """A color for each name: its fixed one, or the next of `CYCLE` that none of the others holds.

    >>> colors_for(["rent", "own", "weights"]) == [ROSE, BLUE, VERMILLION]
    True
    """
    names = list(names)
    fixed = {name: color_of(name) for name in names}
    free = [color for color in CYCLE if color not in fixed.values()] or list(CYCLE)
    others = [name for name in names if not fixed[name]]
    return [fixed[name] or free[others.index(name) % len(free)] for name in names]


def ordered(names) -> list[str]:
    """Different names in one order for the whole book: segments of the market in theirs, others as
    they come.

    >>> ordered(["neocloud", "A", "hyperscaler", "A"])
    ['hyperscaler', 'neocloud', 'A']
    """
    known = list(SEGMENT)
    return sorted(
        dict.fromkeys(names), key=lambda name: known.index(name) if name in known else len(known)
    )


def config() -> dict:
    """The Vega-Lite configuration that `show` gives to every chart."""
    words = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
    }
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "padding": {"left": 2, "right": 6, "top": 6, "bottom": 4},
        "range": {"category": list(CYCLE), "heatmap": {"scheme": "viridis"}},
        "axis": words
        | {
            "labelLimit": 150,
            "gridColor": INK,
            "gridOpacity": 0.12,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "titlePadding": 8,
            "labelOverlap": True,
        },
        "axisX": {"titleAnchor": "start", "tickCount": 5},
        "axisY": {
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleY": -12,
            "titleX": 0,
            "tickCount": 5,
        },
        "legend": words | {"orient": "top", "title": None, "columns": 3, "symbolType": "square"},
        # Where a chart is narrow the page's script moves the names of lines into a key above it,
        # and the values of rows above their bars.
        "style": {
            "line-name": {"align": "left", "dx": 18, "fontWeight": "bold"},
            "row-value": {"align": "left", "dx": 5},
            "line-dot": {"align": "left", "dx": 5, "fontWeight": "bold"},
        },
        "text": {"color": INK, "fontSize": 13},
        "rule": {"color": INK},
        "bar": {"color": BLUE, "cornerRadiusEnd": 2},
        "line": {"strokeWidth": 2.5},
        "point": {"size": 60, "filled": True, "opacity": 0.85},
    }
