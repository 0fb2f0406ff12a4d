"""Fixtures of the rig's tests."""

from leg_stand import stand_folder
from rig_fixtures import free_config, here, stand_in

__all__ = ["free_config", "here", "stand_folder", "stand_in"]
