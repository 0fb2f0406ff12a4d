"""Each emitted reference must follow on the one before: whatever a motion within the limits does, and no step."""

import math
from dataclasses import replace

import numpy as np
import pytest
from judged_references import judge

from dynamics import LegLimits
from kinematics import (
    Array,
    MotionTable,
    TrajectorySpec,
    build_trajectory,
    inverse_kinematics_kernel,
)
from rig.client import demo_trajectory
from rig.client.motions import checked_motion
from rig.config.rig_config import load_config
from rig.engine.braking import Braking
from rig.engine.reference import RateChange, Reference
from rig.safety import START_DISTANCE, ReferenceCheck
from rig.states import FaultCode

CONFIG = load_config("virtual")
MACHINE, SAFETY = CONFIG.machine, CONFIG.safety
HOME, GEOMETRY = MACHINE.geometry.home_pose, MACHINE.geometry.array
LIMITS = ReferenceCheck(MACHINE, SAFETY)
STEP = 2e-3


def _legs(motion: Array) -> Array:
    legs = np.zeros((6, 13))
    inverse_kinematics_kernel(GEOMETRY, motion, legs)
    return legs


def _at_the_limits(name: str) -> MotionTable:
    """A motion at the largest amplitude that is allowed."""
    if name == "demo":
        trajectory = demo_trajectory(HOME, 4.0)
    else:
        terms = [{"dof": "z", "amplitude": 0.05, "frequency": 3.0}, {"dof": "rx", "amplitude": 0.1, "frequency": 1.0}]
        part = {"type": "harmonic", "duration": 3.0, "fade": 0.5, "terms": terms}
        trajectory = build_trajectory(TrajectorySpec.model_validate({"frame": "home", "parts": [part]}), HOME)
    _table, verdict = checked_motion(CONFIG, trajectory, 3.0)
    table, verdict = checked_motion(CONFIG, trajectory, 3.0 * verdict.scale)
    assert verdict.passed
    assert max(check.excess for check in verdict.checks if check.bound > 1e-3) > -0.01
    return table


@pytest.mark.parametrize("period", [2e-3, 5e-4, 1.2e-2])
@pytest.mark.parametrize("name", ["demo", "fast"])
def test_a_motion_at_the_limits_passes_through_pause_and_return(name: str, period: float) -> None:
    """Also with cycles that are missed, 12 ms apart."""
    table = _at_the_limits(name)
    reference, braking = Reference(HOME, RateChange(GEOMETRY, LIMITS.acceleration)), Braking(CONFIG, LIMITS)
    motion, ahead = np.zeros(19), np.zeros(19)
    changes = {0.2: "follow", 0.8: "decelerate", 4.5: "resume", 5.5: "decelerate", 9.0: "resume"}
    ramps = (0.4, 0.8, 1.6, 3.2)
    for k in range(round(16.0 / period)):
        for at, change in changes.items():
            if k == round(at / period):
                if change == "follow":
                    reference.follow(table, name)
                else:
                    getattr(reference, change)(ramps)
        assert reference.evaluate(0.0, motion) and reference.evaluate(period, ahead)
        legs = _legs(motion)
        if judge(LIMITS, legs, 1.0) is None:  # a ramp that no leg bears is found there
            found = braking.accept(k * period, motion, legs, 1.0, reference)
            assert found is None, found.text
            found = judge(LIMITS, _legs(ahead), 1.0, legs, period)
            assert found is None or judge(LIMITS, _legs(ahead), 1.0), found
        reference.advance(period)
    assert not reference.moving and not reference.paused


@pytest.mark.parametrize("elapsed", [2e-3, 5e-4])
def test_steps_of_length_and_of_speed_are_named_with_their_bounds(elapsed: float) -> None:
    limit = MACHINE.legs[2].limits
    assert limit is not None and limit.acceleration is not None
    before = _legs(np.concatenate([HOME, np.zeros(12)]))
    way, speed = 0.25 * limit.acceleration * elapsed**2, limit.acceleration * elapsed
    for column, amount, said in ((0, way, "more than its speed explains"), (1, speed, "its speed steps by")):
        for sense in (1.0, -1.0):
            within, beyond = before.copy(), before.copy()
            for legs, factor in ((within, 0.99), (beyond, 1.05)):
                legs[2, column] += sense * factor * amount
                if column == 1:
                    legs[2, 0] += 0.5 * elapsed * legs[2, 1]
            assert judge(LIMITS, within, 1.0, before, elapsed, t=1.0) is None
            cause = judge(LIMITS, beyond, 1.0, before, elapsed, t=1.0)
            assert cause is not None and (cause.code, cause.leg, cause.t) == (FaultCode.REFERENCE_INVALID, 3, 1.0)
            assert cause.text.startswith("reference of leg 3: ") and said in cause.text


def test_speed_explains_a_way_and_a_way_that_is_not_made_is_a_step() -> None:
    before = _legs(np.concatenate([HOME, np.zeros(12)]))
    before[:, 1] = 0.2
    after = before.copy()
    after[:, 0] += 0.2 * STEP
    assert judge(LIMITS, after, 1.0, before, STEP) is None
    cause = judge(LIMITS, before, 1.0, before, STEP)
    assert cause is not None and "steps by 0.400 mm more than its speed explains within 2 ms" in cause.text


def test_a_motion_may_begin_where_the_operator_lets_it() -> None:
    before = _legs(np.concatenate([HOME, np.zeros(12)]))
    motion = np.concatenate([HOME, np.zeros(12)])
    motion[:3] += START_DISTANCE
    assert judge(LIMITS, _legs(motion), 1.0, before, STEP) is not None
    assert judge(LIMITS, _legs(motion), 1.0, before, STEP, starts=True) is None
    motion[:3] += 3.0 * START_DISTANCE
    assert judge(LIMITS, _legs(motion), 1.0, before, STEP, starts=True) is not None


def test_without_a_limit_of_acceleration_a_step_is_what_an_encoder_may_not_jump() -> None:
    legs = tuple(replace(leg, limits=LegLimits()) for leg in MACHINE.legs)
    check = ReferenceCheck(replace(MACHINE, legs=legs), SAFETY)
    before = _legs(np.concatenate([HOME, np.zeros(12)]))
    for by, passes in ((0.99 * SAFETY.position_jump, True), (1.01 * SAFETY.position_jump, False), (math.inf, False)):
        after = before.copy()
        after[4, 0] += by
        assert (judge(check, after, 1.0, before, STEP) is None) is passes
