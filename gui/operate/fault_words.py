"""Faults as a person calls them, in groups by where they sit; scripts and timetables call them by their names."""

_MACHINE = {
    "jam": "leg{} jammed",
    "brake_slips": "brake{} slips",
    "brake_open": "brake{} does not close",
    "weak": "drive{} is weak",
    "motor_exchanged": "motor{} wired to another drive",
    "force_step": "push on the platform{}",
    "payload": "unknown payload",
    "test_load": "test mass on cell{}",
}
_DRIVES = {
    "force_reversed": "drive{} pushes for pull",
    "temperature": "drive{} hot",
    "supply": "supply{} low",
    "safe_torque_off": "safe torque off{}",
    "torque_stuck": "power stage{} stays on",
    "reboot": "drive{} restarts",
    "hang": "drive{} hangs",
}
_ENCODERS = {
    "encoder_frozen": "encoder{} frozen",
    "encoder_jump": "encoder{} jumped",
    "encoder_creep": "encoder{} creeps",
    "encoder_scale": "encoder{} wrong scale",
    "encoder_reversed": "encoder{} reversed",
    "encoder_nan": "encoder{} without value",
}
_CELLS = {
    "cell_nan": "cell{} without value",
    "cell_silent": "cell{} stands still",
    "cell_saturated": "cell{} at end of scale",
    "cell_offset": "cell{} off",
    "cell_scale": "cell{} wrong scale",
}
_WIRES = {
    "drop_all": "cable{} unplugged",
    "drop_write": "requests{} lost",
    "close": "connection{} closed",
    "delay": "replies{} late",
    "lag": "replies{} old",
    "replay": "replies{} repeated",
    "rechunk": "replies{} split",
    "bit_flip": "replies{} garbled",
    "busy": "requests{} refused",
    "swap_unit": "cable{} exchanged",
}
_AMPLIFIER = {
    **{f"amplifier_{name}": f"amplifier: {words.format('')}" for name, words in _WIRES.items() if name != "swap_unit"},
    "amplifier_drop_all": "amplifier unplugged",
    "amplifier_hang": "amplifier hangs",
    "amplifier_standing": "amplifier converts nothing",
    "amplifier_invalid": "amplifier: channel{} not valid",
}
AMPLIFIER = "Amplifier of the cells"
GROUPS: dict[str, dict[str, str]] = {
    "Machine": _MACHINE,
    "Drives": _DRIVES,
    "Encoders": _ENCODERS,
    "Load cells": _CELLS,
    "Wires": _WIRES,
    AMPLIFIER: _AMPLIFIER,
    "Computer": {"owner_hangs": "app stands still"},
}
"""Names and words by group; {} stands for the leg."""

_WORDS = {name: words for group in GROUPS.values() for name, words in group.items()}


def fault_words(name: str, leg: int = 0) -> str:
    """A fault in words, such as "cable 3 unplugged"; leg 1…6, or 0 for all or for none."""
    return _WORDS.get(name, name).format(f" {leg}" if leg else "")
