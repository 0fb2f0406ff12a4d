"""New motions from templates, by mouse and keys."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from motion_support import looked
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import KEY, LEFT, FakeSession, Panels, choose, make_status

from gui.motion.template_page import TemplatePage
from rig.client import TEMPLATES
from rig.states import State

MOST_ACTIONS = 8


class Hand:
    """Real clicks and typed fields, counted."""

    def __init__(self) -> None:
        self.actions = 0

    def click(self, widget: QtWidgets.QWidget, place: QtCore.QPoint | None = None) -> None:
        """On what lies on top there, as a person does."""
        assert widget.isVisible() and widget.isEnabled()
        self.actions += 1
        point = widget.rect().center() if place is None else place
        if isinstance(widget, QtWidgets.QCheckBox) and place is None:
            point = QtCore.QPoint(8, widget.height() // 2)
        at = QtWidgets.QApplication.widgetAt(widget.mapToGlobal(point))
        assert at is widget or widget.isAncestorOf(at), f"{widget.accessibleName()} is under something"
        QtTest.QTest.mouseClick(at, LEFT, pos=at.mapFromGlobal(widget.mapToGlobal(point)))

    def item(self, listed: QtWidgets.QListWidget, text: str) -> None:
        """One of a list."""
        (found,) = listed.findItems(text, QtCore.Qt.MatchFlag.MatchExactly)
        self.click(listed.viewport(), listed.visualItemRect(found).center())

    def type(self, box: QtWidgets.QWidget, text: str) -> None:
        """Over what is in a field: chosen by a click, typed, and left."""
        self.click(box)
        QtTest.QTest.keySequence(box.window().windowHandle(), "Ctrl+A")
        handle = box.window().windowHandle()
        for letter in text:
            QtTest.QTest.keyClick(handle, letter)
        QtTest.QTest.keyClick(handle, KEY.Key_Return)


def _button(panels: Panels, name: str) -> QtWidgets.QPushButton:
    found = panels.motion.findChildren(QtWidgets.QPushButton)
    (button,) = [each for each in found if each.accessibleName() == name]
    return button


def _settled(page: TemplatePage, qtbot: Any) -> None:
    """Sizes are found, or it is said why not."""
    qtbot.waitUntil(
        lambda: not page.message.text().startswith("Searching") and not page._pause.isActive(), timeout=60_000
    )


@pytest.fixture
def page(panels: Panels, qtbot: Any) -> TemplatePage:
    """The templates, in view."""
    panels.tabs.setCurrentWidget(panels.motion)
    Hand().click(_button(panels, "From template motion"))
    made = panels.motion.templates
    assert made.isVisible()
    _settled(made, qtbot)
    return made


def test_a_sine_of_z_and_roll_is_ready_to_run_after_few_actions(
    panels: Panels, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.motion)
    panels.activateWindow()
    panel, hand, said = panels.motion, Hand(), set()
    refused: list[str] = []
    session.refused.connect(lambda what, _reason: refused.append(what))
    page = panel.templates
    hand.click(_button(panels, "From template motion"))
    hand.item(page.list, "Sine")
    hand.click(page.form.fields["axes"].boxes["rx"])
    hand.type(page.form.fields["cycles"].box, "2")
    said.add(page.message.objectName())
    _settled(page, qtbot)
    said.add(page.message.objectName())
    hand.click(page.create)
    qtbot.waitUntil(lambda: panel.title == "Motion: sine (not saved)", timeout=60_000)
    said.add(page.message.objectName())
    looked(panel, qtbot)
    assert hand.actions <= MOST_ACTIONS
    assert said == {"muted"} and refused == []
    assert panel.verdict.text().startswith("✓ Within all limits over 8 s")
    (part,) = panel.editor.value()["parts"]
    assert [term["dof"] for term in part["terms"]] == ["z", "rx"] and all(term["amplitude"] for term in part["terms"])
    assert panel.run.isEnabled()
    hand.click(panel.run)
    qtbot.waitUntil(lambda: session.commands == ["follow 'sine'"], timeout=60_000)
    assert hand.actions <= MOST_ACTIONS


_MAKES = {
    "sine": ["harmonic"],
    "sweep": ["chirp"],
    "circle": ["harmonic"],
    "random": ["random"],
    "multisine": ["harmonic"],
    "sea": ["harmonic"],
    "road": ["harmonic"],
    "seismic": ["accelerations"],
    "step": ["minimum-jerk", "hold", "minimum-jerk"],
}


def test_every_template_makes_an_ordinary_motion_as_it_is(panels: Panels, page: TemplatePage, qtbot: Any) -> None:
    panel, hand = panels.motion, Hand()
    assert {*_MAKES, "csv"} == set(TEMPLATES)
    for name, kinds in _MAKES.items():
        panel.begin_template()
        hand.item(page.list, TEMPLATES[name].title)
        hand.click(page.create)
        if panel.document.unsaved:  # the one before
            qtbot.waitUntil(lambda: panel.document.question is not None, timeout=60_000)
            assert panel.document.question is not None
            choose(panel.document.question, "Discard the motion")

        def shown(name: str = name) -> None:
            seen = page.message.text(), page.name, panel.document.state.name, panel.document.question
            assert panel.title == f"Motion: {name} (not saved)", seen

        qtbot.waitUntil(shown, timeout=60_000)
        assert [part["type"] for part in panel.editor.value()["parts"]] == kinds
        assert not page.isVisible() and panel.edits.stack.count() == 0  # another motion, in which nothing was edited
    looked(panel, qtbot)
    assert panel.verdict.text().startswith("✓ Within all limits over 4 s")


def test_poses_from_a_csv_file_ask_for_the_file(panels: Panels, page: TemplatePage, qtbot: Any, tmp_path: Path) -> None:
    hand = Hand()
    hand.item(page.list, "Poses from a CSV file")
    assert page.message.text() == ""
    hand.click(page.create)
    assert page.message.text() == "File: choose one" and page.message.objectName() == "bad"
    path = tmp_path / "poses.csv"
    path.write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    page.form.fields["file"].set_value(str(path))
    hand.click(page.create)
    qtbot.waitUntil(lambda: panels.motion.title == "Motion: poses (not saved)", timeout=60_000)
    looked(panels.motion, qtbot)
    table = panels.motion.preview.table
    assert table is not None and table.samples[-1, 2] == pytest.approx(0.46)


def test_only_the_numbers_that_matter_are_shown_and_a_typed_size_stays(page: TemplatePage, qtbot: Any) -> None:
    fields, hand = page.form.fields, Hand()
    assert fields["amplitude"].value() == pytest.approx(0.05)
    assert fields["amplitude"].isVisible() and not fields["angle"].isVisible()
    hand.click(fields["axes"].boxes["rx"])
    _settled(page, qtbot)
    assert fields["angle"].isVisible()
    assert 0.0 < fields["amplitude"].value() < 0.05 and 0.0 < fields["angle"].value() < np.radians(10.0)
    hand.type(fields["amplitude"].box, "3")
    hand.type(fields["frequency"].box, "1")
    _settled(page, qtbot)
    assert fields["amplitude"].value() == pytest.approx(0.003) and fields["angle"].value() > 0.0
    hand.click(fields["axes"].boxes["z"])
    assert not fields["amplitude"].isVisible()


def test_numbers_that_make_no_motion_are_said_and_none_is_made(panels: Panels, page: TemplatePage, qtbot: Any) -> None:
    hand = Hand()
    hand.click(page.form.fields["axes"].boxes["z"])
    hand.click(page.create)
    assert page.message.text() == "Axes: choose at least one"
    hand.item(page.list, "Multisine")
    hand.type(page.form.fields["start"].box, "4.9")
    hand.type(page.form.fields["end"].box, "4.95")
    hand.click(page.create)
    _settled(page, qtbot)
    assert "longer period" in page.message.text() and page.message.objectName() == "bad"
    hand.click(page.cancel)
    assert panels.motion.title == "Motion: demo" and panels.motion.editor.isVisible()


def test_what_a_template_would_make_is_in_view_before_it_is_made(
    panels: Panels, page: TemplatePage, qtbot: Any
) -> None:
    panel, hand = panels.motion, Hand()
    shown = panel.sights.plots
    panel._changed.start()
    looked(panel, qtbot)
    hand.type(page.form.fields["cycles"].box, "2")
    _settled(page, qtbot)
    qtbot.waitUntil(lambda: panel.verdict.text().startswith("✓ Within all limits over 8 s"), timeout=60_000)
    assert float(shown.curves[0][0].xData[-1]) == pytest.approx(8.0)
    hand.item(page.list, "Multisine")
    hand.type(page.form.fields["start"].box, "4.9")
    hand.type(page.form.fields["end"].box, "4.95")
    qtbot.waitUntil(lambda: "longer period" in panel.verdict.text(), timeout=60_000)
    hand.click(page.cancel)
    assert panel.verdict.text().startswith("✓ Within all limits over 20 s")
    assert float(shown.curves[0][0].xData[-1]) == pytest.approx(20.0)


def test_run_names_what_it_runs_and_runs_nothing_while_a_template_is_shown(
    panels: Panels, session: FakeSession, page: TemplatePage, qtbot: Any
) -> None:
    session.take(make_status(State.ENGAGED))
    panel, hand = panels.motion, Hand()
    panel._changed.start()
    looked(panel, qtbot)
    qtbot.waitUntil(lambda: panel.run.text() == "Run sine, 14 s", timeout=60_000)
    assert "Create" in panel.run.obstacle and not panel.run.isEnabled() and not panel.amplitude.isEnabled()
    panel._run()  # whatever asks for it
    panel.begin_template()
    panel.repeats.setValue(3)
    assert session.sent == [] and panel.run.text() in ("Run sine", "Run sine, 3 × 14 s") and panel.run.obstacle
    hand.click(page.cancel)
    assert panel.run.text() == "Run demo, 3 × 20 s" and panel.run.isEnabled() and panel.amplitude.isEnabled()
    session.take(make_status(State.ENGAGED, pace=0.5))
    assert panel.run.text() == "Run demo, 3 × 40 s"
    panel.repeats.setValue(1)
    session.take(make_status(State.ENGAGED))
    panel.amplitude.setValue(40.0)
    assert panel.run.text() == "Run demo" and not panel.run.isEnabled()  # until it has been looked at
    panel.load_shipped("demo")
    panel.begin_template()
    hand.click(page.create)
    qtbot.waitUntil(lambda: panel.run.text() == "Run sine, 14 s" and panel.run.isEnabled(), timeout=60_000)
    hand.click(panel.run)
    qtbot.waitUntil(lambda: session.commands == ["follow 'sine'"], timeout=60_000)


def test_a_motion_that_was_made_is_not_lost_without_a_question(
    panels: Panels, page: TemplatePage, qtbot: Any, tmp_path: Path
) -> None:
    panel, hand = panels.motion, Hand()
    hand.click(page.create)
    qtbot.waitUntil(lambda: panel.title == "Motion: sine (not saved)", timeout=60_000)
    for lost in ("Demo motion", "New motion"):
        hand.click(_button(panels, lost))
        assert panel.document.question is not None
        assert panel.document.question.text() == "The motion 'sine' is not saved."
        choose(panel.document.question, "Cancel")
        qtbot.waitUntil(lambda: panel.document.question is None, timeout=60_000)
        assert panel.title == "Motion: sine (not saved)"
    looked(panel, qtbot)
    panel.save_file(tmp_path / "mine.toml")
    assert panel.title == "Motion: mine"
    hand.click(_button(panels, "Demo motion"))
    assert panel.document.question is None and panel.title == "Motion: demo"


def test_changes_are_asked_about_before_a_template_takes_their_place(
    panels: Panels, page: TemplatePage, qtbot: Any
) -> None:
    panel = panels.motion
    panel.amplitude.set_si(40.0)
    for answer, title in (("Cancel", "Motion: demo (changed)"), ("Discard the changes", "Motion: sine (not saved)")):
        Hand().click(page.create)
        qtbot.waitUntil(lambda: panel.document.question is not None, timeout=60_000)
        assert panel.document.question is not None
        choose(panel.document.question, answer)
        qtbot.waitUntil(lambda title=title: panel.document.question is None and panel.title == title, timeout=60_000)
        assert page.isVisible() == (answer == "Cancel")
