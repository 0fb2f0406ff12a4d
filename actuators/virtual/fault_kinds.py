"""Faults that virtual devices can have, by name: what each does, and what its value means."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FaultKind:
    """What a fault does, and what its value means. default: None = it takes no value."""

    text: str
    unit: str = ""
    default: float | None = None


WIRE_FAULTS = {
    "drop_write": FaultKind("the next requests get lost on their way", "requests", 1.0),
    "drop_all": FaultKind("every request gets lost on its way"),
    "delay": FaultKind("every reply comes later", "s", 0.02),
    "bit_flip": FaultKind("one bit of every reply, counted from its first, is inverted", "bit", 57.0),
    "noise": FaultKind("bytes that are no frame come before every reply", "bytes", 3.0),
    "busy": FaultKind("every request is refused, on Modbus with exception 06"),
    "replay": FaultKind("every request is answered with the reply before"),
    "lag": FaultKind("every reply has the content of an earlier one, as of a gateway that polls", "cycles", 1.0),
    "hang": FaultKind("the application hangs: the network goes on answering with registers that stand"),
    "rechunk": FaultKind("the second half of a reply comes along with the next one", "replies", 1.0),
    "close": FaultKind("the connection is closed at every request"),
    "swap_unit": FaultKind("another device answers in place of this one", "device 1..n", 1.0),
}
"""Faults of any device: of its wire, or of what answers there."""

SENSOR_FAULTS = {
    "encoder_frozen": FaultKind("the position sensor keeps its value"),
    "encoder_jump": FaultKind("the position sensor is off by a step", "m", 0.005),
    "encoder_creep": FaultKind("the position sensor creeps away from where the leg is", "m/s", 0.1),
    "encoder_scale": FaultKind("the position sensor reads its value times a factor", "", 1.01),
    "encoder_nan": FaultKind("the position sensor has no valid value"),
    "encoder_reversed": FaultKind("the position sensor counts backwards from where the leg stands"),
    "force_reversed": FaultKind("the drive pushes where it should pull"),
    "cell_nan": FaultKind("the load cell has no valid value"),
    "cell_silent": FaultKind("the load cell keeps its value"),
    "cell_saturated": FaultKind("the load cell stands at its end of scale", "N", 1000.0),
    "cell_offset": FaultKind("the load cell is off by a constant", "N", 20.0),
    "cell_scale": FaultKind("the load cell reads its value times a factor", "", 1.1),
}
"""Faults of a drive's sensors and power stage."""

AUXILIARY_FAULTS = {
    "temperature": FaultKind("the drive says that it is so hot", "°C", 95.0),
    "supply": FaultKind("the drive says that its supply has this voltage", "V", 20.0),
}
"""What a drive can be made to say in the auxiliary registers of these names, where its profile has them."""

POWER_FAULTS = {
    "safe_torque_off": FaultKind("the power stage has no supply, which is no fault; with it the torque comes back"),
    "torque_stuck": FaultKind("the power stage stays on, or comes on, whatever is commanded"),
}
"""Faults of a drive's power stage, its brake excepted."""

SERVO_FAULTS = {
    **WIRE_FAULTS,
    **SENSOR_FAULTS,
    **AUXILIARY_FAULTS,
    **POWER_FAULTS,
    "reboot": FaultKind("the drive is power-cycled, once"),
}
"""All faults of a virtual drive."""

INVALID_CHANNEL = "invalid_"
"""Before the channel's number, a fault of an amplifier."""
AMPLIFIER_FAULTS = {
    **{name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"},
    "standing": FaultKind("the amplifier converts nothing any more: its counter and its values stand"),
    **{
        f"{INVALID_CHANNEL}{channel}": FaultKind(
            "the amplifier says that the leg's channel is not valid, and shows a value"
        )
        for channel in range(1, 7)
    },
}
"""All faults of a virtual load-cell amplifier."""
