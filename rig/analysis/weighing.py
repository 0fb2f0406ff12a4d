"""Samples of recordings for weighing a payload: poses at rest, and motions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration import (
    FRICTION_SHAPES,
    THETA,
    Accuracy,
    LoadCellCalibration,
    Nuisance,
    PayloadEstimate,
    PayloadSamples,
    Rests,
    cell_errors,
    fit_payload,
    friction_shapes,
    identity,
    parse_cell_calibration,
    parse_parameters,
    rounding_of_mean,
)
from dynamics import Mechanism, Regressor, payload_wrenches, residual_from_wrench
from kinematics import leg_kinematics
from rig.analysis.recorded import (
    RecordedRig,
    check_forces,
    recorded_calibration,
    recorded_cell_errors,
    recorded_parameters,
    recorded_residuals,
    rig_of,
)
from rig.analysis.residuals import STANDING, Residuals
from rig.analysis.smoothing import Floats, Smoothing
from rig.errors import InputError
from rig.recording import Recorded
from rig.telemetry import CycleFlag

AT_REST_SPEEDS = np.array([1e-3] * 3 + [5e-3] * 3)
"""Speeds of a platform at rest are below these, m/s and rad/s."""
LEAST_REST = 0.3
"""minimum duration of a rest, s"""

_ENDS = 0.1  # s omitted at both ends of a rest, where a slow motion already accelerates
_GAP = 1.5  # periods, above which there is a gap between two rows
_FIELDS = ("t", "pose", "twist", "force_measured")
_CELLS = 6


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRests:
    """Rests of one or more recordings, with their rig and its calibration."""

    rig: RecordedRig
    rests: Rests
    before: LoadCellCalibration


def runs_of(mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Indices of each run of true values of a mask (n,)."""
    places = np.flatnonzero(mask)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []


def recorded_rests(recordings: Sequence[Recorded]) -> RecordedRests:
    """All rests of one rig's recordings: under power, below `AT_REST_SPEEDS` for `LEAST_REST`, pose and cells known.

    The recorded forces are converted back to raw readings by the recording's calibration. A cell that is read more
    slowly than the cycle counts only when its reading changes.

    Raises:
        InputError: recordings of several rigs, of several calibrations, or with zeros of parameter files in the forces.
        RecordingError: a recording cannot be read.
    """
    rigs = [rig_of(recording) for recording in recordings]
    for recording in recordings:
        check_forces(recording, "a calibration of the load cells needs")
    texts = [recording.header.get("calibration") for recording in recordings]
    faults = []
    for recording, rig, text in zip(recordings, rigs, texts, strict=True):
        if rig.rate != rigs[0].rate or not np.array_equal(rig.mechanism.array, rigs[0].mechanism.array):
            faults.append(f"{recording.path}: of another mechanism or rate than {recordings[0].path}")
        if text != texts[0]:
            faults.append(f"{recording.path}: recorded with another calibration of its cells than {recordings[0].path}")
        files = recording.header.get("parameters", {})
        if cell_errors(parse_parameters(each, name) for name, each in files.items()):
            faults.append(
                f"{recording.path}: its forces are corrected by parameter files ({', '.join(files)}), and would be "
                "after this calibration as well: record without those files"
            )
    if faults:
        raise InputError("these recordings cannot be used:", faults)
    before = identity() if texts[0] is None else parse_cell_calibration(texts[0], "recorded calibration")
    found = [rest for recording in recordings for rest in _rests(recording, rigs[0], before)]
    columns = [np.array([rest[part] for rest in found]) for part in range(5)]
    shapes = ((7,), (_CELLS,), (_CELLS,), (), (6,))
    poses, readings, noise, counts, twists = (
        values.reshape(-1, *shape) for values, shape in zip(columns, shapes, strict=True)
    )
    return RecordedRests(rigs[0], Rests(poses, readings, noise, counts, twists), before)


def _rests(
    recording: Recorded, rig: RecordedRig, before: LoadCellCalibration
) -> list[tuple[Floats, Floats, Floats, float, Floats]]:
    pieces, rate, steps = [], rig.rate, rig.cell_steps
    for rows in recording.blocks():
        fit = np.isin(rows["state"], STANDING) & ((rows["flags"] & CycleFlag.POSE) != 0)
        for name in _FIELDS[1:]:
            fit &= np.isfinite(rows[name]).all(axis=1)
        fit &= (np.abs(rows["twist"]) < AT_REST_SPEEDS).all(axis=1)
        pieces.append(rows[list(_FIELDS)][fit].copy())
    if not pieces:
        return []
    rows = np.concatenate(pieces)
    found = []
    for part in np.split(rows, np.flatnonzero(np.diff(rows["t"]) * rate > _GAP) + 1):
        if len(part) < round(LEAST_REST * rate):
            continue
        left_out = round(_ENDS * rate)
        part = part[left_out : len(part) - left_out]
        if len(part) < 2:
            continue
        raw = part["force_measured"] / before.gain + before.offset
        changes = 1 + np.count_nonzero((np.diff(raw, axis=0) != 0.0).any(axis=1))
        noise, step = raw.std(axis=0, ddof=1), steps / np.abs(before.gain)
        cell_noise = np.sqrt(np.maximum(noise**2 - step**2 / 12.0, 0.0))  # of the cell, before rounding
        of_mean = rounding_of_mean(cell_noise, step)
        found.append(
            (
                part["pose"][len(part) // 2].copy(),
                raw.mean(axis=0),
                np.hypot(noise, of_mean * np.sqrt(changes)),
                float(changes),
                part["twist"].mean(axis=0),
            )
        )
    return found


BANDWIDTH = 10.0
"""Hz, above the frequencies of platform motions"""
_MOST = 3000  # samples in motion per recording; of more, an evenly spaced subset is used
_AT_ONCE = 200  # samples per regressor computation


@dataclass(frozen=True, slots=True)
class Stretch:
    """A recording, or a part of it between two times, s."""

    recording: Recorded
    span: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """Samples of one rig's recordings with and without a payload, and the nuisances of their cells.

    change: N, standard deviation of the change of each cell's zero between recordings.
    """

    rig: RecordedRig
    samples: PayloadSamples
    nuisance: Nuisance
    change: float

    def counts(self, *, loaded: bool) -> tuple[int, int]:
        """Numbers of poses at rest and of samples in motion, with or without payload."""
        moving = self.samples.moving[self.samples.loaded == loaded]
        return int(np.count_nonzero(~moving)), int(np.count_nonzero(moving))

    def fit(self, *, inertia: bool) -> PayloadEstimate:
        """See `fit_payload`; without the inertia only poses at rest are used."""
        chosen = self.samples if inertia else self.samples.select(~self.samples.moving)
        return fit_payload(chosen, self.nuisance, inertia=inertia, zero_change=self.change)


def weighing_of(
    loaded: Sequence[Stretch],
    before: Stretch | None = None,
    *,
    bandwidth: float = BANDWIDTH,
    noise: float | None = None,
    accuracy: Accuracy | None = None,
    change: float | None = None,
) -> Weighing:
    """Make the samples for weighing a payload from recordings of one rig.

    Args:
        loaded: with the payload. before: without it.
        bandwidth: Hz, of the low-pass on cells and models.
        noise: N, standard deviation of a cell's reading; None: that of the recording.
        accuracy: of the rig, for parameters that neither files nor the cells' calibration have.
        change: see `Weighing`; None: the drift of the cells' calibration, 0 without one.

    Raises:
        InputError: recordings of several rigs, calibrations or zeros; an invalid noise or change.
        RecordingError: a recording cannot be read. CalibrationError: invalid parameters.
    """
    stretches = [*loaded, *([] if before is None else [before])]
    first = loaded[0].recording
    rig, header = rig_of(first), first.header
    faults = []
    for other in dict.fromkeys(each.recording for each in stretches[1:]):
        found = rig_of(other)
        if found.mechanism.source != rig.mechanism.source or found.rate != rig.rate:
            faults.append(f"{other.path}: of another mechanism or rate than {first.path}")
        if other.header.get("calibration") != header.get("calibration"):
            faults.append(f"{other.path}: recorded with another calibration of its cells than {first.path}")
        if not recorded_cell_errors(other).same(recorded_cell_errors(first)):
            faults.append(f"{other.path}: its cells were corrected otherwise than those of {first.path}")
    if faults:
        raise InputError("these recordings cannot be weighed together:", faults)
    sigma = rig.noise if noise is None else noise
    if sigma is None or not 0.0 < sigma < float("inf"):
        raise InputError("noise: not known, or not above 0 N; give --noise")
    if change is not None and not 0.0 <= change < float("inf"):
        raise InputError(f"zero change: {change:g} N, must be at least 0 N and finite")
    calibration = recorded_calibration(first)
    if change is None:
        seen = None if calibration is None else calibration.drift
        change = 0.0 if seen is None else float(np.sqrt(np.mean(seen.force**2)))
    smoothing = Smoothing(bandwidth, rig.rate)
    numbers = {each: number for number, each in enumerate(dict.fromkeys(one.recording for one in stretches))}
    samples: PayloadSamples | None = None
    for stretch in stretches:
        more = payload_samples(
            recorded_residuals(stretch.recording, smoothing, stretch.span),
            rig.mechanism,
            smoothing,
            sigma,
            loaded=stretch is not before,
            recording=numbers[stretch.recording],
            coulomb_speed=rig.coulomb_speed,
            rounding=rig.rounding,
        )
        if stretch is before and not len(more):
            raise InputError(
                f"--before: {before.recording.path} holds too little of the platform under power with its pose known"
            )
        samples = more if samples is None else samples.joined(more)
    assert samples is not None
    nuisance = Nuisance(rig.mechanism, recorded_parameters(first), accuracy, calibration)
    return Weighing(rig, samples, nuisance, change)


def payload_samples(
    pieces: Iterable[Residuals],
    mechanism: Mechanism,
    smoothing: Smoothing,
    noise: float,
    *,
    loaded: bool,
    recording: int,
    coulomb_speed: float = 0.0,
    rounding: Floats | float = 0.0,
) -> PayloadSamples:
    """Make samples for a payload from smoothed residuals, those at rest first.

    At rest (below 1 mm/s and 5 mrad/s for 0.3 s) the mean of each stretch is one sample. In motion the samples are
    spaced so that their noise is independent; the models of rig and payload are filtered like the cells, and the slopes
    of the forces are included to estimate lags.
    A cell at the actuator measures the Coulomb friction of a joint at rest, anywhere between its bounds: its variance
    F_c²/3 is added.

    noise: standard deviation of a cell's reading, N. loaded: whether the payload was on the platform. recording: a
    number, equal for all stretches of a recording. coulomb_speed: m/s, over which the control smooths Coulomb friction.
    rounding: (6,) N, standard deviation of rounding in a mean at rest.
    """
    rests: list[tuple[Floats, Floats, Floats, Floats, float]] = []
    moving: list[tuple[Floats, ...]] = []
    friction = np.array([leg.cell_coulomb for leg in mechanism.legs])
    ends, least = round(_ENDS * smoothing.rate), max(2, round(LEAST_REST * smoothing.rate))
    for piece in pieces:
        resting: npt.NDArray[np.bool_] = np.asarray((np.abs(piece.motion[:, 7:13]) < AT_REST_SPEEDS).all(axis=1))
        for places in runs_of(resting):
            if len(places) < max(least, 2 * ends + 2):
                continue
            inner = places[ends : len(places) - ends]
            motion = piece.motion[inner[len(inner) // 2]].copy()
            motion[7:] = 0.0
            rests.append(
                (
                    piece.residual[inner].mean(axis=0),
                    piece.forces[inner].mean(axis=0),
                    motion,
                    noise**2 / len(inner) + friction**2 / 3.0 + np.square(rounding),
                    float(piece.t[inner].mean()),
                )
            )
        for places in runs_of(~resting):
            if len(places) <= 2 * smoothing.half:
                continue
            inner = places[smoothing.half : len(places) - smoothing.half : smoothing.settled]
            design = smoothing(_designs(mechanism, piece.motion[places]))[:: smoothing.settled]
            moving.append(
                (
                    piece.residual[inner],
                    piece.forces[inner],
                    piece.motion[inner],
                    design,
                    *_regressors(mechanism, piece, inner, smoothing, coulomb_speed),
                    piece.slopes[inner],
                    piece.t[inner],
                )
            )
    rest_motions = np.array([rest[2] for rest in rests]).reshape(-1, 19)
    at_rest = PayloadSamples(
        residual=np.array([rest[0] for rest in rests]).reshape(-1, _CELLS),
        forces=np.array([rest[1] for rest in rests]).reshape(-1, _CELLS),
        motion=rest_motions,
        design=_designs(mechanism, rest_motions),
        regressor=Regressor(mechanism).cells(rest_motions)[0],
        slopes=np.zeros((len(rests), _CELLS, 2)),
        friction=np.zeros((len(rests), _CELLS, len(FRICTION_SHAPES))),
        variance=np.array([rest[3] for rest in rests]).reshape(-1, _CELLS),
        loaded=np.full(len(rests), loaded),
        moving=np.full(len(rests), False),
        t=np.array([rest[4] for rest in rests]),
        recording=np.full(len(rests), recording),
    )
    if not moving:
        return at_rest
    residual, forces, motion, design, regressor, shapes, slopes, t = (
        np.concatenate(parts)[:: -(-sum(map(len, parts)) // _MOST)] for parts in zip(*moving, strict=True)
    )
    return at_rest.joined(
        PayloadSamples(
            residual=residual,
            forces=forces,
            motion=motion,
            design=design,
            regressor=regressor,
            slopes=slopes,
            friction=shapes,
            variance=np.full((len(t), _CELLS), noise**2 * smoothing.noise_gain),
            loaded=np.full(len(t), loaded),
            moving=np.full(len(t), True),
            t=t,
            recording=np.full(len(t), recording),
        )
    )


def _designs(mechanism: Mechanism, motions: Floats) -> Floats:
    to_cells = residual_from_wrench(mechanism.geometry, motions[:, :7])
    designs: Floats = to_cells @ payload_wrenches(motions, mechanism.gravity)
    return designs


def _regressors(
    mechanism: Mechanism, piece: Residuals, middles: npt.NDArray[np.intp], smoothing: Smoothing, coulomb_speed: float
) -> tuple[Floats, Floats]:
    """Compute the low-passed regressor (n, 6, THETA) and friction shapes (n, 6, 4) at places of a piece.

    The low-pass covers jumps of the sign of a leg's speed, and fast parts of the motion.
    """
    regressor = Regressor(mechanism, coulomb_speed)
    whole = np.empty((len(middles), _CELLS, THETA))
    shapes = np.empty((len(middles), _CELLS, len(FRICTION_SHAPES)))
    for begin in range(0, len(middles), _AT_ONCE):
        wanted = middles[begin : begin + _AT_ONCE]
        first = wanted[0] - smoothing.half
        motions = np.ascontiguousarray(piece.motion[first : wanted[-1] + smoothing.half + 1])
        speeds = leg_kinematics(mechanism.geometry, motions).velocity
        load = np.abs(piece.forces[first : first + len(motions)])
        rows = (regressor.cells(motions)[0], friction_shapes(speeds, load, coulomb_speed))
        for place, middle in enumerate(wanted - first):
            for values, out in zip(rows, (whole, shapes), strict=True):
                near = values[middle - smoothing.half : middle + smoothing.half + 1]
                out[begin + place] = np.tensordot(smoothing.weights, near, axes=1)
    return whole, shapes
