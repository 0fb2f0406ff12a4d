"""The frequency responses of a recording: commanded to measured pose, and commanded to measured force."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Dynamics, Mechanism
from kinematics import COORDINATES, leg_matrices, pose_to_coordinates
from rig.analysis.recorded import RecordedRig, rig_of
from rig.analysis.response import Complex, Response, frequency_response, well_excited
from rig.analysis.response_fit import CommandHold, Nuisance, ResponseFit, fit_response
from rig.analysis.smoothing import Floats
from rig.analysis.zero_order_hold import net_hold_force
from rig.errors import InputError
from rig.recording import Recorded, has_tracking, imported_from
from rig.states import State
from rig.telemetry import ROW

_ELSEWHERE = 0.01  # of the excited coordinate's motion, times the joints' radius for angles, that another may have
_STRIBECK_SPEED = 0.02  # m/s, near which breakaway friction is looked for


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """Responses of one coordinate over a run.

    pose: from the reference to the measured coordinate `dof`. force: from the drives' commanded generalised force
    along it to what the cells and the model have of it, or None where no force was commanded, or (own_loops) drives
    close loops of their own, which add forces that nobody commanded. begin, end: s.
    """

    dof: str
    begin: float
    end: float
    rate: float
    pose: Response
    force: Response | None
    own_loops: bool
    held: CommandHold | None
    """how a force's command acts, where it goes out once a cycle"""
    friction: dict[str, Complex]
    """of `force` at its lines (k,), by the friction's kind: what is the model's friction of the prismatic joints, which
    no cell has read; breakaway: a Coulomb friction's size, near standstill only, which the model does not have"""

    def responses(self) -> dict[str, Response]:
        """By name, those that there are."""
        return {"pose": self.pose} | ({} if self.force is None else {"force": self.force})

    def fits(self, friction: float) -> dict[str, ResponseFit]:
        """The fits by name; friction: the part, one sigma, to which each kind of the model's friction is known."""
        nuisances = [Nuisance(name, -shape, friction) for name, shape in self.friction.items() if friction > 0.0]
        fits = {"pose": fit_response(self.pose)}
        return fits | ({} if self.force is None else {"force": fit_response(self.force, self.held, nuisances)})


def recorded_response(
    recording: Recorded, dof: str | None = None, band: tuple[float, float] | None = None
) -> RecordedResponse:
    """The responses of the longest run of a recording, without a gap, in the coordinate that it excites.

    band: Hz, that must be excited; left out, from the lowest to the highest line that is. The force of the drives is
    what the cells read and the model has between cell and drive; its response is taken over the reference, so that the
    noise which the control loop feeds back makes no bias.

    Raises InputError where there is no run, where it excites more than one coordinate, or not enough.
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
        # the same at all times: shares that move with the pose would bring the weight along, without any lag
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
        _held(made_by),
        friction,
    )


def _held(made_by: RecordedRig) -> CommandHold | None:
    drives = made_by.drives
    if drives is None or drives.get("sample_period"):
        return None
    return CommandHold(1.0 / made_by.rate)


def _drive_forces(rows: npt.NDArray[np.void], made_by: RecordedRig) -> tuple[Floats, dict[str, Floats]]:
    """Forces (n, 6) N of the drives: what the cells read and what the model has between drive and cell.

    And what of these is the friction of the prismatic joints, by its kind. The model is taken at the motion that was
    measured: a slow drive leaves its reference, and would seem faster by the friction that the reference has earlier.
    """
    motion = np.ascontiguousarray(rows["reference"])
    beside = np.gradient(rows["twist"] - motion[:, 7:13], 1.0 / made_by.rate, axis=0)
    if made_by.drives is not None:
        # what held forces are beyond their mean about a sample is of all they do: first the acceleration's mean, in the
        # same weights, of the reference, which is of the instant, and of the differences, which are over two periods
        beside += (_second_differences(motion[:, 13:]) - _second_differences(beside)) / 12.0
        model = Dynamics(made_by.mechanism, made_by.coulomb_speed)
        net, mean = net_hold_force(rows, model, 1.0 / made_by.rate, made_by.drives)
        net -= 0.5 * (mean + np.vstack([mean[:1], mean[:-1]]))  # the mean about each row is in the motion already
        beside += model.response(motion[:, :13], net)
    motion[:, 13:] += beside
    motion[:, :7], motion[:, 7:13] = rows["pose"], rows["twist"]
    whole, slick, smooth = (
        Dynamics(_rubbing(made_by.mechanism, **without), made_by.coulomb_speed)
        for without in ({}, {"coulomb": 0.0}, {"prismatic": 0.0})
    )
    between, no_coulomb, no_viscous = (
        model.inverse(motion).forces - model.cells(motion) for model in (whole, slick, smooth)
    )
    coulomb = between - no_coulomb
    near_rest = np.exp(-((rows["velocity"] / _STRIBECK_SPEED) ** 2))
    kinds = {"coulomb": coulomb, "viscous": between - no_viscous, "breakaway": coulomb * near_rest}
    return rows["force_measured"] + between, kinds


def _second_differences(values: Floats) -> Floats:
    return np.diff(values, 2, axis=0, prepend=values[:1], append=values[-1:])


def _rubbing(mechanism: Mechanism, **friction: float) -> Mechanism:
    legs = tuple(replace(leg, friction=replace(leg.friction, **friction)) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


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
        name for name, value in zip(COORDINATES, sizes, strict=True) if name != greatest and value > _ELSEWHERE * size
    ]
    if others:
        raise InputError(
            f"the motion moves {', '.join(others)} beside {greatest}: a response is of one coordinate at a time"
        )
    return greatest


def _at(response: Response, other: Response) -> Response:
    """The lines of a response at which another one has some."""
    return response.at(np.isin(response.frequency, other.frequency))
