"""Computed-torque control of a chain (Lee, Chung, Mudge & Turney 1982 = 000, §4), and its study of a PUMA (§5)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.chain import SerialChain, joint_load, scalars
from dynamics.serial.gains import Gain, check_gains, servo_acceleration
from dynamics.serial.lagrangian import LagrangeCoefficients, lagrange_coefficients
from dynamics.serial.puma_560 import puma
from dynamics.serial.recursion import newton_euler
from dynamics.serial.simulation import Torque, rk4_step
from dynamics.serial.vectors import Scalar, Values, Vector, add, apply, dot
from kinematics import Array, minimum_jerk

START = (90.0, 0.0, 90.0, 0.0, 0.0, 0.0)
"""Initial joint angles of the study, degrees (000 §5)."""
END = (45.0, 30.0, 0.0, 45.0, 60.0, 90.0)
"""Final joint angles, degrees."""
POSITION_GAIN = 100.0  # K_p, 1/s²
VELOCITY_GAIN = 20.0  # K_v = 2 √K_p, 1/s
ERROR_BOUND = 4.26e-4
"""What every joint's error stays under in 000: one bit of its 12-bit converter, rad."""


def computed_torque(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """Joint forces τ (n,) by 4.4: the recursion 3.21–3.27 with the bracket of 4.1 in place of q̈.

    `desired` is (qᵈ, q̇ᵈ, q̈ᵈ), each (n,); the gains K_p 1/s² and K_v 1/s are numbers, the same for all joints, or
    matrices (n, n). Raises DynamicsError for gains under which the error need not vanish (`check_gains`).
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
    """τ (n,) by 4.1 with D, H and G as `coefficients_of` gives them of a chain at q (n,); gains as they are."""
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
    """q, q̇, q̈ (n,) at `time` s of the minimum-jerk move from `start` to `end` (n,) in `duration` s; held outside."""
    s, sd, sdd = minimum_jerk(min(max(time / duration, 0.0), 1.0))
    delta = end - start
    return start + s * delta, sd / duration * delta, sdd / duration**2 * delta


@dataclass(frozen=True, slots=True, eq=False)
class ControlStudy:
    """A chain under computed torque, at the sampling instants: m samples, n joints; rad, rad/s, N m.

    times (m,) s; desired, actual, rates, torques (m, n), each torque held until the next sample.
    """

    times: Array
    desired: Array
    actual: Array
    rates: Array
    torques: Array

    @property
    def error(self) -> Array:
        """Position error (m, n), rad: figures 3 to 8 of 000."""
        return self.desired - self.actual

    @property
    def peak(self) -> Array:
        """Largest |error| (n,) of each joint, rad."""
        peak: Array = np.abs(self.error).max(axis=0)
        return peak


def puma_study(
    *,
    duration: float = 2.0,
    settling: float = 0.5,
    sampling: float = 0.01,
    substeps: int = 1,
    kp: Gain = POSITION_GAIN,
    kv: Gain = VELOCITY_GAIN,
    preview: bool = False,
    plant: SerialChain | None = None,
    model: SerialChain | None = None,
) -> ControlStudy:
    """The study of 000 §5: a PUMA from START to END under 4.4, errors as in its figures 3 to 8.

    000 does not print its trajectory: here a rest-to-rest quintic of `duration` s and `settling` s at its end. Torques
    are computed every `sampling` s and held; the plant is integrated by RK4 in `substeps` steps per sample. q̈ᵈ is taken
    at the sampling instant, as eq. 4.4 has it; with `preview` it is the mean over the coming sample,
    [q̇ᵈ(t+T) − q̇ᵈ(t)]/T, which is what a held torque can give. `plant` and `model` (of the controller) are the PUMA
    without friction and without rotors, which the paper's equations have not.

    Raises DynamicsError for times that are not positive, or chains that have not six joints.
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
        aim = quintic(start, end, duration, time)
        acceleration = aim[2]
        if preview:
            acceleration = (quintic(start, end, duration, time + sampling)[1] - aim[1]) / sampling
        target = aim[0].tolist(), aim[1].tolist(), acceleration.tolist()
        tau = computed_torque(model, target, q, qd, kp, kv)
        desired.append(aim[0])
        actual.append(q)
        rates.append(qd)
        torques.append(tau)
        for _ in range(substeps):
            q, qd = rk4_step(plant, time, q, qd, constant_forces(tau), sampling / substeps)
    return ControlStudy(
        sampling * np.arange(float(samples)), np.array(desired), np.array(actual), np.array(rates), np.array(torques)
    )
