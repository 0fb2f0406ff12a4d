"""The frequency responses of a recording: commanded to measured pose, and commanded to measured force."""

from dataclasses import dataclass

import numpy as np

from dynamics import Mechanism
from kinematics import COORDINATES, pose_to_coordinates, quaternion_to_matrix
from rig.analysis.recorded import rig_of
from rig.analysis.response import Response, frequency_response, well_excited
from rig.analysis.smoothing import Floats
from rig.errors import InputError
from rig.recording import Recorded
from rig.states import State
from rig.telemetry import ROW

_ELSEWHERE = 0.01  # of the excited coordinate's motion, times the joints' radius for angles, that another may have


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """Responses of one coordinate over a run.

    pose: from the reference to the measured coordinate `dof`. force: from the drives' commanded generalised force
    along it to what the cells and the model have of it, or None where no force was commanded. begin, end: s.
    """

    dof: str
    begin: float
    end: float
    rate: float
    pose: Response
    force: Response | None


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
    names = ["t", "reference", "pose", "force_command", "force_residual", "terms"]
    parts = [
        block[names][(block["state"] == State.RUNNING) & (block["path_rate"] == 1.0)] for block in recording.blocks()
    ]
    rows = np.concatenate([np.zeros(0, ROW)[names], *parts])
    breaks = np.flatnonzero(np.abs(np.diff(rows["t"]) * made_by.rate - 1.0) > 0.5) + 1
    rows = max(np.split(rows, breaks), key=len)
    known = np.isfinite(rows["pose"]).all(axis=1)
    if len(rows) < 4 or not known.all():
        raise InputError(f"{recording.path}: no run with a measured pose throughout")
    commanded, measured = (_coordinates(rows[name][:, :7]) for name in ("reference", "pose"))
    chosen = _excited(commanded, made_by.mechanism, dof)
    column = COORDINATES.index(chosen)
    source = commanded[:, column]
    pose = well_excited(frequency_response(source, measured[:, column], source, made_by.rate), band)
    force = None
    if np.ptp(rows["force_command"], axis=0).any():
        drives = rows["force_residual"] + rows["terms"].sum(axis=1)
        along = _leg_shares(made_by.mechanism, rows["reference"][:, :7], column)
        asked, given = (rows["force_command"] * along).sum(axis=1), (drives * along).sum(axis=1)
        force = _at(frequency_response(asked, given, source, made_by.rate), pose)
    return RecordedResponse(chosen, float(rows["t"][0]), float(rows["t"][-1]), made_by.rate, pose, force)


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


def _leg_shares(mechanism: Mechanism, poses: Floats, column: int) -> Floats:
    """(n, 6): what a leg's force has along the coordinate, base axes about the platform's origin: the row of H."""
    arms = np.einsum("nij,lj->nli", quaternion_to_matrix(poses[:, 3:]), mechanism.geometry.platform_points)
    legs = poses[:, None, :3] + arms - mechanism.geometry.base_points
    legs /= np.linalg.norm(legs, axis=2, keepdims=True)
    shares: Floats = legs[:, :, column] if column < 3 else np.cross(arms, legs)[:, :, column - 3]
    return shares


def _at(response: Response, other: Response) -> Response:
    """The lines of a response at which another one has some."""
    same = np.isin(response.frequency, other.frequency)
    return Response(
        response.frequency[same],
        response.gain[same],
        response.sigma[same],
        response.coherence[same],
        response.averages,
        response.periodic,
    )
