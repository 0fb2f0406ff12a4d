"""Free ranges and steps on the Jog page: what is drawn, what is disabled and why, and when it is looked into anew."""

import math
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore
from shell_support import FakeSession, Panels, make_status, press

from rig.client import AXES, FreeRange, checked_move, jogged
from rig.runtime import ChildDiedError
from rig.states import State


@pytest.fixture
def known(panels: Panels, session: FakeSession, qtbot: Any) -> Panels:
    """The Jog page of a platform that is held at home, once all is known."""
    panels.tabs.setCurrentWidget(panels.jog)
    session.take(make_status(State.ENGAGED))
    _wait(panels, qtbot)
    return panels


def _wait(panels: Panels, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: panels.jog.finder.complete, timeout=60_000)


def test_every_way_is_drawn_as_far_as_a_move_passes(known: Panels) -> None:
    ranges = known.jog.finder.ranges
    assert set(ranges) == {f"{sign}{axis}" for axis in AXES for sign in "+-"}
    config, free = known.session.config, ranges["-z"].free
    home = config.machine.geometry.home_pose
    checked_move(config, home, jogged(config, home, "z", -free, "base", (0.0, 0.0, 0.0)), 0.05, 0.2)
    tip = known.jog.steps.bars["z"].toolTip()
    down, up = tip.splitlines()
    assert down.startswith(f"−z: {math.floor(free * 1e3)} mm free, then least length of leg")
    assert up.startswith("+z: 135 mm free, then greatest length of leg")


def test_a_step_that_would_be_refused_is_disabled_with_its_reason(known: Panels, qtbot: Any) -> None:
    jog = known.jog
    assert [key for key, button in jog.buttons.items() if not button.isEnabled()] == ["go saved"]
    jog.steps.rotation.set_si(0.5)
    jog.legs.step.set_si(0.05)
    jog.steps.pivot[2].set_si(-0.4)  # the farther the pivot, the farther a turn takes the platform
    _wait(known, qtbot)
    refused = {key for key, button in jog.buttons.items() if not button.isEnabled()} - {"go saved"}
    assert refused == set(jog.finder.refusals) and {"+ry", "-ry"} <= refused
    assert "+x" not in refused and "go" not in refused
    assert "must be at" in jog.buttons["+ry"].toolTip()
    jog.steps.pivot[2].set_si(0.0)
    jog.steps.rotation.set_si(0.01)
    _wait(known, qtbot)
    assert jog.buttons["+ry"].isEnabled()


def test_other_steps_leave_the_ranges_another_pose_does_not(known: Panels, session: FakeSession, qtbot: Any) -> None:
    jog = known.jog
    before = dict(jog.finder.ranges)
    press(jog.steps.presets[0].buttons[1e-3 * 0.5])
    assert jog.steps.translation.si() == 0.0005 and jog.finder.ranges == before
    _wait(known, qtbot)
    assert jog.finder.ranges["+z"] is before["+z"]
    home = session.config.machine.geometry.home_pose.tolist()
    lower = (*home[:2], home[2] - 0.05, *home[3:])
    session.take(make_status(State.ENGAGED, t=11.0, reference=lower))
    assert jog.finder.ranges == {} and "not known" in jog.steps.bars["z"].toolTip()
    _wait(known, qtbot)
    assert jog.finder.ranges["-z"].free == pytest.approx(before["-z"].free - 0.05, abs=1e-3)
    session.take(make_status(State.PARKED, t=12.0))
    assert jog.finder.ranges == {}


def test_what_cannot_be_computed_is_not_known_and_the_rest_is(
    panels: Panels, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder, asked = panels.jog.finder, []

    def preview(known: Any, function: Any, *_arguments: object) -> None:
        asked.append(function)
        died = len(asked) in (1, 3)  # the refused steps, and the second of the ranges
        error = ChildDiedError("the process of previews of moves has died") if died else None
        QtCore.QTimer.singleShot(0, lambda: known(None if died else FreeRange(0.1), error))

    monkeypatch.setattr(panels.jog.finder._mover, "preview", preview)
    panels.tabs.setCurrentWidget(panels.jog)
    with qtbot.capture_exceptions() as raised:
        session.take(make_status(State.ENGAGED))
        _wait(panels, qtbot)
    assert len(finder.ranges) == 2 * len(AXES) - 1 and finder.refusals == {}
    assert [kind for kind, *_ in raised] == [ChildDiedError] * 2  # for the log
    assert panels.jog.buttons["+x"].isEnabled()  # its move is checked again


def test_a_preset_is_lit_while_it_stands_in_the_field(panels: Panels) -> None:
    panels.tabs.setCurrentWidget(panels.jog)
    presets = panels.jog.steps.presets[1]
    assert [value for value, button in presets.buttons.items() if button.isChecked()] == [math.radians(1.0)]
    for _ in range(2):
        press(presets.buttons[math.radians(5.0)])
        assert [button.text() for button in presets.buttons.values() if button.isChecked()] == ["5"]
    assert panels.jog.steps.rotation.si() == math.radians(5.0)
    panels.jog.steps.rotation.set_si(0.123)
    assert not any(button.isChecked() for button in presets.buttons.values())


def test_a_page_that_is_not_in_view_asks_nothing(panels: Panels, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    assert not panels.jog.isVisible() and not panels.jog.finder.complete and panels.jog.finder.ranges == {}
