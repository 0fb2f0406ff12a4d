"""What is said of an engine that died: at once, and after its drives were asked."""

from rig.client import LegPostMortem, describe_post_mortem, when_silent
from rig.config import RigConfig
from rig.engine import Snapshot


def said_at_once(status: Snapshot | None) -> str:
    """That it died, and in which state."""
    state = "" if status is None else f" in state {status.state.name}"
    return f"The engine ended by itself{state}."


def expected(config: RigConfig) -> str:
    """What its drives are to do, before they have answered."""
    text = when_silent(config)
    return f"{text[0].upper()}{text[1:]}: they are being asked."


def found(legs: list[LegPostMortem] | None, error: Exception | None) -> str:
    """What the drives answered."""
    return f"The drives cannot be asked: {error}." if legs is None else describe_post_mortem(legs)


def next_step(config: RigConfig) -> str:
    """What is to be done now."""
    real = "" if config.virtual is not None else " Look at the machine first."
    return f"{real} Next: Restart engine."
