"""Workspace: reachable poses of a platform, on regular grids."""

from kinematics.workspace.grid import ROTATION_GROUP, PoseGrid, reach_box
from kinematics.workspace.limits import PoseAssessment, PoseFault, PoseLimits, assess_poses, strokes_beyond

__all__ = [
    "ROTATION_GROUP",
    "PoseAssessment",
    "PoseFault",
    "PoseGrid",
    "PoseLimits",
    "assess_poses",
    "reach_box",
    "strokes_beyond",
]
