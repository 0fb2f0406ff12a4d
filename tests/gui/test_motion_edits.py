"""Steps that are undone and done again, transitions that come by themselves, and saving."""

import tomllib
from pathlib import Path
from typing import Any, Self

import pytest
from motion_support import HOME, looked, open_motion, take
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import KEY, FakeSession, Panels, choose, focus, key, make_status, press

from gui.models.motion import NEW_PARTS, authored, what_changed
from gui.motion.panel import MotionPanel
from kinematics import load_trajectory
from rig.client import checked_motion
from rig.config.rig_config import load_config
from rig.runtime import CallProcess, ChildDiedError
from rig.states import State

_JERK: dict[str, Any] = {"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}
_SINES: dict[str, Any] = {"type": "harmonic", **NEW_PARTS["harmonic"]}
_HOLD: dict[str, Any] = {"type": "hold", **NEW_PARTS["hold"]}


@pytest.fixture
def panel(panels: Panels, qtbot: Any) -> MotionPanel:
    """A new motion, in front."""
    panels.tabs.setCurrentWidget(panels.motion)
    panels.activateWindow()
    panels.motion.begin_new()
    qtbot.waitUntil(panels.isActiveWindow, timeout=60_000)
    return panels.motion


def _keys(panel: MotionPanel, keys: str) -> None:
    QtTest.QTest.keySequence(panel.window().windowHandle(), keys)


def _type(box: QtWidgets.QWidget, qtbot: Any, text: str, end: Any = KEY.Key_Return) -> None:
    focus(qtbot, box)
    box.selectAll()
    for letter in text:
        key(ord(letter))
    if end is not None:
        key(end)


def _button(panel: MotionPanel, name: str) -> QtWidgets.QPushButton:
    (button,) = [each for each in panel.findChildren(QtWidgets.QPushButton) if each.accessibleName() == name]
    return button


def test_typing_in_one_field_is_one_step_and_the_keys_act_there(panel: MotionPanel, qtbot: Any) -> None:
    edits, fields = panel.edits, panel.editor.form(0).fields
    first = panel.editor.value()
    end, duration = fields["end"].boxes[2], fields["duration"].box
    _type(end, qtbot, "12")
    _type(end, qtbot, "15")
    _type(duration, qtbot, "3")
    last = panel.editor.value()
    assert edits.stack.count() == 2 and panel.title == "Motion: new motion (changed)"
    assert edits.undo_button.toolTip() == "Undo duration of part 1 (Ctrl+Z)"
    assert duration.hasFocus()
    _keys(panel, "Ctrl+Z")
    assert duration.value() == 2.0 and edits.undo_button.toolTip() == "Undo end z of part 1 (Ctrl+Z)"
    assert edits.redo_button.toolTip() == "Redo duration of part 1 (Ctrl+Shift+Z, Ctrl+Y)"
    _keys(panel, "Ctrl+Z")
    assert panel.editor.value() == first and panel.title == "Motion: new motion"
    assert not edits.undo_button.isEnabled() and edits.undo_button.toolTip() == "Nothing to undo (Ctrl+Z)"
    _keys(panel, "Ctrl+Shift+Z")
    _keys(panel, "Ctrl+Y")
    assert panel.editor.value() == last and not edits.redo_button.isEnabled()
    press(edits.undo_button)
    press(edits.undo_button)
    assert panel.editor.value() == first


def test_what_is_being_typed_is_a_step(panel: MotionPanel, qtbot: Any) -> None:
    box = panel.editor.form(0).fields["duration"].box
    _type(box, qtbot, "7", end=None)
    _keys(panel, "Ctrl+Z")
    assert box.value() == 2.0 and panel.edits.stack.canRedo()
    _keys(panel, "Ctrl+Y")
    assert box.value() == 7.0


def test_what_is_being_typed_is_saved_and_asked_for(panel: MotionPanel, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "typed.toml"
    panel.save_file(path)
    box = panel.editor.form(0).fields["duration"].box
    _type(box, qtbot, "7", end=None)
    _keys(panel, "Ctrl+S")
    assert tomllib.loads(path.read_text())["parts"][0]["duration"] == 7.0 and panel.title == "Motion: typed"
    _type(box, qtbot, "9", end=None)
    panel.confirm_discard(panel.begin_new)
    assert panel.document.question is not None and box.value() == 9.0
    choose(panel.document.question, "Cancel")


def test_a_step_ends_where_the_motion_is_saved(panel: MotionPanel, qtbot: Any, tmp_path: Path) -> None:
    box = panel.editor.form(0).fields["duration"].box
    _type(box, qtbot, "7")
    panel.save_file(tmp_path / "saved.toml")
    _type(box, qtbot, "9")
    _keys(panel, "Ctrl+Z")
    assert box.value() == 7.0 and panel.title == "Motion: saved"
    _keys(panel, "Ctrl+Z")
    assert box.value() == 2.0 and panel.title == "Motion: saved (changed)"


def test_each_line_that_is_added_is_a_step(panel: MotionPanel) -> None:
    panel.editor.kinds.setCurrentText("harmonic")
    press(panel.editor.buttons["Add"])
    stack, field = panel.edits.stack, panel.editor.form(1).fields["terms"]
    add, remove = (
        next(each for each in field.findChildren(QtWidgets.QPushButton) if each.text() == text)
        for text in ("Add line", "Remove line")
    )
    steps = stack.count()
    for act in (add, add, add, remove):
        press(act)
    assert stack.count() == steps + 4 and len(field.value()) == 3
    for left in (4, 3, 2, 1):
        stack.undo()
        assert len(field.value()) == left


def test_the_size_is_undone_by_the_keys_in_its_own_field(panel: MotionPanel, qtbot: Any) -> None:
    _type(panel.amplitude, qtbot, "40")
    assert panel.amplitude.value() == 40.0
    _keys(panel, "Ctrl+Z")
    assert panel.amplitude.hasFocus() and panel.amplitude.value() == 100.0
    _type(panel.amplitude, qtbot, "30", end=None)
    _keys(panel, "Ctrl+Z")
    _keys(panel, "Ctrl+Y")
    assert panel.amplitude.value() == 30.0


def test_a_path_that_is_being_typed_is_a_step(panel: MotionPanel, qtbot: Any) -> None:
    panel.editor.kinds.setCurrentText("poses")
    press(panel.editor.buttons["Add"])
    line = panel.editor.form(1).fields["file"].line
    focus(qtbot, line)
    QtTest.QTest.keyClicks(line, "way.csv")
    _keys(panel, "Ctrl+Z")
    assert line.text() == ""
    _keys(panel, "Ctrl+Y")
    assert line.text() == "way.csv"


def test_a_name_is_shown_as_it_is_written(panel: MotionPanel) -> None:
    panel.transport.show_motion("a<b>&c", 3.0)
    assert panel.run.text() == "Run a<b>&&c, 3 s"  # two of them are shown as one


def test_a_number_that_is_typed_back_is_no_step(panel: MotionPanel, qtbot: Any) -> None:
    box = panel.editor.form(0).fields["duration"].box
    for number in "72":
        _type(box, qtbot, number)
    assert not panel.edits.stack.canUndo() and panel.title == "Motion: new motion"


def test_parts_lines_and_size_are_steps(panel: MotionPanel, qtbot: Any) -> None:
    editor, stack = panel.editor, panel.edits.stack
    editor.kinds.setCurrentText("harmonic")
    states, said = [panel.editor.value()], []

    def did() -> None:
        states.append(editor.value())
        said.append(stack.undoText())

    for act in ("Add", "Up"):
        press(editor.buttons[act])
        did()
    field = editor.form(0).fields["terms"]
    press(next(each for each in field.findChildren(QtWidgets.QPushButton) if each.text() == "Add line"))
    did()
    field.table.cellWidget(1, 0).setCurrentIndex(3)
    did()
    _type(field.table.cellWidget(1, 1), qtbot, "1.5")
    did()
    _type(panel.amplitude, qtbot, "50")
    did()
    press(editor.buttons["Remove"])
    did()
    assert said == [
        "adding harmonic",
        "moving a part",
        "lines of part 1",
        "line 2 of part 1",
        "amplitude of line 2 of part 1",
        "amplitude",
        "removing harmonic",
    ]
    for state in reversed(states[:-1]):
        panel.edits.undo()
        assert authored(editor.value()) == authored(state)
    for state in states[1:]:
        panel.edits.redo()
        assert authored(editor.value()) == authored(state)


def test_another_motion_has_steps_of_its_own_and_a_note_keeps_its_keys(panel: MotionPanel, qtbot: Any) -> None:
    panel.amplitude.set_si(50.0)
    assert panel.edits.stack.canUndo()
    panel.load_shipped("demo")
    assert panel.edits.stack.count() == 0
    panel.amplitude.set_si(50.0)
    _type_note(panel, qtbot)
    _keys(panel, "Ctrl+Z")
    assert panel.words.note.text() == "" and panel.amplitude.value() == 50.0


def _type_note(panel: MotionPanel, qtbot: Any) -> None:
    focus(qtbot, panel.words.note)
    for letter in "BELT":
        key(ord(letter))
    assert panel.words.note.text().upper() == "BELT"


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"frame": "base"}, ("frame",), "frame"),
        ({"pivot": [0.0, 0.1, 0.0]}, ("pivot", 1), "pivot y"),
        ({"parts": [_JERK, _HOLD | {"position": [0, 0, 0, 0.1, 0, 0]}]}, ("parts", 1, "position", 3), None),
        ({"parts": [_HOLD, _JERK]}, ("parts", 0), "moving a part"),
        ({"parts": [_HOLD]}, ("parts", 0), "removing minimum-jerk"),
        ({"frame": "base", "pivot": [1.0, 1.0, 1.0]}, (), "changing the motion"),
    ],
)
def test_a_step_is_named_by_where_motions_differ(change: dict[str, Any], place: Any, words: str | None) -> None:
    motion = {"frame": "home", "pivot": [0.0] * 3, "parts": [_JERK, _HOLD | {"position": [0.0] * 6}]}
    assert what_changed(motion, motion | change) == (place, words or "position θx of part 2")


# -- transitions ----------------------------------------------------------------------------------------------------


def _rows(panel: MotionPanel) -> list[tuple[str, bool]]:
    """What the list says, and whether it can be chosen."""
    parts = panel.editor.parts
    items = [parts.item(row) for row in range(parts.count())]
    return [(item.text(), bool(item.flags() & QtCore.Qt.ItemFlag.ItemIsSelectable)) for item in items]


def test_a_transition_comes_where_parts_do_not_meet_and_goes_where_they_do(
    panel: MotionPanel, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.ENGAGED))
    panel.editor.kinds.setCurrentText("hold")
    press(panel.editor.buttons["Add"])
    looked(panel, qtbot)
    assert _rows(panel) == [("1  minimum-jerk, 2 s", True), ("2  transition, 0.8 s", False), ("3  hold, 1 s", True)]
    assert panel.verdict.text().startswith("✓ Within all limits over 3.8 s") and panel.run.isEnabled()
    assert panel.editor.parts.currentRow() == 2 and panel.edits.stack.count() == 1
    middle = panel.editor.parts.visualItemRect(panel.editor.parts.item(1)).center()
    QtTest.QTest.mouseClick(panel.editor.parts.viewport(), QtCore.Qt.MouseButton.LeftButton, pos=middle)
    assert panel.editor.forms.currentIndex() == 1  # as before: there is nothing to be edited
    _type(panel.editor.form(1).fields["position"].boxes[2], qtbot, "20")
    looked(panel, qtbot)
    assert _rows(panel) == [("1  minimum-jerk, 2 s", True), ("2  hold, 1 s", True)]
    panel.edits.undo()
    looked(panel, qtbot)
    assert _rows(panel)[1] == ("2  transition, 0.8 s", False)


def test_what_was_looked_at_is_saved_without_looking_again(
    panel: MotionPanel, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []

    class Looked(CallProcess):
        def __enter__(self) -> Self:
            looks.append(self)
            return self

    monkeypatch.setattr("gui.motion.panel.CallProcess", Looked)
    looked(panel, qtbot)
    panel.save_file(tmp_path / "kept.toml")
    assert looks == []
    panel.amplitude.set_si(40.0)
    panel.save_file(tmp_path / "kept.toml")
    assert len(looks) == 1


def test_a_motion_is_saved_also_where_its_transitions_cannot_be_computed(
    panel: MotionPanel, panels: Panels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dies(CallProcess):
        def call(self, *_arguments: Any) -> Any:
            raise ChildDiedError("the process that completes motions has died")

    said: list[str] = []
    panels.session.logged.connect(lambda entry: said.append(entry.text))
    monkeypatch.setattr("gui.motion.panel.CallProcess", Dies)
    panel.amplitude.set_si(40.0)
    panel.save_file(tmp_path / "kept.toml")
    assert (tmp_path / "kept.toml").is_file() and not panel.document.unsaved
    assert said[0] == "the process that completes motions has died"


def test_a_motion_with_transitions_is_saved_as_it_was_checked(panel: MotionPanel, qtbot: Any, tmp_path: Path) -> None:
    take(panel, qtbot, parts=[_JERK, _SINES])
    table = panel.preview.table
    panel.save_file(tmp_path / "whole.toml")
    assert not panel.document.unsaved and table is not None
    config = load_config("virtual")
    saved, verdict = checked_motion(config, load_trajectory(tmp_path / "whole.toml", HOME))
    assert verdict.passed and (saved.samples == table.samples).all()
    panel.begin_new()
    open_motion(panel, qtbot, tmp_path / "whole.toml")
    looked(panel, qtbot)
    assert panel.title == "Motion: whole" and len(_rows(panel)) == 3


def test_saved_before_it_was_checked_it_has_its_transitions_too(panel: MotionPanel, tmp_path: Path) -> None:
    panel.editor.set_value({"frame": "home", "pivot": [0.0] * 3, "parts": [_JERK, _SINES]}, Path())
    panel.save_file(tmp_path / "early.toml")
    parts = tomllib.loads((tmp_path / "early.toml").read_text())["parts"]
    assert [part["type"] for part in parts] == ["minimum-jerk", "transition", "harmonic"]
    assert panel.title == "Motion: early" and len(_rows(panel)) == 3


def test_a_transition_of_a_file_keeps_its_duration_until_its_parts_change(
    panel: MotionPanel, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "slow.toml"
    parts = '[[parts]]\ntype = "hold"\nduration = 1\n[[parts]]\ntype = "transition"\nduration = 5\n'
    last = '[[parts]]\ntype = "hold"\nposition = [0, 0, "20 mm", 0, 0, 0]\nduration = 1\n'
    path.write_text(f'frame = "home"\n{parts}{last}')
    open_motion(panel, qtbot, path)
    looked(panel, qtbot)
    assert _rows(panel)[1][0] == "2  transition, 5 s" and not panel.document.unsaved
    _type(panel.editor.form(0).fields["duration"].box, qtbot, "2")
    looked(panel, qtbot)
    assert _rows(panel)[1][0] == "2  transition, 0.8 s" and panel.document.unsaved
    panel.edits.undo()
    looked(panel, qtbot)
    assert _rows(panel)[1][0] == "2  transition, 5 s" and not panel.document.unsaved


# -- saving -----------------------------------------------------------------------------------------------------------


def test_save_goes_to_the_file_and_save_as_asks(
    panel: MotionPanel, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    path = tmp_path / "mine.toml"

    def ask(_parent: Any, _title: str, name: str, *_more: Any) -> Path:
        asked.append(name)
        return path

    monkeypatch.setattr("gui.motion.document.ask_save", ask)
    press(_button(panel, "Save motion"))
    assert asked == ["new motion.toml"] and panel.title == "Motion: mine"
    panel.amplitude.set_si(50.0)
    assert panel.title == "Motion: mine (changed)"
    focus(qtbot, panel.amplitude)
    _keys(panel, "Ctrl+S")
    assert len(asked) == 1 and panel.title == "Motion: mine"
    assert tomllib.loads(path.read_text())["amplitude"] == 0.5
    panel.amplitude.set_si(40.0)
    panel.confirm_discard(panel.begin_new)
    assert panel.document.question is not None
    choose(panel.document.question, "Save")
    qtbot.waitUntil(lambda: panel.title == "Motion: new motion", timeout=60_000)
    assert tomllib.loads(path.read_text())["amplitude"] == 0.4 and len(asked) == 1
    press(_button(panel, "Save as motion"))
    assert len(asked) == 2
