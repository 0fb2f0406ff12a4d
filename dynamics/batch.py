"""Inverse dynamics of large batches of states, on all processors."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dynamics.errors import DynamicsError
from dynamics.kernels.batch import BLOCK_WORK, NOT_UNIT, UNIT_TOLERANCE, Indices, forces_batch_kernel
from dynamics.kernels.layout import COULOMB_SPEED, NOT_FINITE, SINGULAR, WORK_SIZE
from dynamics.mechanism import Mechanism
from kinematics import BLOCK, SYSTEM_ROWS, Array, run_chunks

CHUNK = 1 << 14
"""States per thread task: a few ms of work and a few MB of memory."""

_LISTED = 5


class BatchError(DynamicsError):
    """Some states of a batch have no solution.

    indices (k,): their indices, increasing.  statuses (k,): kernel statuses (`dynamics`), or NOT_UNIT.
    forces (n, 6): actuator forces of all states, N; NaN in the failed rows.
    """

    def __init__(self, indices: Indices, statuses: Indices, forces: Array) -> None:
        self.indices = indices
        self.statuses = statuses
        self.forces = forces
        lines = [
            f"sample {index}: {_reason(int(status))}"
            for index, status in zip(indices[:_LISTED], statuses[:_LISTED], strict=True)
        ]
        if len(indices) > _LISTED:
            lines.append(f"and {len(indices) - _LISTED} more")
        super().__init__("\n  ".join([f"{len(indices)} of {len(forces)} states have no leg forces:", *lines]))

    def __reduce__(self) -> tuple[type["BatchError"], tuple[Indices, Indices, Array]]:
        """Pickle the arguments, so that the error crosses a process boundary with all its data."""
        return BatchError, (self.indices, self.statuses, self.forces)


def inverse_batch(
    mechanism: Mechanism,
    motions: npt.ArrayLike,
    wrenches: npt.ArrayLike | None = None,
    *,
    out: Array | None = None,
    threads: int | None = None,
    coulomb_speed: float = 0.0,
) -> Array:
    """Compute actuator forces (n, 6), N, of motions (n, 19) under wrenches (n, 6), or one (6,) for all.

    The result equals that of `Dynamics.inverse` to rounding. Motions and wrenches are read in chunks and may be
    memory-mapped files; working memory does not grow with n.

    wrenches: [force; moment] at the platform origin, PLATFORM axes; None for none.
    out: (n, 6) float64, may be a memory-mapped file; filled and returned.
    threads: number of threads; None for one per processor. Use 1 inside parallel code.
    coulomb_speed: m/s, as for `Dynamics`.

    Raises BatchError, after all states are done, for a singular pose, a number that is not finite or a quaternion
    not of unit norm; DynamicsError for shapes that do not fit.
    """
    samples = np.asanyarray(motions)
    if samples.ndim != 2 or samples.shape[1] != 19 or samples.dtype.kind not in "fiu":
        raise DynamicsError(f"motions: shape {samples.shape} of {samples.dtype}, must be (n, 19) real numbers")
    count = len(samples)
    loads = np.zeros(6) if wrenches is None else np.asanyarray(wrenches)
    if loads.shape not in ((6,), (count, 6)) or loads.dtype.kind not in "fiu":
        raise DynamicsError(
            f"wrenches: shape {loads.shape} of {loads.dtype}, must be (6,) or ({count}, 6) real numbers"
        )
    loads = np.broadcast_to(loads, (count, 6))
    forces = np.empty((count, 6)) if out is None else out
    if forces.shape != (count, 6) or forces.dtype != np.float64 or not forces.flags.c_contiguous:
        raise DynamicsError(f"out: must be a contiguous array ({count}, 6) of float64")
    if not (np.isfinite(coulomb_speed) and coulomb_speed >= 0.0):
        raise DynamicsError(f"coulomb_speed: {coulomb_speed} m/s, must be finite and at least 0 m/s")
    parameters = mechanism.array.copy()
    parameters[COULOMB_SPEED] = coulomb_speed
    work = _chunk_worker(parameters, samples, loads, forces)
    failed = [found for _, _, found in run_chunks(work, count, CHUNK, threads) if len(found)]
    if failed:
        table = np.concatenate(failed)
        table = table[np.argsort(table[:, 0])]
        raise BatchError(table[:, 0], table[:, 1], forces)
    return forces


def _chunk_worker(
    parameters: Array, motions: npt.NDArray[np.generic], wrenches: npt.NDArray[np.generic], forces: Array
) -> Callable[[int, int], Indices]:
    """Return a function that computes a range of samples' forces and returns (k, 2): failed indices and statuses."""

    def work(first: int, end: int) -> Indices:
        failed = np.empty((end - first, 2), dtype=np.int64)
        count = forces_batch_kernel(
            parameters,
            _for_kernel(motions[first:end]),
            _for_kernel(wrenches[first:end]),
            np.zeros(BLOCK_WORK),
            np.zeros(SYSTEM_ROWS * BLOCK),
            np.zeros(WORK_SIZE),
            forces[first:end],
            failed,
        )
        found = failed[:count].copy()
        found[:, 0] += first
        return found

    return work


def _for_kernel(values: npt.NDArray[np.generic]) -> Array:
    """Convert to the array type that the kernel is compiled for; copy only if needed."""
    return np.require(values, np.float64, ["C", "A", "W", "E"])


def _reason(status: int) -> str:
    if status == SINGULAR:
        return "the platform is singular there, the leg forces are not determined"
    if status == NOT_FINITE:
        return "a number of the motion, wrench or forces is not finite, or too large"
    if status == NOT_UNIT:
        return f"the quaternion's norm is not 1 within {UNIT_TOLERANCE:g}"
    return f"leg {status} has no length or lies along the fixed axis of its universal joint"
