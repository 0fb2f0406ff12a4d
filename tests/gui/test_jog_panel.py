"""Jogging and going to a pose: where a step leads, what is sent, and what is refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyqtgraph.Qt import QtWidgets
from shell_support import KEY, FakeSession, Panels, focus, key, make_settings, make_status, press

from gui.models.rules import Phase
from kinematics import (
    angles_to_quaternion,
    coordinates_to_pose,
    leg_lengths,
    pose_to_coordinates,
)
from rig.engine import Follow
from rig.states import State

_TURNED = np.array([0.01, -0.02, 0.47, *angles_to_quaternion(np.array([0.1, -0.2, 0.3]))])


def _moved(session: FakeSession) -> np.ndarray[Any, Any]:
    (what, command, samples) = session.sent[-1]
    assert what.startswith("follow") and isinstance(command, Follow)
    return np.asarray(samples)


def test_a_jog_button_sends_a_checked_move(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.jog)
    panels.jog.steps.translation.set_si(0.004)
    press(panels.jog.buttons["-y"])
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    samples = _moved(session)
    assert samples[-1, :6] - samples[0, :6] == pytest.approx([0, -0.004, 0, 0, 0, 0], abs=1e-12)
    assert not panels.jog.buttons["+x"].isEnabled()
    session.take(make_status(State.RUNNING, t=10.1))
    session.take(make_status(State.ENGAGED, t=10.5))
    assert panels.jog.buttons["+x"].isEnabled() and panels.jog.outcome == ""


def test_angles_and_legs_are_jogged_too(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.jog)
    press(panels.jog.buttons["+rz"])
    qtbot.waitUntil(lambda: len(session.sent) == 1, timeout=60_000)
    assert _moved(session)[-1, 5] == pytest.approx(math.radians(1.0))
    session.take(make_status(State.ENGAGED, t=11.0))
    press(panels.jog.buttons["+leg2"])
    qtbot.waitUntil(lambda: len(session.sent) == 2, timeout=60_000)
    geometry = session.config.machine.geometry
    lengths = leg_lengths(geometry, coordinates_to_pose(_moved(session)[-1, :6]))
    assert lengths - leg_lengths(geometry, geometry.home_pose) == pytest.approx([0, 0.002, 0, 0, 0, 0], abs=1e-9)


def test_go_to_a_pose(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.jog)
    panels.jog.to.boxes[2].set_si(0.46)
    panels.jog.to.boxes[4].set_si(0.05)
    press(panels.jog.buttons["go"])
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    assert _moved(session)[-1, :6] == pytest.approx([0, 0, 0.46, 0, 0.05, 0], abs=1e-12)


def test_a_move_outside_the_limits_is_refused_with_its_reason(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.jog)
    panels.jog.to.boxes[2].set_si(0.9)
    press(panels.jog.buttons["go"])
    qtbot.waitUntil(lambda: "exceeds the limits" in panels.jog.outcome, timeout=60_000)
    assert "greatest length of leg" in panels.jog.outcome
    assert session.sent == []


def test_an_engine_that_refuses_is_quoted(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    session.refuse = "no fresh feedback of leg 3"
    panels.tabs.setCurrentWidget(panels.jog)
    press(panels.jog.buttons["+x"])
    qtbot.waitUntil(lambda: "no fresh feedback of leg 3" in panels.jog.outcome, timeout=60_000)


def test_nothing_jumps_when_jogging_becomes_possible(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panels.tabs.setCurrentWidget(panels.jog)
    buttons = [panels.jog.buttons[key] for key in ("+x", "+leg1")]
    session.take(make_status(State.IDLE))
    panels.jog.controls.widget().layout().activate()
    before = [button.mapTo(panels, button.rect().topLeft()) for button in buttons]
    session.take(make_status(State.ENGAGED))
    panels.jog.controls.widget().layout().activate()
    assert [button.mapTo(panels, button.rect().topLeft()) for button in buttons] == before
    assert all(button.isEnabled() for button in buttons)


def test_where_the_platform_is_now_is_shown(panels: Panels, session: FakeSession) -> None:
    panels.tabs.setCurrentWidget(panels.jog)
    session.take(make_status(State.ENGAGED, reference=tuple(_TURNED.tolist())))
    angles = [f"{math.degrees(angle):.2f} °" for angle in (0.1, -0.2, 0.3)]
    assert [label.text() for label in panels.jog.to.present] == ["10.00 mm", "-20.00 mm", "470.00 mm", *angles]


def _unknown(panels: Panels) -> bool:
    """Whether no position is shown, and why none can be filled in."""
    shown = {label.text() for label in (*panels.jog.to.present, *panels.jog.legs.lengths)}
    return shown == {"–"} and panels.jog.to.here.obstacle == "the pose is not known: connect and home first"


@pytest.mark.parametrize("hidden", [False, True])
def test_a_place_that_nobody_knows_is_not_shown(panels: Panels, session: FakeSession, hidden: bool) -> None:
    panels.tabs.setCurrentWidget(panels.jog)
    assert _unknown(panels)
    for unknown in (
        lambda: session.take(make_status(State.IDLE)),
        lambda: session.take(make_status(State.FAULT, homed=False)),
        lambda: session.take(make_status(State.OFF, homed=True)),  # another program has disconnected
        lambda: session.enter(Phase.ENDING),
        lambda: session.enter(Phase.DOWN),
        lambda: session.enter(Phase.DIED),
    ):
        session.take(make_status(State.PARKED))
        assert panels.jog.to.present[2].text() == "450.00 mm" and panels.jog.to.here.isEnabled()
        if hidden:
            panels.tabs.setCurrentWidget(panels.motion)
        unknown()
        panels.tabs.setCurrentWidget(panels.jog)
        assert _unknown(panels)


def test_what_was_kept_and_is_no_number_within_its_bounds_is_left_out(panels: Panels, tmp_path: Path) -> None:
    (tmp_path / "gui.ini").write_text(
        "[jog]\n"
        + "".join(
            f"of%20virtual\\{entry}\n"
            for entry in (
                "translation=5.0",
                "leg=nan",
                "speed=abc",
                "turn%20speed=1, 2",
                "pivot%20x=@Invalid()",
                "pivot%20y=@Point(3 4)",
                "rotation=0.0123456789",
                "pivot%20z=0.05",
            )
        )
    )
    before = [box.si() for box in (panels.jog.speed, panels.jog.turn_speed)]
    panels.jog.restore(make_settings(tmp_path))
    kept = (panels.jog.steps.translation.si(), panels.jog.legs.step.si(), panels.jog.steps.rotation.si())
    assert kept == (0.005, 0.002, 0.0123456789)
    assert [box.si() for box in (panels.jog.speed, panels.jog.turn_speed)] == before
    assert [box.si() for box in panels.jog.steps.pivot] == [0.0, 0.0, 0.05]


def test_without_torque_nothing_can_be_jogged(panels: Panels, session: FakeSession) -> None:
    session.take(make_status(State.PARKED))
    for button in panels.jog.buttons.values():
        assert not button.isEnabled() and button.toolTip() == "engage first"


def test_present_pose_fills_the_target(panels: Panels, session: FakeSession) -> None:
    panels.tabs.setCurrentWidget(panels.jog)
    session.take(make_status(State.ENGAGED, reference=tuple(_TURNED.tolist())))
    press(panels.jog.to.here)
    assert [box.si() for box in panels.jog.to.boxes] == pose_to_coordinates(_TURNED).tolist()


def test_the_keyboard_stays_at_the_button_that_was_pressed(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    panels.tabs.setCurrentWidget(panels.jog)
    button, step = panels.jog.buttons["+leg6"], panels.jog.legs.step
    focus(qtbot, button)
    before = [box.text() for box in panels.findChildren(QtWidgets.QAbstractSpinBox)]
    key(KEY.Key_Return)
    qtbot.waitUntil(lambda: not button.isEnabled())
    assert button.hasFocus()
    key("7")
    key(KEY.Key_Up)
    assert [box.text() for box in panels.findChildren(QtWidgets.QAbstractSpinBox)] == before
    qtbot.waitUntil(lambda: len(session.sent) == 1, timeout=60_000)
    session.take(make_status(State.RUNNING, t=10.1))
    session.take(make_status(State.ENGAGED, t=10.5))
    assert button.isEnabled() and button.hasFocus() and not step.hasFocus()
    key(KEY.Key_Return)
    qtbot.waitUntil(lambda: len(session.sent) == 2, timeout=60_000)
    key(KEY.Key_Tab)  # while it is disabled: goes on from it, as from any field
    assert not button.hasFocus() and panels.focusWidget() is not None
