"""The control laws: what turns reference and feedback into six commands a cycle."""

from actuators import Mode
from dynamics import Dynamics
from rig.config import RigConfig
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw, LawFault
from rig.engine.laws.position import PositionLaw
from rig.engine.laws.single_leg import SingleLegLaw

_LAWS: dict[str, type[ControlLaw]] = {law.name: law for law in (ForceLaw, ComputedTorqueLaw, PositionLaw)}


def make_law(config: RigConfig, dynamics: Dynamics) -> ControlLaw:
    """The law that the configuration's `mode` names, on the model `dynamics`."""
    if config.mode == PositionLaw.name:
        return PositionLaw(config.exchange_period)
    if config.mode == ComputedTorqueLaw.name:
        return ComputedTorqueLaw(dynamics, config.control)
    return ForceLaw(config.control)


def needed_modes(mode: str) -> tuple[Mode, ...]:
    """Modes without which a drive cannot be used under the law that a configuration calls `mode`."""
    return _LAWS[mode].needed_modes()


__all__ = [
    "ComputedTorqueLaw",
    "ControlLaw",
    "ForceLaw",
    "LawFault",
    "PositionLaw",
    "SingleLegLaw",
    "make_law",
    "needed_modes",
]
