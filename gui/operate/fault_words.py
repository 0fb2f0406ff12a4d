"""Faults as a person calls them, in groups by where they sit; scripts and timetables call them by their names."""

from gui.texts import mark, tr

_MACHINE = {
    "jam": mark("leg{leg} jammed"),
    "brake_slips": mark("brake{leg} slips"),
    "brake_open": mark("brake{leg} does not close"),
    "weak": mark("drive{leg} is weak"),
    "motor_exchanged": mark("motor{leg} wired to another drive"),
    "force_step": mark("push on the platform{leg}"),
    "payload": mark("unknown payload"),
    "test_load": mark("test mass on cell{leg}"),
}
_DRIVES = {
    "force_reversed": mark("drive{leg} pushes for pull"),
    "temperature": mark("drive{leg} hot"),
    "supply": mark("supply{leg} low"),
    "safe_torque_off": mark("safe torque off{leg}"),
    "torque_stuck": mark("power stage{leg} stays on"),
    "reboot": mark("drive{leg} restarts"),
    "hang": mark("drive{leg} hangs"),
}
_ENCODERS = {
    "encoder_frozen": mark("encoder{leg} frozen"),
    "encoder_jump": mark("encoder{leg} jumped"),
    "encoder_creep": mark("encoder{leg} creeps"),
    "encoder_scale": mark("encoder{leg} wrong scale"),
    "encoder_reversed": mark("encoder{leg} reversed"),
    "encoder_nan": mark("encoder{leg} without value"),
}
_CELLS = {
    "cell_nan": mark("cell{leg} without value"),
    "cell_silent": mark("cell{leg} stands still"),
    "cell_saturated": mark("cell{leg} at end of scale"),
    "cell_offset": mark("cell{leg} off"),
    "cell_scale": mark("cell{leg} wrong scale"),
}
_WIRES = {
    "drop_all": mark("cable{leg} unplugged"),
    "drop_write": mark("requests{leg} lost"),
    "close": mark("connection{leg} closed"),
    "delay": mark("replies{leg} late"),
    "lag": mark("replies{leg} old"),
    "replay": mark("replies{leg} repeated"),
    "rechunk": mark("replies{leg} split"),
    "bit_flip": mark("replies{leg} garbled"),
    "busy": mark("requests{leg} refused"),
    "swap_unit": mark("cable{leg} exchanged"),
}
_AMPLIFIER = {
    "amplifier_drop_write": mark("amplifier: requests lost"),
    "amplifier_close": mark("amplifier: connection closed"),
    "amplifier_delay": mark("amplifier: replies late"),
    "amplifier_lag": mark("amplifier: replies old"),
    "amplifier_replay": mark("amplifier: replies repeated"),
    "amplifier_rechunk": mark("amplifier: replies split"),
    "amplifier_bit_flip": mark("amplifier: replies garbled"),
    "amplifier_busy": mark("amplifier: requests refused"),
    "amplifier_drop_all": mark("amplifier unplugged"),
    "amplifier_hang": mark("amplifier hangs"),
    "amplifier_standing": mark("amplifier converts nothing"),
    "amplifier_invalid": mark("amplifier: channel{leg} not valid"),
}
AMPLIFIER = mark("Amplifier of the cells")
GROUPS: dict[str, dict[str, str]] = {
    mark("Machine"): _MACHINE,
    mark("Drives"): _DRIVES,
    mark("Encoders"): _ENCODERS,
    mark("Load cells"): _CELLS,
    mark("Wires"): _WIRES,
    AMPLIFIER: _AMPLIFIER,
    mark("Computer"): {"owner_hangs": mark("app stands still")},
}
"""Names and words by group; {leg} stands for the leg, with a space before it."""

_WORDS = {name: words for group in GROUPS.values() for name, words in group.items()}


def fault_words(name: str, leg: int = 0) -> str:
    """A fault in words, such as "cable 3 unplugged"; leg 1…6, or 0 for all or for none."""
    return tr(_WORDS.get(name, name)).format(leg=f" {leg}" if leg else "")
