"""Trajectories of the platform: generators, pose files, sequences, and the table the cycle reads them from."""

from kinematics.trajectories.base import COORDINATES, Placement, Trajectory
from kinematics.trajectories.files import (
    TrajectorySpec,
    build_trajectory,
    load_trajectory,
    parse_specification,
    parse_trajectory,
    trajectory_names,
    trajectory_text,
)
from kinematics.trajectories.generators import Blend, Hold, MinimumJerk, Transition
from kinematics.trajectories.jerk_law import PEAK_ACCELERATION, PEAK_SPEED, minimum_jerk, minimum_jerk_kernel
from kinematics.trajectories.jogging import JogFrame, leg_stepped_pose, stepped_pose
from kinematics.trajectories.parts import TransitionPart, join
from kinematics.trajectories.poses import Poses, read_poses
from kinematics.trajectories.sequence import Sequence, joint_faults
from kinematics.trajectories.table import MOST_SAMPLES, MotionTable, scaled, table_motion_kernel, tabulate
from kinematics.trajectories.thresholds import Thresholds
from kinematics.trajectories.waves import Chirp, ChirpTerm, Harmonic, HarmonicTerm, RandomMotion, RandomTerm

__all__ = [
    "COORDINATES",
    "MOST_SAMPLES",
    "PEAK_ACCELERATION",
    "PEAK_SPEED",
    "Blend",
    "Chirp",
    "ChirpTerm",
    "Harmonic",
    "HarmonicTerm",
    "Hold",
    "JogFrame",
    "MinimumJerk",
    "MotionTable",
    "Placement",
    "Poses",
    "RandomMotion",
    "RandomTerm",
    "Sequence",
    "Thresholds",
    "Trajectory",
    "TrajectorySpec",
    "Transition",
    "TransitionPart",
    "build_trajectory",
    "join",
    "joint_faults",
    "leg_stepped_pose",
    "load_trajectory",
    "minimum_jerk",
    "minimum_jerk_kernel",
    "parse_specification",
    "parse_trajectory",
    "read_poses",
    "scaled",
    "stepped_pose",
    "table_motion_kernel",
    "tabulate",
    "trajectory_names",
    "trajectory_text",
]
