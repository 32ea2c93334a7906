"""The controls of the built pages under a reader's hands: keyboard, words, bounds.

One function of the page's script draws the controls of all chapters, of three kinds: the keyboard
walks through a chapter for each kind. Of every chapter is asked that its controls are native
inputs, which a browser serves the keyboard with, and that what a reader sees follows each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from browse import CHAPTERS, PAGES, Visit

KEYS = {
    "flag": ("Space",),
    "choice": ("ArrowDown", "ArrowUp"),
    "number": ("ArrowRight", "ArrowLeft"),
}

BACK = {"ArrowDown": "ArrowUp", "ArrowUp": "ArrowDown", "Space": "Space"}

NATIVE = {"flag": "checkbox", "choice": "select-one", "number": "range"}
"""What each kind of control is in HTML."""


def stops(control: dict) -> list:
    """Values to try of a control: up to six others of a choice; both ends and the middle."""
    if control["kind"] == "flag":
        return [not control["value"]]
    if control["kind"] == "choice":
        return [choice for choice in control["choices"] if choice != control["value"]][:6]
    low, high = control["low"], control["high"]
    return [round(at) if control["whole"] else at for at in (low, high, (low + high) / 2)]


def rounds(controls: dict[str, dict], *kinds: str) -> list[dict]:
    """Every value worth a try of the controls of these kinds: the first of each, the second ..."""
    tried = {name: stops(control) for name, control in controls.items() if control["kind"] in kinds}
    most = max(map(len, tried.values()), default=0)
    return [{name: of[at] for name, of in tried.items() if at < len(of)} for at in range(most)]


def walked(opened: Visit) -> tuple[dict[str, dict], set[str], set[str]]:
    """Every control that the Tab key reaches in the page's text, with its focus; which of them
    another key then moves, and which of those change what a reader sees. One that decides which
    others there are is moved back.
    """
    controls = opened.controls()
    leaders = {leader for control in controls.values() for leader in control.get("only", {})}
    reached, moved, followed, before = {}, set(), set(), None
    opened.ask("document.querySelector('.skip').focus()")
    opened.page.keyboard.press("Enter")
    for _ in range(600):
        opened.page.keyboard.press("Tab")
        focus = opened.ask("probe.focus()")
        if focus["id"] == before and focus["id"] in ("BODY", ""):
            break
        before, name = focus["id"], focus.get("control")
        if name not in controls or name in reached:
            continue
        reached[name] = focus
        for key in KEYS[controls[name]["kind"]]:
            opened.page.keyboard.press(key)
            now = opened.ask("probe.now", name)
            followed.update([name] if now["changed"] else [])
            if now["value"] != focus["value"]:
                moved.add(name)
                if name in leaders:
                    opened.page.keyboard.press(BACK[key])
                break
        if {*shown(controls)} <= set(reached):
            break
    return reached, moved, followed


def shown(controls: dict[str, dict]) -> list[str]:
    """Those that matter as the page opens: others wait for what another control chooses."""
    return [
        name
        for name, of in controls.items()
        if all(controls[leader]["value"] in there for leader, there in of.get("only", {}).items())
    ]


def unmoved(opened: Visit, name: str, values: list, beside: dict) -> bool:
    """Whether nothing that a reader sees changes at any of these values, beside others."""
    return opened.ask("(given) => probe.silent(...given)", [name, values, beside])


def silent(opened: Visit, names: Iterable[str]) -> list[str]:
    """Those of these controls that change nothing which a reader sees, whatever their value."""
    controls = opened.controls()
    tried = {name: stops(controls[name]) for name in names}
    asked = {name: beside(controls, name) for name in tried}
    # Words are read sooner than charts are drawn, and most controls move some by themselves; one
    # that waits for a choice moves nothing before that.
    still = opened.ask(
        "(given) => probe.still(...given)", [tried, {of: asked[of][:1] for of in tried}]
    )
    still = [of for of in still if unmoved(opened, of, tried[of], asked[of][0])]
    tried = {name: tried[name] for name in still}
    rest = {of: asked[of][1:] for of in still}
    still = opened.ask("(given) => probe.still(...given)", [tried, rest]) if still else []
    return [
        name
        for name in still
        if all(unmoved(opened, name, tried[name], of) for of in rest[name] if name not in of)
    ]


def beside(controls: dict[str, dict], name: str) -> list[dict]:
    """The cases in which a control is tried, the likeliest first. A step may be too small to see,
    or moot beside what was moved before; or it needs what another control brings, as a load does of
    which nothing is known by default: mostly the one next to it.
    """
    place = [*controls].index(name)
    near = sorted(enumerate(controls.values()), key=lambda of: abs(of[0] - place))
    choices = [of for _, of in near if of["kind"] == "choice"]
    moved = [{of["name"]: stops(of)[at]} for of in choices for at in (0, -1)]
    others = [{}, *rounds(controls, "number")[-1:], *moved]
    each = product(enumerate(leading(controls[name])), enumerate(others))
    ranked = sorted(each, key=lambda both: both[0][0] + both[1][0])
    return [lead | other for (_, lead), (_, other) in ranked]


def leading(control: dict) -> list[dict]:
    """The cases in which a control matters, by what it waits for; as the page opens, if nothing."""
    only = control.get("only", {})
    return [dict(zip(only, of, strict=True)) for of in product(*only.values())]


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_control_is_a_native_input_with_a_name_and_what_a_reader_sees_follows(look, name):
    opened = look(name)
    controls, first = opened.controls(), opened.ask("probe.words()")
    drawn = opened.ask("probe.inputs()")
    assert controls and {of["control"] for of in drawn} == {*shown(controls)}
    for of in drawn:
        assert (of["input"], of["reached"]) == (NATIVE[controls[of["control"]]["kind"]], True), of
        assert of["name"], of
    assert silent(opened, controls) == [], "these controls change nothing that the reader sees"
    # Nothing breaks at the ends of numbers, whose middles are for `test_live`, and at two other
    # choices; and all can be undone.
    ends, choices = rounds(controls, "number")[:2], rounds(controls, "choice", "flag")[:2]
    opened.ask("probe.through", [*ends, *choices])
    assert opened.ask("probe.words()") == first
    assert opened.troubles == []


# Light pages: on the heaviest, where a choice decides which controls there are, it is the night's.
WALKED = {
    "flag": "notebooks/hardware_radar.html",
    "choice": "notebooks/memory_wall.html",
    "number": "notebooks/scaling_laws.html",
}


def walk(opened: Visit) -> set[str]:
    """Move every control of a page by keyboard; the kinds of those that moved."""
    controls = opened.controls()
    opened.ask("probe.changed()")
    reached, moved, followed = walked(opened)
    assert set(reached) == moved == {*shown(controls)}
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []
    assert silent(opened, moved - followed) == []
    assert opened.troubles == []
    return {control["kind"] for control in controls.values()}


@pytest.mark.parametrize("name, kind", [(name, kind) for kind, name in WALKED.items()])
def test_the_keyboard_moves_every_control_and_what_a_reader_sees_follows(look, name, kind):
    assert kind in walk(look(name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in CHAPTERS if name not in WALKED.values()])
def test_the_keyboard_moves_every_control_of_every_chapter(look, name):
    assert walk(look(name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHAPTERS)
def test_nothing_breaks_at_any_choice_and_all_can_be_undone(look, name):
    opened = look(name)
    controls, first = opened.controls(), opened.ask("probe.words()")
    opened.ask("probe.through", rounds(controls, "choice", "flag"))
    assert opened.ask("probe.words()") == first
    assert opened.troubles == []


def test_the_keyboard_reaches_what_opens_and_downloads(visit):
    opened = visit(CHAPTERS[-1], width=360)
    wanted = set(
        opened.ask("[...document.querySelectorAll('.launch a, .sr-files a')].map((a) => a.href)")
    )
    opened.page.keyboard.press("Tab")
    assert opened.ask("document.activeElement.matches('.skip')")  # past the list of chapters
    reached = {}
    for _ in range(400):
        opened.page.keyboard.press("Tab")
        href = opened.ask("document.activeElement.href || ''")
        if href in wanted:
            reached[href] = opened.ask("probe.focus()")
        if wanted <= set(reached):
            break
    assert set(reached) == wanted and len(wanted) > 5
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []


@pytest.mark.parametrize("name", PAGES)
def test_whatever_can_be_operated_has_a_name(look, name):
    assert look(name).ask("probe.nameless()") == []


@pytest.mark.parametrize("name", CHAPTERS[-1:])
def test_a_value_out_of_bounds_is_refused_in_words(look, name):
    opened = look(name)
    control = next(
        c for c in opened.controls().values() if c["kind"] == "number" and not c["percent"]
    )
    field = opened.page.locator(f"[data-control={control['name']}] .sr-field").first
    field.fill(str(control["high"] * 10))
    field.press("Enter")
    opened.page.keyboard.press("Tab")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["value"]
    assert (
        " to "
        in opened.page.locator(f"[data-control={control['name']}] [role=alert]").first.inner_text()
    )
    field.fill(str(control["low"]))
    field.press("Enter")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["low"]


@pytest.mark.parametrize("name", ["notebooks/gpu_prices.html"])
def test_a_number_below_zero_is_written_with_one_sign_and_read_with_either(look, name):
    opened = look(name)
    field = opened.page.locator("[data-control=price_change_per_year] .sr-field").first
    assert field.input_value() == "−15"
    for typed in ("-20", "−25 %"):
        field.fill(typed)
        field.press("Enter")
        assert (
            opened.ask("window.scaleright.page.values.price_change_per_year")
            == -float(typed.strip("-−% ")) / 100
        ), typed


@pytest.mark.parametrize("name", ["notebooks/buy_or_rent.html"])
def test_a_number_with_a_decimal_comma_is_not_misread(look, name):
    opened = look(name)
    field = opened.page.locator("[data-control=rent_usd_per_hour] .sr-field").first
    for typed, read in (
        ("2,40", None),
        ("$2.40", 2.4),
        ("€3", None),
        ("1,2", None),
        ("3 .5", None),
        ("3.5", 3.5),
    ):
        before = opened.ask("window.scaleright.page.values.rent_usd_per_hour")
        field.fill(typed)
        field.press("Enter")
        assert opened.ask("window.scaleright.page.values.rent_usd_per_hour") == (
            before if read is None else read
        ), typed


@pytest.mark.parametrize("name", ["notebooks/scaling_laws.html"])
def test_a_large_amount_is_written_and_read_in_words(look, name):
    opened = look(name)
    field = opened.page.locator("[data-control=unique_tokens] .sr-field").first
    assert field.input_value() == "2 trillion"
    for typed, read in (
        ("3.5 Trillion", 3.5e12),
        ("800 billion", 8e11),
        ("4e12", 4e12),
        ("trillion", None),
        ("2 dozen", None),
    ):
        before = opened.ask("window.scaleright.page.values.unique_tokens")
        field.fill(typed)
        field.press("Enter")
        now = opened.ask("window.scaleright.page.values.unique_tokens")
        assert now == (before if read is None else read), typed
