"""What drives give of commands that are held, beside a rig in motion that is its own model, and beside fine steps."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED, VIRTUAL
from exploration import LONG
from own_packages import installed

from dynamics import Dynamics
from kinematics import TrajectorySpec, build_trajectory, inverse_kinematics_kernel
from rig.analysis import ContactLog, Smoothing, WrenchEstimator, residuals_of, stated_noise
from rig.client import execute
from rig.config import RigConfig
from rig.engine.cycle_data import FRAME
from rig.engine.zero_order_hold import _DEVIATING, ZeroOrderHold, zero_order_hold_kernel
from rig.recording import open_recording
from rig.states import State

NOISE = 0.5  # N
_TURNS = 2.0 * math.pi * 7.0  # rad/s


def _harmonic(*terms: dict[str, Any]) -> dict[str, Any]:
    """A part of a motion: 6 s of a sum of harmonics."""
    return {"type": "harmonic", "duration": 6.0, "fade": 1.0, "terms": list(terms)}


def _short(part: dict[str, Any]) -> dict[str, Any]:
    """The same for half as long."""
    return part | {"duration": 3.0, "fade": 0.5}


_FAST = _harmonic(
    {"dof": "x", "amplitude": 0.0017, "frequency": 9.0},
    {"dof": "y", "amplitude": 0.0004, "frequency": 17.0, "phase": 1.0},
    {"dof": "z", "amplitude": 0.0008, "frequency": 11.0, "phase": 2.0},
    {"dof": "rx", "amplitude": 0.0033, "frequency": 13.0, "phase": 0.5},
)
_WIDE = _harmonic(
    {"dof": "x", "amplitude": 0.045, "frequency": 1.1},
    {"dof": "z", "amplitude": 0.03, "frequency": 1.3, "phase": 1.0},
    {"dof": "rx", "amplitude": 0.12, "frequency": 1.2, "phase": 2.0},
    {"dof": "ry", "amplitude": 0.02, "frequency": 4.0, "phase": 0.5},
)


def _ran(config: RigConfig, tmp_path: Path, part: dict[str, Any] = _FAST) -> Any:
    home = config.machine.geometry.home_pose
    motion = build_trajectory(TrajectorySpec.model_validate({"frame": "home", "parts": [part]}), home)
    run = execute(config, motion, "fast", tmp_path, lockstep=True, report=lambda _progress: None)
    return open_recording(run.recording)


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize(
    "changes",
    [
        {"rate": 500, "mode": "force"},
        {"rate": 1000, "mode": "computed-torque"},
        {"rate": 200, "mode": "position"},
        {"rate": 200, "mode": "force", "control": {"stiffness": 8e3, "damping": 360.0}},
        {
            "rate": 500,
            "mode": "force",
            "control": {"stiffness": 8e3, "damping": 360.0},
            "drives": {"delay": 0.0036},
            "virtual": {"drive": {"delay": 0.0036}},
        },
        *([{"rate": 200, "mode": "computed-torque"}, {"rate": 500, "mode": "position"}] if LONG else []),
    ],
    ids=lambda changes: f"{changes['mode']} {changes['rate']} Hz{' late' if 'drives' in changes else ''}",
)
def test_a_rig_that_is_its_model_leaves_noise_in_fast_motion(changes: dict[str, Any], tmp_path: Path) -> None:
    recording = _ran(SHIPPED.changed(changes), tmp_path)
    rows = recording.rows
    rows = rows[rows["state"] == State.RUNNING]
    left = rows["force_residual"].std(axis=0)
    assert len(rows) > 5.0 * changes["rate"] and (left < 1.15 * NOISE).all(), left
    without = (rows["force_residual"] + rows["force_held"]).std(axis=0)
    assert (without > 1.2 * NOISE).all(), without
    assert _contacts(SHIPPED.changed(changes), recording.rows) == 0


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize(
    ("changes", "motion", "instant", "smoothed"),
    [
        ({"rate": 200, "mode": "position"}, _WIDE, 0.03, 0.015),
        ({"rate": 1000, "mode": "position"}, _FAST, 0.04, 0.04),
        ({"rate": 1000, "mode": "force"}, _FAST, 0.006, 0.006),
        ({"rate": 400, "mode": "force"}, _FAST, 0.01, 0.006),
    ],
    ids=[
        "far from home",
        "dead time beyond a cycle, own loops",
        "dead time beyond a cycle",
        "within a step of the plant",
    ],
)
def test_what_held_commands_do_is_known_to_less_than_noise(
    changes: dict[str, Any], motion: dict[str, Any], instant: float, smoothed: float, tmp_path: Path
) -> None:
    """Where cells have no noise: what is left as it is read, and at the motion that was measured."""
    config = SHIPPED.changed({**changes, "virtual": {"cells": {"noise": 0.0}}})
    rows = _ran(config, tmp_path, _short(motion)).rows
    smoothing = Smoothing(20.0, config.rate)
    drives = {"delay": config.drives.delay, "force_bandwidth": config.drives.force_bandwidth}
    found = list(residuals_of([rows], config.machine, smoothing, config.control.coulomb_speed, drives))
    left = np.concatenate([each.residual[each.state == State.RUNNING] for each in found]).std(axis=0)
    read = rows[rows["state"] == State.RUNNING]["force_residual"].std(axis=0)
    assert (read < instant).all() and (left < smoothed).all(), (read, left)


def _contacts(config: RigConfig, rows: Any) -> int:
    """How often something seems to touch the platform, at one false alarm an hour; residuals are those of noise."""
    smoothing = Smoothing(20.0, config.rate)
    drives = {"delay": config.drives.delay, "force_bandwidth": config.drives.force_bandwidth}
    noise = stated_noise(NOISE, smoothing)
    estimator, log = WrenchEstimator(config.machine, smoothing, noise), ContactLog(smoothing)
    squares = []
    for residuals in residuals_of([rows], config.machine, smoothing, config.control.coulomb_speed, drives):
        log.add(estimator.estimate(residuals))
        squares.append(residuals.residual[residuals.state == State.RUNNING] ** 2)
    left = np.sqrt(np.concatenate(squares).mean(axis=0) / noise.covariance[0, 0])
    assert (left < 1.25).all(), left  # some 20 % is what chance makes of 6 s at 20 Hz
    return len(log.found)


def test_a_leg_that_the_host_turns_round_is_foreseen_by_the_law_that_does_it() -> None:
    """Deviations decay by the gains of the law."""
    for mode in ("force", "computed-torque"):
        config = VIRTUAL.changed({"rate": 400, "mode": mode})
        held, frame = ZeroOrderHold(config, (False,) * 6), np.zeros(1, FRAME)
        seen = []
        for cycle in range(400):
            t = cycle * config.period
            legs, model = _reference(t, config)
            terms = np.zeros((5, 6))
            terms[0] = model
            _, rates = _excess(held, frame, t, terms, legs, _motion(t, config))
            ahead, force = _reference(t + config.period + config.force_lead, config)
            held.note(t, force, ahead[:, 1], ahead)
            seen.append(rates)
        fast = np.abs(np.array(seen)[100:]).max()
        assert 1e-5 < fast < 5e-3, (mode, fast)


def test_what_a_law_remembers_is_foreseen_too(tmp_path: Path) -> None:
    """Damping by a filter that passes at once what it gets is damping; a slower filter is less of it."""

    def rates(mode: str, keep: float = 0.0) -> Any:
        config = VIRTUAL.changed({"rate": 400, "mode": mode, "laws": {"filtered": {"keep": keep}}})
        held, frame, seen = ZeroOrderHold(config, (False,) * 6), np.zeros(1, FRAME), []
        for cycle in range(160):
            if cycle == 80:
                held.forget()  # from then on as from the beginning
            t = cycle % 80 * config.period
            legs, model = _reference(t, config)
            terms = np.zeros((5, 6))
            terms[0] = model
            seen.append(_excess(held, frame, t, terms, legs, _motion(t, config))[1])
            ahead, force = _reference(t + config.period + config.force_lead, config)
            held.note(t, force, ahead[:, 1], ahead)
        return np.array(seen)

    with installed(tmp_path, {"filtered": FILTERED}, "[stewart_rig.control_laws]\nfiltered = filtered:LAW\n"):
        force, at_once, slow = rates("force"), rates("filtered"), rates("filtered", 0.9)
    assert np.abs(force).max() > 1e-5
    np.testing.assert_allclose(at_once, force, rtol=1e-9, atol=1e-15)
    assert np.abs(slow - force).max() > 0.05 * np.abs(force).max()
    np.testing.assert_array_equal(slow[80:], slow[:80])


FILTERED = """
from typing import Annotated
import numpy as np
from pydantic import Field
from rig.config import ExtensionSettings, LawDeclaration, LegFeedback
from rig.engine import ForceLaw

class Settings(ExtensionSettings):
    keep: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0

def feedback(config):
    keep, control = config.law_settings("filtered").keep, config.control
    A, B = np.array([[keep]]), np.array([[0.0, 1.0 - keep]])
    return LegFeedback(control.stiffness, 0.0, A, B, np.array([control.damping]))

LAW = LawDeclaration("filtered", "Filtered", ForceLaw, feedback=feedback, settings=Settings)
"""


def _excess(
    held: ZeroOrderHold, frame: Any, t: float, terms: Any, legs: Any, motion: Any, read: float = 0.0
) -> tuple[Any, Any]:
    """Forces held, N, and speeds, m/s, in the cycle at `t`, whose cells are read `read` s later."""
    row = frame["row"]
    frame["cells_offset"], frame["legs"] = read, legs
    row["terms"], row["velocity_reference"], row["reference"] = terms, legs[:, 1], motion
    zero_order_hold_kernel(frame, held.data, t)
    return row["force_held"][0].copy(), row["velocity_held"][0].copy()


def _reference(t: float, config: RigConfig) -> tuple[Any, Any]:
    """Legs of a motion, and a force at each, that is smooth and has nothing to do with it."""
    legs = np.zeros((6, 13))
    inverse_kinematics_kernel(config.machine.geometry.array, _motion(t, config), legs)
    return legs, 80.0 + 40.0 * np.sin(_TURNS * t + np.arange(6.0))


def _motion(t: float, config: RigConfig) -> Any:
    """A motion (19,) of `_TURNS` along x."""
    motion = np.zeros(19)
    motion[:7] = config.machine.geometry.home_pose
    motion[0] += 0.004 * math.sin(_TURNS * t)
    motion[7], motion[13] = 0.004 * _TURNS * math.cos(_TURNS * t), -0.004 * _TURNS**2 * math.sin(_TURNS * t)
    return motion


@pytest.mark.parametrize("delay", [0.0, 0.4e-3, 7.3e-3])
def test_a_force_is_held_delayed_and_lagged(delay: float) -> None:
    config = VIRTUAL.changed({"rate": 400, "drives": {"delay": delay, "force_bandwidth": 150.0}})
    held, period, lag = ZeroOrderHold(config, (True,) * 6), 1.0 / 400.0, 1.0 / (2.0 * math.pi * 150.0)
    rng = np.random.default_rng(0)
    forces = rng.uniform(-100.0, 100.0, (40, 6))
    held.data["timing"][0, _DEVIATING] = 0.0  # the hold alone
    reading = 0.7e-3  # s, that cells are read after their drives are asked
    fine, given, frame = 2e-6, forces[0].copy(), np.zeros(1, FRAME)
    at = 0.0
    legs, _ = _reference(0.0, config)
    home = np.concatenate([config.machine.geometry.home_pose, np.zeros(12)])
    for cycle in range(40):
        t = cycle * period
        if cycle:
            out, _ = _excess(held, frame, t, 0.0, legs, home, reading)
            while at < t + reading:
                place = math.floor((at - delay) / period + 1e-9) - 1  # the command that is in effect
                given += (forces[max(place, 0)] - given) * (1.0 - math.exp(-fine / lag))
                at += fine
            if t > delay + period:  # before, what the drive was told before the first command counts
                np.testing.assert_allclose(out, _at_cells(config, given), atol=0.5)
        held.note(t, forces[cycle], legs[:, 1], legs)


def _at_cells(config: RigConfig, forces: Any) -> Any:
    """What cells read of forces (6,) in the legs, N, at home."""
    dynamics = Dynamics(config.machine)
    home = np.concatenate([config.machine.geometry.home_pose, np.zeros(12)])
    moved = home.copy()
    moved[13:] = dynamics.response(home[np.newaxis, :13], forces[np.newaxis])[0]
    return (dynamics.cells(moved[np.newaxis]) - dynamics.cells(home[np.newaxis]))[0]


def test_no_held_force_where_the_drive_is_not_known() -> None:
    slow = VIRTUAL.changed({"rate": 400, "drives": {"sample_period": 0.01}})
    position = VIRTUAL.changed({"mode": "position"})
    real = position.model_copy(update={"virtual": None})
    for config, feedforward, told in (
        (slow, True, False),
        (position, True, True),
        (position, False, False),
        (real, True, False),
    ):
        held, frame = ZeroOrderHold(config, (feedforward,) * 6), np.zeros(1, FRAME)
        for cycle in range(12):
            t = cycle * config.period
            legs, force = _reference(t + config.period + config.force_lead, config)
            now, model = _reference(t, config)
            terms = np.zeros((5, 6))
            terms[0] = model
            out, _ = _excess(held, frame, t, terms, now, _motion(t, config))
            held.note(t, force, legs[:, 1], legs)
        assert (np.abs(out) > 0.1).all() if told else (out == 0.0).all(), (config.mode, feedforward)
    held.forget()
    out, _ = _excess(held, frame, 1.0, terms, now, _motion(1.0, config))
    assert (out == 0.0).all()
