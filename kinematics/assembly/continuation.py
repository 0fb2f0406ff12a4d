"""Homotopy continuation of a locked platform's equations, from a platform whose forty solutions are known."""

from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array
from kinematics.compiled import eliminate, kernel
from kinematics.errors import ConvergenceError

Complex = npt.NDArray[np.complex128]

UNKNOWNS = 8
ASSEMBLY_FIELDS = 7
"""Columns of a platform in this module, one row per leg: b (3), p (3), d."""

WORK_COLUMNS = 15
"""Columns of the array (8, WORK_COLUMNS) that starts with a system [A | r]; a constant for the compiler."""


@kernel
def _times_vector(
    w: complex, x: complex, y: complex, z: complex, i: complex, j: complex, k: complex
) -> tuple[complex, complex, complex, complex]:
    """Quaternion product [w, x, y, z] · [0, i, j, k]."""
    return -x * i - y * j - z * k, w * i + y * k - z * j, w * j + z * i - x * k, w * k + x * j - y * i


@kernel
def _vector_times(
    i: complex, j: complex, k: complex, w: complex, x: complex, y: complex, z: complex
) -> tuple[complex, complex, complex, complex]:
    """Quaternion product [0, i, j, k] · [w, x, y, z]."""
    return -x * i - y * j - z * k, w * i - y * k + z * j, w * j - z * i + x * k, w * k - x * j + y * i


@kernel
def linearised_kernel(start: Complex, change: Complex, s: complex, x: Complex, along: bool, system: Complex) -> None:
    """Linearise the quadrics at x (8,) on the platform start + s·change, both (6, 7), into nine columns of `system`.

    Rows 0 to 6 are [∂F/∂x | −F], or [∂F/∂x | −∂F/∂s] if `along`; the last row is not written.
    """
    ew, ex, ey, ez, gw, gx, gy, gz = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    ee = ew * ew + ex * ex + ey * ey + ez * ez
    gg = gw * gw + gx * gx + gy * gy + gz * gz
    for leg in range(6):
        b0, b1, b2 = start[leg, 0], start[leg, 1], start[leg, 2]
        p0, p1, p2 = start[leg, 3], start[leg, 4], start[leg, 5]
        d0, d1, d2 = change[leg, 0], change[leg, 1], change[leg, 2]
        q0, q1, q2 = change[leg, 3], change[leg, 4], change[leg, 5]
        b0, b1, b2 = b0 + s * d0, b1 + s * d1, b2 + s * d2
        p0, p1, p2 = p0 + s * q0, p1 + s * q1, p2 + s * q2
        c = b0 * b0 + b1 * b1 + b2 * b2 + p0 * p0 + p1 * p1 + p2 * p2 - start[leg, 6] - s * change[leg, 6]
        uw, ux, uy, uz = _times_vector(ew, ex, ey, ez, p0, p1, p2)
        vw, vx, vy, vz = _vector_times(b0, b1, b2, ew, ex, ey, ez)
        # ∂F/∂e = 2 c e − 2 (g − v) p + 2 b (g + u): the products with a vector are antisymmetric matrices
        mw, mx, my, mz = _times_vector(gw - vw, gx - vx, gy - vy, gz - vz, p0, p1, p2)
        nw, nx, ny, nz = _vector_times(b0, b1, b2, gw + uw, gx + ux, gy + uy, gz + uz)
        system[leg, 0] = 2.0 * (c * ew - mw + nw)
        system[leg, 1] = 2.0 * (c * ex - mx + nx)
        system[leg, 2] = 2.0 * (c * ey - my + ny)
        system[leg, 3] = 2.0 * (c * ez - mz + nz)
        system[leg, 4] = 2.0 * (gw + uw - vw)
        system[leg, 5] = 2.0 * (gx + ux - vx)
        system[leg, 6] = 2.0 * (gy + uy - vy)
        system[leg, 7] = 2.0 * (gz + uz - vz)
        if along:
            rate = 2.0 * (b0 * d0 + b1 * d1 + b2 * d2 + p0 * q0 + p1 * q1 + p2 * q2) - change[leg, 6]
            mw, mx, my, mz = _times_vector(ew, ex, ey, ez, q0, q1, q2)
            nw, nx, ny, nz = _vector_times(d0, d1, d2, ew, ex, ey, ez)
            value = (gw - vw) * mw + (gx - vx) * mx + (gy - vy) * my + (gz - vz) * mz
            value -= (gw + uw) * nw + (gx + ux) * nx + (gy + uy) * ny + (gz + uz) * nz
            system[leg, 8] = -rate * ee - 2.0 * value
        else:
            value = gw * (uw - vw) + gx * (ux - vx) + gy * (uy - vy) + gz * (uz - vz)
            value -= uw * vw + ux * vx + uy * vy + uz * vz
            system[leg, 8] = -gg - c * ee - 2.0 * value
    for k in range(4):
        system[6, k] = x[4 + k]
        system[6, 4 + k] = x[k]
    if along:
        system[6, 8] = 0.0
    else:
        system[6, 8] = -(ew * gw + ex * gx + ey * gy + ez * gz)


@kernel
def solve_complex_kernel(system: Complex) -> bool:
    """Solve A x = r in place for [A | r] (8, 9), the first columns of `system` (8, WORK_COLUMNS).

    The ninth column receives x. Returns False if A is singular.
    """
    return eliminate(system.reshape(8 * WORK_COLUMNS), 0, WORK_COLUMNS, 8, 1, 0.0) != 0.0


ARRIVED, STUCK = 0, 1
"""Status of a path: at its end; or steps exhausted or too small, as near a singular solution."""

TRACKING_WORK = (8, WORK_COLUMNS)
"""Shape of the kernels' complex working array: a linear system, a patch, four slopes, a point."""

LOOP_SAMPLES = 16
MAXIMUM_WINDING = 12

_NEWTON_STEPS = 4
_CONVERGED = 1e-9  # last Newton correction of a point of norm 1; the remaining error is about its square
_MAXIMUM_STEPS = 4000
_SMALLEST_STEP = 1e-10


@kernel
def normalise_kernel(x: Complex) -> None:
    """Normalise x (8,) to norm 1."""
    total = 0.0
    for k in range(8):
        total += x[k].real ** 2 + x[k].imag ** 2
    scale = 1.0 / sqrt(total)
    for k in range(8):
        x[k] *= scale


@kernel
def _solution_norm(system: Complex) -> float:
    total = 0.0
    for k in range(8):
        total += system[k, 8].real ** 2 + system[k, 8].imag ** 2
    return sqrt(total)


@kernel
def _set_patch(system: Complex, patch: Complex) -> None:
    for k in range(8):
        system[7, k] = patch[k]
    system[7, 8] = 0.0


@kernel
def refine_kernel(
    start: Complex, change: Complex, s: complex, x: Complex, patch: Complex, steps: int, system: Complex
) -> tuple[float, float]:
    """Refine x (8,) by Newton's method at fixed s, in the plane patch·x = const; return first and last correction."""
    first = np.inf
    last = np.inf
    for step in range(steps):
        linearised_kernel(start, change, s, x, False, system)
        _set_patch(system, patch)
        if not solve_complex_kernel(system):
            return first, np.inf
        last = _solution_norm(system)
        if step == 0:
            first = last
        if not last < 0.1:
            return first, last
        for k in range(8):
            x[k] += system[k, 8]
        if last < _CONVERGED:
            break
    return first, last


@kernel
def track_kernel(
    start: Complex, change: Complex, s_from: complex, s_to: complex, x: Complex, tolerance: float, work: Complex
) -> tuple[int, int]:
    """Follow the solution x (8,), of norm 1, along the straight path from s_from to s_to; return status and steps.

    Fourth-order Runge–Kutta steps on Davidenko's equation, then Newton; a step is accepted only if Newton's first
    correction, the prediction error, is at most `tolerance` and the following corrections vanish. Each step has its
    own affine patch, x̄·x = 1, so that paths to infinity need no special treatment.
    """
    patch, point = work[:, 9], work[:, 14]
    way = s_to - s_from
    done = 0.0
    step = 0.05
    for count in range(_MAXIMUM_STEPS):
        if done >= 1.0:
            return ARRIVED, count
        step = min(step, 1.0 - done)
        for k in range(8):
            patch[k] = x[k].conjugate()
        solved = True
        for stage in range(4):
            part = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            for k in range(8):
                point[k] = x[k] if stage == 0 else x[k] + part * step * work[k, 9 + stage]
            linearised_kernel(start, change, s_from + (done + part * step) * way, point, True, work)
            _set_patch(work, patch)
            solved &= solve_complex_kernel(work)
            for k in range(8):
                work[k, 10 + stage] = way * work[k, 8]
        error, last = np.inf, np.inf
        if solved:
            for k in range(8):
                point[k] = x[k] + step / 6.0 * (work[k, 10] + 2.0 * work[k, 11] + 2.0 * work[k, 12] + work[k, 13])
            target = s_to if step == 1.0 - done else s_from + (done + step) * way
            error, last = refine_kernel(start, change, target, point, patch, _NEWTON_STEPS, work)
        if error <= tolerance and last < _CONVERGED:
            done = 1.0 if step == 1.0 - done else done + step
            for k in range(8):
                x[k] = point[k]
            normalise_kernel(x)
            step *= min(2.5, 0.9 * (tolerance / (error + 1e-18)) ** 0.2)
        else:
            step *= 0.5 if not error > tolerance else max(0.1, 0.8 * (tolerance / error) ** 0.2)
            if step < _SMALLEST_STEP:
                return STUCK, count + 1
    return STUCK, _MAXIMUM_STEPS


@kernel
def track_all_kernel(
    start: Complex, change: Complex, s_from: complex, s_to: complex, points: Complex, tolerance: float,
    statuses: Array, work: Complex,
) -> int:  # fmt: skip
    """Call `track_kernel` on each row of points (n, 8), in place; statuses (n,). Returns the total of steps tried."""
    total = 0
    for path in range(points.shape[0]):
        status, count = track_kernel(start, change, s_from, s_to, points[path], tolerance, work)
        statuses[path] = status
        total += count
    return total


@kernel
def loop_kernel(
    start: Complex, change: Complex, radius: float, first: Complex, tolerance: float, x: Complex, mean: Complex,
    work: Complex,
) -> int:  # fmt: skip
    """Track `first` (8,), a solution at s = 1 − radius, around s = 1 until it returns; return the turns, 0 if none.

    `x` (8,) is the point on the way. `mean` (8,) receives the mean of x̄₀·x = 1 multiples of the solutions passed, by
    Cauchy's integral the solution at s = 1, singular or not.
    """
    for k in range(8):
        x[k], mean[k] = first[k], 0.0j
    s = 1.0 - radius + 0.0j
    for winding in range(1, MAXIMUM_WINDING + 1):
        for sample in range(1, LOOP_SAMPLES + 1):
            angle = 2.0 * pi * sample / LOOP_SAMPLES
            following = 1.0 - radius * complex(cos(angle), sin(angle))
            if sample == LOOP_SAMPLES:
                following = 1.0 - radius + 0.0j
            status, _ = track_kernel(start, change, s, following, x, tolerance, work)
            if status != ARRIVED:
                return 0
            s = following
            scale = 0.0j
            for k in range(8):
                scale += first[k].conjugate() * x[k]
            for k in range(8):
                mean[k] += x[k] / scale
        distance = 0.0
        for k in range(8):
            difference = x[k] / scale - first[k]
            distance += difference.real**2 + difference.imag**2
        if sqrt(distance) < 1e-7:
            for k in range(8):
                mean[k] /= winding * LOOP_SAMPLES
            return winding
    return 0


SOLUTIONS = 40
"""Number of solutions of a general platform (Ronga & Vust, Lazard, Mourrain), and the maximum of isolated solutions."""

_LOOPS = 100
_TOLERANCE = 1e-6
_SAME = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A general platform (6, 7), see `assembly_equations`, and its solutions (40, 8), each of norm 1."""

    platform: Complex
    solutions: Complex


def projective_distances(points: Complex, x: Complex) -> Array:
    """Distance of each of points (n, 8) from x (8,), all of norm 1, up to a scalar factor (the same pose)."""
    along = points @ x.conj()
    distances: Array = np.linalg.norm(points - along[:, np.newaxis] * x, axis=1)
    return distances


@lru_cache(maxsize=64)
def general_start(seed: int, attempt: int = 0) -> Start:
    """Return a random platform and its forty solutions, deterministic in seed and attempt, both at least 0.

    One solution is chosen and the leg lengths computed from it. The others are found by monodromy: tracking solutions
    around a random loop of platforms permutes them. A general platform has exactly forty, so the list is complete.
    Raises ConvergenceError if not all are found; no seed is known that fails.
    """
    random = np.random.default_rng([seed, attempt])
    platform, first = _solved_platform(random)
    found = first[np.newaxis]
    work = np.empty(TRACKING_WORK, np.complex128)
    for _ in range(_LOOPS):
        stops = [platform, _normal(random, 6, ASSEMBLY_FIELDS), _normal(random, 6, ASSEMBLY_FIELDS), platform]
        points = found.copy()
        for here, there in pairwise(stops):
            statuses = np.empty(len(points))
            track_all_kernel(here, there - here, 0j, 1 + 0j, points, _TOLERANCE, statuses, work)
            points = points[statuses == ARRIVED]
        for point in points:
            if projective_distances(found, point).min() > _SAME:
                found = np.vstack([found, point])
        if len(found) >= SOLUTIONS:
            break
    if len(found) != SOLUTIONS:
        raise ConvergenceError(
            f"seed {seed}: {len(found)} solutions of the starting platform found, must be {SOLUTIONS}", _LOOPS, np.nan
        )
    return Start(platform, found)


def _solved_platform(random: np.random.Generator) -> tuple[Complex, Complex]:
    """Return a random platform with squared leg lengths such that a random x (8,) is a solution."""
    platform = _normal(random, 6, ASSEMBLY_FIELDS)
    x = _normal(random, UNKNOWNS)
    e, g = x[:4], x[4:]
    square = e @ e
    g -= (e @ g) / square * e
    x /= np.linalg.norm(x)
    system = np.empty((UNKNOWNS, UNKNOWNS + 1), np.complex128)
    linearised_kernel(platform, np.zeros_like(platform), 0j, x, False, system)
    platform[:, 6] -= system[:6, 8] / (x[:4] @ x[:4])
    return platform, x


def _normal(random: np.random.Generator, *shape: int) -> Complex:
    values: Complex = (random.normal(size=shape) + 1j * random.normal(size=shape)) * np.sqrt(0.5)
    return values


REGULAR = 1e-8
"""Smallest over largest singular value of the equations' Jacobian above which a solution counts as regular."""

_BEFORE_END = 0.05
_RADII = tuple(10.0**-k for k in range(2, 14))
_NEAR_END = 1e-6
_SINGULAR_RESIDUAL = 1e-12
_INFINITE = 1e-9  # |e·e| of an x of norm 1; for a real pose it is above 1e-3
_STEP_ALONG = 0.02
_CONTINUUM_RESIDUAL = 1e-11


class End(Enum):
    """End of a path: an isolated solution, several that meet, one of infinitely many, no pose, or a failure."""

    REGULAR = auto()
    SINGULAR = auto()
    CONTINUUM = auto()
    INFINITE = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Endpoints:
    """The ends of all paths: x (n, 8), each of norm 1, and their kinds."""

    points: Complex
    ends: tuple[End, ...]

    def count(self, end: End) -> int:
        """Return the number of paths that end so."""
        return self.ends.count(end)


def follow_paths(start: Start, platform: Complex, tolerance: float) -> Endpoints:
    """Follow every solution of the start to the `platform` (6, 7), see `assembly_equations`.

    A path to a regular solution is tracked to its end. Where several paths meet, or at infinity, the equations are
    singular: such an end is computed from loops around it (Cauchy's integral; Morgan, Sommese & Wampler, Computing
    singular solutions to nonlinear analytic systems, 1991).
    """
    change = platform - start.platform
    before = start.solutions.copy()
    statuses = np.empty(len(before))
    work = np.empty(TRACKING_WORK, np.complex128)
    track_all_kernel(start.platform, change, 0j, 1.0 - _BEFORE_END + 0j, before, tolerance, statuses, work)
    points, arrivals = before.copy(), np.empty(len(before))
    track_all_kernel(start.platform, change, 1.0 - _BEFORE_END + 0j, 1.0 + 0j, points, tolerance, arrivals, work)
    ends = []
    for path in range(len(points)):
        if statuses[path] != ARRIVED:
            ends.append(End.FAILED)
            continue
        end = End.REGULAR
        if arrivals[path] != ARRIVED or (
            not _is_infinite(points[path]) and _regularity(platform, points[path])[0] <= REGULAR
        ):
            end = _singular_end(start.platform, change, before[path], points[path], tolerance)
        if end is not End.FAILED and _is_infinite(points[path]):
            end = End.INFINITE
        elif end is End.SINGULAR and _is_continuum(platform, points[path]):
            end = End.CONTINUUM
        ends.append(end)
    return Endpoints(points, tuple(ends))


def repeated(endpoints: Endpoints) -> int:
    """Count regular solutions reached by more than one path: at least as many paths have jumped to another."""
    points = endpoints.points[[end is End.REGULAR for end in endpoints.ends]]
    near = [np.count_nonzero(projective_distances(points[:path], points[path]) < 1e-7) for path in range(len(points))]
    return int(np.count_nonzero(near))


def unpaired(endpoints: Endpoints) -> int:
    """Count solutions found without their complex conjugate, which is a solution too."""
    finite = [end in (End.REGULAR, End.SINGULAR) for end in endpoints.ends]
    points = endpoints.points[finite]
    return sum(bool(projective_distances(points, point.conj()).min() > 1e-5) for point in points)


def _regularity(platform: Complex, x: Complex) -> tuple[float, Complex]:
    """Smallest over largest singular value of the Jacobian at x, and the singular vector of the smallest.

    The rows are balanced first: with legs much longer than the platform, their equations are nearly the same.
    """
    jacobian = _linearised(platform, x)[:, :UNKNOWNS]
    jacobian[1:6] -= jacobian[0]
    jacobian[7] = x.conj()
    jacobian /= np.linalg.norm(jacobian, axis=1, keepdims=True) + np.finfo(np.float64).tiny
    _, values, directions = np.linalg.svd(jacobian)
    return float(values[-1] / values[0]), directions[-1].conj()


def _linearised(platform: Complex, x: Complex) -> Complex:
    system = np.empty((UNKNOWNS, UNKNOWNS + 1), np.complex128)
    linearised_kernel(platform, np.zeros_like(platform), 0j, x, False, system)
    return system


def _singular_end(start: Complex, change: Complex, before: Complex, end: Complex, tolerance: float) -> End:
    """Compute a singular end into `end` (8,), from loops of decreasing radius until one gives a solution."""
    x, way, mean = before.copy(), np.empty_like(before), np.empty_like(before)
    work = np.empty(TRACKING_WORK, np.complex128)
    here = _BEFORE_END
    for radius in _RADII:
        if track_kernel(start, change, 1.0 - here + 0j, 1.0 - radius + 0j, x, tolerance, work)[0] != ARRIVED:
            break
        here = radius
        if not loop_kernel(start, change, radius, x, tolerance, way, mean, work):
            continue
        normalise_kernel(mean)
        if np.abs(_linearised(start + change, mean)[:7, 8]).max() < _SINGULAR_RESIDUAL:
            end[:] = mean
            return End.SINGULAR
    end[:] = x
    return End.INFINITE if here <= _NEAR_END and _is_infinite(x) else End.FAILED


def _is_infinite(x: Complex) -> bool:
    return bool(abs(x[:4] @ x[:4]) < _INFINITE)


def _is_continuum(platform: Complex, x: Complex) -> bool:
    """Return whether solutions exist at a distance from the singular solution x (8,), in its singular direction."""
    _, direction = _regularity(platform, x)
    point = x + _STEP_ALONG * direction
    fixed = np.stack([x.conj(), direction.conj()])
    for _ in range(12):
        system = _linearised(platform, point)
        matrix = np.vstack([system[:7, :UNKNOWNS], fixed])
        step = np.linalg.lstsq(matrix, np.concatenate([system[:7, 8], [0.0, 0.0]]), rcond=1e-10)[0]
        point = point + step
    return bool(np.abs(_linearised(platform, point)[:7, 8]).max() < _CONTINUUM_RESIDUAL)
