"""Whether a configuration's devices can be made: drivers and profiles known, faults of a virtual rig playable."""

from pathlib import Path

from actuators import ConfigurationError
from calibration import CalibrationError
from rig.config import RigConfig
from rig.engine import make_bank
from rig.errors import ConfigError
from rig.virtual import VirtualRig


def check_devices(config: RigConfig, path: Path | None = None) -> None:
    """Make the drives, cells and, for a virtual rig, their twins and faults, without connecting or serving anything.

    Args:
        config: the rig.
        path: what the file is or will be called, for the message; None: what it is called now.

    Raises:
        ConfigError: a driver or profile does not take what is configured, or has no mode that the control law needs,
            the load cells' calibration cannot be used, or the virtual rig cannot be served.
    """
    try:
        lacking = make_bank(config).lacking()
        if lacking:
            raise ConfigError("\n".join(lacking.values()))
        if config.virtual is not None:
            VirtualRig(config)
    except (ConfigurationError, CalibrationError, ConfigError) as error:
        raise ConfigError(f"configuration {path or config.path} cannot be used:", str(error).splitlines()) from error
