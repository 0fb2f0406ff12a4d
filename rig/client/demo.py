"""Demonstration from a wrong to an identified model: run, excite, identify, run again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibration import CalibrationError, save_parameters
from dynamics import Dynamics
from kinematics import Array, Trajectory, leg_kinematics, tabulate
from rig.client.excitation_file import excitation_for
from rig.client.fitting import Prediction
from rig.client.motion_runner import Progress
from rig.client.ports import on_free_ports
from rig.client.runs import RunResult, execute
from rig.config import PROPOSED, RigConfig, relaxed_timing
from rig.engine import make_drive_group
from rig.errors import RefusedError
from rig.recording import RecordingFile
from rig.safety import LONG_PERIOD, check_loop
from rig.virtual import Truth, hose_wrenches, truth_of

if TYPE_CHECKING:
    from rig.analysis import Identified

EXCITATION = 60.0
"""Duration of the motion for the identification, s."""
_RESIDUAL_NOISE, _POSITION, _OVERRUNS = 1.5, 2.0, 0.01
_CANDIDATES, _STEPS = 20, 100
_EVERY, _MARGIN = 0.02, 1.2  # s; of what is expected
_WATCHDOG = 2.5  # cycles, least time without a command
_UNKNOWN_MASSES = {"tare_shift": 15.0, "force_residual": 80.0}
"""N, bounds that a rig with a mass error of a fifth keeps; with its own it could not be engaged"""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Results: the motion with the nominal model, the identification with its file, and the motion with that.

    After a run that did not reach its end, the later ones are None.
    """

    before: RunResult
    excited: RunResult | None = None
    identified: Identified | None = None
    parameters: Path | None = None
    after: RunResult | None = None

    @property
    def last(self) -> RunResult:
        """The last run."""
        return self.after or self.excited or self.before


def as_built(config: RigConfig, seed: int) -> RigConfig:
    """The configuration with an as-built plant by a seed, and bounds on forces that its unknown masses keep."""
    bounds = {name: max(value, getattr(config.safety, name)) for name, value in _UNKNOWN_MASSES.items()}
    return config.changed({"safety": bounds, "virtual": {"plant": {"as_built": seed}}})


def at_rate(config: RigConfig, rate: float) -> RigConfig:
    """The configuration of a demonstration at another rate, with what a slow one needs.

    The drives' watchdog time is two and a half cycles or more. Drives that interpolate over a cycle are set to the
    new one, and their delay is as many cycles as before. Below 50 Hz, where the host's loop is not stable, the
    drives close it.

    Raises:
        ConfigError: a rate out of bounds.
    """
    changes: dict[str, Any] = {"rate": rate}
    if math.isfinite(rate) and rate > 0.0 and config.drives.watchdog * rate < _WATCHDOG:
        changes["drives"] = {"watchdog": math.ceil(100.0 * _WATCHDOG / rate) / 100.0}
    if (before := config.drives.settings.get("sync_period")) and math.isfinite(rate) and rate > 0.0:
        delay = config.drives.delay / (before * rate)
        changes["drives"] = changes.get("drives", {}) | {"sync_period": 1.0 / rate, "delay": delay}
    slower = config.changed(changes)
    long = slower.period > LONG_PERIOD and not check_loop(slower).passed
    return slower.changed({"mode": "position"}) if long else slower


def with_demo_thresholds(config: RigConfig, *, timing: bool, exact: bool = False) -> RigConfig:
    """The configuration of a demonstration with its thresholds.

    For a plant that is `exact`ly the model, in a motion over all six axes, they are the defaults proposed for any rig.

    The model of a drawing is beyond the residual, 1.5 times the cells' noise, as is expected of a machine as built (see
    `expecting`); one that is identified or exact is not. The platform may be off its reference by twice what a leg may,
    `safety.following_error`, and, where `timing` counts, one cycle in a hundred may be skipped.
    """
    of_model = PROPOSED if exact else {"residual_noise": _RESIDUAL_NOISE}
    thresholds = {**of_model, "position_max": _POSITION * config.safety.following_error}
    return config.changed({"validation": thresholds | ({"overruns": _OVERRUNS} if timing else {})})


def expecting(config: RigConfig, trajectory: Trajectory, predicted: Prediction | None = None) -> RigConfig:
    """The configuration with the residual expected by its plant's departures from the model along a trajectory.

    It is the worst leg's RMS of the effects on the cells of the plant's mechanism, hose and friction, and of the cells'
    gains, zeros, curvature, hysteresis and hum, plus a fifth, and the noise.

    Those are effects d(t) along the reference. A drive that closes its own loop and takes no force along follows a
    set-point of its own between two commands. Its leg's acceleration differs from the reference's, and the cell reads
    that as well, s(t), which no model of the host has. RMS(d + s) is in the simulation of the motion on this plant,
    `predicted`. So there the expected residual is at least that, plus a fifth, as in `expecting_own_loops`.
    """
    truth = truth_of(config)
    table = tabulate(trajectory, _EVERY)
    motions = table.motion(table.step * np.arange(len(table.samples)))
    models = (truth.mechanism, config.machine)
    pulls = (hose_wrenches(truth.hose, motions), np.zeros((len(motions), 6)))
    is_read, modelled = (
        Dynamics(one, coulomb_speed=config.control.coulomb_speed).cells(motions, pull)
        for one, pull in zip(models, pulls, strict=True)
    )
    friction, cells = truth.friction, truth.cells
    sides = (
        np.abs(friction.extending) + np.abs(friction.breakaway_extending),
        np.abs(friction.retracting) + np.abs(friction.breakaway_retracting),
    )
    share = np.abs(friction.load) + np.abs(np.subtract(cells.gain, 1.0)) + np.abs(cells.gain_warming)
    bent = config.load_cells.range * (np.abs(cells.curvature) + 0.5 * np.array(cells.hysteresis))
    beyond = np.abs(is_read - modelled) + np.maximum(*sides) + share * np.abs(is_read) + np.abs(cells.bias)
    beyond += bent + np.abs(cells.hum) + _friction_beyond(config, truth, motions)
    for neighbour, part in zip((1, -1), np.abs(cells.cross_talk).T, strict=True):
        beyond += part * np.abs(np.roll(is_read, neighbour, axis=1))
    expected = _MARGIN * float(np.sqrt(np.mean(beyond**2, axis=0)).max()) + config.cell_noise
    if predicted is not None and _without_force(config):
        expected = max(expected, _MARGIN * predicted.residual_rms)
    return config.changed({"virtual": {"plant": {"expected_residual": expected}}})


def _without_force(config: RigConfig) -> bool:
    """Whether a drive that closes its own loop takes no force along, so that the model does not have its force."""
    taken = make_drive_group(config).force_feedforward
    return any(own and not takes for own, takes in zip(config.own_loops, taken, strict=True))


def expecting_own_loops(config: RigConfig, predicted: Prediction) -> RigConfig:
    """The configuration with the residual expected of drives that close their own loops, on a plant that is the model.

    It is that of the worst leg in the simulation of the motion, cells' noise included, plus a fifth. Between two
    commands such a drive follows a set-point of its own, and no model of the host has the force of that.
    """
    if not any(config.own_loops):
        return config
    return config.changed({"virtual": {"plant": {"expected_residual": _MARGIN * predicted.residual_rms}}})


def _friction_beyond(config: RigConfig, truth: Truth, motions: Array) -> Array:
    """What of a plant's friction follows the speed, the leg's length or the time since its start, at most, (n, 6) N."""
    friction, legs = truth.friction, truth.mechanism.legs
    speeds = np.abs(leg_kinematics(config.machine.geometry, motions).velocity)
    slick = np.array(friction.viscous) * (speeds / friction.viscous_speed) ** friction.viscous_exponent
    coulomb, prismatic = (np.array([getattr(leg.friction, name) for leg in legs]) for name in ("coulomb", "prismatic"))
    # before it slides, friction has any size up to that which the model gives it at once
    turning = coulomb if any(friction.presliding_stiffness) else 0.0
    beyond: Array = slick + friction.ripple + friction.running_in * (coulomb + prismatic * speeds) + turning
    return beyond


def identify_on(
    config: RigConfig,
    trajectory: Trajectory,
    name: str,
    folder: Path | None,
    *,
    lockstep: bool,
    report: Callable[[Progress], None],
) -> DemoResult:
    """Run a trajectory, then an exciting one; identify the parameters, and run the first again with them.

    The identification is judged by the first run, which it is not fitted to. Its file is next to the recordings.

    Args:
        config: of a virtual rig. trajectory, name, folder, lockstep, report: as `execute`.

    Raises:
        As `execute`; RefusedError where the forces do not support an identification.
    """
    from rig.analysis import identify_recordings  # takes long to import, and few need it

    def run(settings: RigConfig, motion: Trajectory, title: str) -> RunResult:
        served = settings if lockstep else relaxed_timing(on_free_ports(settings))
        return execute(served, motion, title, folder, lockstep=lockstep, report=report)

    try:
        excitation = excitation_for(config, EXCITATION, candidates=_CANDIDATES, steps=_STEPS)
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["no motion can be designed:", *error.faults])) from None
    before = run(config, trajectory, name)
    if before.error is not None:
        return DemoResult(before)
    excited = run(config, excitation.trajectory(config.machine.geometry.home_pose), f"{name}-excitation")
    if excited.error is not None:
        return DemoResult(before, excited)
    try:
        found = identify_recordings([RecordingFile(excited.recording)], [RecordingFile(before.recording)])
        target = excited.recording.with_suffix(".parameters.toml").absolute()
        save_parameters(target, found.file(datetime.now().date()))
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["identification refused:", *error.faults])) from None
    known = {"parameters": [*config.parameters, str(target)], "virtual": {"plant": {"expected_residual": None}}}
    after = run(config.changed(known), trajectory, f"{name}-identified")  # nothing is expected to be left
    return DemoResult(before, excited, found, target, after)
