"""The control laws: six commands a cycle from reference and feedback."""

from importlib import import_module

from actuators import Mode
from dynamics import Dynamics, DynamicsError
from rig.config import RigConfig, find_law
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw, GuardedLaw, LawFault
from rig.engine.laws.mixed import MixedLaw
from rig.engine.laws.position import PositionLaw
from rig.engine.laws.single_leg import SingleLegLaw
from rig.errors import ConfigError


def law_of(mode: str) -> type[ControlLaw]:
    """The class of the control law that a configuration's `mode` names.

    Raises:
        ConfigError: as `find_law`; the declared class cannot be imported, or is no control law.
    """
    declared = find_law(mode).law
    called = f"control law {mode!r} ({declared})"
    if isinstance(declared, str):
        module, _, name = declared.partition(":")
        try:
            declared = getattr(import_module(module), name)
        except Exception as error:  # whatever a module of somebody else raises when it is imported
            raise ConfigError(f"{called} cannot be loaded: {type(error).__name__}: {error}") from error
    if not (isinstance(declared, type) and issubclass(declared, ControlLaw)):
        raise ConfigError(f"{called} must be a class derived from ControlLaw, got {declared!r}")
    return declared


def make_law(config: RigConfig, dynamics: Dynamics) -> ControlLaw:
    """The law of a configuration on the model `dynamics`; where legs have a mode of their own, a mixed one.

    A law of another distribution is guarded, see `GuardedLaw`.

    Raises:
        ConfigError: see `law_of`; the law cannot be made, or is another than it declares.
    """
    declared = config.law
    if all(config.own_loops) and not declared.own_loops:
        return PositionLaw.of(config, dynamics)
    kind = law_of(config.mode)
    mixed = issubclass(kind, ForceLaw) and any(config.own_loops) and not declared.own_loops
    if mixed and kind.compute is not ForceLaw.compute:
        raise ConfigError(
            f"control law {config.mode!r}: it is declared mixed and overrides compute, which is not called where "
            "drives of some legs close their own loops; override close_loop"
        )
    try:
        law = kind.of(config, dynamics)
        if not (declared.compiled or mixed):
            return GuardedLaw(law, declared.name, declared.drives)
    except (ConfigError, DynamicsError):
        raise
    except Exception as error:  # of whatever kind, where the law is somebody else's
        raise ConfigError(f"control law {config.mode!r} cannot be made: {type(error).__name__}: {error}") from error
    if mixed and isinstance(law, ForceLaw):
        return MixedLaw(law, PositionLaw.of(config, dynamics), config.own_loops)
    return law


def needed_modes(config: RigConfig) -> tuple[tuple[Mode, ...], ...]:
    """By leg, the modes that its drive must have for the law of a configuration."""
    return tuple((Mode.OFF, loop_mode(own=own), Mode.HOMING) for own in config.own_loops)


def loop_mode(*, own: bool) -> Mode:
    """The mode of a drive under a law, if it closes its `own` loop or not."""
    return Mode.POSITION if own else Mode.FORCE


__all__ = [
    "ControlLaw",
    "ForceLaw",
    "LawFault",
    "MixedLaw",
    "PositionLaw",
    "SingleLegLaw",
    "law_of",
    "loop_mode",
    "make_law",
    "needed_modes",
]
