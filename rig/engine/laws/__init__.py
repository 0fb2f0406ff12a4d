"""The control laws: what turns reference and feedback into six commands a cycle."""

from actuators import Mode
from dynamics import Dynamics
from rig.config import RigConfig
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw, LawFault
from rig.engine.laws.mixed import MixedLaw
from rig.engine.laws.observer import ObserverLaw
from rig.engine.laws.position import PositionLaw
from rig.engine.laws.single_leg import SingleLegLaw


def make_law(config: RigConfig, dynamics: Dynamics) -> ControlLaw:
    """The law that the configuration's `mode` names, on the model `dynamics`; for some legs that of their own mode."""
    lengths = PositionLaw(config.exchange_period, config.command_lead - config.length_lead)
    if all(config.own_loops):
        return lengths
    if config.mode == ComputedTorqueLaw.name:
        return ComputedTorqueLaw(dynamics, config.control)
    if config.mode == ObserverLaw.name:
        return ObserverLaw(config, dynamics)
    forces = ForceLaw(config.control)
    return MixedLaw(forces, lengths, config.own_loops) if any(config.own_loops) else forces


def needed_modes(config: RigConfig) -> tuple[tuple[Mode, ...], ...]:
    """By leg, the modes without which its drive cannot be used under the law of a configuration."""
    return tuple((Mode.OFF, loop_mode(own=own), Mode.HOMING) for own in config.own_loops)


def loop_mode(*, own: bool) -> Mode:
    """The mode in which a law has a drive that closes its `own` loop, or that does not."""
    return Mode.POSITION if own else Mode.FORCE


__all__ = [
    "ComputedTorqueLaw",
    "ControlLaw",
    "ForceLaw",
    "LawFault",
    "MixedLaw",
    "ObserverLaw",
    "PositionLaw",
    "SingleLegLaw",
    "loop_mode",
    "make_law",
    "needed_modes",
]
