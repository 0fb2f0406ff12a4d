"""The linear model of what was recorded: a row for each sample of a sensor, a column for each unknown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.inertia.prior import Accuracy
from calibration.inertia.samples import FRICTION_SHAPES, Samples
from dynamics import FRICTIONS, LINEAR_NAMES, LINEAR_UNITS, Dynamics, Mechanism, Regressor
from kinematics import Array, leg_kinematics

_DRIVE_GAIN = 0.02  # one standard deviation of a drive's gain …
_DRIVE_OFFSET = 2.0  # … and of its force at zero, N
_BEYOND = tuple((name, "" if name == "load" else "N", 0.02 if name == "load" else 2.0) for name in FRICTION_SHAPES[1:])
"""What friction may have beyond the model: its name, unit and standard deviation known before."""
_HELD = (
    ("speed", "N s/m", 10.0),
    ("acceleration", "kg", 10.0),
    ("jerk", "N s²/m", 0.1),
    ("switched", "", 1.0),
    ("force", "s", 0.01),
)
"""What drives that close their own loops give more at the instant of a reading than on average about then, by speed,
acceleration, jerk, friction of a leg that turns round, and slope of the force, and σ known before: set-points are held
over a period, and what a drive makes of that is its own."""
THETA = len(LINEAR_NAMES)


@dataclass(frozen=True, slots=True)
class Unknown:
    """One that is estimated beside the mechanism's parameters: name, unit, standard deviation known before."""

    name: str
    unit: str
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """One sensor: a cell, or a drive. values (m,) N = design (m, …) of θ and of the unknowns in `columns`, + noise."""

    name: str
    values: Array
    theta: Array
    others: Array
    columns: NDArray[np.intp]
    """(k,), where in all unknowns those of `others` (m, k) stand"""
    held: slice
    """of `others`: those of `_HELD`"""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """All channels and all unknowns: θ first, then `others`."""

    channels: tuple[Channel, ...]
    others: tuple[Unknown, ...]

    @property
    def size(self) -> int:
        """How many unknowns there are."""
        return THETA + len(self.others)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all unknowns."""
        return (*LINEAR_NAMES, *(each.name for each in self.others))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of all unknowns."""
        return (*LINEAR_UNITS, *(each.unit for each in self.others))

    def normal(self, weights: Array) -> tuple[Array, Array]:
        """Σ w aᵀa (size, size) and Σ w aᵀy (size,) with a weight for each channel, 1/N²."""
        matrix, right = np.zeros((self.size, self.size)), np.zeros(self.size)
        for channel, weight in zip(self.channels, weights, strict=True):
            places = np.concatenate([np.arange(THETA), channel.columns])
            rows = np.hstack([channel.theta, channel.others])
            matrix[np.ix_(places, places)] += weight * (rows.T @ rows)
            right[places] += weight * (rows.T @ channel.values)
        return matrix, right

    def held(self, estimate: Array) -> Array:
        """RMS of what each channel has by `_HELD` in an estimate (size,), N."""
        parts = [each.others[:, each.held] @ estimate[each.columns[each.held]] for each in self.channels]
        return np.array([float(np.sqrt(np.mean(part**2))) for part in parts])

    def residuals(self, estimate: Array) -> list[Array]:
        """What each channel's values (m,) leave of an estimate (size,), N."""
        return [
            channel.values - channel.theta @ estimate[:THETA] - channel.others @ estimate[channel.columns]
            for channel in self.channels
        ]


def at_once(mechanism: Mechanism, motions: Array, excess: Array | None) -> Array:
    """Motions (m, 19) with the acceleration of the very instant, at which forces are more by `excess` (m, 6) N."""
    if excess is None:
        return motions
    instant = motions.copy()
    instant[:, 13:] += Dynamics(mechanism).response(motions[:, :13], excess)
    return instant


def design_of(
    mechanism: Mechanism, samples: Samples, accuracy: Accuracy, coulomb_speed: float, heavy: Mechanism
) -> Design:
    """The design of samples (m) of a mechanism; `heavy` has the inertias by which an excess of force accelerates it.

    Of each cell and record a zero and its drift are unknown, of each cell a lag, and where the drives close their own
    loops what these make of it within a period; of each drive a gain, an offset, which
    is also friction that is not the same both ways, and what its friction has beyond the model.
    """
    regressor = Regressor(mechanism, coulomb_speed)
    theta, known = regressor.cells(at_once(heavy, samples.motions, samples.excess))
    _smooth_coulomb(theta, samples)
    records = int(samples.record.max()) + 1
    here = samples.record[:, np.newaxis] == np.arange(records)
    middles = np.array([samples.t[samples.record == record].mean() for record in range(records)])
    since = here * (samples.t[:, np.newaxis] - middles)
    held = _held(heavy, samples) if samples.drives is None else None
    others: list[Unknown] = []
    channels: list[Channel] = []
    for leg in range(6):
        columns = np.hstack([here, since, -samples.slopes[:, leg, np.newaxis]])
        first = THETA + len(others)
        of = "" if records == 1 else "record {}, "
        others += [
            *(Unknown(of.format(r + 1) + f"load_cells[{leg}].offset", "N", accuracy.offset) for r in range(records)),
            *(Unknown(of.format(r + 1) + f"load_cells[{leg}].drift", "N/s", accuracy.drift) for r in range(records)),
            Unknown(f"load_cells[{leg}].lag", "s", accuracy.lag),
        ]
        place = slice(columns.shape[1], columns.shape[1] + (0 if held is None else len(_HELD)))
        if held is not None:
            columns = np.column_stack([columns, held[:, leg]])
            others += [Unknown(f"load_cells[{leg}].{name}", unit, sigma) for name, unit, sigma in _HELD]
        if feels_friction(mechanism, leg):
            columns = np.column_stack([columns, samples.friction[:, leg, 1:]])
            others += [Unknown(f"load_cells[{leg}].{name}", unit, sigma) for name, unit, sigma in _BEYOND]
        channels.append(
            Channel(
                f"cell {leg + 1}",
                samples.cells[:, leg] - known[:, leg],
                np.ascontiguousarray(theta[:, leg]),
                columns.astype(np.float64),
                np.arange(first, first + columns.shape[1]),
                place,
            )
        )
    if samples.drives is not None:
        forces = regressor.forces(samples.motions)
        _smooth_coulomb(forces, samples)
        for leg in range(6):
            first = THETA + len(others)
            others += [
                Unknown(f"drives[{leg}].gain", "", _DRIVE_GAIN),
                Unknown(f"drives[{leg}].offset", "N", _DRIVE_OFFSET),
                *(Unknown(f"drives[{leg}].{name}", unit, sigma) for name, unit, sigma in _BEYOND),
            ]
            values = samples.drives[:, leg]
            columns = np.column_stack([-values, np.ones(len(values)), samples.friction[:, leg, 1:]])
            channels.append(
                Channel(
                    f"drive {leg + 1}",
                    values,
                    np.ascontiguousarray(forces[:, leg]),
                    columns,
                    np.arange(first, first + columns.shape[1]),
                    slice(0),
                )
            )
    return Design(tuple(channels), tuple(others))


def _held(mechanism: Mechanism, samples: Samples) -> Array:
    """What the cells read by `_HELD`, each for one of it, (m, 6, 5).

    A force beyond the mean accelerates all legs: six drives that are alike are taken to give each leg the same part.
    """
    legs = leg_kinematics(mechanism.geometry, samples.motions)
    coulomb = np.array([leg.friction.coulomb for leg in mechanism.legs])
    model = Dynamics(mechanism)
    exact = model.cells(samples.motions)
    excesses = (legs.velocity, legs.acceleration, samples.jerks, -coulomb * samples.switched, samples.slopes)
    coupled = [model.cells(at_once(mechanism, samples.motions, excess)) - exact for excess in excesses]
    return np.stack(coupled, axis=2)


def feels_friction(mechanism: Mechanism, leg: int) -> bool:
    """Whether the cell of a leg sits where it reads what the friction of the prismatic joint takes."""
    return mechanism.legs[leg].load_cell.location == "actuator"


def _smooth_coulomb(theta: Array, samples: Samples) -> None:
    """Let the sign of a leg's speed go through the low-pass that the forces went through, where it counts at all.

    Everything else that the forces consist of is as smooth as the motion.
    """
    for leg, place in enumerate(FRICTIONS):
        column = theta[:, leg, place.stop - 1]
        if column.any():
            column[:] = samples.friction[:, leg, 0]
