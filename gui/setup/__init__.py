"""Setting up a new rig: a wizard over `rig.commissioning`."""

from gui.setup.entry import SetupEntry
from gui.setup.wizard import SetupWizard

__all__ = ["SetupEntry", "SetupWizard"]
