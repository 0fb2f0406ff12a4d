"""What is said of an engine that died: at once, and after its drives were asked."""

from gui.session.state_words import STATE_WORDS
from gui.texts import tr
from rig.client import LegPostMortem, describe_post_mortem, when_silent
from rig.config import RigConfig
from rig.engine import Snapshot


def crash_text(status: Snapshot | None) -> str:
    """That it died, and in which state."""
    if status is None:
        return tr("The engine ended by itself.")
    return tr("The engine ended by itself in state {state}.").format(state=STATE_WORDS[status.state])


def expected(config: RigConfig) -> str:
    """What its drives are to do, before they have answered."""
    text = when_silent(config)
    return tr("{expected}: they are being asked.").format(expected=text[0].upper() + text[1:])


def found(legs: list[LegPostMortem] | None, error: Exception | None) -> str:
    """What the drives answered."""
    return (
        tr("The drives cannot be asked: {error}.").format(error=error) if legs is None else describe_post_mortem(legs)
    )


def next_step(config: RigConfig) -> str:
    """What is to be done now."""
    after = tr("Next: Restart engine.")
    return after if config.virtual is not None else tr("Look at the machine first.") + " " + after
