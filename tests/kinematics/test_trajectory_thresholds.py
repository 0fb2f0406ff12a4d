"""The table [validation] of a motion's file: what its runs have to achieve."""

import re
import tomllib

import numpy as np
import pytest

from kinematics.errors import TrajectoryError
from kinematics.trajectories import parse_specification, parse_trajectory, tabulate, trajectory_text

HOME = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0])

HELD = """
[[parts]]
type = "hold"
duration = 1
"""
VALIDATION = """
frame = "home"
[validation]
residual_rms = "300 mN"
lag = "2 ms"
"""


def test_a_file_says_what_its_runs_have_to_achieve() -> None:
    motion = parse_trajectory(VALIDATION + HELD, HOME)
    assert motion.thresholds.named == {"residual_rms": 0.3, "lag": 0.002}
    assert tabulate(motion, 0.01).thresholds == motion.thresholds
    assert parse_trajectory(VALIDATION.partition("[validation]")[0] + HELD, HOME).thresholds.named == {}
    again = trajectory_text(tomllib.loads(VALIDATION + HELD))
    assert parse_specification(again) == parse_specification(VALIDATION + HELD)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('bias = "-1 N"', "validation, bias: -1 N, must be 1e-06 to 100000 N"),
        ('bias = "1 mm"', "validation, bias: '1 mm' has the wrong dimension"),
        ("lag = nan", "validation, lag: nan is not finite"),
        ("confidence = 0.2", "validation, confidence: 0.2, must be 0.5 to 0.9999"),
        ("residuals = 1", "validation, residuals: unknown key"),
    ],
)
def test_thresholds_of_a_file_are_checked_as_a_rigs_are(line: str, fault: str) -> None:
    with pytest.raises(TrajectoryError, match=re.escape(fault)):
        parse_trajectory(VALIDATION.replace('lag = "2 ms"', line) + HELD, HOME)
