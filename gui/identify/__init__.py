"""Identifying a rig from its recordings: a wizard over `rig identify`."""

from gui.identify.entry import IdentifyEntry
from gui.identify.wizard import IdentifyWizard

__all__ = ["IdentifyEntry", "IdentifyWizard"]
