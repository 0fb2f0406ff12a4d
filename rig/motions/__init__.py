"""Motions of the platform from files: trajectories, tables that other commands write, recordings."""

from rig.motions.motion_source import (
    SampledMotion,
    SourceKind,
    follow_lengths,
    read_lengths,
    read_motion,
    read_trajectory,
    usual_step,
)

__all__ = [
    "SampledMotion",
    "SourceKind",
    "follow_lengths",
    "read_lengths",
    "read_motion",
    "read_trajectory",
    "usual_step",
]
