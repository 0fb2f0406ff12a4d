"""Every number field of the app: what is typed is read alike in every locale, or is red and counts for nothing."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exploration import LONG
from live_rows import MECHANISM, live_rows
from motion_support import looked, take
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import FakeSession, make_status, press

from gui.live import PlatformView
from gui.live.film import FilmDialog
from gui.models.motion import NEW_PARTS
from gui.models.timeline import Replay
from gui.motion.fields import Field
from gui.shell.main_window import MainWindow
from gui.widgets import DARK, NumberField, NumberList, QuantityBox, WholeNumber, field_refusal, number_fields
from rig.client import TEMPLATES
from rig.states import State

KEY = QtCore.Qt.Key
LOCALES = ("C", "en_US", "de_DE")
METRES = {"m": 1.0, "mm": 1e-3, "in": 0.0254}
TYPED: dict[str, tuple[float, str] | None] = {
    "3,5": (3.5, ""),
    "3.5": (3.5, ""),
    "1e9": (1e9, ""),
    "2 in": (2.0, "in"),
    "0.05 m": (0.05, "m"),
    "0,05 m": (0.05, "m"),
    "-": None,
    "nan": None,
    "inf": None,
    "": None,
    " 3.5 ": (3.5, ""),
    "3.5mm": (3.5, "mm"),
    "1.000,5": None,
    "1,000.5": None,
    "1,000,000": None,
    "1 000": None,
    "1'000": None,
    "1_000": None,
    "4": (4.0, ""),
}
"""Number and unit of a text; None: it is no quantity."""
_ALIKE = ("3.5", "0.05 m", "nan", " 3.5 ", "3.5mm", "1.000,5")
EVERYWHERE = ("3,5", "1e9", "2 in", "-", "", "1,000.5", *(_ALIKE if LONG else ()))
"""what is typed into every field that there is, in the long profile what is read like these too; all, into one of each
kind"""


@pytest.fixture
def in_locale() -> Iterator[Any]:
    """Has Qt, and a widget with all in it, take a locale."""
    before = QtCore.QLocale()

    def put(name: str, *widgets: QtWidgets.QWidget) -> None:
        QtCore.QLocale.setDefault(QtCore.QLocale(name))
        for widget in widgets:
            widget.setLocale(QtCore.QLocale(name))

    yield put
    QtCore.QLocale.setDefault(before)


def _meant(field: NumberField, text: str) -> float | None:
    """What a text means in a field, in the unit shown; None where the field cannot take it."""
    told = TYPED[text]
    if told is None:
        return None
    number, unit = told
    shown = field._shown
    if unit and unit != shown.unit:
        if field._unit != "m" or isinstance(field, NumberList):
            return None
        number *= METRES[unit] * shown.factor
    inside = field.minimum() <= number <= field.maximum() and not (
        isinstance(field, WholeNumber) and number != round(number)
    )
    return number if inside and not field._judge(number / shown.factor) else None


def _enter(field: NumberField, text: str, *, keys: bool) -> None:
    if keys:
        field.setFocus()
        field.selectAll()
        QtTest.QTest.keyClick(field, KEY.Key_Delete)
        QtTest.QTest.keyClicks(field, text)
    else:
        field.lineEdit().setText("")
        field.lineEdit().setText(text)


def _judge(field: NumberField, text: str, *, keys: bool = False) -> None:
    """Type a text; it is the value at once and after Return, or it stays, red, and is none."""
    told: list[float] = []
    field.valueChanged.connect(told.append)
    before = field._value
    _enter(field, text, keys=keys)
    meant, name = _meant(field, text), f"{field.accessibleName()}: {text!r}"
    if not text and field._optional and not isinstance(field, NumberList):
        assert field.entered() is None, name
    elif meant is None:
        assert field.reason and field.property("wrong"), name
        assert field.refusal == (f"{field._name}: {field.reason}" if field.isEnabled() else ""), name
        for ask in (field.entered, field.si, field.value):
            with pytest.raises(ValueError, match=r".+"):
                ask()
        field.interpretText()
        assert field.lineEdit().text() == text and field.reason and field._value == before and told == [], name
        if field.isVisible() and field.isEnabled():
            assert field._bubble is not None and field._bubble.isVisible() and field._bubble.text() == field.reason
    elif isinstance(field, NumberList):
        assert field.numbers() == [meant], name
    else:
        assert not field.reason and field.value() == pytest.approx(meant), name
        field.interpretText()
        assert field.value() == pytest.approx(meant) and not field.editing, name
        assert float(field.lineEdit().text()) == pytest.approx(meant, rel=1e-6), name
    field.valueChanged.disconnect(told.append)
    field.revert()
    assert not field.reason


def _fields(root: QtWidgets.QWidget) -> list[NumberField]:
    """The fields of a window. Any other widget that takes numbers, and any line of text that is not known, fails."""
    fields = list(number_fields(root))
    strangers = [each for each in root.findChildren(QtWidgets.QAbstractSpinBox) if not isinstance(each, NumberField)]
    assert strangers == [], [each.accessibleName() for each in strangers]
    return fields


def _left_out(field: NumberField) -> bool:
    """Whether it does not matter to what is chosen: it is hidden, alone or with its check box, and put back."""
    parent = field.parentWidget()
    outer = parent.parentWidget()
    return bool(parent.isHidden() or (isinstance(outer, Field) and outer.isHidden()))


def _walk(root: QtWidgets.QWidget, least: int) -> None:
    fields = _fields(root)
    assert len(fields) >= least, [field.accessibleName() for field in fields]
    for field in fields:
        if not _left_out(field):
            for text in EVERYWHERE:
                _judge(field, text)


def test_every_number_field_of_the_window(window: MainWindow, session: FakeSession, qtbot: Any, in_locale: Any) -> None:
    in_locale("de_DE", window)
    parts = [{"type": kind, **part} for kind, part in NEW_PARTS.items() if kind != "poses"]
    take(window.motion, qtbot, parts=parts)
    window.motion.begin_template()
    for row in range(len(TEMPLATES)):
        window.motion.templates.list.setCurrentRow(row)
    window.motion._changed.stop()
    window.motion.templates.leave()
    before = list(session.sent)
    _walk(window, 90)
    assert session.sent == before


def test_every_number_field_of_the_set_up(wizard: Any, in_locale: Any) -> None:
    in_locale("de_DE", wizard)
    _walk(wizard, 25)


def test_every_number_field_of_the_other_wizards(menu: Any, in_locale: Any) -> None:
    for entry in menu.entries:
        entry.start(None)
        assert entry.wizard is not None
        in_locale("de_DE", entry.wizard)
        page = entry.wizard.request_page
        fields = _fields(entry.wizard)
        assert fields, entry.wizard.windowTitle()
        _walk(entry.wizard, 1)
        field = next(each for each in fields if each.isEnabled())
        _enter(field, "1,000.5", keys=False)
        assert page.missing == field.refusal and entry.wizard.compute_page.begin.obstacle
        assert not entry.wizard.button(QtWidgets.QWizard.WizardButton.NextButton).isEnabled()
        entry.close()


def test_every_number_field_of_a_film(qtbot: Any, in_locale: Any) -> None:
    view = PlatformView(DARK)
    view.set_mechanism(MECHANISM)
    rows = live_rows(300)
    dialog = FilmDialog(view, Replay(rows), float(rows["t"][-1]), "run", lambda: "", view)
    in_locale("de_DE", dialog)
    _walk(dialog, 2)
    _enter(dialog.end, "0,5,", keys=False)
    assert dialog.make.obstacle == dialog.end.refusal
    view.close_worker()
    view.close()
    qtbot.addWidget(view)


@pytest.mark.parametrize("locale", LOCALES)
def test_what_is_typed_with_keys_is_read_alike_in_every_locale(qtbot: Any, in_locale: Any, locale: str) -> None:
    page = QtWidgets.QWidget()
    in_locale(locale, page)
    column = QtWidgets.QVBoxLayout(page)
    fields = [
        QuantityBox("Length", "m"),
        QuantityBox("Angle", "rad", 0.0, -1.0, 1.0),
        WholeNumber("Count", 1, 1, 1000),
        NumberField("Limit", "N", None, 0.0, optional=True),
        NumberList("Masses", [0.0, 5.0], 0.0, 1e5),
    ]
    for field in fields:
        column.addWidget(field)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    for field in fields:
        for text in TYPED:
            _judge(field, text, keys=True)


def test_a_list_takes_commas_as_decimals(qtbot: Any) -> None:
    field = NumberList("Masses", [0.0], 0.0, 100.0)
    qtbot.addWidget(field)
    for text, numbers in (("0; 2,5; 5", [0.0, 2.5, 5.0]), (" 0;2.5 ;5", [0.0, 2.5, 5.0]), ("0,5", [0.5])):
        field.lineEdit().setText(text)
        assert field.numbers() == numbers
    for text in ("0,5,10", "0, 5, 10", "0 5 10", "0; x", "0; 500", "", "1;;2"):
        field.lineEdit().setText(text)
        assert field.reason
        with pytest.raises(ValueError, match="Masses"):
            field.numbers()


def test_the_reason_is_in_view_moves_nothing_and_covers_no_key(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    window.tabs.setCurrentWidget(window.jog)
    QtWidgets.QApplication.processEvents()
    widgets = [each for each in window.findChildren(QtWidgets.QWidget) if each.isVisible()]
    places = [(each.mapTo(window, QtCore.QPoint()), each.size()) for each in widgets]
    for field in (window.jog.to.boxes[0], window.jog.steps.translation, window.motion.transport.speed):
        _enter(field, "1e9", keys=True)
        QtWidgets.QApplication.processEvents()
        bubble = field._bubble
        assert bubble is not None and bubble.isVisible() and not bubble.visibleRegion().isEmpty()
        assert [(each.mapTo(window, QtCore.QPoint()), each.size()) for each in widgets] == places
        there = QtCore.QRect(bubble.mapTo(window, QtCore.QPoint()), bubble.size())
        assert not there.intersects(QtCore.QRect(field.mapTo(window, QtCore.QPoint()), field.size()))
        field.revert()
        assert field._bubble is None


def test_go_names_its_target_and_goes_to_what_is_shown(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    jog = window.jog
    session.take(make_status(State.ENGAGED))
    window.tabs.setCurrentWidget(jog)
    x, go = jog.to.boxes[0], jog.to.go
    assert go.text() == "Go: present pose"
    _enter(x, "3,5", keys=True)  # and no Tab
    assert go.text() == "Go: x +3.5 mm" and go.isEnabled() and x.editing
    press(go)
    assert x.text() in ("x 3,5 mm", "x 3.500 mm") and jog._mover.active  # as the window has the keys, or not
    qtbot.waitUntil(lambda: len(session.sent) == 1, timeout=120_000)
    moved = session.sent[0][2]
    assert moved[-1, 0] == pytest.approx(0.0035) and x.text() in ("x 3,5 mm", "x 3.500 mm")


def test_what_is_no_number_disables_what_would_use_it(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    jog, motion = window.jog, window.motion
    session.take(make_status(State.ENGAGED))
    window.tabs.setCurrentWidget(jog)
    used = {
        jog.to.boxes[4]: {"go"},
        jog.steps.translation: {f"{sign}{axis}" for sign in "+-" for axis in "xyz"},
        jog.legs.step: {f"{sign}leg{leg}" for sign in "+-" for leg in range(1, 7)},
        jog.speed: set(jog.buttons) - {"go saved"},
    }
    for field, buttons in used.items():
        for text in ("1.000,5", "1e9", "-", "", "3 kg"):
            _enter(field, text, keys=False)
            assert field.refusal
            refused = {key for key, button in jog.buttons.items() if button.obstacle == field.refusal}
            assert refused - {"go saved"} == buttons
            assert not any(jog.buttons[key].isEnabled() for key in buttons)
        field.revert()
    assert not field_refusal(window)
    take(motion, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    run = motion.transport.run
    assert run.isEnabled()
    duration = motion.editor.form(0).fields["duration"].box
    for field in (duration, motion.amplitude, motion.repeats, motion.transport.speed):
        for text in ("1.000,5", "1e9", "-", "", "3 kg"):
            _enter(field, text, keys=False)
            said = (run.obstacle, motion.verdict.text().removeprefix("✗ "))
            assert field.refusal in said and not run.isEnabled()
        field.revert()
        looked(motion, qtbot)
        assert run.isEnabled()
    assert session.sent == []


def test_a_motion_with_a_wrong_number_is_not_saved_and_the_text_can_be_taken_back(
    window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    motion = window.motion
    take(motion, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    box = motion.editor.form(0).fields["duration"].box
    before = box.si()
    _enter(box, "1,000.5", keys=False)
    with qtbot.waitSignal(session.refused, timeout=1000) as refused:
        motion.save_file(tmp_path / "wrong.toml")
    assert refused.args[1] == box.refusal and not (tmp_path / "wrong.toml").exists()
    motion.edits.undo()
    assert not box.reason and box.si() == before
    _enter(box, "3,5", keys=False)
    motion.save_file(tmp_path / "right.toml")
    assert "duration = 3.5" in (tmp_path / "right.toml").read_text()


def test_a_template_is_made_of_what_its_fields_say(window: MainWindow, qtbot: Any) -> None:
    motion = window.motion
    motion.begin_template()
    page = motion.templates
    box = page.form.fields["frequency"].box
    _enter(box, "1.000,5", keys=False)
    assert page.create.obstacle == box.refusal and not page.create.isEnabled()
    _enter(box, "0,5", keys=False)
    assert page.create.isEnabled() and page.form.template().model_dump()["frequency"] == 0.5


def test_a_value_that_is_given_is_never_cut_to_a_bound() -> None:
    box = QuantityBox("Angle", "rad", 0.0, -1.0, 1.0)
    for number in (1e3, -1e3, math.nan, math.inf):
        with pytest.raises(ValueError, match="Angle"):
            box.setValue(number)
    assert box.si() == 0.0
