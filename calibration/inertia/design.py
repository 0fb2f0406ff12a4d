"""The linear model of a recording: a row for each sample of a sensor, a column for each unknown.

A load cell reads (1 + g) F + Σ c F_n + zero + drift t − lag dF/dt. F is the model's force at it, F_n those of its
neighbours. F is linear in θ (`dynamics.Regressor`) and, to first order, in the joints' places, the lengths' offsets and
the legs' compliance. Gain g and cross-talk c multiply θ, so that a design is made about an estimate (Gauss–Newton).
A drive's force, and a motor's in place of a cell's, has the drive's own inertia and friction besides: unknowns are what
these are beyond the mechanism's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.effects import moved_motions
from calibration.inertia.departures import cell_columns, cell_terms, jump_times
from calibration.inertia.prior import DRIVE_GAIN, DRIVE_OFFSET, Accuracy, DriveParameter, drive_priors
from calibration.inertia.samples import Samples
from dynamics import FRICTIONS, LINEAR_NAMES, Dynamics, Mechanism, Regressor, drive_parameters
from kinematics import Array, Geometry, leg_kinematics, leg_lengths, leg_matrices, quaternion_to_matrix

_HELD = (
    ("speed", "N s/m", 10.0),
    ("acceleration", "kg", 10.0),
    ("jerk", "N s²/m", 0.1),
    ("switched", "", 1.0),
    ("force", "s", 0.01),
)
"""Effects of set-points that are held over a period, for drives that close their own loops, with prior σ: the force at
the instant of a reading less its mean about it, by speed, acceleration, jerk, friction of a reversing leg, and slope of
the force."""
_OF_FORCE = ("N s/m", "kg", "N s²/m")
"""units of unknowns whose σ is proportional to the machine's size"""
_STEP = 1e-5  # m, of a joint's place
_TILT, _TILT_STEP = 1e-3, 1e-3  # rad, σ of the base's tilt, and by how much it is tried
_ELASTIC = 300.0  # N/m, σ of what pulls at the platform where the data show something …
_PULL = 5.0  # … and N, σ of its force at home
_BACKLASH = 1e-4  # m, σ of play where the data show it …
_PLAY_FORCE = 2.0  # … N, over which it is taken up
THETA = len(LINEAR_NAMES)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown besides the mechanism's parameters: name, unit, prior standard deviation."""

    name: str
    unit: str
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Unknowns at `places` of one term of `departures`, of leg 0 to 5, or None for the machine."""

    code: str
    leg: int | None
    places: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """One sensor, a cell or a drive: values (m,) N = rows (m, k) of the unknowns at `places` (k,), + noise."""

    name: str
    values: Array
    rows: Array
    places: NDArray[np.intp]
    held: NDArray[np.intp]
    """of `rows`: those of `_HELD`"""
    feels_friction: bool


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """All channels and unknowns: θ first, then `others`. `candidates` are estimated if the data support them.

    drives: the parameters of drives that a channel measures, by their places among the unknowns.
    """

    channels: tuple[Channel, ...]
    others: tuple[Unknown, ...]
    candidates: tuple[Candidate, ...]
    drives: dict[int, DriveParameter]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return THETA + len(self.others)

    def held(self) -> list[tuple[NDArray[np.intp], Array]]:
        """For each channel the places (k,) of `_HELD`, and M (k, k): xᵀ M x is the mean square of their effect."""
        return [_mean_products(each, each.held) for each in self.channels]

    def friction(self) -> list[tuple[NDArray[np.intp], Array]]:
        """The same for Coulomb and viscous friction of its own leg, 0 where the channel does not measure them.

        That of drives is the mechanism's and what is beyond it.
        """
        parts = []
        for number, channel in enumerate(self.channels):
            place = FRICTIONS[number % 6]
            of_drive = [at for at, other in self.drives.items() if other.column and at in channel.places]
            columns = [place.start + 1, place.stop - 1, *np.flatnonzero(np.isin(channel.places, of_drive)).tolist()]
            own, matrix = _mean_products(channel, np.array(columns, dtype=np.intp))
            parts.append((own, channel.feels_friction * matrix))
        return parts

    def residuals(self, estimate: Array) -> list[Array]:
        """Residuals (m,) N of each channel for an estimate (size,)."""
        return [channel.values - channel.rows @ estimate[channel.places] for channel in self.channels]


def _mean_products(channel: Channel, columns: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
    rows = channel.rows[:, columns]
    return channel.places[columns], rows.T @ rows / len(rows)


class _Columns:
    """Collects the unknowns, and the column of each in the channels that it acts on."""

    def __init__(self) -> None:
        self.others: list[Unknown] = []
        self.candidates: list[Candidate] = []
        self._rows: dict[int, list[tuple[int, Array]]] = {}

    def add(self, unknown: Unknown, effects: dict[int, Array]) -> int:
        """A further unknown; effects: by number of the channel, (m,) each. Returns its place."""
        place = THETA + len(self.others)
        self.others.append(unknown)
        for number, values in effects.items():
            self._rows.setdefault(number, []).append((place, values))
        return place

    def group(self, code: str, leg: int | None, places: Sequence[int]) -> None:
        """Unknowns that are one candidate."""
        self.candidates.append(Candidate(code, leg, np.array(places, dtype=np.intp)))

    def of(self, number: int) -> tuple[NDArray[np.intp], list[Array]]:
        """Places (k,) and columns of a channel."""
        found = self._rows.get(number, [])
        return np.array([place for place, _ in found], dtype=np.intp), [values for _, values in found]


def at_once(mechanism: Mechanism, motions: Array, excess: Array | None) -> Array:
    """Motions (m, 19) with the acceleration at the instant when forces exceed their mean by `excess` (m, 6) N."""
    if excess is None:
        return motions
    instant = motions.copy()
    instant[:, 13:] += Dynamics(mechanism).response(motions[:, :13], excess)
    return instant


def design_of(
    mechanism: Mechanism,
    samples: Samples,
    accuracy: Accuracy,
    coulomb_speed: float,
    heavy: Mechanism,
    guess: Array,
    about: dict[str, float],
    candidates: bool,
) -> Design:
    """Build the design of samples (m) of a mechanism.

    heavy: mechanism with the best known inertias, for first-order effects. guess: θ, and about: values of gains and
    cross-talk by name, at which their products are linearised. candidates: whether these have columns.
    """
    regressor = Regressor(mechanism, coulomb_speed)
    instant = at_once(heavy, samples.motions, samples.excess)
    theta, known = regressor.cells(instant)
    _smooth_coulomb(theta, samples)
    forces = theta @ guess + known
    priors = drive_priors(mechanism, accuracy)
    stated, taken = drive_parameters(mechanism), drive_parameters(heavy)
    at_motors = np.array([leg.load_cell.location == "motor" for leg in mechanism.legs])
    # L̈, L̇ and sign of a leg by the number of each channel that measures its drive
    turning: dict[int, Array] = {}
    if priors:
        exact = regressor.drives(instant)
        for leg in np.flatnonzero(at_motors).tolist():
            turning[leg] = np.column_stack([exact[:, leg, :2], samples.signs[:, leg]])
            known[:, leg] += (turning[leg] - exact[:, leg]) @ stated[leg]
            forces[:, leg] += turning[leg] @ taken[leg] - exact[:, leg] @ stated[leg]
    columns = _Columns()
    values = [samples.cells[:, leg] - known[:, leg] for leg in range(6)]
    by_leg = np.ascontiguousarray(theta.transpose(1, 2, 0))
    rows = list(by_leg)
    drives = samples.drives is not None
    unit, ones = samples.scales.unit, np.ones(len(samples.t))
    for leg in range(6):
        _add_cell(columns, mechanism, samples, accuracy, leg)
        for name, other, sigma in _scales(leg, accuracy):
            columns.add(Unknown(name, "", sigma), {leg: forces[:, other]})
            if value := about.get(name, 0.0):
                rows[leg] = rows[leg] + value * by_leg[other]
                values[leg] += value * (forces[:, other] - known[:, other])
    if drives:
        at_drives = regressor.forces(samples.motions)
        _smooth_coulomb(at_drives, samples)
        means = regressor.drives(samples.motions)
        means[:, :, 2] = samples.signs
        assert samples.drives is not None
        for leg in range(6):
            name, force = f"drives[{leg}].gain", at_drives[:, leg] @ guess
            value = about.get(name, 0.0)
            measured = samples.drives[:, leg]
            if priors:
                force = force + means[:, leg] @ taken[leg]
                measured = measured - (1.0 + value) * means[:, leg] @ stated[leg]
                turning[6 + leg] = (1.0 + value) * means[:, leg]
            values.append(measured + value * force)
            rows.append((1.0 + value) * at_drives[:, leg].T)
            columns.add(Unknown(name, "", DRIVE_GAIN), {6 + leg: force})
            columns.add(Unknown(f"drives[{leg}].offset", "N", unit * DRIVE_OFFSET), {6 + leg: ones})
    else:
        held = _held(heavy, samples)
        for leg in range(6):
            for number, (name, si, sigma) in enumerate(_HELD):
                sigma *= unit if si in _OF_FORCE else 1.0
                columns.add(Unknown(f"load_cells[{leg}].{name}", si, sigma), {leg: held[:, leg, number]})
    of_drives = {}
    for each in priors:
        effects = {
            number: each.scale * turning[number][:, each.column]
            for number in (each.leg, 6 + each.leg)
            if number in turning
        }
        if effects:
            of_drives[columns.add(Unknown(each.name, each.unit, each.sigma), effects)] = each
    _add_geometry(columns, heavy, samples, accuracy, coulomb_speed, candidates)
    _add_friction(columns, mechanism, samples, candidates)
    _add_tilt(columns, heavy, samples, coulomb_speed)
    if candidates:
        _add_candidates(columns, heavy, samples, coulomb_speed, forces)
    channels = []
    for number in range(12 if drives else 6):
        places, extra = columns.of(number)
        names = [columns.others[place - THETA].name for place in places]
        kind, leg = divmod(number, 6)
        wanted = () if kind else tuple(f"load_cells[{leg}].{name}" for name, _, _ in _HELD)
        channels.append(
            Channel(
                f"{('cell', 'drive')[kind]} {leg + 1}",
                values[number],
                np.concatenate([rows[number], extra]).T,  # a column's elements beside one another
                np.concatenate([np.arange(THETA), places]),
                THETA + np.array([k for k, name in enumerate(names) if name in wanted], dtype=np.intp),
                kind == 1 or mechanism.legs[leg].load_cell.reads_friction,
            )
        )
    return Design(tuple(channels), tuple(columns.others), tuple(columns.candidates), of_drives)


def _scales(leg: int, accuracy: Accuracy) -> list[tuple[str, int, float]]:
    """Gain and cross-talk of a cell: name, the leg whose force it is of, σ known before."""
    return [
        (f"load_cells[{leg}].gain", leg, accuracy.gain),
        *((f"load_cells[{leg}].cross_talk[{other}]", other, accuracy.cross_talk) for other in neighbours(leg)),
    ]


def scale_names() -> dict[str, str]:
    """Names and descriptions of the unknowns at which a design is linearised: gains and cross-talk."""
    names = {}
    for leg in range(6):
        for name, other, _ in _scales(leg, Accuracy()):
            of = "gain" if other == leg else f"cross-talk from leg {other + 1}"
            names[name] = f"{of} of load cell {leg + 1}"
        names[f"drives[{leg}].gain"] = f"gain of drive {leg + 1}"
    return names


def neighbours(leg: int) -> tuple[int, int]:
    """The legs (indices) next to one, whose forces its cell may read too."""
    return (leg - 1) % 6, (leg + 1) % 6


def _add_cell(columns: _Columns, mechanism: Mechanism, samples: Samples, accuracy: Accuracy, leg: int) -> None:
    """Zero and drift of a cell in each record, and its lag."""
    records = int(samples.record.max()) + 1
    of = "" if records == 1 else "record {}, "
    for record in range(records):
        here = samples.record == record
        since = np.where(here, samples.t - samples.t[here].mean(), 0.0)
        name = of.format(record + 1) + f"load_cells[{leg}]"
        columns.add(Unknown(f"{name}.offset", "N", accuracy.offset), {leg: here.astype(np.float64)})
        columns.add(Unknown(f"{name}.drift", "N/s", accuracy.drift), {leg: since})
    columns.add(Unknown(f"load_cells[{leg}].lag", "s", accuracy.lag), {leg: -samples.slopes[:, leg]})


def _add_geometry(
    columns: _Columns, mechanism: Mechanism, samples: Samples, accuracy: Accuracy, coulomb_speed: float, play: bool
) -> None:
    """Places of the joints, offsets of the lengths and compliance of the legs.

    The encoder readings are fixed: with another geometry they mean another motion. A pose moves by −Jᵀ⁻¹ times the
    change of the lengths at the previous pose, l̇ = Jᵀ [v; ω].
    """
    geometry, motions = mechanism.geometry, samples.motions
    inverses = np.linalg.inv(leg_matrices(geometry, motions[:, :7]).transpose(0, 2, 1))
    model = Dynamics(mechanism, coulomb_speed)
    before = _readings(model, motions)
    forces, lengths = before[:, 6:], leg_lengths(geometry, motions[:, :7])

    for leg in range(6):
        unknowns, mechanisms, lengthened = [], [], []  # by how much lengths are longer than read, of `_STEP`
        for kind, owner in enumerate(("base", "platform")):
            for axis in range(3):
                points = [geometry.base_points.copy(), geometry.platform_points.copy()]
                points[kind][leg, axis] += _STEP
                other = Geometry(points[0], geometry.universal_axes, points[1], geometry.home)
                unknowns.append(Unknown(f"{owner}.points[{leg}][{axis}]", "m", accuracy.joints))
                mechanisms.append(replace(mechanism, geometry=other))
                lengthened.append((leg_lengths(other, motions[:, :7]) - lengths)[:, leg])
        unknowns.append(Unknown(f"legs[{leg}].length_offset", "m", accuracy.lengths))
        lengthened.append(np.full(len(motions), _STEP))
        scale = max(float(np.abs(forces[:, leg]).max()), 1.0)
        unknowns.append(Unknown(f"legs[{leg}].compliance", "m/N", accuracy.compliance))
        lengthened.append(_STEP * forces[:, leg] / scale)  # it is read longer than it is by F/k
        if play:
            unknowns.append(Unknown(f"legs[{leg}].backlash", "m", _BACKLASH))
            lengthened.append(0.5 * _STEP * np.tanh(forces[:, leg] / (samples.scales.unit * _PLAY_FORCE)))
        moved = _moved(samples, -inverses[:, :, leg] * np.stack(lengthened)[:, :, np.newaxis])
        for number, unknown in enumerate(unknowns):
            dynamics = Dynamics(mechanisms[number], coulomb_speed) if number < len(mechanisms) else model
            change = (_readings(dynamics, moved[number]) - before) / _STEP
            if unknown.unit == "m/N":
                change *= scale
            place = columns.add(unknown, _by_channel(samples, change))
        if play:
            columns.group("backlash", leg, [place])


def _moved(samples: Samples, displacements: Array) -> Array:
    """Motions (k, m, 19) displaced by small translations and rotations (k, m, 6), base axes, that change with time."""
    motions = np.broadcast_to(samples.motions, (len(displacements), *samples.motions.shape))
    rate, second = np.zeros_like(displacements), np.zeros_like(displacements)
    for record in range(int(samples.record.max()) + 1):
        here = samples.record == record
        rate[:, here] = np.gradient(displacements[:, here], 1.0 / samples.rate, axis=1, edge_order=2)
        second[:, here] = np.gradient(rate[:, here], 1.0 / samples.rate, axis=1, edge_order=2)
    turn, turn_rate, turn_acceleration = displacements[..., 3:], rate[..., 3:], second[..., 3:]
    moved = moved_motions(motions.reshape(-1, 19), displacements.reshape(-1, 6)).reshape(motions.shape)
    moved[..., 7:10] += rate[..., :3]
    moved[..., 10:13] += turn_rate + np.cross(turn, motions[..., 10:13])
    moved[..., 13:16] += second[..., :3]
    moved[..., 16:19] += turn_acceleration
    moved[..., 16:19] += np.cross(turn_rate, motions[..., 10:13]) + np.cross(turn, motions[..., 16:19])
    return moved


def _readings(dynamics: Dynamics, motions: Array, wrenches: Array | None = None) -> Array:
    """What cells and drives read by the model, (m, 12) N; wrenches (m, 6) on the platform, its axes, at its origin."""
    return np.hstack(dynamics.cells_and_forces(motions, wrenches))


def _by_channel(samples: Samples, readings: Array) -> dict[int, Array]:
    """Readings (m, 12) N by the number of the channel; the drives' only where they are known."""
    return {number: readings[:, number] for number in range(6 if samples.drives is None else 12)}


def _add_friction(columns: _Columns, mechanism: Mechanism, samples: Samples, candidates: bool) -> None:
    """Friction beyond Coulomb and viscous friction: usual terms, and all others as candidates."""
    for leg in range(6):
        feeling = [leg] * mechanism.legs[leg].load_cell.reads_friction + [6 + leg] * (samples.drives is not None)
        at = 0
        for term in samples.friction_terms:
            here = range(at, at + len(term.columns))
            at += len(term.columns)
            if not feeling or not (term.usual or candidates):
                continue
            places = []
            for column, (name, unit, sigma) in zip(here, term.columns, strict=True):
                unknown = Unknown(f"legs[{leg}].{name}", unit, sigma)
                places.append(columns.add(unknown, dict.fromkeys(feeling, samples.friction[:, leg, column])))
            if not term.usual:
                columns.group(term.code, leg, places)


def _add_candidates(
    columns: _Columns, mechanism: Mechanism, samples: Samples, coulomb_speed: float, forces: Array
) -> None:
    """Everything of `departures` but friction."""
    begins = [int(np.argmax(samples.record == record)) for record in range(int(samples.record.max()) + 1)]
    since = np.linspace(0.0, (len(samples.t) - 1) / samples.rate, len(samples.t))
    for leg in range(6):
        found = iter(cell_columns(forces, leg, since, begins, samples.scales))
        for term in cell_terms(samples.scales, leg, len(jump_times(since))):
            places = [
                columns.add(Unknown(f"load_cells[{leg}].{name}", unit, sigma), {leg: next(found)})
                for name, unit, sigma in term.columns
            ]
            columns.group(term.code, leg, places)
    _add_machine(columns, mechanism, samples, coulomb_speed)


def _add_tilt(columns: _Columns, mechanism: Mechanism, samples: Samples, coulomb_speed: float) -> None:
    """A base that is not level."""
    before = _readings(Dynamics(mechanism, coulomb_speed), samples.motions)
    for axis, name in enumerate("xy"):
        turn = np.zeros(3)
        turn[axis] = _TILT_STEP
        tilted = replace(mechanism, gravity=mechanism.gravity + np.cross(turn, mechanism.gravity))
        change = (_readings(Dynamics(tilted, coulomb_speed), samples.motions) - before) / _TILT_STEP
        columns.add(Unknown(f"tilt.{name}", "rad", _TILT), _by_channel(samples, change))


def _add_machine(columns: _Columns, mechanism: Mechanism, samples: Samples, coulomb_speed: float) -> None:
    """A constant force and a spring at the platform's origin, in base axes."""
    motions, unit = samples.motions, samples.scales.unit
    model = Dynamics(mechanism, coulomb_speed)
    before = _readings(model, motions)
    to_platform = quaternion_to_matrix(motions[:, 3:7]).transpose(0, 2, 1)
    away = motions[:, :3] - motions[:, :3].mean(axis=0)
    places = []
    for axis, name in enumerate("xyz"):
        for what, si, sigma, size in (
            ("force", "N", unit * _PULL, np.ones(len(away))),
            ("stiffness", "N/m", unit * _ELASTIC, -away[:, axis]),
        ):
            wrenches = np.zeros((len(away), 6))
            wrenches[:, :3] = size[:, np.newaxis] * to_platform[:, :, axis]
            change = _readings(model, motions, wrenches) - before
            places.append(columns.add(Unknown(f"external.{what}_{name}", si, sigma), _by_channel(samples, change)))
    columns.group("external_force", None, places)


def _held(mechanism: Mechanism, samples: Samples) -> Array:
    """What the cells read by `_HELD`, each for one of it, (m, 6, 5).

    A force beyond the mean accelerates all legs; six equal drives are assumed to give each leg the same part.
    """
    legs = leg_kinematics(mechanism.geometry, samples.motions)
    coulomb = np.array([leg.coulomb for leg in mechanism.legs])
    model = Dynamics(mechanism)
    exact = model.cells(samples.motions)
    excesses = (legs.velocity, legs.acceleration, samples.jerks, -coulomb * samples.switched, samples.slopes)
    coupled = [model.cells(at_once(mechanism, samples.motions, excess)) - exact for excess in excesses]
    return np.stack(coupled, axis=2)


def _smooth_coulomb(theta: Array, samples: Samples) -> None:
    """Filter the sign of a leg's speed by the low-pass of the forces, where Coulomb friction counts.

    All other parts of the forces are as smooth as the motion.
    """
    for leg, place in enumerate(FRICTIONS):
        column = theta[:, leg, place.stop - 1]
        if column.any():
            column[:] = samples.signs[:, leg]
