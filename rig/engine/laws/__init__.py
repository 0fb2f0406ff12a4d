"""The control laws: six commands a cycle from reference and feedback."""

from actuators import Mode
from dynamics import Dynamics
from rig.config import RigConfig, declared_laws
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw, LawFault
from rig.engine.laws.mixed import MixedLaw
from rig.engine.laws.observer import ObserverLaw
from rig.engine.laws.position import PositionLaw
from rig.engine.laws.single_leg import SingleLegLaw
from rig.errors import ConfigError

_LAWS: dict[str, type[ControlLaw]] = {law.name: law for law in (ForceLaw, ComputedTorqueLaw, ObserverLaw, PositionLaw)}


def law_of(mode: str) -> type[ControlLaw]:
    """The control law that a configuration's `mode` names: one of this program, or of another distribution.

    Raises:
        ConfigError: the law that a distribution declares by this name cannot be loaded, or is no control law.
    """
    if mode in _LAWS:
        return _LAWS[mode]
    entry = declared_laws()[mode]
    try:
        law = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"control law {mode!r} ({entry.value}) cannot be loaded: {error}") from error
    if not (isinstance(law, type) and issubclass(law, ControlLaw)):
        raise ConfigError(f"control law {mode!r} ({entry.value}) must be a class derived from ControlLaw, got {law!r}")
    return law


def make_law(config: RigConfig, dynamics: Dynamics) -> ControlLaw:
    """The law of a configuration on the model `dynamics`; where legs have a mode of their own, a mixed one.

    Raises:
        ConfigError: see `law_of`.
    """
    if all(config.own_loops):
        return PositionLaw.of(config, dynamics)
    law = law_of(config.mode).of(config, dynamics)
    if isinstance(law, ForceLaw) and any(config.own_loops):
        return MixedLaw(law, PositionLaw.of(config, dynamics), config.own_loops)
    return law


def needed_modes(config: RigConfig) -> tuple[tuple[Mode, ...], ...]:
    """By leg, the modes that its drive must have for the law of a configuration."""
    return tuple((Mode.OFF, loop_mode(own=own), Mode.HOMING) for own in config.own_loops)


def loop_mode(*, own: bool) -> Mode:
    """The mode of a drive under a law, if it closes its `own` loop or not."""
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
    "law_of",
    "loop_mode",
    "make_law",
    "needed_modes",
]
