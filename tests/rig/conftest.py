"""Fixtures of the rig's tests."""

from checkpoints import checkpoints
from leg_stand import stand_folder
from rig_fixtures import free_config, here, rig, stand_in

__all__ = ["checkpoints", "free_config", "here", "rig", "stand_folder", "stand_in"]
