"""Fixtures of the tests of the whole rig."""

from checkpoints import checkpoints

__all__ = ["checkpoints"]
