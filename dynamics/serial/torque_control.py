"""Computed-torque control of a chain: M, C and G by strobing, forward simulation, gains, and the control law."""

import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.chain import (
    Matrix,
    Scalar,
    SerialChain,
    Values,
    Vector,
    add,
    apply,
    dot,
    joint_load,
    puma,
    scalars,
    solve_positive_definite,
)
from dynamics.serial.lagrangian import LagrangeCoefficients, lagrange_coefficients
from dynamics.serial.recursions import modified_newton_euler, newton_euler
from kinematics import Array, minimum_jerk

Recursion = Callable[..., list[Scalar]]

_WEIGHTLESS = (0.0, 0.0, 0.0)


def _unit(n: int, scalar: type, *ones: int) -> list[Scalar]:
    return [scalar(1.0 if i in ones else 0.0) for i in range(n)]


def strobed_mass_matrix(
    chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler
) -> list[list[Scalar]]:
    """Compute M(q) (n, n), rotors included: column j is τ for q̈_j = 1, q̇ = 0, no gravity.

    The links before joint j are at rest and M is symmetric, so the recursion covers only the links from j on,
    n(n + 1)/2 in all (001 §6). `recursion` is `newton_euler`, `modified_newton_euler` or `lagrange_euler`.
    """
    n = len(chain)
    posture = scalars("q", q, n)
    scalar = type(posture[0])
    M: list[list[Scalar]] = [[None] * n for _ in range(n)]
    for j in range(n):
        above = replace(chain, links=chain.links[j:])
        column = recursion(above, posture[j:], _unit(n - j, scalar), _unit(n - j, scalar, 0), gravity=_WEIGHTLESS)
        for i, force in enumerate(column, start=j):
            M[i][j] = M[j][i] = force
    return M


def strobed_coriolis(
    chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler
) -> list[list[list[Scalar]]]:
    """Compute C (n, n, n) with C^i_jk = C^i_kj, of Σ_jk C^i_jk q̇_j q̇_k; without friction."""
    n = len(chain)
    posture = scalars("q", q, n)
    smooth = replace(chain, links=tuple(replace(link, viscous=0.0, coulomb=0.0) for link in chain.links))
    scalar = type(posture[0])
    at_rest = _unit(n, scalar)

    def strobe(*moving: int) -> list[Scalar]:
        return recursion(smooth, posture, _unit(n, scalar, *moving), at_rest, gravity=_WEIGHTLESS)

    C: list[list[list[Scalar]]] = [[[None] * n for _ in range(n)] for _ in range(n)]
    alone = [strobe(j) for j in range(n)]
    for j in range(n):
        for k in range(j + 1):
            both = strobe(j, k) if j != k else alone[j]
            for i in range(n):
                C[i][j][k] = C[i][k][j] = both[i] if j == k else 0.5 * (both[i] - alone[j][i] - alone[k][i])
    return C


def coriolis_matrix(C: list[list[list[Scalar]]], qd: Values) -> list[list[Scalar]]:
    """C(q, q̇) (n, n) with C_ij = Σ_k C^i_jk q̇_k: Ṁ − 2C is skew, since the C^i_jk are Christoffel symbols."""
    rates = list(qd)
    return [[sum(x * rate for x, rate in zip(row, rates, strict=True)) for row in plane] for plane in C]


def strobed_gravity(chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler) -> list[Scalar]:
    """G(q) (n,): τ of the chain at rest."""
    at_rest = [0.0] * len(chain)
    return recursion(chain, q, at_rest, at_rest)


def strobed_bias(
    chain: SerialChain,
    q: Values,
    qd: Values,
    wrench: Values | None = None,
    recursion: Recursion = modified_newton_euler,
) -> list[Scalar]:
    """C q̇ + G with friction and tool wrench (n,): τ of q̈ = 0 (001 §7)."""
    return recursion(chain, q, qd, [0.0] * len(chain), wrench)


def chain_acceleration(
    chain: SerialChain,
    q: Values,
    qd: Values,
    tau: Values,
    wrench: Values | None = None,
    recursion: Recursion = modified_newton_euler,
) -> list[Scalar]:
    """Compute joint accelerations q̈ (n,) under joint forces τ (n,): M⁻¹(τ − C − G), M strobed (001 §7)."""
    torque = scalars("tau", tau, len(chain))
    bias = strobed_bias(chain, q, qd, wrench, recursion)
    net = [t - b for t, b in zip(torque, bias, strict=True)]
    return solve_positive_definite(strobed_mass_matrix(chain, q, recursion), net)


Torque = Callable[[float, list[float], list[float]], Values]
"""Joint forces (n,) from time s, q and q̇."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainSimulation:
    """Samples of a motion: times (m,) s, q (m, n) and qd (m, n), rad or m and per second."""

    times: Array
    q: Array
    qd: Array


def _advanced(values: list[float], slope: list[float], step: float) -> list[float]:
    return [x + step * s for x, s in zip(values, slope, strict=True)]


def rk4_step(
    chain: SerialChain, time: float, q: list[float], qd: list[float], torque: Torque, step: float
) -> tuple[list[float], list[float]]:
    """Advance q and q̇ by one step of `step` s by the classical four-point Runge–Kutta formula of 001 §7."""
    new_q, new_qd = q, qd
    rate, slope = qd, qd  # of the previous stage; the first stage is at the start
    for fraction, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        now, rate = _advanced(q, rate, fraction * step), _advanced(qd, slope, fraction * step)
        slope = chain_acceleration(chain, now, rate, torque(time + fraction * step, now, rate))
        new_q, new_qd = _advanced(new_q, rate, weight * step / 6.0), _advanced(new_qd, slope, weight * step / 6.0)
    return new_q, new_qd


def simulate_chain(
    chain: SerialChain, q: Values, qd: Values, torque: Torque, duration: float, step: float
) -> ChainSimulation:
    """Simulate the motion from q, q̇ (n,) over `duration` s in steps of `step` s; each stage evaluates `torque`.

    Raises DynamicsError for a duration or step that is not positive, or a duration that is not a whole number of steps.
    """
    if not (math.isfinite(duration) and math.isfinite(step) and duration > 0.0 and step > 0.0):
        raise DynamicsError(f"duration {duration} s, step {step} s: must be finite and above 0 s")
    count = round(duration / step)
    if abs(count * step - duration) > 1e-9 * duration:
        raise DynamicsError(f"duration: {duration} s is not a whole number of steps of {step} s")
    now = scalars("q", q, len(chain)), scalars("qd", qd, len(chain))
    states = [now]
    for k in range(count):
        now = rk4_step(chain, k * step, *now, torque, step)
        states.append(now)
    positions, rates = zip(*states, strict=True)
    return ChainSimulation(step * np.arange(count + 1.0), np.array(positions), np.array(rates))


Gain = Scalar | Vector | Matrix
"""A number, the same for all joints, n numbers, one for each joint, or a matrix (n, n)."""

_ROUNDING = 1e-12  # relative, of symmetry and of eigenvalues


def gain_matrix(name: str, gain: Gain, joints: int) -> Array:
    """Return a gain as a matrix (n, n) of floats, a number or n numbers on its diagonal.

    Raises DynamicsError, with the gain's name, for another shape, and for what is not a number or not finite.
    """
    expected = f"must be a number, {joints} numbers, or {joints} rows of {joints}"
    try:
        given = np.array(gain)
        if given.dtype.kind in "bSU":  # NumPy would convert text and truth values
            raise TypeError
        matrix: Array = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DynamicsError(f"{name}: {reprlib.repr(gain)}, {expected}") from None
    if matrix.shape not in ((), (joints,), (joints, joints)):
        raise DynamicsError(f"{name}: shape {matrix.shape}, {expected}")
    if not np.isfinite(matrix).all():
        raise DynamicsError(f"{name}: {matrix.tolist()} is not finite")
    return matrix if matrix.ndim == 2 else np.diag(np.broadcast_to(matrix, joints)).copy()


@dataclass(frozen=True, slots=True)
class BrokenCondition:
    """A condition of 000 on the gains that does not hold.

    condition: "a", "b" or "c". gain: "K_p", "K_v", or "K_p and K_v" for (c). value: the asymmetry, the least
    eigenvalue, or the rank; bound: 0, 0, or the number of joints. unit: of both, "" for a rank. place: row and column
    (from 0) of the entry that differs most from its mirror image, None unless the gain is not symmetric.
    """

    condition: str
    gain: str
    value: float
    bound: float
    unit: str
    place: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """Return the condition with the number that breaks it."""
        where = f"(condition {self.condition})"
        if self.place is not None:
            return f"{self.gain}: not symmetric, by {self.value:g} {self.unit} {where}"
        if self.condition == "c":
            return (
                f"{self.gain}: rank of [K_v | K_p K_v | …] is {self.value:g}, must be {self.bound:g}: what is not "
                f"damped goes on swinging {where}"
            )
        bound = f"{'above' if self.condition == 'b' else 'at least'} {self.bound:g} {self.unit}"
        return f"{self.gain}: least eigenvalue {self.value:g} {self.unit}, must be {bound} {where}"


def broken_conditions(position: Array, velocity: Array) -> list[BrokenCondition]:
    """Return the conditions of 000 under which the error vanishes that K_p, 1/s², and K_v, 1/s, (n, n) do not meet.

    (a) K_v is symmetric and non-negative definite, (b) K_p is symmetric and positive definite, (c) the rank of
    [K_v | K_p K_v | … | K_p^{n−1} K_v] is n. One is listed for each gain, and (c) only where (a) and (b) hold.
    """
    broken = []
    for gain, condition, matrix, unit in (("K_v", "a", velocity, "1/s"), ("K_p", "b", position, "1/s²")):
        size, apart = np.abs(matrix).max(), np.abs(matrix - matrix.T)
        row, column = (int(k) for k in np.unravel_index(apart.argmax(), apart.shape))
        if apart[row, column] > _ROUNDING * size:
            broken.append(BrokenCondition(condition, gain, float(apart[row, column]), 0.0, unit, (row, column)))
            continue
        least = float(np.linalg.eigvalsh(matrix)[0])
        lacking = least <= _ROUNDING * size if gain == "K_p" else least < -_ROUNDING * len(matrix) * size
        if lacking:
            broken.append(BrokenCondition(condition, gain, least, 0.0, unit))
    if not broken:
        rank = damped_rank(position, velocity)
        if rank < len(position):
            broken.append(BrokenCondition("c", "K_p and K_v", rank, len(position), ""))
    return broken


def check_gains(kp: Gain, kv: Gain, joints: int) -> None:
    """Check the gains for convergence of the error; K_p 1/s², K_v 1/s, each a `Gain`.

    Raises DynamicsError with the violated condition (a), (b) or (c) of 000 and the number.
    """
    broken = broken_conditions(gain_matrix("K_p", kp, joints), gain_matrix("K_v", kv, joints))
    if broken:
        raise DynamicsError(broken[0].text)


def damped_rank(position: Array, velocity: Array) -> int:
    """Rank of [K_v | K_p K_v | … | K_p^{n−1} K_v] (n, n²), scaled without changing it."""
    stiffness = position / np.abs(position).max()
    block = velocity / max(float(np.abs(velocity).max()), np.finfo(float).tiny)
    blocks = [block]
    for _ in range(len(position) - 1):
        block = stiffness @ block
        blocks.append(block)
    return int(np.linalg.matrix_rank(np.hstack(blocks)))


def fed_back(gain: Gain, error: Vector) -> Vector:
    """A gain times an error (n,)."""
    if np.ndim(gain) == 0:
        return [gain * x for x in error]
    if np.ndim(gain) == 1:
        return [each * x for each, x in zip(gain, error, strict=True)]
    return apply(gain, error)


def servo_acceleration(desired: tuple[Values, Values, Values], q: Vector, qd: Vector, kp: Gain, kv: Gain) -> Vector:
    """q̈ᵈ + K_v (q̇ᵈ − q̇) + K_p (qᵈ − q), the bracket of 000 eq. 4.1."""
    error = [x - now for x, now in zip(desired[0], q, strict=True)]
    slip = [xd - rate for xd, rate in zip(desired[1], qd, strict=True)]
    terms = zip(desired[2], fed_back(kv, slip), fed_back(kp, error), strict=True)
    return [xdd + damping + stiffness for xdd, damping, stiffness in terms]


START = (90.0, 0.0, 90.0, 0.0, 0.0, 0.0)
"""Initial joint angles of the study, degrees (000 §5)."""
END = (45.0, 30.0, 0.0, 45.0, 60.0, 90.0)
"""Final joint angles, degrees."""
POSITION_GAIN = 100.0  # K_p, 1/s²
VELOCITY_GAIN = 20.0  # K_v = 2 √K_p, 1/s
ERROR_BOUND = 4.26e-4
"""Bound on every joint's error in 000: one bit of its 12-bit converter, rad."""


def computed_torque(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """Joint forces τ (n,) by 4.4: the recursion 3.21–3.27 with the bracket of 4.1 in place of q̈.

    `desired` is (qᵈ, q̇ᵈ, q̈ᵈ), each (n,); the gains K_p 1/s² and K_v 1/s are numbers, the same for all joints, n
    numbers, or matrices (n, n). Raises DynamicsError for gains under which the error may not vanish (`check_gains`).
    """
    n = len(chain)
    check_gains(kp, kv, n)
    position, rate = scalars("q", q, n), scalars("qd", qd, n)
    return newton_euler(chain, position, rate, servo_acceleration(desired, position, rate, kp, kv))


def computed_torque_lagrange(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """The same τ (n,) by 4.1: D(q) [bracket] + H(q, q̇) + G(q), friction added."""
    check_gains(kp, kv, len(chain))
    return lagrange_control(chain, desired, q, qd, kp, kv, lagrange_coefficients)


def lagrange_control(
    chain: SerialChain,
    desired: tuple[Values, Values, Values],
    q: Values,
    qd: Values,
    kp: Gain,
    kv: Gain,
    coefficients_of: Callable[[SerialChain, Values], LagrangeCoefficients],
) -> list[Scalar]:
    """τ (n,) by 4.1 with D, H and G from `coefficients_of` for a chain at q (n,); gains are not checked."""
    n = len(chain)
    position, rate = scalars("q", q, n), scalars("qd", qd, n)
    coefficients = coefficients_of(chain, position)
    bracket = servo_acceleration(desired, position, rate, kp, kv)
    friction = [joint_load(link, speed, 0.0) for link, speed in zip(chain.links, rate, strict=True)]
    return control_sum(coefficients.D, coefficients.H, coefficients.G, bracket, rate, friction)


def control_sum(
    D: list[list[Scalar]],
    H: list[list[list[Scalar]]],
    G: list[Scalar],
    bracket: Vector,
    qd: Vector,
    friction: Vector,
) -> list[Scalar]:
    """Last line of 4.1: D times the bracket, H_ijk q̇_j q̇_k, G."""
    products = [a * b for a in qd for b in qd]
    squares = [dot([x for row in plane for x in row], products) for plane in H]
    return add(apply(D, bracket), squares, G, friction)


def constant_forces(tau: list[float]) -> Torque:
    """The same joint forces at all times."""
    return lambda _time, _q, _qd: tau


def quintic(start: Array, end: Array, duration: float, time: float) -> tuple[Array, Array, Array]:
    """q, q̇, q̈ (n,) at `time` s of the minimum-jerk move from `start` to `end` (n,) in `duration` s; then constant."""
    s, sd, sdd = minimum_jerk(min(max(time / duration, 0.0), 1.0))
    delta = end - start
    return start + s * delta, sd / duration * delta, sdd / duration**2 * delta


Profile = Callable[[Array, Array, float, float], tuple[Array, Array, Array]]
"""q, q̇, q̈ (n,) of a move from start to end (n,) in a duration at a time, s, as `quintic`."""


@dataclass(frozen=True, slots=True, eq=False)
class ControlStudy:
    """A chain or an arm under computed torque at the sampling instants: m samples, n joints; rad or m, N m or N.

    times (m,) s; desired, actual, rates, torques (m, n), each torque constant until the next sample.
    """

    times: Array
    desired: Array
    actual: Array
    rates: Array
    torques: Array

    @property
    def error(self) -> Array:
        """Position error (m, n), desired minus actual, rad or m: figures 3 to 8 of 000."""
        return self.desired - self.actual

    @property
    def peak(self) -> Array:
        """Largest |error| (n,) of each joint, rad or m."""
        peak: Array = np.abs(self.error).max(axis=0)
        return peak


def puma_study(
    *,
    duration: float = 2.0,
    settling: float = 0.5,
    sampling: float = 0.01,
    substeps: int = 1,
    preview: bool = False,
    plant: SerialChain | None = None,
    model: SerialChain | None = None,
    profile: Profile = quintic,
) -> ControlStudy:
    """Run the study of 000 §5: a PUMA from START to END under 4.4, errors as in its figures 3 to 8.

    000 does not print its trajectory: this is a rest-to-rest move of `duration` s by `profile`, and `settling` s at
    its end.
    Torques are computed every `sampling` s with zero-order hold; RK4 integrates the plant in `substeps` steps per
    sample. q̈ᵈ is taken at the sampling instant, as in eq. 4.4; with `preview` it is the mean over the coming sample,
    [q̇ᵈ(t+T) − q̇ᵈ(t)]/T, which a constant torque can achieve. The gains are the paper's. `plant` and `model` (of the
    controller) are the PUMA without friction and rotors, as in the paper's equations.

    Raises DynamicsError for times that are not positive, or chains without six joints.
    """
    for name, value in (("duration", duration), ("sampling", sampling), ("substeps", substeps)):
        if not (math.isfinite(value) and value > 0.0):
            raise DynamicsError(f"{name}: {value}, must be finite and above 0")
    if not (math.isfinite(settling) and settling >= 0.0):
        raise DynamicsError(f"settling: {settling} s, must be finite and at least 0 s")
    plant = puma(rotors=False) if plant is None else plant
    model = puma(rotors=False) if model is None else model
    start, end = np.radians(START), np.radians(END)
    q, qd = start.tolist(), [0.0] * len(start)
    samples = round((duration + settling) / sampling) + 1
    desired, actual, rates, torques = [], [], [], []
    for k in range(samples):
        time = k * sampling
        aim = profile(start, end, duration, time)
        acceleration = aim[2]
        if preview:
            acceleration = (profile(start, end, duration, time + sampling)[1] - aim[1]) / sampling
        target = aim[0].tolist(), aim[1].tolist(), acceleration.tolist()
        tau = computed_torque(model, target, q, qd, POSITION_GAIN, VELOCITY_GAIN)
        desired.append(aim[0])
        actual.append(q)
        rates.append(qd)
        torques.append(tau)
        for _ in range(substeps):
            q, qd = rk4_step(plant, time, q, qd, constant_forces(tau), sampling / substeps)
    return ControlStudy(
        sampling * np.arange(float(samples)), np.array(desired), np.array(actual), np.array(rates), np.array(torques)
    )
