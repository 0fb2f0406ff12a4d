"""Preview of a motion before it runs: its table, the check's verdict, and curves."""

from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, DynamicsError
from gui.models.decimation import decimate
from gui.models.motion import Curves, Data, Preview, Swept, as_data, with_transitions
from gui.models.timeline import Rows
from kinematics import (
    Array,
    KinematicsError,
    MotionTable,
    SingularityError,
    build_trajectory,
    coordinates_to_motion,
    leg_kinematics,
    parse_specification,
    quaternion_to_matrix,
    trajectory_text,
)
from rig.client import Template, checked_motion, fitted, template_motion, transition_durations
from rig.config import RigConfig
from rig.telemetry import ROW

FRAMES = 30.0
"""Hz, of the animation."""
_MOST_FRAMES = 6000
"""Maximum frames of the animation; longer motions use longer steps."""
_BINS = 800  # of a curve, each with minimum and maximum
_BLOCK = 8192  # samples evaluated together, which bounds the memory


def preview_motion(config: RigConfig, motion: Data, folder: Path, amplitude: float, plate: Array) -> Preview:
    """Build, check and evaluate a motion; see `Preview`.

    Args:
        config: the rig.
        motion: as in its file.
        folder: base of its file names.
        amplitude: scale about its start pose, 1 for the motion as it is.
        plate: corners (6, 3) of the platform's plate, m, platform frame.
    """
    home = config.machine.geometry.home_pose
    try:
        specification = parse_specification(trajectory_text(motion))
        durations = transition_durations(config, specification, folder)
        if durations:
            specification = parse_specification(trajectory_text(with_transitions(motion, durations)))
        table, verdict = checked_motion(config, build_trajectory(specification, home, folder), amplitude)
    except (KinematicsError, DynamicsError, OSError) as error:
        return Preview(fault=str(error))
    seen = Preview(table=table, verdict=verdict, transitions=durations)
    try:
        curves = _curves(config, table, motion["frame"] == "home")
        rows = expected_rows(config, table)
    except (SingularityError, DynamicsError):
        return seen  # its verdict says where the motion becomes impossible
    return replace(seen, curves=curves, rows=rows, swept=swept_space(plate, rows["pose"]))


def preview_template(
    config: RigConfig, template: Template, given: Container[str], plate: Array | None
) -> tuple[Template, Data, Preview | None]:
    """Choose the sizes of a template that are not `given`; return it, its motion, and with a plate its preview.

    Raises RefusedError where no size passes, InputError for numbers that make no motion.
    """
    made = fitted(config, template, given)
    motion = as_data(template_motion(made))
    return made, motion, None if plate is None else preview_motion(config, motion, Path(), 1.0, plate)


def lacking(config: RigConfig, motion: Data, folder: Path) -> dict[int, float]:
    """Return a motion's missing transitions, as `transition_durations`; none if it cannot be built."""
    try:
        return transition_durations(config, parse_specification(trajectory_text(motion)), folder)
    except (KinematicsError, OSError):
        return {}


def swept_space(plate: Array, poses: Array) -> Swept:
    """Return the space that a plate with these corners (6, 3), platform frame, sweeps along poses (n, 7), m."""
    rings: Array = poses[:, None, :3] + np.einsum("nij,cj->nci", quaternion_to_matrix(poses[:, 3:]), plate)
    return Swept(rings, hull_faces(rings.reshape(-1, 3)))


def hull_faces(points: Array) -> npt.NDArray[np.int64] | None:
    """Return triangles (m, 3) of the convex hull of points (n, 3), outwards, as indices; None if they are coplanar."""
    from scipy.spatial import ConvexHull, QhullError  # slow import, deferred

    try:
        found = ConvexHull(points)
    except QhullError:
        return None
    faces: npt.NDArray[np.int64] = found.simplices.astype(np.int64)
    triangles = points[faces]
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = np.einsum("mi,mi->m", across, found.equations[:, :3]) < 0.0
    faces[inwards] = faces[inwards, ::-1]
    return faces


def expected_rows(config: RigConfig, table: MotionTable) -> Rows:
    """Return telemetry rows (n,) of a motion as expected by the model: time, pose, leg lengths and drive forces.

    Raises SingularityError, DynamicsError if a sample cannot be evaluated.
    """
    last = len(table.samples) - 1
    every = max(1, round(1.0 / (FRAMES * table.step)), -(-last // _MOST_FRAMES))
    picked = np.unique(np.append(np.arange(0, last + 1, every), last))
    samples = table.samples[picked]
    motion = coordinates_to_motion(samples[:, :6], samples[:, 6:12], samples[:, 12:])
    rows = np.zeros(len(picked), ROW)
    for name in ("reference", "force_measured", "force_residual"):
        rows[name] = np.nan  # not predicted
    rows["t"], rows["pose"] = table.step * picked, motion[:, :7]
    rows["length"] = leg_kinematics(config.machine.geometry, motion).length
    rows["force_model"] = Dynamics(config.machine, config.control.coulomb_speed).inverse(motion).forces
    return rows


def _curves(config: RigConfig, table: MotionTable, from_home: bool) -> Curves:
    """Return the outlines of a motion from all samples: no missed peaks, no aliasing.

    Raises SingularityError, DynamicsError if a sample cannot be evaluated.
    """
    dynamics = Dynamics(config.machine, config.control.coulomb_speed)
    home = config.machine.geometry.home_pose[:3] if from_home else np.zeros(3)
    count = len(table.samples)
    pieces = []
    for first in range(0, count, _BLOCK):
        samples = table.samples[first : first + _BLOCK]
        motion = coordinates_to_motion(samples[:, :6], samples[:, 6:12], samples[:, 12:])
        legs = leg_kinematics(config.machine.geometry, motion)
        position, forces = samples[:, :3] - home, dynamics.inverse(motion).forces
        values = np.hstack([position, samples[:, 3:6], legs.length, legs.velocity, forces])
        bins = max(1, _BINS * len(samples) // count)
        pieces.append(decimate(table.step * np.arange(first, first + len(samples), dtype=np.float64), values, bins))
    outlines = np.vstack([values for _times, values in pieces])
    return Curves(
        from_home=from_home,
        t=np.concatenate([times for times, _values in pieces]),
        coordinates=outlines[:, :6],
        lengths=outlines[:, 6:12],
        speeds=outlines[:, 12:18],
        forces=outlines[:, 18:],
    )
