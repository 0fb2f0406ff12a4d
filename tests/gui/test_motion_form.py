"""Composing a motion: a form that shows what a file says, and changes nothing of it."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from motion_support import HOME, looked, open_motion, take
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from shell_support import KEY, Panels, focus, key, press

from gui.models.motion import NEW_PARTS, new_part, part_models
from gui.motion.fields import TermsField
from gui.motion.panel import MotionPanel
from gui.widgets import QuantityBox
from kinematics import TrajectorySpec, load_trajectory, parse_trajectory, trajectory_text


def test_new_parts_suit_the_size_of_the_machine() -> None:
    small, large = new_part("blend", 0.1), new_part("harmonic", 10.0)
    assert small["end"] == pytest.approx([0.0, 0.0, 0.002, 0.0, 0.0, 0.0]) and small["speed"] == pytest.approx(0.0015)
    assert small["duration"] == NEW_PARTS["blend"]["duration"]
    assert large["terms"][0] == {"dof": "z", "amplitude": pytest.approx(0.1), "frequency": 0.5, "phase": 0.0}
    for kind, values in NEW_PARTS.items():
        assert new_part(kind) == {"type": kind, **values}


def test_every_kind_of_part_has_a_form_and_a_beginning() -> None:
    assert set(part_models()) == set(NEW_PARTS)


@pytest.mark.parametrize("kind", [kind for kind in NEW_PARTS if kind != "poses"])
def test_each_generator_can_be_composed_and_passes(panels: Panels, qtbot: Any, kind: str) -> None:
    panel = panels.motion
    take(panel, qtbot, parts=[{"type": kind, **NEW_PARTS[kind]}])
    shown = panel.editor.value()["parts"][0]
    assert {name: value for name, value in shown.items() if value is not None} == {"type": kind, **NEW_PARTS[kind]}
    assert panel.preview.obstacle == "" and panel.verdict.text().startswith("✓ Within all limits")


def test_a_number_typed_by_a_person_is_in_the_unit_shown(panels: Panels, qtbot: Any) -> None:
    panel = panels.motion
    take(panel, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    end = panel.editor.form(0).fields["end"]
    box = end.boxes[2]
    assert box.suffix() == " mm" and box.accessibleName() == "end z, mm"
    box.selectAll()
    qtbot.keyClicks(box, "12.5")
    box.clearFocus()
    box.interpretText()
    assert panel.editor.value()["parts"][0]["end"][2] == pytest.approx(0.0125)
    looked(panel, qtbot)
    table = panel.preview.table
    assert table is not None and table.samples[-1, 2] == pytest.approx(HOME[2] + 0.0125)


def test_parts_are_added_moved_and_removed(panels: Panels, qtbot: Any) -> None:
    editor = panels.motion.editor
    panels.motion.begin_new()
    editor.kinds.setCurrentText("hold")
    editor.buttons["Add"].click()
    assert [part["type"] for part in editor.value()["parts"]] == ["minimum-jerk", "hold"]
    editor.buttons["Up"].click()
    assert [part["type"] for part in editor.value()["parts"]] == ["hold", "minimum-jerk"]
    assert editor.parts.item(0).text() == "1  hold, 1 s"
    looked(panels.motion, qtbot)
    assert panels.motion.preview.verdict is not None and panels.motion.preview.verdict.duration == pytest.approx(3.0)
    editor.buttons["Remove"].click()
    editor.buttons["Remove"].click()
    assert len(editor.value()["parts"]) == 1


def test_lines_of_sines_change_their_unit_with_the_axis(panels: Panels) -> None:
    panels.motion.load_shipped("demo")
    terms = panels.motion.editor.form(0).fields["terms"]
    table = terms.table
    assert table.cellWidget(0, 1).suffix() == " mm"
    table.cellWidget(0, 0).setCurrentText("θx")
    assert table.cellWidget(0, 1).suffix() == " °"
    assert len(terms.value()) == 12


@pytest.mark.parametrize("kind", ["harmonic", "chirp"])
def test_lines_of_sines_have_the_bounds_of_their_model(panels: Panels, kind: str) -> None:
    part = {"type": kind, **NEW_PARTS[kind]}
    panels.motion.editor.set_value({"frame": "home", "pivot": [0.0] * 3, "parts": [part]}, Path())
    table = panels.motion.editor.form(0).fields["terms"].table
    for axis in ("z", "θx"):
        table.cellWidget(0, 0).setCurrentText(axis)
        for place in range(1, table.columnCount()):
            box = table.cellWidget(0, place)
            name = table.horizontalHeaderItem(place).text()
            assert (box.minimum() == 0.0) == ("frequency" in name) == ("at least 0 Hz" in box.toolTip())


def test_the_shipped_motion_is_the_same_after_a_way_through_the_form(panels: Panels) -> None:
    panels.motion.load_shipped("demo")
    shown = parse_trajectory(trajectory_text(panels.motion.editor.value()), HOME)
    times = np.linspace(0.0, 20.0, 101)
    for one, other in zip(shown.coordinates(times), load_trajectory("demo", HOME).coordinates(times), strict=True):
        assert np.array_equal(one, other)


_CSV = "t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.4500123,1,0,0,0\n"
_FILES = {
    "sines": """frame = "home"
pivot = [0, "0.0123456 mm", 0.0351234567]
[[parts]]
type = "harmonic"
duration = 12.3456789
fade = 3.00001
terms = [
    { dof = "z", amplitude = 0.0100001234, frequency = 0.33333333, phase = 0.1 },
    { dof = "ry", amplitude = "1.23456 deg", frequency = 0.0004 },
]
""",
    "blend": """frame = "home"
[[parts]]
type = "blend"
start = [0, 0, 0, 0, 0, 0]
end = [0.1, 0, 0, 0, 0, 0]
duration = 3
speed = 0.03333333334
""",
    "short": """frame = "home"
[[parts]]
type = "hold"
duration = "0.5 ms"
""",
    "poses": """frame = "base"
[[parts]]
type = "poses"
file = "poses.csv"
[[parts]]
type = "hold"
position = [0, 0, 0.4500123, 0, 0, 0]
duration = 1
""",
}


@pytest.mark.parametrize("name", list(_FILES))
def test_a_file_is_the_same_motion_after_a_way_through_the_form(
    panels: Panels, qtbot: Any, tmp_path: Path, name: str
) -> None:
    (tmp_path / "poses.csv").write_text(_CSV)
    (tmp_path / "one.toml").write_text(_FILES[name])
    panel = panels.motion
    open_motion(panel, qtbot, tmp_path / "one.toml")
    assert panel.title == "Motion: one", panel.verdict.text()
    looked(panel, qtbot)
    assert panel.preview.verdict is not None, panel.verdict.text()
    panel.save_file(tmp_path / "two.toml")
    one, two = (
        TrajectorySpec.model_validate(tomllib.loads((tmp_path / f"{name}.toml").read_text())) for name in ("one", "two")
    )
    assert one == two


def test_a_small_number_is_shown_and_a_typed_one_counts(qtbot: Any) -> None:
    box = QuantityBox("Frequency", "Hz", minimum=0.0)
    qtbot.addWidget(box)
    for value, text in ((0.0004, "0.0004 Hz"), (0.33333333, "0.333 Hz"), (2.0, "2.000 Hz")):
        box.set_si(value)
        assert (box.text(), box.si()) == (text, value)
    box.set_si(0.33333333)
    for typed in ("0.5", "0.333"):
        box.selectAll()
        qtbot.keyClicks(box, typed)
        box.interpretText()
        assert box.si() == float(typed)
    for value, why in ((-0.1, "-0.1 Hz, must be at least 0 Hz"), (2e6, "at most 1e.06 Hz"), (np.nan, "finite")):
        with pytest.raises(ValueError, match=why):
            box.set_si(value)
    assert box.si() == 0.333


def test_the_number_stays_when_its_unit_changes(qtbot: Any) -> None:
    box = QuantityBox("Amplitude", "m", 0.0123456789)
    qtbot.addWidget(box)
    box.set_unit("rad")
    assert box.text() == "12.346 °" and box.si() == pytest.approx(np.radians(12.3456789), rel=1e-14)


def test_a_number_that_no_field_takes_leaves_the_motion_as_it_is(panels: Panels, qtbot: Any, tmp_path: Path) -> None:
    panel = panels.motion
    before = panel.editor.value()
    far = """frame = "home"
pivot = [0, 0, 0.01]
[[parts]]
type = "hold"
duration = 2
[[parts]]
type = "hold"
duration = 2e6
"""
    (tmp_path / "far.toml").write_text(far)
    open_motion(panel, qtbot, tmp_path / "far.toml")
    assert "part 2, duration: 2e+06 s, must be at most 3600 s" in panel.verdict.text()
    assert panel.title == "Motion: demo" and panel.editor.value() == before


def test_the_title_says_that_the_motion_was_changed(panels: Panels, tmp_path: Path) -> None:
    panel = panels.motion
    box = panel.editor.pivot.boxes[2]
    before = box.value()
    box.setValue(before + 1.0)
    assert panel.title == "Motion: demo (changed)"
    box.setValue(before)
    assert panel.title == "Motion: demo"
    box.setValue(before + 1.0)
    panel.save_file(tmp_path / "mine.toml")
    assert panel.title == "Motion: mine"


def _turn_wheel(widget: QtWidgets.QWidget) -> None:
    middle = QtCore.QPointF(widget.rect().center())
    event = QtGui.QWheelEvent(
        middle,
        QtCore.QPointF(widget.mapToGlobal(middle.toPoint())),
        QtCore.QPoint(),
        QtCore.QPoint(0, -120),
        QtCore.Qt.MouseButton.NoButton,
        QtCore.Qt.KeyboardModifier.NoModifier,
        QtCore.Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QtWidgets.QApplication.sendEvent(widget, event)


def test_rolling_the_wheel_over_a_motion_does_not_change_it(panels: Panels) -> None:
    panel = panels.motion
    panels.tabs.setCurrentWidget(panel)
    panel.setFocus()
    panel.repeats.setValue(5)
    before = panel.editor.value()
    kinds = (QtWidgets.QComboBox, QtWidgets.QAbstractSpinBox)
    controls = [control for kind in kinds for control in panel.findChildren(kind)]
    assert len(controls) > 30
    for control in controls:
        _turn_wheel(control)
    assert panel.editor.value() == before and panel.editor.kinds.currentIndex() == 0
    assert panel.repeats.value() == 5 and panel.amplitude.value() == 100.0
    for control in controls:  # and the wheel alone gives none of them the focus
        assert control.focusPolicy() == QtCore.Qt.FocusPolicy.StrongFocus


def _two_lines(panels: Panels, qtbot: Any) -> TermsField:
    take(panels.motion, qtbot, parts=[{"type": "harmonic", **NEW_PARTS["harmonic"]}])
    field = panels.motion.editor.form(0).fields["terms"]
    assert isinstance(field, TermsField)
    press(next(each for each in field.findChildren(QtWidgets.QPushButton) if each.text() == "Add line"))
    assert len(field.value()) == 2
    return field


def test_tab_selects_the_number_of_the_next_field(panels: Panels, qtbot: Any) -> None:
    field = _two_lines(panels, qtbot)
    amplitude, phase = field.table.cellWidget(0, 1), field.table.cellWidget(0, 2)
    focus(qtbot, amplitude)
    key(KEY.Key_Tab)
    assert phase.hasFocus()
    key("1")
    key(KEY.Key_Tab)
    assert field.value()[0]["phase"] == pytest.approx(math.radians(1.0))
    frequency = field.table.cellWidget(0, 3)
    assert frequency.hasFocus() and frequency.text() == "0.500 Hz"
    key("1")
    key(KEY.Key_Return)
    assert field.value()[0]["frequency"] == 1.0


def test_tab_goes_through_the_lines_and_on(panels: Panels, qtbot: Any) -> None:
    field = _two_lines(panels, qtbot)
    cells = [field.table.cellWidget(row, column) for row in range(2) for column in range(4)]
    focus(qtbot, cells[0])
    passed = []
    for _ in range(11):
        passed.append(panels.focusWidget())
        key(KEY.Key_Tab)
    assert passed[:8] == cells
    assert [each.text() for each in passed[8:10]] == ["Add line", "Remove line"]
    assert not field.isAncestorOf(passed[10])
    for _ in range(4):
        key(KEY.Key_Backtab)
    assert panels.focusWidget() is cells[7]
    press(next(each for each in field.findChildren(QtWidgets.QPushButton) if each.text() == "Remove line"))
    assert len(field.value()) == 1 and field.table.cellWidget(0, 0) is cells[0]  # the line that was chosen has gone


def test_tab_goes_through_a_motion_that_was_opened_as_it_is_read(panels: Panels) -> None:
    editor = panels.motion.editor
    form = editor.form(0)
    field = form.fields["terms"]
    for change in (lambda: None, lambda: field.set_value([]), field._add_default):
        change()
        stops = [stop for each in form.fields.values() for stop in each.stops()]
        assert stops[: len(field.stops())] == field.stops() and len(field.stops()) % 4 == 2
        passed: list[QtWidgets.QWidget] = []
        at = editor.buttons["Down"]
        while len(passed) < len(stops):
            at = at.nextInFocusChain()
            if at.focusPolicy() & QtCore.Qt.FocusPolicy.TabFocus and at.focusProxy() is None and at.isVisible():
                passed.append(at)
        assert passed == stops


def test_a_form_scrolls_where_it_is_high_itself(panels: Panels, qtbot: Any) -> None:
    panels.tabs.setCurrentWidget(panels.motion)
    editor = panels.motion.editor
    sines = {"type": "harmonic", **NEW_PARTS["harmonic"]}
    many = sines | {"terms": sines["terms"] * 30}
    editor.set_value(
        {"frame": "home", "pivot": [0.0] * 3, "parts": [many, {"type": "hold", **NEW_PARTS["hold"]}]}, Path()
    )
    (area,) = editor.findChildren(QtWidgets.QScrollArea)
    for part, scrolls in ((0, True), (1, False), (0, True)):
        editor.parts.setCurrentRow(part)
        qtbot.waitUntil(lambda scrolls=scrolls: area.verticalScrollBar().isVisible() == scrolls, timeout=60_000)


def _type_name(panel: MotionPanel, text: str) -> None:
    panel.name.selectAll()
    QtTest.QTest.keyClicks(panel.name, text)
    QtTest.QTest.keyClick(panel.name, KEY.Key_Return)


def test_a_motion_is_named_by_typing(panels: Panels, tmp_path: Path) -> None:
    panel = panels.motion
    panel.begin_new()
    assert panel.name.text() == "new motion"
    panel.name.editingFinished.emit()  # the focus leaves it
    assert panel.document.state.name == "new motion"
    panel.document.state.name = "another"  # not shown yet
    panel.name.editingFinished.emit()
    assert panel.document.state.name == "another"
    _type_name(panel, "belt test 3")
    assert panel.document.state.name == "belt test 3" and panel.title == "Motion: belt test 3"
    assert "belt test 3" in panel.run.accessibleName() and not panel.document.unsaved
    _type_name(panel, "  ")
    assert panel.document.state.name == panel.name.text() == "belt test 3"
    panel.save_file(tmp_path / "one.toml")
    assert panel.name.text() == "one"
    panel.document.rename("after the repair")
    panel.save_file(tmp_path / "one.toml")
    assert panel.document.state.name == "after the repair" and panel.document.state.path == tmp_path / "one.toml"
