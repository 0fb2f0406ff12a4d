"""What is taken as known but is not quite: gains and cross-talk of the cells, the geometry. Its covariance counts.

An estimate x = Λ⁻¹ Σ w aᵀy moves by Λ⁻¹ Σ w aᵀz per unit of a quantity that moves the values by z (Schmidt's
consider covariance).
"""

from dataclasses import replace

import numpy as np

from calibration.inertia.design import THETA, Design
from calibration.inertia.prior import Accuracy
from calibration.inertia.samples import Samples
from dynamics import Dynamics, Mechanism
from kinematics import Array, Geometry, forward_kinematics, leg_lengths

_EVERY = 6  # samples of which the geometry's effect is taken: it is smooth
_STEP = 1e-5  # m


def considered(
    mechanism: Mechanism,
    samples: Samples,
    design: Design,
    weights: Array,
    accuracy: Accuracy,
    coulomb_speed: float,
) -> Array:
    """Σ w aᵀz (size, k) of what is considered, each times its standard deviation."""
    columns = []
    for leg, (channel, weight) in enumerate(zip(design.channels[:6], weights[:6], strict=True)):
        column = np.zeros(design.size)
        _add(column, design, leg, weight, accuracy.gain * channel.values, slice(None), 1.0)
        columns.append(column)
        for other in ((leg - 1) % 6, (leg + 1) % 6):
            column = np.zeros(design.size)
            _add(column, design, leg, weight, accuracy.cross_talk * design.channels[other].values, slice(None), 1.0)
            columns.append(column)
    chosen = slice(0, None, _EVERY)
    for change in _geometry_effects(mechanism, samples, chosen, accuracy, coulomb_speed):
        column = np.zeros(design.size)
        for number, weight in enumerate(weights):
            kind, leg = divmod(number, 6)
            _add(column, design, number, weight, change[kind][:, leg], chosen, float(_EVERY))
        columns.append(column)
    return np.column_stack(columns)


def _add(
    column: Array, design: Design, number: int, weight: float, effect: Array, chosen: slice, factor: float
) -> None:
    channel = design.channels[number]
    column[:THETA] += factor * weight * (channel.theta[chosen].T @ effect)
    column[channel.columns] += factor * weight * (channel.others[chosen].T @ effect)


def _geometry_effects(
    mechanism: Mechanism, samples: Samples, chosen: slice, accuracy: Accuracy, coulomb_speed: float
) -> list[tuple[Array, Array]]:
    """What σ of each joint's places and of each length's offset changes of cells and forces (m', 6) each, N.

    The encoders read what they read: another geometry is another motion as well. Its change is slow, so that its
    derivatives come from differences.
    """
    geometry = mechanism.geometry
    motions = samples.motions[chosen]
    lengths = leg_lengths(geometry, motions[:, :7])
    step = np.diff(samples.t[chosen], prepend=np.nan)
    dt = float(np.nanmedian(step))
    before = _readings(mechanism, motions, coulomb_speed)
    found = []
    for kind in range(3):
        for index in range(6 if kind == 2 else 18):
            points = [geometry.base_points.copy(), geometry.platform_points.copy()]
            shifted = lengths
            if kind == 2:
                shifted = lengths.copy()
                shifted[:, index] -= _STEP
            else:
                points[kind].flat[index] += _STEP
            other = Geometry(points[0], geometry.universal_axes, points[1], geometry.home)
            moved = _moved(other, shifted, motions, dt)
            sigma = (accuracy.lengths if kind == 2 else accuracy.joints) / _STEP
            after = _readings(replace(mechanism, geometry=other), moved, coulomb_speed)
            found.append((sigma * (after[0] - before[0]), sigma * (after[1] - before[1])))
    return found


def _moved(geometry: Geometry, lengths: Array, motions: Array, dt: float) -> Array:
    """The motions that the same lengths mean with another geometry."""
    moved = motions.copy()
    for row, (reading, motion) in enumerate(zip(lengths, motions, strict=True)):
        moved[row, :7] = forward_kinematics(geometry, reading, motion[:7])
    change = moved[:, :7] - motions[:, :7]
    rate = np.gradient(change, dt, axis=0)
    second = np.gradient(rate, dt, axis=0)
    moved[:, 7:10] += rate[:, :3]
    moved[:, 13:16] += second[:, :3]
    q = motions[:, 3:7]
    for source, target in ((rate, slice(10, 13)), (second, slice(16, 19))):
        d = source[:, 3:]
        moved[:, target] += 2.0 * (q[:, :1] * d[:, 1:] - d[:, :1] * q[:, 1:] - np.cross(d[:, 1:], q[:, 1:]))
    return moved


def _readings(mechanism: Mechanism, motions: Array, coulomb_speed: float) -> tuple[Array, Array]:
    dynamics = Dynamics(mechanism, coulomb_speed)
    return dynamics.cells(motions), dynamics.inverse(motions).forces
