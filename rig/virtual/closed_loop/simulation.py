"""Offline closed-loop simulation of a trajectory under a controller on the plant, compiled, or on MuJoCo's."""

from dataclasses import dataclass
from math import ceil, inf
from typing import Protocol

import numpy as np

from actuators import Mode
from dynamics import FROZEN_SIZE, WORK_SIZE, Dynamics, DynamicsError, Mechanism, without_leg_friction
from kinematics import FORWARD_WORK, MotionTable, leg_kinematics
from rig.config import Hose, PlantFriction, RigConfig, Virtual, find_law, law_names, usable_laws
from rig.engine import (
    OBSERVER_ROWS,
    CycleData,
    Readings,
    Reference,
    begin_observer_kernel,
    make_law,
    observer_settings,
)
from rig.errors import ConfigError, InputError
from rig.virtual import drive_kernel as columns
from rig.virtual.arrays import Array
from rig.virtual.closed_loop import cycle
from rig.virtual.closed_loop.result import LoopRun
from rig.virtual.mujoco_plant import MujocoPlant
from rig.virtual.plant import (
    Plant,
    drive_row,
    has_every_friction,
    hose_row,
    leg_rows,
    plant_mechanism,
    smooth_legs,
)
from rig.virtual.plant_kernel import DIVERGED, RUNNING, SINGULAR

_OWN = {"none": cycle.OPEN_LOOP, "pd": cycle.PD}
"""controllers that are no control law of a rig"""
_COMPILED = {
    "force": cycle.FORCE,
    "computed-torque": cycle.COMPUTED_TORQUE,
    "position": cycle.POSITION,
    "observer": cycle.OBSERVER,
}
"""branches of `control_kernel`, by `LawDeclaration.compiled`"""


def controllers() -> tuple[str, ...]:
    """Names of all controllers: none, pd, and every control law whose declaration can be loaded."""
    return (*_OWN, *_COMPILED, *(law.name for law in usable_laws() if not law.compiled))


_ENDS = {
    SINGULAR: "a leg came to lie along its universal joint's fixed axis",
    DIVERGED: "the platform became faster than any platform is",
    cycle.LOST: "the controller lost the platform: no pose has these leg lengths, or it is singular",
    cycle.LEFT_STROKE: "a leg left its stroke, and nothing closes the loop",
}


@dataclass(frozen=True, slots=True, eq=False)
class LoopStart:
    """Initial state of a loop at its first cycle.

    state (13,): of the platform. motors (6,): forces of the motors, N. commands (3, 6): forces, lengths and speeds of
    the first exchange, which the drives already follow. path_time: path time on the trajectory, s. integrals (6,): of
    the drives' own position loops, N; none if None.
    """

    state: Array
    motors: Array
    commands: Array
    path_time: float = 0.0
    integrals: Array | None = None


def on_reference(config: RigConfig, table: MotionTable, twist: Array | None = None) -> LoopStart:
    """Return the platform on its reference at the trajectory's start, with the drive forces of the model.

    twist (6,): of the platform instead of the reference's, base frame, m/s and rad/s.
    Raises DynamicsError if the model has no solution there.
    """
    motion = table.motion(0.0)[0]
    forces = Dynamics(config.machine, config.control.coulomb_speed).forces(motion)
    legs = leg_kinematics(config.machine.geometry, motion)
    state = motion[:13].copy()
    if twist is not None:
        state[7:] = twist
    return LoopStart(state, forces, np.vstack([forces, legs.length, legs.velocity]))


def run_loop(
    config: RigConfig,
    table: MotionTable,
    controller: str,
    *,
    plant: Mechanism | None = None,
    friction: PlantFriction | None = None,
    hose: Hose | None = None,
    start: LoopStart | None = None,
    wrenches: Array | None = None,
) -> LoopRun:
    """Follow a trajectory with a controller on the virtual rig's plant and drives, to its end.

    Args:
        config: rate, gains, drives and the controller's model; its [virtual] table describes the drives and the
            plant, which MuJoCo moves if `virtual.plant.engine` says so: some hundred times slower. Drives that are
            exchanged with less often than every cycle set the cycle.
        table: the trajectory.
        controller: "none", "pd", or the name of a control law. A law without a compiled branch computes by itself,
            cycle by cycle, with the settings of `config`: some ten times slower.
        plant: the simulated mechanism; that of `config` with its [virtual.plant] if None.
        friction: friction in addition to the mechanism's; of `config` if None.
        hose: attached hose; of `config` if None.
        start: see `LoopStart`; `on_reference` if None.
        wrenches: (n, 6) external wrench of each cycle at the platform origin, platform axes, N and N m, n as in
            `cycle_times`; none if None.

    Raises:
        ConfigError: the configuration has no virtual rig, or an impossible friction; a law whose declaration cannot be
            loaded; and as `MujocoPlant`.
        InputError: unknown controller; the number of wrenches differs from that of the cycles.
        DynamicsError: the model has no solution at the start.
    """
    settings = config.virtual
    if settings is None:
        raise ConfigError(f"configuration {config.path}: no [virtual] section, it describes real hardware")
    if controller not in (*_OWN, *law_names()):
        raise InputError(f"no such controller: {controller!r}; there are {', '.join((*_OWN, *law_names()))}")
    declared = None if controller in _OWN else find_law(controller)
    if declared is None:
        law = _OWN[controller]
    elif declared.compiled:
        law = _COMPILED[declared.compiled]
    else:
        law = cycle.POSITION if declared.own_loops else cycle.FORCE  # modes and timing of the drives
    start = on_reference(config, table) if start is None else start
    times = cycle_times(config, table, start.path_time)
    if wrenches is None:
        wrenches = np.zeros((len(times), 6))
    elif wrenches.shape != (len(times), 6):
        raise InputError(f"wrenches: shape {wrenches.shape}, must be ({len(times)}, 6)")
    machine = plant_mechanism(config.machine, settings.plant) if plant is None else plant
    friction = settings.plant.friction if friction is None else friction
    legs = leg_rows(machine, settings.plant, friction)
    hose = settings.plant.hose if hose is None else hose
    bare = smooth_legs(machine) if has_every_friction(friction) else machine
    steps = max(1, ceil(config.exchange_period / settings.step - 1e-6))
    states, signals = np.zeros((len(times), 13)), np.zeros((len(times), cycle.ROWS, 6))
    timing = _settings(config, settings, law, table, start, steps)
    control: _Control
    if declared is None or declared.compiled:
        control = _CompiledControl(law, config, table, start, timing)
    else:
        control = _LawControl(law, controller, config, table, start, timing)
    moved: Array | None = None
    if settings.plant.engine == "mujoco":
        simulated = MujocoPlant(machine, settings, friction=friction, hose=hose, exchange_period=config.exchange_period)
        status, count, moved = _follow(simulated, control, legs, strokes(bare), wrenches, states, signals)
    elif isinstance(control, _LawControl):
        exact = Plant(machine, settings, friction=friction, hose=hose, exchange_period=config.exchange_period)
        status, count, _ = _follow(exact, control, legs, strokes(bare), wrenches, states, signals)
    else:
        dynamics = Dynamics(bare, settings.plant.coulomb_speed)
        smooth, along = without_leg_friction(dynamics.parameters)
        plant_work, scratch = np.zeros(WORK_SIZE), np.zeros((cycle.SCRATCH_ROWS, cycle.SCRATCH_COLUMNS))
        plant_work[: len(smooth)] = smooth
        status, count = cycle.run_kernel(
            law, control.settings, control.gains, len(times), steps,
            control.geometry, control.model, control.observer, table.samples,
            control.bounds, control.memory, control.legs, control.estimate_work, control.rows,
            control.work, control.observed, control.commands,
            bare.geometry.array, strokes(bare), legs,
            drive_row(settings.drive, bare, config.exchange_period), along,
            start.state.copy(), _drives(start, law), np.zeros((6, columns.QUEUE_LENGTH + 1, columns.QUEUE_COLUMNS)),
            np.zeros(6, dtype=np.int64), wrenches,
            hose_row(hose), scratch, plant_work, np.zeros(FROZEN_SIZE), states, signals,
        )  # fmt: skip
    end = "" if status == RUNNING else f"{control.fault or _ENDS[status]}, at {times[min(count, len(times) - 1)]:.4g} s"
    return LoopRun(
        config, settings, table, controller, bare, legs, hose_row(hose),
        times[:count], states[:count], signals[:count], wrenches[:count], end,
        None if moved is None else moved[:count],
    )  # fmt: skip


class _Control(Protocol):
    """Computes commands, (3, 6), from lengths and speeds in `memory`; `fault` is why it ended, "" without a word."""

    law: int
    settings: Array
    start: LoopStart
    memory: Array
    commands: Array
    fault: str

    def compute(self, t: float, row: Array) -> int:
        """Compute the commands of the cycle at `t`, s, from lengths and speeds in `memory`. Returns a status."""


class _CompiledControl:
    """What `control_kernel` works on: a law's settings, its model, and its memory from cycle to cycle."""

    fault = ""

    def __init__(self, law: int, config: RigConfig, table: MotionTable, start: LoopStart, settings: Array) -> None:
        self.law, self.settings, self.samples, self.start = law, settings, table.samples, start
        self.gains = np.stack([config.task_gains.stiffness, config.task_gains.damping])
        self.geometry = config.machine.geometry.array
        self.model = Dynamics(config.machine, config.control.coulomb_speed).parameters
        self.observer, self.bounds = observer_settings(config), force_bounds(config)
        self.memory = np.zeros((cycle.CONTROL_ROWS, 19))
        self.memory[cycle.POSE, :7] = start.state[:7]
        self.legs, self.rows = np.zeros((6, 13)), np.zeros((6, 7))
        self.estimate_work, self.work = np.zeros(FORWARD_WORK), np.zeros(WORK_SIZE)
        self.observed = np.zeros((OBSERVER_ROWS, 19))
        begin_observer_kernel(start.motors, self.observed)
        self.commands = start.commands.copy()

    def compute(self, t: float, row: Array) -> int:
        """See `_Control.compute`."""
        status: int = cycle.control_kernel(
            self.law, self.settings, self.gains, self.geometry, self.model, self.observer, self.samples,
            self.settings[cycle.BEGIN] + t, self.bounds, self.memory, self.legs, self.estimate_work, self.rows,
            self.work, self.observed, self.commands, row,
        )  # fmt: skip
        return status


class _LawControl:
    """A control law of the engine, on the engine's own data of a cycle; it is bounded and judged as there."""

    def __init__(
        self, law: int, name: str, config: RigConfig, table: MotionTable, start: LoopStart, settings: Array
    ) -> None:
        period = float(settings[cycle.PERIOD])
        config = config.model_copy(update={"mode": name, "rate": 1.0 / period})
        self.law, self.settings, self.start = law, settings, start
        self.memory = np.zeros((cycle.CONTROL_ROWS, 19))
        self.commands, self.fault = start.commands.copy(), ""
        self._bounds, self._name = force_bounds(config), name
        self._data = CycleData(config)
        self._data.frame["estimate"] = start.state[:7]
        self._reference = Reference(start.state[:7])
        self._reference.follow(table, name)
        self._reference.advance(start.path_time)
        self._control = make_law(config, self._data.model.dynamics)
        self._none = np.zeros(6)

    def compute(self, t: float, row: Array) -> int:
        """See `_Control.compute`."""
        data, control = self._data, self._control
        length, speed = self.memory[cycle.MEASURED, :6], self.memory[cycle.RATE, :6]
        if t > 0.0:
            self._reference.advance(self.settings[cycle.PERIOD])
        data.measurement.take(Readings(length, speed, self._none, self._none, self._none), homed=True)
        data.reference.evaluate(self._reference, data.measurement)
        if not data.measurement.pose_valid:
            return cycle.LOST
        points, bounds = data.set_points, self._bounds
        points.clear()
        try:
            control.refer(data)
            data.reference.foresee(self._reference, t)
            control.compute(data)
            row[cycle.FEEDFORWARD], force = points.feedforward, points.force
            if not np.isfinite(force).all():
                self.fault = f"control law {self._name!r} asked for {force} N"
                return cycle.LOST
            row[cycle.SATURATED] = np.abs(force) > bounds
            np.clip(force, -bounds, bounds, out=force)
            row[cycle.COMMANDED] = force
            asked = control.commands(data)
        except DynamicsError:
            return cycle.LOST
        except Exception as error:  # of whatever kind, where the law is somebody else's
            self.fault = f"control law {self._name!r} failed: {type(error).__name__}: {error}"
            return cycle.LOST
        self.commands[:] = np.array([(one.force, one.position, one.velocity) for one in asked]).T
        return RUNNING


def _follow(
    plant: Plant, control: _Control, legs: Array, spans: Array, wrenches: Array, states: Array, signals: Array
) -> tuple[int, int, Array]:
    """Run the cycles on a plant that is no part of the compiled loop, as `run_kernel` does on its own.

    Returns the status, the number of recorded cycles, and accelerations and load-cell forces (n, 12) of each.
    """
    settings, law = control.settings, control.law
    period, resolution = settings[cycle.PERIOD], settings[cycle.RESOLUTION]
    plant.set_moving(control.start.state, _drives(control.start, law))
    commands, moved = np.zeros((6, columns.QUEUE_COLUMNS - 1)), np.zeros((len(wrenches), 12))
    commands[:, 0] = float(Mode.POSITION if law == cycle.POSITION else Mode.FORCE)
    commands[:, 4] = 1.0  # torque on
    limit = plant.force_limit * (1.0 - 1e-9)
    for index, wrench in enumerate(wrenches):
        t, row = index * period, signals[index]
        commands[:, 1:4] = control.commands.T
        plant.command_all(commands, 63)
        lengths = np.array(plant.lengths)
        readings = lengths + legs[:, columns.OFFSET]
        control.memory[cycle.MEASURED, :6] = np.rint(readings / resolution) * resolution
        control.memory[cycle.RATE, :6] = plant.speeds
        status = control.compute(t, row)
        if status != RUNNING:
            return status, index, moved
        states[index] = plant.state
        moved[index, :6], moved[index, 6:] = plant.acceleration, plant.cells
        row[cycle.APPLIED], row[cycle.BRISTLE] = plant.motors, plant.bristles
        row[cycle.SATURATED] = np.maximum(row[cycle.SATURATED], np.abs(plant.motors) >= limit)
        if law == cycle.OPEN_LOOP and not ((spans[:, 0] <= lengths) & (lengths <= spans[:, 1])).all():
            return cycle.LEFT_STROKE, index + 1, moved
        plant.wrench[:] = wrench
        plant.advance(t + period)
        if plant.fault:
            return DIVERGED, index + 1, moved
    return RUNNING, len(wrenches), moved


def cycle_times(config: RigConfig, table: MotionTable, begin: float = 0.0) -> Array:
    """Return the path times (n,), s, of the cycles from `begin` to the trajectory's end."""
    period = config.exchange_period
    count = int((table.duration - begin) / period * (1.0 + 1e-12)) + 1
    return begin + period * np.arange(count, dtype=np.float64)


def strokes(machine: Mechanism) -> Array:
    """Return the legs' strokes (6, 2), m; 0 and infinity for a leg without limits."""
    spans = [None if leg.limits is None else leg.limits.length for leg in machine.legs]
    return np.array([(0.0, inf) if span is None else span for span in spans])


def force_bounds(config: RigConfig) -> Array:
    """Return the force limits of the control laws (6,), N."""
    forces = [None if leg.limits is None else leg.limits.force for leg in config.machine.legs]
    return np.array([inf if force is None else force for force in forces])


def _settings(config: RigConfig, virtual: Virtual, law: int, table: MotionTable, start: LoopStart, steps: int) -> Array:
    control, period = config.control, config.exchange_period
    values = np.zeros(cycle.SETTINGS)
    values[cycle.PERIOD], values[cycle.STEP] = period, period / steps
    values[cycle.AHEAD] = period + (config.length_lead if law == cycle.POSITION else config.force_lead)
    values[cycle.FORCES_AHEAD] = period + config.force_lead
    values[cycle.BEGIN] = start.path_time
    values[cycle.STIFFNESS], values[cycle.DAMPING] = control.stiffness, control.damping
    values[cycle.RESOLUTION], values[cycle.DELAY] = virtual.drive.position_resolution, virtual.drive.delay
    values[cycle.TABLE_STEP] = table.step
    values[cycle.COULOMB_SPEED] = virtual.plant.coulomb_speed
    return values


def _drives(start: LoopStart, law: int) -> Array:
    """Return the drives' rows at the start, following the start forces, brakes open."""
    drives = np.zeros((6, columns.DRIVE_COLUMNS))
    drives[:, columns.GAIN] = drives[:, columns.HOLD] = drives[:, columns.ENABLED] = 1.0
    drives[:, columns.LEG] = np.arange(6)
    drives[:, columns.MOTOR] = start.motors
    drives[:, columns.MODE] = float(Mode.POSITION if law == cycle.POSITION else Mode.FORCE)
    drives[:, columns.FORCE], drives[:, columns.POSITION], drives[:, columns.VELOCITY] = start.commands
    if start.integrals is not None:
        drives[:, columns.INTEGRAL] = start.integrals
    return drives
