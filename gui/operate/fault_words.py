"""Faults as a person calls them, in groups by where they sit; scripts and timetables call them by their names."""

from gui.texts import mark, tr
from rig.config import FAULT_WORDS

AMPLIFIER = mark("Amplifier of the cells")
GROUPS: dict[str, tuple[str, ...]] = {
    mark("Machine"): (
        "jam",
        "brake_slips",
        "brake_open",
        "weak",
        "motor_exchanged",
        "force_step",
        "payload",
        "test_load",
    ),
    mark("Drives"): (
        "force_reversed",
        "temperature",
        "supply",
        "safe_torque_off",
        "torque_stuck",
        "reboot",
        "hang",
    ),
    mark("Encoders"): (
        "encoder_frozen",
        "encoder_jump",
        "encoder_creep",
        "encoder_scale",
        "encoder_reversed",
        "encoder_nan",
    ),
    mark("Load cells"): (
        "cell_nan",
        "cell_silent",
        "cell_saturated",
        "cell_offset",
        "cell_scale",
        "zero_jump",
    ),
    mark("Wires"): (
        "drop_all",
        "drop_write",
        "close",
        "delay",
        "lag",
        "replay",
        "rechunk",
        "bit_flip",
        "noise",
        "busy",
        "swap_unit",
    ),
    AMPLIFIER: (
        "amplifier_drop_write",
        "amplifier_close",
        "amplifier_delay",
        "amplifier_lag",
        "amplifier_replay",
        "amplifier_rechunk",
        "amplifier_bit_flip",
        "amplifier_noise",
        "amplifier_busy",
        "amplifier_drop_all",
        "amplifier_hang",
        "amplifier_standing",
        "amplifier_invalid",
    ),
    mark("Computer"): ("owner_hangs",),
}
"""Names of faults by group."""


def fault_words(name: str, leg: int = 0) -> str:
    """A fault in words, such as "cable 3 unplugged"; leg 1…6, or 0 for all or for none."""
    return tr(FAULT_WORDS[name]).format(leg=f" {leg}" if leg else "")
