"""`ArmDynamics`: the equations of motion of one arm in compiled code, for single samples and batches."""

import math

import numpy as np
import numpy.typing as npt

from dynamics.errors import DynamicsError
from dynamics.kernels.arm import (
    ARM_STRIDE,
    CENTER_MOMENT,
    COULOMB,
    COULOMB_SPEED,
    COUPLED,
    JOINTS,
    KIND,
    MASS,
    MOTOR_COULOMB,
    MOTOR_SPEED,
    MOTOR_VISCOUS,
    OFFSET,
    PLACEMENT,
    POSITION,
    SECOND_MOMENT,
    VISCOUS,
    arm_forward_batch_kernel,
    arm_forward_kernel,
    arm_inverse_batch_kernel,
    arm_inverse_kernel,
    arm_mass_matrices_kernel,
    arm_simulation_kernel,
    drives_at,
    parameter_size,
    work_size,
)
from dynamics.kernels.layout import NOT_FINITE, OK, SINGULAR
from dynamics.serial.arm import Arm, joint_values
from dynamics.serial.torque_control import ChainSimulation
from kinematics import Array

_SMOOTH = 0.01  # coulomb_speed in place of 0, rad/s or m/s
_LARGEST_STEP = 2.0  # times the rate of damping


class ArmDynamics:
    """Exact dynamics of an arm, drives and friction included; see `dynamics.kernels.arm` for the equations.

    `coulomb_speed` smooths Coulomb friction to F_c tanh(q̇ / coulomb_speed), rad/s or m/s at the joints; at a motor the
    speed is that times its largest ratio. 0 uses the sign. `parameters` is the arm packed for the kernels. Working
    memory is allocated once, so an instance belongs to one thread.

    q, qd, qdd and tau are (n,) for one sample or (m, n) for m. A wrench (6,) is [force; moment], N and N m, of the
    surroundings on the tip, in its axes and at its origin.

    Raises DynamicsError for a coulomb_speed that is negative or not finite; its methods for wrong shapes and numbers
    that are not finite, with the first sample and the joint.
    """

    def __init__(self, arm: Arm, coulomb_speed: float = 0.0) -> None:
        if not (math.isfinite(coulomb_speed) and coulomb_speed >= 0.0):
            raise DynamicsError(f"coulomb_speed: {coulomb_speed}, must be finite and at least 0")
        self.arm = arm
        self.coulomb_speed = float(coulomb_speed)
        self.parameters: Array = packed_arm(arm, self.coulomb_speed)
        self._work: Array = np.zeros(work_size(len(arm)))
        self._no_wrench: Array = np.zeros(6)

    def inverse(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, wrench: npt.ArrayLike | None = None
    ) -> Array:
        """Compute joint forces τ, N m or N, of a motion, in the shape of q."""
        position, rate, change = self._samples(q=q, qd=qd, qdd=qdd)
        tau = np.empty_like(position)
        load = self._on_last(wrench)
        if position.ndim == 1:
            self._check(arm_inverse_kernel(self.parameters, position, rate, change, load, self._work, tau))
        else:
            bad = arm_inverse_batch_kernel(self.parameters, position, rate, change, load, self._work, tau)
            if bad >= 0:
                raise DynamicsError(f"sample {bad}: the joint forces are not finite")
        return tau

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """Compute M (n, n), or (m, n, n) of m samples, drives included; kg m², kg m and kg."""
        n = len(self.arm)
        (position,) = self._samples(q=q)
        rows = position.reshape(-1, n)
        M = np.empty((len(rows), n * n))
        bad = arm_mass_matrices_kernel(self.parameters, rows, self._work, M)
        if bad >= 0:
            raise DynamicsError(f"{self.arm.name}, sample {bad}: the mass matrix is not finite")
        return M.reshape(*position.shape[:-1], n, n)

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, wrench: npt.ArrayLike | None = None) -> Array:
        """Compute what is left of τ without acceleration, in the shape of q: C q̇ + G, friction and wrench."""
        return self.inverse(q, qd, np.zeros(np.shape(q)), wrench)

    def forward(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, wrench: npt.ArrayLike | None = None
    ) -> Array:
        """Compute joint accelerations q̈ under joint forces τ, in the shape of q.

        Raises DynamicsError if the mass matrix is not positive definite.
        """
        position, rate, force = self._samples(q=q, qd=qd, tau=tau)
        qdd = np.empty_like(position)
        load = self._on_last(wrench)
        x, xd, f, xdd = (array.reshape(-1, len(self.arm)) for array in (position, rate, force, qdd))
        bad = arm_forward_batch_kernel(self.parameters, x, xd, f, load, self._work, xdd)
        if bad >= 0:
            status = arm_forward_kernel(self.parameters, x[bad], xd[bad], f[bad], load, self._work, xdd[bad])
            self._check(status, bad)
        return qdd

    def damping_rate(self, q: npt.ArrayLike) -> float:
        """Return the fastest rate, 1/s, at which friction slows the arm at q (n,), at rest where it is steepest.

        The largest eigenvalue of M⁻¹ times the slope of friction; infinite for Coulomb friction by the sign.
        Raises DynamicsError if the mass matrix is not positive definite.
        """
        arm = self.arm
        slopes, motor_slopes = (
            np.zeros(len(arm)) if values is None else np.asarray(values)
            for values in ([joint.coulomb for joint in arm.joints], arm.motor_coulomb)
        )
        if self.coulomb_speed == 0.0 and (slopes.any() or motor_slopes.any()):
            return math.inf
        G = arm.motor_ratios
        friction = arm.viscous_matrix
        if self.coulomb_speed > 0.0:
            per_motor = motor_slopes / (self.coulomb_speed * np.abs(G).max(axis=1))
            friction = friction + np.diag(slopes) / self.coulomb_speed + G.T @ (per_motor[:, np.newaxis] * G)
        M = self.mass_matrix(q)
        try:
            np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            self._check(SINGULAR)
        return float(np.abs(np.linalg.eigvals(np.linalg.solve(M, friction))).max())

    def stable_substeps(self, q: npt.ArrayLike, period: float) -> int:
        """Return the number of steps in a `period` s for which friction at q (n,) is integrated stably; at least 1.

        A step is at most 2 over `damping_rate`; Runge and Kutta's formula is stable up to 2.8. Friction by the sign has
        no such step; it is taken as that of a coulomb_speed of 0.01.
        """
        smooth = self if math.isfinite(self.damping_rate(q)) else ArmDynamics(self.arm, _SMOOTH)
        return max(1, math.ceil(smooth.damping_rate(q) * period / _LARGEST_STEP))

    def simulate(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        torques: npt.ArrayLike,
        period: float,
        substeps: int | None = None,
        wrench: npt.ArrayLike | None = None,
    ) -> ChainSimulation:
        """Simulate from q, qd (n,); row k of `torques` (m, n) is held for the k-th `period` s.

        Each period has `substeps` steps of the classical Runge–Kutta formula; None is `stable_substeps` at the start.
        Returns m + 1 samples.
        Raises DynamicsError for a period or substeps that are not positive, and with the time at which it diverges.
        """
        if not (math.isfinite(period) and period > 0.0):
            raise DynamicsError(f"period: {period} s, must be finite and above 0 s")
        if substeps is None:
            substeps = self.stable_substeps(q, period)
        if substeps < 1:
            raise DynamicsError(f"substeps: {substeps}, must be at least 1")
        held = self._samples(torques=torques)[0].reshape(-1, len(self.arm))
        positions, rates = np.empty((len(held) + 1, len(self.arm))), np.empty((len(held) + 1, len(self.arm)))
        positions[0], rates[0] = joint_values(self.arm, "q", q), joint_values(self.arm, "qd", qd)
        load = self._on_last(wrench)
        done = arm_simulation_kernel(
            self.parameters, held, load, float(period), int(substeps), self._work, positions, rates
        )
        if done < len(held):
            raise DynamicsError(
                f"the simulation diverges at t = {done * period:g} s: shorten the step of {period / substeps:g} s"
            )
        return ChainSimulation(period * np.arange(len(held) + 1.0), positions, rates)

    def _samples(self, **values: npt.ArrayLike) -> list[Array]:
        """Return arguments as contiguous arrays of one shape (n,) or (m, n), all finite."""
        n = len(self.arm)
        arrays: list[Array] = []
        for name, value in values.items():
            array = np.ascontiguousarray(value, dtype=np.float64)
            if array.ndim not in (1, 2) or array.shape[-1] != n:
                raise DynamicsError(f"{name}: shape {array.shape}, must be ({n},) or (m, {n})")
            if arrays and array.shape != arrays[0].shape:
                raise DynamicsError(f"{name}: shape {array.shape}, must be {arrays[0].shape} as {next(iter(values))}")
            finite = np.isfinite(array)
            if not finite.all():
                *sample, joint = (int(x) for x in np.argwhere(~finite)[0])
                where = f"sample {sample[0]}, " if sample else ""
                raise DynamicsError(f"{name}: {where}joint {joint + 1} is {array[(*sample, joint)]}, must be finite")
            arrays.append(array)
        return arrays

    def _on_last(self, wrench: npt.ArrayLike | None) -> Array:
        """Return a wrench on the tip as that on the last body, at the origin and in axes of its frame."""
        if wrench is None:
            return self._no_wrench
        given = np.array(wrench, dtype=np.float64)
        if given.shape != (6,) or not np.isfinite(given).all():
            raise DynamicsError(f"wrench: {given.tolist()}, must be 6 finite numbers, N and N m")
        R, p = self.arm.tip_rotation, self.arm.tip_position
        force = R @ given[:3]
        return np.concatenate([force, R @ given[3:] + np.cross(p, force)])

    def _check(self, status: int, sample: int = 0) -> None:
        if status == SINGULAR:
            raise DynamicsError(
                f"{self.arm.name}, sample {sample}: the mass matrix is not positive definite; "
                "a body or a motor has too little inertia"
            )
        if status == NOT_FINITE:
            raise DynamicsError(f"{self.arm.name}, sample {sample}: the result is not finite")
        assert status == OK


def packed_arm(arm: Arm, coulomb_speed: float = 0.0) -> Array:
    """Return an arm's numbers in the layout of `dynamics.kernels.arm`; coulomb_speed as in `ArmDynamics`."""
    n = len(arm)
    packed = np.zeros(parameter_size(n))
    packed[:3] = arm.gravity
    G = arm.motor_ratios
    coulomb = np.zeros(n) if arm.motor_coulomb is None else arm.motor_coulomb
    viscous = np.zeros(n) if arm.motor_viscous is None else arm.motor_viscous
    for index, joint in enumerate(arm.joints):
        at = JOINTS + ARM_STRIDE * index
        second = joint.inertia_at_origin
        packed[at + KIND] = 0.0 if joint.revolute else 1.0
        packed[at + PLACEMENT : at + PLACEMENT + 9] = joint.rotation.ravel()
        packed[at + POSITION : at + POSITION + 3] = joint.position
        packed[at + MASS] = joint.mass
        packed[at + CENTER_MOMENT : at + CENTER_MOMENT + 3] = joint.mass * joint.center
        packed[at + SECOND_MOMENT : at + SECOND_MOMENT + 6] = second[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        packed[at + COULOMB], packed[at + COULOMB_SPEED] = joint.coulomb, coulomb_speed
        packed[at + OFFSET] = joint.offset
        packed[at + MOTOR_COULOMB], packed[at + MOTOR_SPEED] = coulomb[index], coulomb_speed * np.abs(G[index]).max()
        packed[at + VISCOUS], packed[at + MOTOR_VISCOUS] = joint.viscous, viscous[index]
    drives = drives_at(n)
    packed[drives:] = np.concatenate([arm.drive_inertia.ravel(), G.ravel()])
    coupled = np.count_nonzero(G - np.diag(np.diag(G)))
    packed[COUPLED] = 1.0 if coupled else 0.0
    return packed
