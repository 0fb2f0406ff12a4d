"""The frequency responses of a recording: computation, text, and Bode plots."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Dynamics, Mechanism
from kinematics import COORDINATES, angles_to_matrix, leg_matrices, pose_to_coordinates, quaternion_to_matrix
from rig.analysis.recorded import RecordedRig, rig_of
from rig.analysis.response import Complex, Distortion, Response, frequency_response, well_excited
from rig.analysis.response_fit import CommandHold, Note, Nuisance, ResponseFit, Verdict, fit_response
from rig.analysis.smoothing import Floats
from rig.analysis.zero_order_hold import net_hold_force
from rig.csvio import whole_binary_file
from rig.errors import InputError
from rig.recording import Recorded, has_tracking, imported_from
from rig.states import State
from rig.telemetry import ROW


def draw_bode(responses: Mapping[str, Response], fits: Mapping[str, ResponseFit], dof: str, path: Path) -> None:
    """Draw magnitude and phase with two standard uncertainties, coherence, and output with its non-linear part.

    For responses by name, with the lags of their fits.
    Raises InputError if the file cannot be written; no partial file remains.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = 4 if any(one.distortion is not None for one in responses.values()) else 3
    figure = Figure(figsize=(4.6 * len(responses) + 0.6, 2.0 * rows + 0.2), layout="constrained")
    columns = figure.subplots(rows, len(responses), sharex="col", squeeze=False)
    for place, (name, response) in enumerate(responses.items()):
        size, phase, coherence = columns[:3, place]
        f, magnitude, fit = response.frequency, np.abs(response.gain), fits[name]
        spread = 2.0 * response.sigma / np.sqrt(2.0)
        size.errorbar(f, 20.0 * np.log10(magnitude), yerr=8.686 * spread / magnitude, fmt=".", markersize=4)
        phase.errorbar(f, np.degrees(response.phase), yerr=np.degrees(spread / magnitude), fmt=".", markersize=4)
        coherence.semilogx(f, response.coherence, ".", markersize=4)
        lag = "no model fits"
        if fit.lag is not None and fit.lag_sigma is not None:
            lag = f"lag {fit.lag * 1e3:.2f} ± {fit.lag_sigma * 1e3:.2f} ms"
        size.set_title(f"{name}, {dof}: {lag}")
        size.axhline(20.0 * np.log10(magnitude[0]) - 3.0103, linewidth=0.8, linestyle=":")
        labels = ("|H|, dB", "phase, deg", "coherence")
        for axes, label in zip((size, phase, coherence), labels, strict=True):
            axes.set_ylabel(label)
        coherence.set_ylim(0.0, 1.05)
        for axes in columns[:, place]:
            axes.grid(True, linewidth=0.4)
        if response.distortion is not None:
            _draw_distortion(columns[3, place], response, response.distortion)
        columns[-1, place].set_xlabel("frequency, Hz")
    with whole_binary_file(path) as file, rc_context({"svg.hashsalt": "bode"}):  # for reproducible files
        figure.savefig(file, format="svg", metadata={"Date": None})


def _draw_distortion(axes: Any, response: Response, distortion: Distortion) -> None:
    whole = response.output.max()
    noise_of = f"noise {100.0 * distortion.noise_part:.2g} %"
    for label, frequency, level, mark in (
        ("output", response.frequency, response.output, "."),
        (f"odd {100.0 * distortion.odd_part:.2g} %", *_lines(distortion, ~distortion.even), "x"),
        (f"even {100.0 * distortion.even_part:.2g} %", *_lines(distortion, distortion.even), "+"),
        (noise_of, distortion.frequency, distortion.noise, "-"),
    ):
        decibel = 20.0 * np.log10(np.maximum(level / whole, 1e-12))
        axes.semilogx(frequency, decibel, mark, markersize=4, linewidth=0.8, label=label)
    axes.set_ylabel("output, dB")
    axes.legend(fontsize="x-small")


def _lines(distortion: Distortion, which: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    return distortion.frequency[which], distortion.level[which]


_CROSSTALK = 0.01  # largest motion of another coordinate relative to the excited one; angles times the joints' radius
_STRIBECK_SPEED = 0.02  # m/s, for breakaway friction


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """Responses of one coordinate over a run.

    pose: from the reference to the measured coordinate `dof`. force: from the drives' commanded generalised force
    along it to the force of cells and model, or None if no force was commanded, or (own_loops) drives close their own
    loops, which add uncommanded forces. begin, end: s.
    """

    dof: str
    begin: float
    end: float
    rate: float
    pose: Response
    force: Response | None
    own_loops: bool
    hold: CommandHold | None
    """hold of the force command, if sent once per cycle"""
    friction: dict[str, Complex]
    """of `force` at its lines (k,), by kind of friction: the contribution of the model's prismatic-joint friction,
    which no cell measures; breakaway: an unmodelled friction of Coulomb's size, near standstill only"""
    imu: Response | None = None
    """from the reference to the coordinate as an inertial unit measured it, or None"""
    sensor: str | None = None
    """the inertial unit's name, or None"""

    @property
    def measured_with(self) -> dict[str, str]:
        """What each response was measured with, by name."""
        found = {"pose": "encoders"} | ({} if self.force is None else {"force": "load cells"})
        what = "specific force" if self.dof in COORDINATES[:3] else "angular rate"
        return found | ({} if self.imu is None else {"imu": f"{what} of sensor {self.sensor!r}"})

    def responses(self) -> dict[str, Response]:
        """The available responses by name."""
        found = {"pose": self.pose} | ({} if self.force is None else {"force": self.force})
        return found | ({} if self.imu is None else {"imu": self.imu})

    def fits(self, friction: float) -> dict[str, ResponseFit]:
        """The fits by name; friction: relative standard uncertainty of each kind of the model's friction."""
        nuisances = [Nuisance(name, -shape, friction) for name, shape in self.friction.items() if friction > 0.0]
        fits = {"pose": fit_response(self.pose)}
        if self.force is not None:
            fits["force"] = fit_response(self.force, self.hold, nuisances)
        return fits | ({} if self.imu is None else {"imu": fit_response(self.imu)})


def recorded_response(
    recording: Recorded,
    dof: str | None = None,
    band: tuple[float, float] | None = None,
    sensor: str | None = None,
) -> RecordedResponse:
    """Compute the responses of a recording's longest run without a gap, in the coordinate that it excites.

    band: Hz, that must be excited; default from the lowest to the highest excited line. sensor: a recorded inertial
    unit, whose response is computed, too, over a window in which it has readings throughout. The force of the drives is
    the sum of the cell's reading and the model's force between cell and drive; its response is computed with the
    reference as instrument, so that noise in the control loop causes no bias.

    Raises InputError without a run, or if it excites more than one coordinate, or too little; and for a sensor that was
    not recorded, is of another kind, or has gaps.
    """
    made_by = rig_of(recording)
    if not has_tracking(recording.header):
        raise InputError(
            f"{recording.path}: imported from {imported_from(recording.header)} without commanded motion, to which a "
            "frequency response is"
        )
    names = [
        "t",
        "reference",
        "pose",
        "twist",
        "velocity",
        "velocity_reference",
        "terms",
        "mode",
        "force_command",
        "force_measured",
    ]
    parts = [
        block[names][(block["state"] == State.RUNNING) & (block["path_rate"] == 1.0)] for block in recording.blocks()
    ]
    rows = np.concatenate([np.zeros(0, ROW)[names], *parts])
    breaks = np.flatnonzero(np.abs(np.diff(rows["t"]) * made_by.rate - 1.0) > 0.5) + 1
    rows = max(np.split(rows, breaks), key=len)
    forced = len(rows) > 0 and bool(np.ptp(rows["force_command"], axis=0).any())
    known = np.isfinite(rows["pose"]).all(axis=1) & np.isfinite(rows["reference"][:, :7]).all(axis=1)
    if forced:
        known &= np.isfinite(rows["force_measured"]).all(axis=1)
    if len(rows) < 4 or not known.all():
        raise InputError(f"{recording.path}: no run with a measured pose throughout, at full speed")
    commanded, measured = (_coordinates(rows[name][:, :7]) for name in ("reference", "pose"))
    chosen = _excited(commanded, made_by.mechanism, dof)
    column = COORDINATES.index(chosen)
    source = commanded[:, column]
    pose = well_excited(frequency_response(source, measured[:, column], source, made_by.rate), band)
    force = None
    friction: dict[str, Complex] = {}
    own_loops = bool((rows["mode"] != Mode.FORCE).any())
    if not own_loops and forced:
        # constant over time: weights that vary with the pose would include gravity, which has no lag
        along = leg_matrices(made_by.mechanism.geometry, rows["reference"][:, :7])[:, column].mean(axis=0)
        asked = (rows["force_command"] * along).sum(axis=1)
        drives, rubbed = _drive_forces(rows, made_by)
        force, *parts_of_it = (
            _at(frequency_response(asked, (forces * along).sum(axis=1), source, made_by.rate), pose)
            for forces in (drives, *rubbed.values())
        )
        friction = {name: part.gain for name, part in zip(rubbed, parts_of_it, strict=True) if part.gain.any()}
    return RecordedResponse(
        chosen,
        float(rows["t"][0]),
        float(rows["t"][-1]),
        made_by.rate,
        pose,
        force,
        own_loops,
        _command_hold(made_by),
        friction,
        None if sensor is None else _imu_response(recording, sensor, rows, column, band, made_by),
        sensor,
    )


_GAP = 2.5  # periods of a sensor between two of its readings, at most
_FILTER, _PASSED = 4, 0.4  # order, and edge as a fraction of the cycle's rate, of the filter of a faster sensor
_INTERPOLATED = 0.125  # of its rate, up to which interpolation by a cubic spline changes a gain by less than 0.1 %


def _imu_response(
    recording: Recorded,
    name: str,
    rows: npt.NDArray[np.void],
    column: int,
    band: tuple[float, float] | None,
    made_by: RecordedRig,
) -> Response:
    """Response of a coordinate by an inertial unit: of its acceleration, or of an angle's rate.

    Both spectra are of the same derivative, so that their ratio is that of the coordinate itself, and its relative
    uncertainty that of the derivative. Raises InputError as `recorded_response`.
    """
    series = recording.sensors.get(name)
    if series is None or series.channels.kind != "imu":
        known = ", ".join(repr(each) for each, of in recording.sensors.items() if of.channels.kind == "imu")
        what = "no sensor" if series is None else f"a sensor of kind {series.channels.kind!r}, not 'imu',"
        raise InputError(f"{recording.path}: has {what} {name!r}; inertial units in it: {known or 'none'}")
    times = rows["t"]
    margin = 1.0 / made_by.rate
    part = series.between(float(times[0]) - 1.0, float(times[-1]) + 1.0)
    steps = np.diff(part.time)
    period = float(np.median(steps)) if len(steps) else math.inf
    inside = (part.time[1:] > times[0]) & (part.time[:-1] < times[-1])
    covered = len(steps) > 3 and part.time[0] <= times[0] + margin and part.time[-1] >= times[-1] - margin
    if not covered or steps[inside].max() > _GAP * period:
        raise InputError(
            f"{recording.path}: sensor {name!r} has no readings throughout the run, {times[0]:.3f} to {times[-1]:.3f} s"
        )
    readings = _without_aliases(part.time, part.values, times, period, made_by.rate)
    options = _recorded_options(recording, name)
    turned = angles_to_matrix(np.array(options["rotation"]))
    poses = np.ascontiguousarray(rows["reference"][:, :7])
    base_from_platform = np.stack([quaternion_to_matrix(pose[3:]) for pose in poses])
    specific_force, rate = (readings[:, part_] @ turned.T for part_ in (slice(0, 3), slice(3, 6)))
    motion = rows["reference"][:, 13:16], rows["reference"][:, 10:13]
    if column < 3:
        # at the platform's origin: without what its turning adds at the sensor's place
        place = np.array(options["position"])
        turning = np.gradient(rate, 1.0 / made_by.rate, axis=0)
        specific_force -= np.cross(turning, place) + np.cross(rate, np.cross(rate, place))
        output = np.einsum("nij,nj->ni", base_from_platform, specific_force)[:, column]
        excitation = motion[0][:, column]
    else:
        axis = _axis(pose_to_coordinates(poses).mean(axis=0), column)
        output = np.einsum("nij,nj->ni", base_from_platform, rate) @ axis
        excitation = motion[1] @ axis
    found = frequency_response(excitation, output, _coordinates(poses)[:, column], made_by.rate)
    highest = _INTERPOLATED / period
    if band is not None and band[1] > highest:
        raise InputError(
            f"{recording.path}: sensor {name!r} has {1.0 / period:.4g} readings a second, enough up to {highest:.3g} Hz"
        )
    return well_excited(found.at(found.frequency <= highest), band)


def _without_aliases(measured: Floats, values: Floats, times: Floats, period: float, rate: float) -> Floats:
    """Values (m, k) at the cycles' times (m,) of readings (n, k), by a cubic spline.

    Those of a sensor faster than the cycle are filtered before, without a lag: what the hold of a command makes at the
    cycle's rate would else be found at the lines.
    """
    from scipy.interpolate import CubicSpline  # slow to import, rarely needed
    from scipy.signal import butter, sosfiltfilt

    if period * rate < 1.0:
        even = np.arange(measured[0], measured[-1], period)
        values = CubicSpline(measured, values)(even)
        edge = min(_PASSED * rate, 0.9 * 0.5 / period)
        values = sosfiltfilt(butter(_FILTER, edge, fs=1.0 / period, output="sos"), values, axis=0)
        measured = even
    readings: Floats = CubicSpline(measured, values)(times)
    return readings


def _recorded_options(recording: Recorded, name: str) -> Mapping[str, Any]:
    """Where a sensor sat, by the recorded configuration."""
    for each in recording.header.get("config", {}).get("sensors", ()):
        if each.get("name") == name:
            found: Mapping[str, Any] = {"position": (0.0,) * 3, "rotation": (0.0,) * 3} | each
            return found
    raise InputError(f"{recording.path}: its configuration has no sensor {name!r}")


def _axis(coordinates: Floats, column: int) -> Floats:
    """Axis (3,) in the base frame about which a platform turns by an angle of R = Rz Ry Rx alone."""
    later = np.zeros(3)
    later[column - 2 :] = coordinates[column + 1 :]
    axis: Floats = angles_to_matrix(later) @ np.eye(3)[column - 3]
    return axis


def _command_hold(made_by: RecordedRig) -> CommandHold | None:
    drives = made_by.drives
    if drives is None or drives.get("sample_period"):
        return None
    return CommandHold(1.0 / made_by.rate)


def _drive_forces(rows: npt.NDArray[np.void], made_by: RecordedRig) -> tuple[Floats, dict[str, Floats]]:
    """Forces (n, 6) N of the drives: cell readings plus the model's forces between drive and cell.

    Also their part due to friction of prismatic joint and drive, by kind. The model is evaluated at the measured
    motion: a slow drive lags its reference, and with the earlier friction of the reference it would appear faster.
    """
    motion = np.ascontiguousarray(rows["reference"])
    acceleration_error = np.gradient(rows["twist"] - motion[:, 7:13], 1.0 / made_by.rate, axis=0)
    if made_by.drives is not None:
        # held forces act beyond their mean about a sample: first the mean acceleration, with the same weights, of
        # the reference, which is instantaneous, and of the differences, which cover two periods
        acceleration_error += (_second_differences(motion[:, 13:]) - _second_differences(acceleration_error)) / 12.0
        model = Dynamics(made_by.mechanism, made_by.coulomb_speed)
        net, mean = net_hold_force(rows, model, 1.0 / made_by.rate, made_by.drives)
        net -= 0.5 * (mean + np.vstack([mean[:1], mean[:-1]]))  # the motion already includes the mean about each row
        acceleration_error += model.response(motion[:, :13], net)
    motion[:, 13:] += acceleration_error
    motion[:, :7], motion[:, 7:13] = rows["pose"], rows["twist"]
    whole, coulomb_free, viscous_free = (
        Dynamics(_without_friction(made_by.mechanism, without), made_by.coulomb_speed)
        for without in (None, "coulomb", "viscous")
    )
    between, no_coulomb, no_viscous = (
        model.inverse(motion).forces - model.cells(motion) for model in (whole, coulomb_free, viscous_free)
    )
    coulomb = between - no_coulomb
    near_rest = np.exp(-((rows["velocity"] / _STRIBECK_SPEED) ** 2))
    kinds = {"coulomb": coulomb, "viscous": between - no_viscous, "breakaway": coulomb * near_rest}
    return rows["force_measured"] + between, kinds


def _second_differences(values: Floats) -> Floats:
    return np.diff(values, 2, axis=0, prepend=values[:1], append=values[-1:])


def _without_friction(mechanism: Mechanism, kind: Literal["coulomb", "viscous"] | None) -> Mechanism:
    """Return the mechanism without one kind of friction along its legs."""
    if kind is None:
        return mechanism
    of_joint = {"coulomb": "coulomb", "viscous": "prismatic"}[kind]
    legs = [
        replace(leg, friction=replace(leg.friction, **{of_joint: 0.0}), drive=replace(leg.drive, **{kind: 0.0}))
        for leg in mechanism.legs
    ]
    return replace(mechanism, legs=tuple(legs))


def _coordinates(poses: Floats) -> Floats:
    coordinates = pose_to_coordinates(np.ascontiguousarray(poses))
    coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
    return coordinates


def _excited(commanded: Floats, mechanism: Mechanism, dof: str | None) -> str:
    radius = float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).mean())
    sizes = commanded.std(axis=0) * np.array([1.0] * 3 + [radius] * 3)
    greatest = COORDINATES[int(sizes.argmax())] if dof is None else dof
    size = sizes[COORDINATES.index(greatest)]
    if not size > 1e-9:
        raise InputError(
            f"not enough excitation: {greatest} is not moved at all; rig multisine makes a motion that does"
        )
    others = [
        name for name, value in zip(COORDINATES, sizes, strict=True) if name != greatest and value > _CROSSTALK * size
    ]
    if others:
        raise InputError(
            f"the motion moves {', '.join(others)} beside {greatest}: a response is of one coordinate at a time"
        )
    return greatest


def _at(response: Response, other: Response) -> Response:
    """Select the lines of a response that another one has too."""
    return response.at(np.isin(response.frequency, other.frequency))


_LISTED = 12
_QUANTILE = 1.6449  # of a normal distribution at 95 %
_MODELS = {
    "delay": "a dead time",
    "first-order": "a dead time and a lag of first order",
    "second-order": "a dead time and a lag of second order",
    "second-order-zero": "a dead time and a lag of second order with a zero",
}


def notes_of(found: RecordedResponse, fits: dict[str, ResponseFit]) -> list[tuple[str, str, str]]:
    """Return notes on a response: its name, code (`Note` or `Verdict`) and text."""
    notes: list[tuple[str, str, str]] = []
    for name, response in found.responses().items():
        fit = fits[name]
        if fit.verdict is Verdict.NO_MODEL_FITS:
            notes.append((name, fit.verdict.value, _unfit(fit)))
        notes += [(name, note.value, _note(note, fit)) for note in fit.notes]
        if (distortion := response.distortion) is not None:
            for there, note, part in (
                (distortion.even_found, Note.EVEN_DISTORTION, distortion.even_part),
                (distortion.odd_found, Note.ODD_DISTORTION, distortion.odd_part),
            ):
                if there:
                    kind = note.value.replace("-", " ")
                    notes.append((name, note.value, f"{kind} beyond noise, {100.0 * part:.2g} % of the output"))
    if found.own_loops:
        text = "drives that close loops of their own give more than they are commanded: no response of a force"
        notes.append(("force", Note.OWN_LOOPS.value, text))
    return notes


def _unfit(fit: ResponseFit) -> str:
    return (
        f"no model fits, the best one by a reduced χ² of {fit.chi_square:.3g} (probability {fit.probability:.1g}): "
        "neither dead time nor corner can be told"
    )


def _note(note: Note, fit: ResponseFit) -> str:
    if note is Note.DEAD_TIME_AT_BOUND and fit.dead_time_sigma is not None:
        return f"the dead time is at its bound of 0, and at most {_QUANTILE * 1e3 * fit.dead_time_sigma:.3g} ms (95 %)"
    if note is Note.CORNER_UNRESOLVED and fit.corner_above is not None:
        return f"the corner is above {fit.corner_above:.3g} Hz (95 %), more this band and its noise do not tell"
    if note is Note.DAMPING_AT_BOUND:
        return "the damping is at its bound of 0"
    return (
        "one realisation of the phases and no lines left out: uncertainties are by noise alone, what friction and "
        "other distortion make is not in them (rig multisine --realizations)"
    )


def described(name: str, response: Response, fit: ResponseFit) -> str:
    """Format a response and its fit, as printed by a command."""
    reached = response.bandwidth()
    pieces = f"{response.averages:g} averages"
    if response.periodic:
        pieces = f"{response.realizations} realisations of {response.averages / response.realizations:g} periods"
    lines = [f"{name}: commanded to measured, {len(response.frequency)} frequencies, {pieces}"]
    beyond = f"above {response.frequency[-1]:g} Hz"
    lines.append("  -3 dB      " + (beyond if reached is None else f"{reached[0]:.3f} ± {reached[1]:.3f} Hz"))
    if fit.verdict is Verdict.FITS:
        lines += _parameters(fit)
    if (distortion := response.distortion) is not None:
        even, odd, noise = (100.0 * part for part in (distortion.even_part, distortion.odd_part, distortion.noise_part))
        lines.append(f"  distortion even {even:.2g} %, odd {odd:.2g} % of the output; noise {noise:.2g} %")
    lines.append(f"  {'Hz':>9} {'|H|':>10} {'sigma':>9} {'noise':>9} {'phase deg':>10} {'coherence':>10}")
    shown = np.unique(np.round(np.linspace(0, len(response.frequency) - 1, _LISTED)).astype(int))
    for at in shown:
        lines.append(
            f"  {response.frequency[at]:9.3f} {abs(response.gain[at]):10.5f} {response.sigma[at]:9.2g} "
            f"{response.noise[at]:9.2g} {math.degrees(response.phase[at]):10.3f} {response.coherence[at]:10.6f}"
        )
    return "\n".join(lines)


def _parameters(fit: ResponseFit) -> list[str]:
    def with_sigma(value: float | None, sigma: float | None, scale: float = 1.0, unit: str = "") -> str:
        return "" if value is None or sigma is None else f"{scale * value:.3f} ± {scale * sigma:.3f}{unit}"

    model = _MODELS["" if fit.structure is None else fit.structure.value]
    lines = [f"  model      {model}, reduced χ² {fit.chi_square:.2g} (probability {fit.probability:.2g})"]
    lines.append(f"  lag        {with_sigma(fit.lag, fit.lag_sigma, 1e3, ' ms')} at low frequencies")
    transport = f", beside {1e3 * fit.transport:g} ms to the middle of the command's hold" if fit.transport else ""
    lines.append(f"  dead time  {with_sigma(fit.dead_time, fit.dead_time_sigma, 1e3, ' ms')}{transport}")
    for label, value in (
        ("corner", with_sigma(fit.corner, fit.corner_sigma, 1.0, " Hz")),
        ("natural", with_sigma(fit.natural_frequency, fit.natural_frequency_sigma, 1.0, " Hz")),
        ("damping", with_sigma(fit.damping, fit.damping_sigma)),
        ("zero", with_sigma(fit.zero, fit.zero_sigma, 1.0, " Hz")),
    ):
        if value:
            lines.append(f"  {label:10} {value}")
    if fit.nuisances:
        parts = [f"{name} {with_sigma(*values)}" for name, values in fit.nuisances.items()]
        lines.append(f"  friction   of the model's, more by a part of {', '.join(parts)}")
    return lines
