"""Setting up a new rig: a wizard over `rig.commissioning`."""

from gui.setup.entry import SetupEntry

__all__ = ["SetupEntry"]
