"""Real keys under real window managers: what they change, what they press, and what they must leave alone."""

from importlib.resources import files

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all

from kinematics import load_trajectory
from rig.config.rig_config import load_config

_VIRTUAL = (files("rig.config.shipped") / "virtual.toml").read_text()
_HOME = load_config("virtual").machine.geometry.home_pose
_FIELDS = "[each.text() for each in window.findChildren(QtWidgets.QAbstractSpinBox)]"
_TERMS = "window.motion.editor.form(0).fields['terms']"
_LINE = {"dof": "z", "amplitude": 0.01, "frequency": 0.5, "phase": 0.0}
_SINES = {"type": "harmonic", "terms": [_LINE, _LINE], "duration": 8.0, "fade": 2.0, "offset": [0.0] * 6}
_STEPS = {"+leg6": "legs.step", "+x": "steps.translation"}  # a jog's button, and the step that it goes by

within_the_window = pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
"""Of what every window manager has the app do alike: under the first of them, under each in the long profile."""


def _cell(row: int, column: int) -> str:
    return f"{_TERMS}.table.cellWidget({row}, {column})"


def _change(desk: Desk) -> None:
    """Another amplitude of the demo."""
    desk.enter("window.motion.amplitude", "40")
    desk.key("Return")
    desk.wait("window.motion.document.unsaved")
    assert desk.where("window.motion.amplitude")["text"] == "40.0 %"


@within_the_window
def test_after_a_jog_by_mouse_the_keys_change_no_step(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.press("tab(window.tabs, 'Jog')")
    for moves, (name, step) in enumerate(_STEPS.items(), start=1):
        place = f"window.jog.buttons[{name!r}]"
        before = desk.value(_FIELDS)
        desk.press(place)
        desk.wait(f"len(session.sent) == {moves}")
        desk.key("7", "Up", "Page_Up")  # it is disabled: the move is under way
        seen = desk.where(place)
        assert seen["focus"] and not seen["enabled"] and desk.value(_FIELDS) == before
        desk.do(f"session.take(make_status(State.RUNNING, t=10.0 + {moves}))")
        desk.do(f"session.take(make_status(State.ENGAGED, t=10.5 + {moves}))")
        desk.wait(f"{place}.isEnabled()")
        desk.key("8", "Up")
        assert desk.where(place)["focus"] and desk.value(_FIELDS) == before
        desk.enter(f"window.jog.{step}", "3")  # who means the step chooses it
        desk.key("Return")
        assert desk.value(f"window.jog.{step}.si()") == 0.003


@within_the_window
def test_tab_takes_the_text_of_the_next_field_and_leaves_the_table(desk: Desk) -> None:
    sines = {"frame": "home", "pivot": [0.0] * 3, "parts": [_SINES]}
    desk.do(f"window.motion.document.show('sines', {sines}, Path())")
    desk.wait("window.motion.title == 'Motion: sines'")
    desk.press(_cell(0, 1))
    desk.key("Tab")
    desk.type("1")
    desk.key("Tab")
    desk.type("1")
    desk.key("Tab")
    assert desk.where(_cell(0, 2))["text"] == "1.000 °" and desk.where(_cell(0, 3))["text"] == "1.000 Hz"
    passed = []
    for _ in range(7):
        passed.append(desk.value("keyboard()"))
        desk.key("Tab")
    second = ["Axis of line 2", "amplitude of line 2, mm", "phase of line 2, °", "frequency of line 2, Hz"]
    assert passed == [*second, "Add line", "Remove line", "duration, s"] and desk.value("keyboard()") == "fade, s"
    assert not desk.value(f"{_TERMS}.isAncestorOf(window.focusWidget())")
    desk.key("shift+Tab", "shift+Tab", "shift+Tab", "shift+Tab")
    assert desk.value("keyboard()") == second[3]


def test_a_motion_that_is_saved_keeps_its_amplitude(desk: Desk) -> None:
    path = desk.folder / "small.toml"
    _change(desk)
    desk.press("button('Save as motion')")
    desk.choose_file(path)
    desk.wait("not window.motion.document.unsaved")
    assert desk.value("window.motion.title") == "Motion: small"
    desk.press("button('Demo motion')")
    desk.wait("window.motion.title == 'Motion: demo'")
    assert desk.where("window.motion.amplitude")["text"] == "100.0 %"
    desk.press("button('Open motion')")
    desk.choose_file(path)
    desk.wait("window.motion.title == 'Motion: small'")
    assert desk.where("window.motion.amplitude")["text"] == "40.0 %" and not desk.value(
        "window.motion.document.unsaved"
    )
    saved, demo = (load_trajectory(name, _HOME) for name in (path, "demo"))
    assert (saved.amplitude, demo.amplitude) == (0.4, 1.0)
    path.unlink()


def test_new_open_and_quit_ask_about_a_motion_that_is_not_saved(desk: Desk) -> None:
    _change(desk)
    windows = desk.value("windows.made")
    for press in ("New motion", "Open motion", "quit by its menu", "quit by its key"):
        if press == "quit by its menu":
            desk.press("entry(window.menuBar(), 'Rig')")
            desk.press("entry(window.menuBar().actions()[0].menu(), 'Quit')")
        elif press == "quit by its key":
            desk.key("ctrl+q")
        else:
            desk.press(f"button({press!r})")
        desk.dialog()
        assert desk.value("dialogs()[0].text()") == "The motion 'demo' was changed and is not saved."
        desk.press("button('Cancel')")
        desk.dialog(0)
        assert desk.value("window.isVisible()") and desk.value("window.motion.title") == "Motion: demo (changed)"
        assert desk.where("window.motion.amplitude")["text"] == "40.0 %"
    assert not desk.value("session.ended_by_window")
    desk.key("ctrl+q")
    desk.dialog()
    desk.press("button('Discard the changes')")
    desk.wait(f"windows.made == {windows} + 1 and window.isVisible()")  # it has closed, and the app was begun anew


@within_the_window
def test_enter_presses_what_moves_the_rig_and_space_does_not(desk: Desk) -> None:
    desk.do("session.take(make_status(State.IDLE))")
    desk.wait("window.operate.buttons[Action.HOME].isEnabled()")
    desk.do("window.operate.buttons[Action.HOME].setFocus()")
    desk.key("space")
    assert desk.value("session.commands") == []
    desk.key("Return")
    assert desk.value("session.commands") == ["home"]
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.wait("window.motion.run.isEnabled()")
    desk.do("window.motion.run.setFocus()")
    desk.key("space")
    assert not desk.value("session.moving") and desk.value("session.commands") == ["home"]
    desk.key("Return")
    desk.wait("session.commands == ['home', 'follow \\'demo\\'']")


def test_the_guide_and_what_the_program_is(desk: Desk) -> None:
    page = "window.menus.help.guide.text.source().fileName()"
    desk.key("F1")
    desk.wait("window.menus.help.guide is not None and window.menus.help.guide.isVisible()")
    assert desk.value(page) == "first-run.md"
    assert "Connect, Home, Arm, Engage" in desk.value("window.menus.help.guide.text.toPlainText()")
    desk.press("button('Contents')")
    assert desk.value(page) == "README.md"
    desk.press("button('Back')")
    assert desk.value(page) == "first-run.md"
    assert desk.ask("look")["stops"], "STOP is under the guide"
    desk.do("window.menus.help.guide.close()")
    desk.wait("not window.menus.help.guide.isVisible()")
    desk.press("entry(window.menuBar(), 'Help')")
    desk.press("entry(window.menuBar().actions()[-1].menu(), 'User guide')")
    desk.wait("window.menus.help.guide.isVisible()")
    assert desk.value(page) == "README.md"
    desk.do("window.menus.help.guide.close()")
    desk.wait("not window.menus.help.guide.isVisible()")
    desk.press("entry(window.menuBar(), 'Help')")
    desk.press("entry(window.menuBar().actions()[-1].menu(), 'About stewart-rig')")
    desk.dialog()
    assert "are not safety functions" in desk.value("dialogs()[0].text()")
    desk.press("button('OK')")
    desk.dialog(0)


def test_the_guide_comes_up_above_although_a_key_is_pressed_while_it_does(desk: Desk) -> None:
    for _ in range(4):  # a window manager sees that key before or after the guide
        desk.hand("key", "--delay", 5, "F1", "shift", "shift", "shift")
        desk.wait("window.menus.help.guide is not None and window.menus.help.guide.isVisible()")
        desk.press("button('Contents')")
        desk.do("window.menus.help.guide.close()")
        desk.wait("not window.menus.help.guide.isVisible() and window.isActiveWindow()")


def test_the_menu_opens_another_rig_in_place_of_this_one(desk: Desk) -> None:
    path = desk.folder / "other.toml"
    path.write_text(_VIRTUAL.replace('name = "virtual"', 'name = "the other one"'))
    desk.press("entry(window.menuBar(), 'Rig')")
    desk.press("entry(window.menuBar().actions()[0].menu(), 'Open another rig …')")
    desk.choose_file(path)
    desk.wait("window.session.config.name == 'the other one' and window.isVisible()")
    assert desk.value("len(windows.visible)") == 1 and len(desk.ask("look")["stops"]) == 1
    desk.press("window.stop_button")
    assert desk.stopped() == 1


def test_the_rig_that_was_set_up_follows_in_one_window_with_one_stop(desk: Desk) -> None:
    desk.press("entry(window.menuBar(), 'Rig')")
    desk.press("entry(window.menuBar().actions()[0].menu(), 'Set up a new rig …')")
    desk.dialog()
    desk.enter("window.menus.setup.wizard.start['name']", "mine")
    desk.press("part(window.menus.setup.wizard.start['virtual'].buttons[True], 0.02, 0.5)")
    while desk.value("window.menus.setup.wizard.currentPage() is not window.menus.setup.wizard.saving"):
        desk.press("window.menus.setup.wizard.button(QtWidgets.QWizard.NextButton)")
    desk.press("window.menus.setup.wizard.saving.save")
    desk.press("window.menus.setup.wizard.saving.open")
    desk.wait("session.config.name == 'mine' and window.isVisible()")
    assert desk.value("len(windows.visible)") == 1 and desk.ask("look")["dialogs"] == 0
    (stop,) = desk.ask("look")["stops"]
    desk.click(*stop)
    desk.settle()
    assert desk.stopped() == 1
