"""What the states of a rig are called, everywhere."""

from gui.texts import tr
from rig.states import State

STATE_WORDS: dict[State, str] = {
    State.OFF: tr("Off"),
    State.IDLE: tr("Idle"),
    State.HOMING: tr("Homing"),
    State.SINGLE_LEG: tr("Testing a leg"),
    State.PARKED: tr("Parked"),
    State.ENGAGING: tr("Engaging"),
    State.ENGAGED: tr("Engaged"),
    State.RUNNING: tr("Running"),
    State.PARKING: tr("Parking"),
    State.STOPPING: tr("Stopping"),
    State.FAULT: tr("Fault"),
}


def state_word(value: int) -> str:
    """What a recorded state is called; its number where this version has no such state."""
    try:
        return STATE_WORDS[State(int(value))]
    except ValueError:
        return str(int(value))
