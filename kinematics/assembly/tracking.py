"""Paths of the solutions of `assembly_equations` while the platform turns into another one, in compiled code."""

from math import cos, pi, sin, sqrt

import numpy as np

from kinematics.arrays import Array
from kinematics.assembly.equations import WORK_COLUMNS, Complex, linearised_kernel, solve_complex_kernel
from kinematics.compiled import kernel

ARRIVED, STUCK = 0, 1
"""Status of a path: at its end; steps used up or too small, as near a singular solution."""

TRACKING_WORK = (8, WORK_COLUMNS)
"""Shape of the kernels' complex working array: a linear system, a patch, four slopes, a point."""

LOOP_SAMPLES = 16
MAXIMUM_WINDING = 12

_NEWTON_STEPS = 4
_CONVERGED = 1e-9  # last Newton correction of a point of norm 1; the error left is about its square
_MAXIMUM_STEPS = 4000
_SMALLEST_STEP = 1e-10


@kernel
def normalise_kernel(x: Complex) -> None:
    """Bring x (8,) to norm 1."""
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
    """Newton's method at a fixed s on x (8,), within the plane patch·x = const: its first and last correction."""
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
    """Follow the solution x (8,), of norm 1, along the straight way from s_from to s_to: status, steps tried.

    Fourth-order Runge–Kutta steps on Davidenko's equation, then Newton; a step is taken over only if Newton's first
    correction, the error of the prediction, is at most `tolerance` and the following ones vanish. Each step has its
    own affine patch, x̄·x = 1, so that a path to infinity is a path like any other.
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
    start: Complex, change: Complex, s_from: complex, s_to: complex, points: Complex, tolerance: float, statuses: Array
) -> int:
    """`track_kernel` on each row of points (n, 8), in place; statuses (n,). Returns the steps tried in all."""
    work = np.empty(TRACKING_WORK, np.complex128)
    total = 0
    for path in range(points.shape[0]):
        status, count = track_kernel(start, change, s_from, s_to, points[path], tolerance, work)
        statuses[path] = status
        total += count
    return total


@kernel
def loop_kernel(start: Complex, change: Complex, radius: float, x: Complex, tolerance: float, mean: Complex) -> int:
    """Carry x (8,), a solution at s = 1 − radius, round s = 1 until it comes back: how often round, 0 if it does not.

    `mean` (8,) becomes the mean of x̄₀·x = 1 multiples of the solutions passed, by Cauchy's integral the solution at
    s = 1, singular or not.
    """
    work = np.empty(TRACKING_WORK, np.complex128)
    first = x.copy()
    mean[:] = 0.0
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
