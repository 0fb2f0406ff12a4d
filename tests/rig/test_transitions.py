"""Transitions between parts that do not meet: where they are missing, and how long they last."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL

from kinematics import TrajectoryError, TrajectorySpec, build_trajectory
from rig.client import checked_motion, transition_durations

HOME = VIRTUAL.machine.geometry.home_pose


def _hold(*position: float) -> dict[str, Any]:
    return {"type": "hold", "position": [*position, *[0.0] * (6 - len(position))], "duration": 0.2}


def _line(height: float) -> dict[str, Any]:
    """Of constant speed from home upwards, m/s."""
    end = [0.0, 0.0, height, 0.0, 0.0, 0.0]
    return {"type": "blend", "start": [0.0] * 6, "end": end, "duration": 0.5, "speed": height / 0.5}


def _spec(*parts: dict[str, Any], **more: Any) -> TrajectorySpec:
    return TrajectorySpec.model_validate({"frame": "home", "parts": list(parts), **more})


def _whole(spec: TrajectorySpec) -> TrajectorySpec:
    """The motion with the transitions that it lacks."""
    durations = transition_durations(VIRTUAL, spec)
    parts: list[Any] = []
    for index, part in enumerate(spec.parts):
        parts += [part] + ([{"type": "transition", "duration": durations[index]}] if index in durations else [])
    return TrajectorySpec.model_validate(spec.model_dump() | {"parts": parts})


def test_only_where_parts_do_not_meet_is_one_put_in() -> None:
    spec = _spec(_hold(), _hold(), _hold(0.0, 0.0, 0.02), _hold(0.0, 0.0, 0.02))
    durations = transition_durations(VIRTUAL, spec)
    # 15/8 of 20 mm at the configured 50 mm/s, in tenths of a second
    assert durations == {1: pytest.approx(0.8)}
    assert transition_durations(VIRTUAL, _whole(spec)) == {}


@pytest.mark.parametrize(
    "spec",
    [
        _spec(_hold(), _hold(0.02, 0.0, 0.03, 0.05)),
        _spec(_hold(), _line(0.03), _hold()),
        _spec(_hold(), _line(0.1), _hold(0.0, 0.0, 0.1)),  # hardly in stroke where it has slowed down
        _spec(_hold(), _hold(0.0, 0.0, 0.0, 0.1), pivot=[0.0, 0.0, 0.3]),
    ],
)
def test_the_motion_with_its_transitions_passes_without_a_jump(spec: TrajectorySpec) -> None:
    with pytest.raises(TrajectoryError, match="do not join"):
        build_trajectory(spec, HOME)
    made = build_trajectory(_whole(spec), HOME)
    _, verdict = checked_motion(VIRTUAL, made)
    assert verdict.passed, verdict.message
    times = np.linspace(0.0, made.duration, 20_001)
    q, qd, qdd = made.coordinates(times)
    for value, rate in ((q, qd), (qd, qdd)):
        middle = 0.5 * (rate[1:] + rate[:-1]) * times[1]
        np.testing.assert_allclose(np.diff(value, axis=0), middle, atol=1e-4 * np.abs(rate).max())


def test_where_no_transition_passes_the_check_says_why() -> None:
    spec = _spec(_hold(), _hold(0.0, 0.0, 0.3))
    assert transition_durations(VIRTUAL, spec) == {0: pytest.approx(11.3)}
    assert "greatest length" in checked_motion(VIRTUAL, build_trajectory(_whole(spec), HOME))[1].message


def test_a_part_that_cannot_be_made_is_said() -> None:
    spec = _spec(_hold(), {"type": "poses", "file": "none.csv"})
    with pytest.raises(TrajectoryError, match=r"none\.csv"):
        transition_durations(VIRTUAL, spec, Path())
