"""Washout: from a vehicle's specific force and angular rates to a platform's motion, one period at a time.

The structure is the classical one of Reid and Nahon (UTIAS reports 296, 307 and 319, 1985 and 1986; Nahon and Reid,
J. Guidance 13, 1990): scaled and limited inputs; a high-pass of the translation in axes at rest; tilt coordination, a
low-pass of the specific force that turns the platform against gravity at a rate below the threshold of perception; a
high-pass of the rotation. z points up here, and the specific force at rest is (0, 0, +g).

    f₁ = limit(K (f − g ẑ)) + g ẑ          ω₁ = limit(K ω)
    u  = R f₁ − g ẑ                        x  = u / (s² + 2ζω s + ω²) · [s / (s + ω_b)]
    θy = −asin(f₁x/g), θx = asin(f₁y/(g cos θy)), each by ω²/(s² + 2ζω s + ω²) with limits of rate and acceleration
    β̇₁ = T(β) ω₁                           β  = β̇₁ / (s + ω)  or  s β̇₁ / (s² + 2ζω s + ω²)

The filters are discretised exactly for inputs that are linear between two samples, so that they do not depend on the
rate. With the algorithm "constrained" the high-pass of the translation acts on the platform's own position and speed,
ẍ = u − 2ζω ẋ − ω² x, so that a bound of a leg leaves nothing behind that must be caught up with. What either asks for
goes through the limiter.
"""

from math import asin, cos, inf, isfinite, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array
from kinematics.compiled import kernel, rotate
from kinematics.cueing.limiter import BRAKING, LIMITED, Limiter, MotionBounds, limited_step_kernel
from kinematics.cueing.tuning import Tuning
from kinematics.errors import KinematicsError, LimitError
from kinematics.geometry import Geometry

VEHICLE = ("ax", "ay", "az", "p", "q", "r")
"""Columns of a vehicle's motion: specific force, m/s², and angular rate, rad/s, along the vehicle's axes."""
INPUT_LIMITED, TILT_LIMITED = 4, 8
"""Further flags of a step: an input is limited; the tilt is, in angle, rate or acceleration."""
FLAGS = {"input limited": INPUT_LIMITED, "tilt limited": TILT_LIMITED, "legs limited": LIMITED, "braking": BRAKING}
"""Flags of a step by name."""
_RATES = (10.0, 1e5)  # Hz
_ANGLE_SHARE = 0.97
"""of a joint's greatest angle, at which the angle settles"""
_LEAST_COSINE = 0.3  # of a pitch angle: beyond it the rates of the angles are not those of the body any more
_GRAVITY, _CONSTRAINED, _THIRD, _STEEPEST, _RECOVERY, _SECOND = range(6)
"""Numbers of a washout."""


@kernel
def _clipped(value: float, limit: float) -> float:
    return -limit if value < -limit else limit if value > limit else value


@kernel
def _filter_kernel(matrix: Array, before: float, now: float, state: Array) -> None:
    """Step the two states of a filter; matrix (2, 4) holds Φ and the weights of the input before and of now."""
    x, y = state[0], state[1]
    state[0] = matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] * before + matrix[0, 3] * now
    state[1] = matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2] * before + matrix[1, 3] * now


@kernel
def _translation_kernel(matrix: Array, before: float, now: float, state: Array) -> None:
    """Step position, speed and the third state of a translation's filter; matrix (3, 5)."""
    x, v, w = state[0], state[1], state[2]
    for i in range(3):
        state[i] = matrix[i, 0] * x + matrix[i, 1] * v + matrix[i, 2] * w + matrix[i, 3] * before + matrix[i, 4] * now


@kernel
def _tilt_kernel(
    matrix: Array, numbers: Array, greatest: float, period: float, before: float, now: float, state: Array
) -> bool:
    """Step the tilt about one axis; state (3,): angle, rate, acceleration; numbers (4,): ω, ζ, limits of the latter.

    The rate is limited inside the filter, so that nothing is caught up with later: to its limit, and to one from which
    the tilt comes to rest at the greatest angle with the greatest acceleration, v²/2a before it. A filter that is quick
    for its acceleration would pass it otherwise. Returns whether the rate was limited.
    """
    angle, rate = state[0], state[1]
    _filter_kernel(matrix, before, now, state)
    omega, zeta = numbers[0], numbers[1]
    towards = 1.0 if state[1] >= 0.0 else -1.0
    half = 0.5 * numbers[3] * period
    room = greatest - towards * (angle + 0.5 * period * rate)  # without what this period's end adds
    fastest = sqrt(half * half + 2.0 * numbers[3] * max(room, 0.0)) - half
    change = towards * min(towards * _clipped(state[1], numbers[2]), fastest) - rate
    change = _clipped(change, numbers[3] * period)
    if abs(rate + change - state[1]) <= 1e-12:
        state[2] = omega * omega * (now - state[0]) - 2.0 * zeta * omega * state[1]
        return False
    state[1] = rate + change
    state[0] = angle + 0.5 * period * (rate + state[1])
    state[2] = change / period
    return True


@kernel
def _wanted_kernel(
    sample: Array, inputs: Array, numbers: Array, translation: Array, translation_numbers: Array, tilt: Array,
    tilt_numbers: Array, rotation: Array, rotation_numbers: Array, before: Array, translated: Array, tilted: Array,
    rotated: Array, now: Array, period: float, wanted: Array,
) -> int:  # fmt: skip
    """Compute the accelerations (6,) that the washout asks of the platform, into `wanted`; return flags.

    sample (6,) as VEHICLE. inputs (3, 6): sign, scale, limit. Filters: translation (3, 3, 5), tilt (2, 2, 4),
    rotation (3, 2, 4), and ω, ζ of each. before (3, 3): inputs before of translation, rotation and tilt. States:
    translated (3, 3), tilted (2, 3), rotated (3, 2). now (18,): the platform's state. Axes of the tilt: x, y of the
    specific force.
    """
    flags = 0
    g, steepest, recovery = numbers[_GRAVITY], numbers[_STEEPEST], numbers[_RECOVERY]
    for k in range(6):
        value = inputs[1, k] * (inputs[0, k] * sample[k] - (g if k == 2 else 0.0))
        wanted[k] = _clipped(value, inputs[2, k])
        if wanted[k] != value:
            flags |= INPUT_LIMITED
    fx, fy, fz = wanted[0], wanted[1], wanted[2] + g
    p, q, r = wanted[3], wanted[4], wanted[5]
    # the attitude at the end of this period, as far as it is known
    tx, ty, tz = now[3] + period * now[9], now[4] + period * now[10], now[5] + period * now[11]
    cx, sx, cy, sy, cz, sz = cos(tx), sin(tx), cos(ty), sin(ty), cos(tz), sin(tz)
    ux, uy, uz = rotate(
        cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx,
        sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx,
        -sy, cy * sx, cy * cx, fx, fy, fz,
    )  # fmt: skip
    uz -= g
    cosine = max(cy, _LEAST_COSINE)
    turn = (q * sx + r * cx) / cosine
    px, py, pz = p + turn * sy, q * cx - r * sx, turn

    pitch = -asin(_clipped(fx / g, 1.0))
    allowed = _clipped(pitch, steepest)
    roll = asin(_clipped(fy / (g * max(cos(allowed), _LEAST_COSINE)), 1.0))
    for axis in range(2):
        command = pitch if axis == 0 else roll
        allowed = _clipped(command, steepest)
        limited = _tilt_kernel(tilt[axis], tilt_numbers[axis], steepest, period, before[2, axis], allowed, tilted[axis])
        if steepest > 0.0 and (limited or allowed != command):
            flags |= TILT_LIMITED
        before[2, axis] = allowed

    for axis in range(3):
        u = ux if axis == 0 else uy if axis == 1 else uz
        omega, zeta = translation_numbers[axis, 0], translation_numbers[axis, 1]
        state = translated[axis]
        _translation_kernel(translation[axis], before[0, axis], u, state)
        before[0, axis] = u
        third = numbers[_THIRD] * state[2]
        if numbers[_CONSTRAINED] != 0.0:
            wanted[axis] = _followed(
                now, axis, period, 0.0, 0.0, u - third, omega * omega, 2.0 * zeta * omega
            )  # fmt: skip
        else:
            acceleration = u - third - 2.0 * zeta * omega * state[1] - omega * omega * state[0]
            wanted[axis] = _followed(
                now, axis, period, state[0], state[1], acceleration, recovery * recovery, 2.0 * recovery
            )  # fmt: skip

        rate = px if axis == 0 else py if axis == 1 else pz
        state = rotated[axis]
        _filter_kernel(rotation[axis], before[1, axis], rate, state)
        omega, zeta = rotation_numbers[axis, 0], rotation_numbers[axis, 1]
        slope = (rate - before[1, axis]) / period
        before[1, axis] = rate
        if numbers[_SECOND] != 0.0:
            speed = rate - 2.0 * zeta * omega * state[0] - omega * omega * state[1]
            acceleration = slope - 2.0 * zeta * omega * speed - omega * omega * state[0]
        else:
            speed = rate - omega * state[0]
            acceleration = slope - omega * speed
        angle = state[0]
        if axis != 2:  # roll follows the specific force along y, pitch that along x
            angle += tilted[1 - axis, 0]
            speed += tilted[1 - axis, 1]
            acceleration += tilted[1 - axis, 2]
        wanted[3 + axis] = _followed(
            now, 3 + axis, period, angle, speed, acceleration, recovery * recovery, 2.0 * recovery
        )  # fmt: skip
    return flags


@kernel
def _followed(
    now: Array, axis: int, period: float, place: float, speed: float, acceleration: float, stiffness: float,
    damping: float,
) -> float:  # fmt: skip
    """Acceleration at the end of the period that follows a wanted motion: ẍ = ẍ_w + d (ẋ_w − ẋ) + k (x_w − x).

    Position and speed are those at the end too, with the acceleration linear in between.
    """
    q, v, a = now[axis], now[6 + axis], now[12 + axis]
    missing = acceleration + damping * (speed - v - 0.5 * period * a)
    missing += stiffness * (place - q - period * (v + period * a / 3.0))
    found: float = missing / (1.0 + 0.5 * damping * period + stiffness * period * period / 6.0)
    return found


@kernel
def _washout_step_kernel(
    sample: Array, hold: bool, counts: Array, wanted: Array, inputs: Array, numbers: Array, translation: Array,
    translation_numbers: Array, tilt: Array, tilt_numbers: Array, rotation: Array, rotation_numbers: Array,
    before: Array, translated: Array, tilted: Array, rotated: Array, now: Array, now_legs: Array, plan: Array,
    times: Array, geometry: Array, frame: Array, bounds: Array, directions: Array, limits: Array, soft: Array,
    weights: Array, scratch: Array, qp_limits: Array, qp_rows: Array, conditioning: Array, joints: Array, change: Array,
    before_legs: Array, legs: Array, motion: Array,
) -> int:  # fmt: skip
    """Step the filters and the limiter by one period; return flags, or −1 − k if number k of the sample is not finite.

    counts (4,): how often each flag of FLAGS was set. Others as `_wanted_kernel` and `limited_step_kernel`.
    """
    for k in range(6):
        if not isfinite(sample[k]):
            return -1 - k
    flags: int = _wanted_kernel(
        sample, inputs, numbers, translation, translation_numbers, tilt, tilt_numbers, rotation, rotation_numbers,
        before, translated, tilted, rotated, now, times[0], wanted,
    )  # fmt: skip
    flags |= limited_step_kernel(
        wanted, hold, now, now_legs, plan, times, geometry, frame, bounds, directions, limits, soft, weights, scratch,
        qp_limits, qp_rows, conditioning, joints, change, before_legs, legs, motion,
    )  # fmt: skip
    counts[0] += 1.0 if flags & INPUT_LIMITED else 0.0
    counts[1] += 1.0 if flags & TILT_LIMITED else 0.0
    counts[2] += 1.0 if flags & LIMITED else 0.0
    counts[3] += 1.0 if flags & BRAKING else 0.0
    return flags


@kernel
def _washout_run_kernel(
    samples: Array, out: Array, flags: npt.NDArray[np.int64], hold: bool, counts: Array, wanted: Array, inputs: Array,
    numbers: Array, translation: Array, translation_numbers: Array, tilt: Array, tilt_numbers: Array, rotation: Array,
    rotation_numbers: Array, before: Array, translated: Array, tilted: Array, rotated: Array, now: Array,
    now_legs: Array, plan: Array, times: Array, geometry: Array, frame: Array, bounds: Array, directions: Array,
    limits: Array, soft: Array, weights: Array, scratch: Array, qp_limits: Array, qp_rows: Array,
    conditioning: Array, joints: Array, change: Array, before_legs: Array, legs: Array, motion: Array,
) -> int:  # fmt: skip
    """Step through samples (n, 6) into motions `out` (n, 19) and `flags` (n,); return the rows done."""
    count: int = samples.shape[0]
    for row in range(count):
        flags[row] = _washout_step_kernel(
            samples[row], hold, counts, wanted, inputs, numbers, translation, translation_numbers, tilt, tilt_numbers,
            rotation, rotation_numbers, before, translated, tilted, rotated, now, now_legs, plan, times, geometry,
            frame, bounds, directions, limits, soft, weights, scratch, qp_limits, qp_rows, conditioning, joints, change,
            before_legs, legs, motion,
        )  # fmt: skip
        if flags[row] < 0:
            return row
        for k in range(19):
            out[row, k] = motion[k]
    return count


class Washout:
    """Motion of a platform that gives the cues of a vehicle's motion, and never leaves the bounds of its legs.

    The platform begins at rest at home. The motion after a step is that at the time of its sample.

    Args:
        geometry: of the mechanism, with a home.
        bounds: of its legs and poses.
        tuning: see `load_tuning`; its values may be replaced while it runs (`tune`).
        rate: of the steps, Hz, 10 to 100,000.
        gravity: m/s², along −z of the axes at home.

    Raises:
        KinematicsError: no home, a home outside the bounds, an invalid rate or gravity.
        LimitError: a tuning whose margin leaves nothing of a leg's stroke.
    """

    def __init__(
        self, geometry: Geometry, bounds: MotionBounds, tuning: Tuning, rate: float, gravity: float = 9.80665
    ) -> None:
        if not _RATES[0] <= rate <= _RATES[1]:
            raise KinematicsError(f"rate: {rate:g} Hz, must be {_RATES[0]:g} to {_RATES[1]:g} Hz")
        if not 0.1 <= gravity <= 100.0:
            raise KinematicsError(f"gravity: {gravity:g} m/s², must be 0.1 to 100 m/s²")
        self.rate, self.gravity, self.tuning = float(rate), float(gravity), tuning
        self._period = 1.0 / self.rate
        self._mechanism_bounds = bounds
        self._counts, self._wanted = np.zeros(4), np.zeros(6)
        self._inputs, self._numbers = np.zeros((3, 6)), np.zeros(6)
        self._filters = np.zeros((3, 3, 5)), np.zeros((2, 2, 4)), np.zeros((3, 2, 4))
        self._filter_numbers = np.zeros((3, 2)), np.zeros((2, 4)), np.zeros((3, 2))
        self._states = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 3)), np.zeros((3, 2))
        self._limiter = Limiter(
            geometry, bounds, np.zeros((6, 9)), np.zeros(6), tuning.limiter.stroke_margin, np.array(tuning.head),
            self._period,
        )  # fmt: skip
        self.tune(tuning)
        translation, tilt, rotation = self._filters
        of_translation, of_tilt, of_rotation = self._filter_numbers
        before, translated, tilted, rotated = self._states
        self._arguments = (
            self._counts, self._wanted, self._inputs, self._numbers, translation, of_translation, tilt, of_tilt,
            rotation, of_rotation, before, translated, tilted, rotated, *self._limiter.arguments,
        )  # fmt: skip
        self._sample, self._level = np.zeros(6), np.zeros(6)
        self._level[2] = self._inputs[0, 2] * self.gravity

    def check_tunable(self, tuning: Tuning) -> None:
        """Raise LimitError unless head, axes and stroke margin are those of the present tuning."""
        old, limiter = self.tuning, tuning.limiter
        for name, before, now in (
            ("head", old.head, tuning.head),
            ("axes", old.axes, tuning.axes),
            ("limiter.stroke_margin", old.limiter.stroke_margin, limiter.stroke_margin),
        ):
            if before != now:
                raise LimitError(name, f"{now}, cannot be changed while the platform moves: {before}")

    def tune(self, tuning: Tuning) -> None:
        """Replace the tuning while the platform moves, with the filters' states kept.

        Raises:
            LimitError: see `check_tunable`.
        """
        self.check_tunable(tuning)
        limiter = tuning.limiter
        self.tuning = tuning
        given = tuning.input
        sign = -1.0 if tuning.axes == "z-down" else 1.0
        self._inputs[0] = [1.0, sign, sign, 1.0, sign, sign]
        self._inputs[1] = [*given.force_scale, *given.rate_scale]
        self._inputs[2] = [*given.force_limit, *given.rate_limit]
        third, second = tuning.translation.order == 3, tuning.rotation.order == 2
        self._numbers[:] = [
            self.gravity, tuning.algorithm == "constrained", third, tuning.tilt.angle, limiter.recovery, second,
        ]  # fmt: skip
        translation, tilt, rotation = self._filters
        of_translation, of_tilt, of_rotation = self._filter_numbers
        of_translation[:] = np.column_stack([tuning.translation.frequency, tuning.translation.damping])
        of_tilt[:, :2] = np.column_stack([tuning.tilt.frequency, tuning.tilt.damping])
        of_tilt[:, 2:] = tuning.tilt.rate, tuning.tilt.acceleration
        of_rotation[:] = np.column_stack([tuning.rotation.frequency, tuning.rotation.damping])
        for axis, (omega, zeta) in enumerate(of_translation):
            high = tuning.translation.return_frequency[axis]
            system = [[0.0, 1.0, 0.0], [-(omega**2), -2.0 * zeta * omega, -float(third)], [0.0, 0.0, -high]]
            translation[axis] = discretised(np.array(system), np.array([0.0, 1.0, high]), self._period)
        for axis, (omega, zeta) in enumerate(of_tilt[:, :2]):
            system = [[0.0, 1.0], [-(omega**2), -2.0 * zeta * omega]]
            tilt[axis] = discretised(np.array(system), np.array([0.0, omega**2]), self._period)
        for axis, (omega, zeta) in enumerate(of_rotation):
            system = [[-2.0 * zeta * omega, -(omega**2)], [1.0, 0.0]] if second else [[-omega, 0.0], [0.0, -omega]]
            rotation[axis] = discretised(np.array(system), np.array([1.0, 0.0]), self._period)
        legs = self._mechanism_bounds.array
        stroke = (legs[:, 1] - legs[:, 0]) * 1e-4  # from where a leg settles to where it may not go
        soft = self._limiter.soft
        soft[:, 0] = legs[:, 0] + limiter.stroke_margin + stroke
        soft[:, 1] = legs[:, 1] - limiter.stroke_margin - stroke
        soft[:, 2], soft[:, 3] = limiter.speed_share * legs[:, 2], limiter.acceleration_share * legs[:, 3]
        soft[:, 4:7] = limiter.jerk, limiter.approach, 2.0 * limiter.approach
        soft[:, 7:] = np.where(legs[:, 4:] < pi, 1.0 - np.cos(_ANGLE_SHARE * legs[:, 4:]), inf)
        self._limiter.weights[:] = limiter.weights

    def reset(self) -> None:
        """Put the platform to rest at home, and forget everything."""
        for state in (*self._states, self._counts):
            state[:] = 0.0
        self._limiter.reset()

    def step(self, vehicle: npt.NDArray[np.float64]) -> Array:
        """Return the platform's motion (19,) in the base frame, one period later.

        Nothing is allocated: the array is the same each time, and is overwritten by the next step.

        Args:
            vehicle: (6,) float64, contiguous: specific force, m/s², and angular rate, rad/s, along the vehicle's axes.

        Raises:
            KinematicsError: a number is not finite; the platform stays what it was.
        """
        self._check(_washout_step_kernel(vehicle, False, *self._arguments), vehicle)
        return self._limiter.motion

    def brake(self) -> Array:
        """Return the platform's motion (19,) one period later along the known braking path; see `step`."""
        _washout_step_kernel(self._level, True, *self._arguments)
        return self._limiter.motion

    def run(self, vehicle: npt.ArrayLike) -> tuple[Array, npt.NDArray[np.int64]]:
        """Step through samples (n, 6); return motions (n, 19) and the flags of each step (n,), see `FLAGS`.

        Raises:
            KinematicsError: a wrong shape, or a number that is not finite; the steps before it are done.
        """
        samples = np.ascontiguousarray(vehicle, dtype=np.float64)
        if samples.ndim != 2 or samples.shape[1] != len(VEHICLE):
            raise KinematicsError(f"vehicle: shape {samples.shape}, must be (n, {len(VEHICLE)})")
        motions, flags = np.empty((len(samples), 19)), np.zeros(len(samples), dtype=np.int64)
        done = _washout_run_kernel(samples, motions, flags, False, *self._arguments)
        if done < len(samples):
            self._check(int(flags[done]), samples[done], f"sample {done}, ")
        return motions, flags

    @staticmethod
    def _check(flags: int, sample: Array, where: str = "") -> None:
        if flags < 0:
            place = -1 - flags
            raise KinematicsError(f"vehicle: {where}{VEHICLE[place]} is {sample[place]}, must be finite")

    @property
    def motion(self) -> Array:
        """Return the platform's motion (19,) of the last step."""
        return self._limiter.motion

    @property
    def state(self) -> Array:
        """Return coordinates, rates and accelerations (18,) of the head; see `kinematics.cueing.limiter`."""
        return self._limiter.state

    @property
    def level(self) -> Array:
        """Return the sample (6,) of a vehicle at rest on level ground."""
        return self._level.copy()

    @property
    def counts(self) -> dict[str, int]:
        """Return how many steps had each flag of `FLAGS`."""
        return {name: int(count) for name, count in zip(FLAGS, self._counts, strict=True)}

    @property
    def braking_time(self) -> float:
        """Remaining duration of the known braking path, s."""
        return self._limiter.braking_time

    def braking_path(self, times: npt.ArrayLike) -> Array:
        """Return motions (n, 19) of the known braking path at times (n,) s from now; nothing moves."""
        return self._limiter.braking_path(times)


def discretised(system: Array, gain: Array, period: float) -> Array:
    """Return the exact step of ẋ = A x + B u, u linear in between: columns Φ, weights of u before and of u now.

    system: A (n, n). gain: B (n,). period: s.
    """
    from scipy.linalg import expm  # slow to import, rarely needed

    n = len(system)
    augmented = np.zeros((n + 2, n + 2))
    augmented[:n, :n], augmented[:n, n], augmented[n, n + 1] = system * period, gain * period, 1.0
    step = expm(augmented)
    return np.column_stack([step[:n, :n], step[:n, n] - step[:n, n + 1], step[:n, n + 1]])
