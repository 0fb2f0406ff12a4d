"""Whether a configuration's devices can be made: drivers and profiles known, faults of a virtual rig playable."""

from rig.config import RigConfig
from rig.engine.devices import make_bank
from rig.virtual import VirtualRig


def check_devices(config: RigConfig) -> None:
    """Make the drives, cells and, for a virtual rig, their twins and faults, without connecting or serving anything.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
        ConfigError: the virtual rig cannot be served.
    """
    make_bank(config)
    if config.virtual is not None:
        VirtualRig(config)
