"""Colours with a meaning: states, legs and axes; and line patterns."""

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
"""Background and text colour."""

LEG_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe–Ito colours of legs 1 to 6, the same in both themes and in reports."""
AXIS_COLOURS = ("error", "good", "accent")
"""Fields of a theme for x, y and z: red, green and blue."""
DASHED = "┄"
"""Symbol in texts of the pattern of a model or a command."""
