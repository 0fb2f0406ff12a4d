"""The control laws: what turns reference and feedback into six commands a cycle."""

from actuators import Mode
from dynamics import Dynamics
from rig.config import RigConfig
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw

_LAWS: dict[str, type[ForceLaw]] = {law.name: law for law in (ForceLaw, ComputedTorqueLaw)}


def make_law(config: RigConfig, dynamics: Dynamics) -> ControlLaw:
    """The law that the configuration's `mode` names, on the model `dynamics`."""
    return _LAWS[config.mode](dynamics, config.control)


def needed_modes(mode: str) -> tuple[Mode, ...]:
    """Modes without which a drive cannot be used under the law that a configuration calls `mode`."""
    return _LAWS[mode].needed_modes()


__all__ = ["ComputedTorqueLaw", "ControlLaw", "ForceLaw", "make_law", "needed_modes"]
