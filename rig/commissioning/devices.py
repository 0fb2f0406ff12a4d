"""Whether a configuration's devices can be made: drivers and profiles known, faults of a virtual rig playable."""

from collections.abc import Iterator
from pathlib import Path

from actuators import ConfigurationError
from calibration import CalibrationError
from rig.config import RigConfig
from rig.engine import DriveGroup, make_drive_group
from rig.errors import ConfigError
from rig.virtual import VirtualRig


def check_devices(config: RigConfig, path: Path | None = None) -> None:
    """Make the drives, cells and, for a virtual rig, their twins and faults, without connecting or serving anything.

    Args:
        config: the rig.
        path: what the file is or will be called, for the message; None: what it is called now.

    Raises:
        ConfigError: a driver or profile does not take what is configured, or has no mode that the control law needs, a
            drive cannot be told every length of its leg, the load cells' calibration cannot be used, or the virtual rig
            cannot be served.
    """
    try:
        bank = make_drive_group(config)
        faults = [*(found.text for found in bank.lacking().values()), *_out_of_reach(config, bank)]
        if faults:
            raise ConfigError("\n".join(faults))
        if config.virtual is not None:
            VirtualRig(config)
    except (ConfigurationError, CalibrationError, ConfigError) as error:
        raise ConfigError(f"configuration {path or config.path} cannot be used:", str(error).splitlines()) from error


def _out_of_reach(config: RigConfig, bank: DriveGroup) -> Iterator[str]:
    for number, (leg, (shortest, longest)) in enumerate(zip(config.machine.legs, bank.reach, strict=True), start=1):
        assert leg.limits is not None and leg.limits.length is not None  # `load_config` saw to it
        low, high = leg.limits.length
        if low < shortest or high > longest:
            yield (
                f"leg {number}: its drive can be told {shortest:.4g} to {longest:.4g} m, "
                f"by the mechanism the leg may be {low:g} to {high:g} m long"
            )
