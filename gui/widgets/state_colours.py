"""In which colours the states of a rig are shown, everywhere beside their names."""

from rig.states import State

GREY, BLUE, AMBER, GREEN, ORANGE, RED = "#5b6470", "#0072b2", "#e69f00", "#007a59", "#b34700", "#9b1111"
VIOLET, BROWN = "#5e4b9c", "#80580a"
_ON_AMBER = "#10151a"

STATE_COLOURS: dict[State, tuple[str, str]] = {
    State.OFF: (GREY, "white"),
    State.IDLE: (GREY, "white"),
    State.HOMING: (AMBER, _ON_AMBER),
    State.SINGLE_LEG: (AMBER, _ON_AMBER),
    State.PARKED: (BLUE, "white"),
    State.ENGAGING: (AMBER, _ON_AMBER),
    State.ENGAGED: (VIOLET, "white"),
    State.RUNNING: (GREEN, "white"),
    State.PARKING: (AMBER, _ON_AMBER),
    State.STOPPING: (ORANGE, "white"),
    State.FAULT: (RED, "white"),
}
"""Background, and text upon it."""
