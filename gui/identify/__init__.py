"""Identifying a rig from its recordings: a wizard over `rig.services.identify`."""

from gui.identify.wizard import IdentifyWizard

__all__ = ["IdentifyWizard"]
