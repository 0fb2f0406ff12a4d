"""Texts of all service stages, shared by every interface."""

from collections.abc import Callable

from rig.services.job import Progress

_WORDS = {
    "reading-recording": "reading the recording",
    "reading-recordings": "reading the recordings",
    "reading-data": "reading the data",
    "preparing": "filtering",
    "fitting-parameters": "fitting the parameters",
    "judging": "judging by the motions held out",
    "fitting-payload": "fitting the payload",
    "fitting-cells": "fitting the cells",
    "fitting-geometry": "geometry",
    "fitting-response": "fitting dead time and lag",
    "designing": "designing",
    "searching-phases": "searching phases",
    "checking-motion": "checking the motion",
    "planning": "planning",
    "compiling": "compiling the model, once on this machine",
    "rig": "{phase}",
    "sizing-motions": "searching the sizes of the motions",
    "accepting": "{what}",
    "reporting": "writing the report",
    "streaming": "{place}",
    "listening": "listening at {place}",
    "following": "{what}",
    "tuned": "tuning of the washout: {what}",
    "sweeping": "sweeping poses",
    "assembly-modes": "assembly modes",
    "reproducing": "{what}",
    "studying": "{what}",
    "reported": "a report is written",
    "counting": "{run}",
    "looking": "looking at the machine",
    "asked": "asking devices",
    "fitted": "the motion is run at a part of its size",
    "moving": "moving leg {leg}",
    "closed-loop": "{controller}, {plant}",
    "reading-cell": "reading cell {cell} under {mass:g} kg",
    "reading-cells": "reading all cells without load",
    "put-on": "Cell {cell}: Put {mass:g} kg on it, in all.",
    "hang-from": "Cell {cell}: Hang {mass:g} kg on it, in all.",
    "take-off": "Cell {cell}: take everything off.",
    "take-off-all": "Take everything off all six cells; none may carry its leg or the platform.",
}


def stage_text(event: Progress, translate: Callable[[str], str] = str) -> str:
    """Return the text of a stage, with its progress if known; `translate` translates a template with its fields."""
    values = {name: translate(value) if name == "phase" else value for name, value in event.values.items()}
    text = translate(_WORDS[event.stage]).format(**values)
    return text if event.fraction is None else f"{text}: {100.0 * event.fraction:.0f} %"


def stage_texts() -> list[str]:
    """Return all texts of stages for translation catalogues."""
    return [text for text in _WORDS.values() if text[0] != "{"]


def stage_name(event: Progress) -> str:
    """Return the text of a stage without its progress."""
    return _WORDS[event.stage].format(**event.values)
