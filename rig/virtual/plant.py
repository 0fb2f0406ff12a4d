"""The simulated machine: loaded mechanism, platform, legs, motors, brakes and end stops, integrated in steps."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from actuators import Mode
from dynamics import WORK_SIZE, Body, Dynamics, Mechanism
from kinematics import KinematicsError, forward_kinematics, leg_lengths, leg_matrix, quaternion_to_matrix
from rig.config import Hose, PlantFriction, Virtual, VirtualDrive, VirtualPlant
from rig.errors import ConfigError
from rig.safety import virtual_integral
from rig.virtual import drive_kernel as columns
from rig.virtual import plant_kernel as rows
from rig.virtual.arrays import Array


def plant_mechanism(machine: Mechanism, settings: VirtualPlant) -> Mechanism:
    """Return the plant's mechanism for this rig's mechanism."""
    plant = scaled_mechanism(machine, settings.mass_scale)
    if any(settings.tilt):
        plant = replace(plant, gravity=tilted(plant.gravity, *settings.tilt))
    payload = settings.payload
    return plant if payload is None else loaded_mechanism(plant, payload.mass, np.array(payload.center_of_mass))


def tilted(gravity: Array, about_x: float, about_y: float) -> Array:
    """Gravity (3,) in the axes of a base rotated by two angles, rad: about its x axis, then about its own y axis."""
    cx, sx, cy, sy = math.cos(about_x), math.sin(about_x), math.cos(about_y), math.sin(about_y)
    x, y, z = gravity[0], cx * gravity[1] + sx * gravity[2], cx * gravity[2] - sx * gravity[1]
    return np.array([cy * x - sy * z, y, cy * z + sy * x])


def smooth_legs(machine: Mechanism) -> Mechanism:
    """Return `machine` without prismatic-joint friction; that of its drives stays."""
    legs = [replace(leg, friction=replace(leg.friction, prismatic=0.0, coulomb=0.0)) for leg in machine.legs]
    return replace(machine, legs=tuple(legs))


def scaled_mechanism(machine: Mechanism, scale: float) -> Mechanism:
    """Return `machine` with all masses and inertias multiplied by `scale`."""

    def scaled(body: Body) -> Body:
        return replace(body, mass=scale * body.mass, inertia=scale * body.inertia)

    legs = tuple(
        replace(
            leg,
            lower=scaled(leg.lower),
            upper=scaled(leg.upper),
            drive=leg.drive.with_mass(scale * leg.drive.mass),
        )
        for leg in machine.legs
    )
    return replace(machine, mass=scale * machine.mass, inertia=scale * machine.inertia, legs=legs)


def loaded_mechanism(machine: Mechanism, mass: float, place: Array) -> Mechanism:
    """Return `machine` with a point mass (kg) fixed to the platform at `place` (3,), platform frame, m."""
    total = machine.mass + mass
    center = (machine.mass * machine.center_of_mass + mass * place) / total
    apart = place - machine.center_of_mass
    # parallel axes: two bodies about their common centre of mass
    reduced = machine.mass * mass / total
    inertia = machine.inertia + reduced * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    return replace(machine, mass=total, center_of_mass=center, inertia=inertia)


_AT_REST = 1e-6  # m/s
STOP_MARGIN = 5e-3
"""Distance of the end stops outside the legs' length limits, m."""
_UNLIMITED = (0.5, 1.5)  # end stops of a leg without limits, relative to the length at home


class Plant:
    """Six drives on the exact forward dynamics of a mechanism.

    Attributes are at `time` (s): `lengths` (m) and `speeds` (m/s) of the legs, `readings` (m) of their encoders,
    `cells` (N, true force at each load cell, compression positive). `wrench` (6,) acts on the platform at its
    origin, platform axes, N and N m; it may be set at any time. `payload` (6,) likewise, in addition, or None. `fault`
    is the reason why the plant has stopped permanently, "" if it has not.

    At the start the closed brakes carry the platform's weight, at a pose off home in which no leg is further than
    `settings.drive.start_spread` from its length at home.

    Raises ConfigError if brakes or drives are too stiff for the integration step.
    """

    def __init__(
        self,
        machine: Mechanism,
        settings: Virtual,
        start: float = 0.0,
        *,
        friction: PlantFriction | None = None,
        hose: Hose | None = None,
        marks: Array | None = None,
        exchange_period: float = 0.0,
    ) -> None:
        """See the class.

        machine: the plant's mechanism, see `truth_of`. friction: in addition to the mechanism's, hose: attached hose;
        of `settings` if None.
        marks: (6,) m, encoder readings at the reference marks; those at home if None. exchange_period: s, between two
        commands to a drive.
        """
        self.time = start
        self.step = settings.step
        self._lag = settings.cells.lag
        self._history: deque[tuple[float, list[float]]] = deque()
        self.fault = ""
        self.wrench = np.zeros(6)
        self.payload: Array | None = None
        self._settings = settings
        self._home = machine.geometry.home_pose
        self._offsets = machine.length_offsets
        self._marks = machine.geometry.home_lengths + self._offsets if marks is None else marks
        friction = settings.plant.friction if friction is None else friction
        self._bare = smooth_legs(machine) if has_every_friction(friction) else machine
        self._hose = hose_row(settings.plant.hose if hose is None else hose)
        self._geometry = machine.geometry.array
        self._parameters = drive_row(settings.drive, machine, exchange_period)
        self._legs = leg_rows(machine, settings.plant, friction)
        self._legs[:, columns.BEGAN] = start
        self._legs[:, columns.REFERENCE] = self._marks
        self._drives = np.zeros((6, columns.DRIVE_COLUMNS))
        self._drives[:, columns.GAIN] = self._drives[:, columns.HOLD] = 1.0
        self._drives[:, columns.LEG] = np.arange(6)
        self._queues = np.zeros((6, columns.QUEUE_LENGTH + 1, columns.QUEUE_COLUMNS))
        self._waiting = np.zeros(6, dtype=np.int64)
        self._commands = np.zeros((6, columns.QUEUE_COLUMNS - 1))
        self._modes = np.full(6, int(Mode.OFF))
        self._scratch: Array = np.zeros((rows.SCRATCH_ROWS, rows.SCRATCH_COLUMNS))
        self._out: Array = np.zeros((rows.OUTPUTS, 6))
        self._load(self._bare)
        self._check_step()
        self._stand(machine, settings)
        self._observe()
        self.command_all(self._commands, 0)  # compiled here, not at the first command

    @property
    def lengths(self) -> list[float]:
        """See the class."""
        lengths: list[float] = self._out[rows.LENGTHS].tolist()
        return lengths

    @property
    def speeds(self) -> list[float]:
        """See the class."""
        speeds: list[float] = self._out[rows.SPEEDS].tolist()
        return speeds

    @property
    def readings(self) -> list[float]:
        """See the class."""
        readings: list[float] = self._out[rows.READINGS].tolist()
        return readings

    @property
    def cells(self) -> list[float]:
        """See the class."""
        cells: list[float] = self._out[rows.CELLS].tolist()
        return cells

    @property
    def state(self) -> Array:
        """Pose and twist (13,) of the platform, base frame; a copy."""
        return self._state.copy()

    @property
    def acceleration(self) -> Array:
        """True acceleration [a, α] (6,) of the platform, base axes; a copy."""
        return np.array(self._out[rows.ACCELERATION])

    @property
    def gravity(self) -> Array:
        """Gravity (3,) in the base's axes, m/s²."""
        return np.asarray(self._bare.gravity, dtype=np.float64)

    @property
    def force_limit(self) -> float:
        """Largest force of a motor, N."""
        return self._settings.drive.force_limit

    @property
    def motors(self) -> Array:
        """Forces (6,) of the motors by their currents, N, without `scale_motor`; a copy."""
        return np.array(self._drives[:, columns.MOTOR])

    @property
    def bristles(self) -> Array:
        """Presliding deflections (6,) of the legs' friction, m; a copy."""
        return np.array(self._drives[:, columns.BRISTLE])

    @property
    def forces(self) -> Array:
        """Forces (6,) between the two parts of each leg, N: motor, brake, jam and end stop; a copy."""
        return np.array(self._out[rows.FORCES])

    @property
    def outputs(self) -> Array:
        """Rows (OUTPUTS, 6) of `plant_kernel` at the present time; not a copy."""
        return self._out

    @property
    def platform_points(self) -> Array:
        """Positions of the legs' upper joints (6, 3), platform frame, m."""
        return self._bare.geometry.platform_points

    def cells_before(self, lag: float) -> list[float]:
        """`cells` of `lag` s ago, interpolated linearly between the times of `advance`."""
        wanted = self.time - lag
        later = (self.time, self.cells)
        for earlier in reversed(self._history):
            if earlier[0] <= wanted:
                part = (wanted - earlier[0]) / (later[0] - earlier[0])
                return [a + part * (b - a) for a, b in zip(earlier[1], later[1], strict=True)]
            later = earlier
        return later[1]

    @property
    def standing(self) -> bool:
        """Whether all brakes hold the platform at rest, no command is on its way and nothing pushes; without faults."""
        drives = self._drives
        moved = drives[:, columns.CREEP].any() or self._waiting.any() or self.wrench.any()
        held = drives[:, columns.BRAKED].all() and not moved
        return bool(held) and max(map(abs, self.speeds)) < _AT_REST

    def braked(self, leg: int) -> bool:
        """True while the brake of leg 0…5 is closed."""
        drive = self._drives[:, columns.LEG].tolist().index(leg)
        return bool(self._drives[drive, columns.BRAKED])

    def homed(self, leg: int) -> bool:
        """True if the last command of leg 0…5 was homing and the leg is at its mark."""
        return int(self._modes[leg]) == Mode.HOMING and bool(self._drives[leg, columns.HOMING_DONE])

    def reference(self, leg: int) -> float:
        """Encoder reading of leg 0…5 at its reference mark, m."""
        return float(self._legs[leg, columns.REFERENCE])

    def command(
        self, leg: int, mode: Mode, force: float, position: float, velocity: float,
        enabled: bool, quick_stop: bool, brake: bool,
    ) -> None:  # fmt: skip
        """Command the drive of leg 0…5 at the current `time`; it takes effect after the drive's delay.

        Raises ValueError, changing nothing, if a set-point is not finite.
        """
        if not (math.isfinite(force) and math.isfinite(position) and math.isfinite(velocity)):
            raise ValueError(
                f"leg {leg + 1}: force {force} N, position {position} m, velocity {velocity} m/s: not finite"
            )
        self._commands[leg] = mode, force, position, velocity, enabled, quick_stop, brake
        self.command_all(self._commands, 1 << leg)

    def command_all(self, commands: Array, legs: int) -> None:
        """Command the drives of the legs in `legs`, bit 0 for the first.

        commands (6, 7): `columns` of a queue after the time; finite.
        """
        due = self.time + self._settings.drive.delay
        columns.queue_kernel(commands, legs, due, self._drives, self._modes, self._queues, self._waiting)

    def set_moving(self, state: Array, drives: Array) -> None:
        """Put the platform in a state (13,), its drives' rows (6, DRIVE_COLUMNS) with open brakes; no command waits."""
        self._state = state.copy()
        self._drives[:] = drives
        self._drives[:, columns.BRISTLE_LENGTH] = leg_lengths(self._bare.geometry, state[:7])
        self._waiting[:] = 0
        self._observe()

    def jam(self, leg: int, force: float) -> None:
        """Jam leg 0…5 with a friction of `force` N; 0 frees it."""
        self._drives[leg, columns.JAM] = force

    def scale_motor(self, leg: int, gain: float) -> None:
        """Scale the motor force of leg 0…5 by `gain`."""
        self._drives[leg, columns.GAIN] = gain

    def weaken_brake(self, leg: int, hold: float) -> None:
        """Reduce the closed brake of leg 0…5 to the fraction `hold` of its holding force."""
        self._drives[leg, columns.HOLD] = hold

    def hold_brake(self, leg: int, held: bool) -> None:
        """Take the supply from the brake of leg 0…5, which closes then whatever its drive commands, or give it back."""
        self._drives[leg, columns.HELD] = held

    def creep(self, leg: int, speed: float) -> None:
        """Let the closed brake of leg 0…5 slip under load at `speed` m/s; 0 holds."""
        self._drives[leg, columns.CREEP] = speed

    def wire_motors(self, legs: Sequence[int]) -> None:
        """Wire motor and brake of the leg 0…5 at each place of `legs`, a permutation, to the drive at that place."""
        self._drives[:, columns.LEG] = legs

    def add_payload(self, mass: float, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Put a point mass (kg) on the platform at `place` (platform frame, m), replacing an earlier one."""
        self._load(loaded_mechanism(self._bare, mass, np.array(place)) if mass else self._bare)

    def skip(self, duration: float) -> None:
        """Advance the time by `duration` s without integration: the machine is at rest, and commands wait meanwhile."""
        self.time += duration
        self._queues[:, :, 0] += duration

    def advance(self, now: float) -> None:
        """Integrate to `now` (s) in equal steps no longer than `step`; do nothing if `now` is not in the future."""
        span = now - self.time
        if not span > 0.0:
            return
        if self._lag:
            self._history.append((self.time, self.cells))
        if not self.fault:
            # ignore rounding of the clock, which would add a step
            steps = max(1, math.ceil(span / self.step - 1e-6))
            self._publish(self._integrate(steps, span / steps))
        self.time = now
        if self._lag:
            while len(self._history) > 1 and self._history[1][0] <= now - self._lag:
                self._history.popleft()

    def _integrate(self, steps: int, h: float) -> int:
        """Take `steps` steps of `h` s from `time`, then update all outputs; return RUNNING, SINGULAR or DIVERGED."""
        return rows.advance_kernel(
            self._mechanism, self._geometry, self._legs, self._parameters, self._state, self._drives,
            self._queues, self._waiting, self._outer_wrench(), self._hose, self.time, steps, h,
            self._scratch, self._work, self._out,
        )  # fmt: skip

    def _observe(self) -> None:
        status = rows.observe_kernel(
            self._mechanism, self._geometry, self._legs, self._parameters, self._state, self._drives,
            self._outer_wrench(), self._hose, self._scratch, self._work, self._out,
        )  # fmt: skip
        self._publish(status)

    def _outer_wrench(self) -> Array:
        return self.wrench if self.payload is None else self.wrench + self.payload

    def _publish(self, status: int) -> None:
        if status == rows.SINGULAR:
            self.fault = "a leg came to lie along its universal joint's fixed axis: the plant stands still"
        elif status == rows.DIVERGED:
            self.fault = f"the platform became faster than {rows.SPEED_BOUND:g} m/s: the plant stands still"

    def _load(self, machine: Mechanism) -> None:
        dynamics = Dynamics(machine, coulomb_speed=self._settings.plant.coulomb_speed)
        self._dynamics = dynamics
        self._mechanism = dynamics.parameters
        self._work = np.zeros(WORK_SIZE)

    def _stand(self, machine: Mechanism, settings: Virtual) -> None:
        """Place the platform at a random pose off home, its weight on the brakes."""
        generator = np.random.Generator(np.random.PCG64([settings.seed, 6]))
        spread = settings.drive.start_spread
        lengths = self._marks - self._offsets + generator.uniform(-spread, spread, 6)
        try:
            pose = forward_kinematics(machine.geometry, lengths, self._home)
        except KinematicsError as error:
            raise ConfigError(
                f"virtual.drive.start_spread: {spread:g} m off home, drawn with virtual.seed = {settings.seed}, is no "
                f"pose of {machine.name}: {error}"
            ) from error
        self._state = np.concatenate([pose, np.zeros(6)])
        weight = self._dynamics.forces(np.concatenate([self._state, np.zeros(6)]))
        self._drives[:, columns.BRAKED] = 1.0
        self._drives[:, columns.GRIP] = settings.drive.brake_force
        self._drives[:, columns.BRISTLE_LENGTH] = lengths
        self._drives[:, columns.ANCHOR] = lengths + weight / settings.drive.brake_stiffness

    def _check_step(self) -> None:
        """Reject springs and dampers that are too stiff for this step: ω·dt too large."""
        drive, step = self._settings.drive, self.step
        mass = self._dynamics.mass_matrix(self._home)
        matrix = leg_matrix(self._bare.geometry, self._home)
        # forces along the legs act through Hᵀ M⁻¹ H; twice its largest eigenvalue covers other poses of the stroke
        mobility = 2.0 * float(np.linalg.eigvals(matrix.T @ np.linalg.solve(mass, matrix)).real.max())
        across = np.hstack(
            [np.eye(3), -_skew(quaternion_to_matrix(self._home[3:]) @ self._hose[rows.HOSE_POINT :][:3])]
        )
        swing = 2.0 * float(np.linalg.eigvalsh(across @ np.linalg.solve(mass, across.T)).max())
        legs = self._legs
        viscous = legs[:, columns.FACTOR] * legs[:, columns.PRISMATIC] + legs[:, columns.PRESLIDING_DAMPING]
        for where, what, ease, stiffness, damping in (
            ("drive", "brake_stiffness and brake_damping", mobility, drive.brake_stiffness, drive.brake_damping),
            (
                "drive", "position_stiffness and position_damping", mobility,
                drive.position_stiffness, drive.position_damping,
            ),
            ("drive", "quick_stop_damping", mobility, 0.0, drive.quick_stop_damping),
            (
                "plant.friction", "presliding_stiffness and presliding_damping", mobility,
                float(legs[:, columns.PRESLIDING_STIFFNESS].max()), float(viscous.max()),
            ),
            (
                "plant.hose", "stiffness and damping", swing,
                float(self._hose[rows.HOSE_STIFFNESS]), float(self._hose[rows.HOSE_DAMPING]),
            ),
        ):  # fmt: skip
            if self._growth(ease * damping, ease * stiffness) > 1.0 + 1e-12:
                raise ConfigError(
                    f"virtual.{where}: {what} ({stiffness:g} N/m, {damping:g} N s/m) cannot be integrated at a step of "
                    f"{step:g} s: make virtual.step smaller, or the {where.rpartition('.')[2]} softer"
                )

    def _growth(self, damping: float, stiffness: float) -> float:
        """Largest factor of RK4 in one step for a motion with a damping (1/s) and a stiffness (1/s²)."""
        roots = np.roots([1.0, damping, stiffness]) * self.step
        return float(np.abs(1.0 + roots + roots**2 / 2.0 + roots**3 / 6.0 + roots**4 / 24.0).max())


def has_every_friction(friction: PlantFriction) -> bool:
    """Return whether the legs' rows must include all friction along the legs, also that of the mechanism."""
    simple = ("extending", "retracting", "breakaway_extending", "breakaway_retracting", "speed", "load")
    return friction != PlantFriction(**{name: getattr(friction, name) for name in simple})


def hose_row(hose: Hose | None) -> Array:
    """Return a hose as an array for `plant_kernel.loads_kernel`; zeros for none."""
    row = np.zeros(rows.HOSE_ENTRIES)
    if hose is not None:
        row[:] = hose.stiffness, hose.damping, *hose.point, *hose.rest
    return row


def hose_wrenches(hose: Hose | None, motions: Array) -> Array:
    """Wrenches (n, 6) of a hose on the platform in motions (n, ≥13), at its origin, platform axes, N and N m."""
    wrenches = np.zeros((len(motions), 6))
    row = hose_row(hose)
    for state, wrench in zip(np.ascontiguousarray(motions[:, :13]), wrenches, strict=True):
        rows.loads_kernel(row, state, np.zeros(6), wrench)
    return wrenches


def _skew(vector: Array) -> Array:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def leg_rows(machine: Mechanism, plant: VirtualPlant, friction: PlantFriction) -> Array:
    """Return the legs' rows (6, LEG_COLUMNS) for `drive_kernel`; the marks are the encoder readings at home.

    With `has_every_friction`, integrate `smooth_legs` of `machine`. Raises ConfigError for a friction that would drive
    a leg.
    """
    legs = np.zeros((6, columns.LEG_COLUMNS))
    marks = machine.geometry.home_lengths + machine.length_offsets
    for leg, (mark, part) in enumerate(zip(marks, machine.legs, strict=True)):
        span = None if part.limits is None else part.limits.length
        low, high = (mark * _UNLIMITED[0], mark * _UNLIMITED[1]) if span is None else span
        legs[leg, columns.REFERENCE] = mark
        legs[leg, columns.LOWER_STOP], legs[leg, columns.UPPER_STOP] = low - STOP_MARGIN, high + STOP_MARGIN
        legs[leg, columns.BEFORE_FRICTION] = part.load_cell.reads_friction
    legs[:, columns.EXTENDING], legs[:, columns.RETRACTING] = friction.extending, friction.retracting
    legs[:, columns.BREAKAWAY_EXTENDING] = friction.breakaway_extending
    legs[:, columns.BREAKAWAY_RETRACTING] = friction.breakaway_retracting
    legs[:, columns.STRIBECK_SPEED], legs[:, columns.LOAD] = friction.speed, friction.load
    legs[:, columns.FRICTION_SPEED] = plant.coulomb_speed
    legs[:, columns.OWN_FRICTION] = friction != PlantFriction(speed=friction.speed)
    legs[:, columns.SHAPE], legs[:, columns.FACTOR] = friction.shape, 1.0
    if has_every_friction(friction):
        legs[:, columns.OWN_FRICTION] = columns.EVERY_FRICTION
        legs[:, columns.COULOMB] = [leg.friction.coulomb for leg in machine.legs]
        legs[:, columns.PRISMATIC] = [leg.friction.prismatic for leg in machine.legs]
        legs[:, columns.VISCOUS], legs[:, columns.VISCOUS_SPEED] = friction.viscous, friction.viscous_speed
        legs[:, columns.VISCOUS_EXPONENT] = friction.viscous_exponent
        legs[:, columns.RIPPLE], legs[:, columns.RIPPLE_PHASE] = friction.ripple, friction.ripple_phase
        legs[:, columns.RIPPLE_RATE] = 2.0 * math.pi / friction.ripple_length
        legs[:, columns.PRESLIDING_STIFFNESS] = friction.presliding_stiffness
        legs[:, columns.PRESLIDING_DAMPING] = friction.presliding_damping
        legs[:, columns.RUNNING_IN], legs[:, columns.RUNNING_IN_TIME] = friction.running_in, friction.running_in_time
        legs[:, columns.FACTOR] = 1.0 + friction.running_in
        least = legs[:, columns.COULOMB] + np.minimum(friction.extending, friction.retracting)
        for leg, (ripple, level) in enumerate(zip(friction.ripple, least, strict=True), start=1):
            if ripple > level:
                raise ConfigError(
                    f"virtual.plant.friction: leg {leg}: ripple {ripple:g} N is above the {level:g} N of Coulomb "
                    "friction that it is a part of: it would push the leg"
                )
    legs[:, columns.OFFSET], legs[:, columns.BACKLASH] = machine.length_offsets, plant.backlash
    legs[:, columns.COMPLIANCE] = 0.0 if plant.leg_stiffness is None else 1.0 / plant.leg_stiffness
    return legs


def drive_row(drive: VirtualDrive, machine: Mechanism, exchange_period: float = 0.0) -> Array:
    """Return the parameter vector of `drive_kernel`, shared by the six drives of a plant's machine.

    exchange_period: s, between two commands.
    """
    values = np.zeros(columns.PARAMETERS)
    values[columns.TIME_CONSTANT] = 1.0 / (2.0 * math.pi * drive.force_bandwidth)
    values[columns.FORCE_LIMIT] = drive.force_limit
    values[columns.STIFFNESS] = drive.position_stiffness
    values[columns.DAMPING] = drive.position_damping
    values[columns.HOMING_SPEED] = drive.homing_speed
    values[columns.BRAKE_STIFFNESS] = drive.brake_stiffness
    values[columns.BRAKE_DAMPING] = drive.brake_damping
    values[columns.BRAKE_FORCE] = drive.brake_force
    values[columns.STOP_DAMPING] = drive.quick_stop_damping
    values[columns.INTEGRAL_RATE] = virtual_integral(machine)
    values[columns.EXTRAPOLATION] = max(columns.LEAST_EXTRAPOLATION, 1.5 * exchange_period)
    return values
