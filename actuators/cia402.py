"""CiA 402 (IEC 61800-7-201): power states of the status word, commands of the control word, modes of operation.

Nothing here knows a bus: drives on CANopen and on Modbus have the same words. `CIA_402` is a `PowerTable`, for
`PowerSequence` and the device's side of it.
"""

from actuators.interface import Status
from actuators.power import PowerState, PowerStep, PowerTable, PowerWord

NOT_READY = PowerState("not_ready_to_switch_on", 0x4F, 0x00)
SWITCH_ON_DISABLED = PowerState("switch_on_disabled", 0x4F, 0x40, Status.READY)
READY_TO_SWITCH_ON = PowerState("ready_to_switch_on", 0x6F, 0x21, Status.READY)
SWITCHED_ON = PowerState("switched_on", 0x6F, 0x23, Status.READY)
OPERATION_ENABLED = PowerState("operation_enabled", 0x6F, 0x27, Status.READY | Status.ENABLED)
QUICK_STOP_ACTIVE = PowerState("quick_stop_active", 0x6F, 0x07, Status.READY | Status.ENABLED | Status.QUICK_STOP)
FAULT_REACTION_ACTIVE = PowerState(
    "fault_reaction_active", 0x4F, 0x0F, Status.ENABLED | Status.FAULT | Status.QUICK_STOP
)
FAULT = PowerState("fault", 0x4F, 0x08, Status.FAULT)
STATES = (
    NOT_READY,
    SWITCH_ON_DISABLED,
    READY_TO_SWITCH_ON,
    SWITCHED_ON,
    OPERATION_ENABLED,
    QUICK_STOP_ACTIVE,
    FAULT_REACTION_ACTIVE,
    FAULT,
)

SHUTDOWN = PowerWord(0x06, 0x87)
SWITCH_ON = PowerWord(0x07, 0x8F)
ENABLE_OPERATION = PowerWord(0x0F, 0x8F)
DISABLE_VOLTAGE = PowerWord(0x00, 0x82)
QUICK_STOP = PowerWord(0x02, 0x86)
FAULT_RESET = 0x80
"""Bit of the control word whose rising edge clears a fault."""

VOLTAGE, REMOTE, TARGET_REACHED, ATTAINED = 0x0010, 0x0200, 0x0400, 0x1000
"""Further bits of the status word; the last one has another meaning in each mode: in homing, that it is done."""
HOMING, CYCLIC_POSITION, CYCLIC_TORQUE = 6, 8, 10
"""Modes of operation (object 0x6060)."""


def power_table(timeout: float = 1.0) -> PowerTable:
    """Way to torque by 6, 7, 15. timeout: s for each step."""
    steps = (
        PowerStep(SHUTDOWN, READY_TO_SWITCH_ON, timeout),
        PowerStep(SWITCH_ON, SWITCHED_ON, timeout),
        PowerStep(ENABLE_OPERATION, OPERATION_ENABLED, timeout),
    )
    return PowerTable(STATES, steps, DISABLE_VOLTAGE, QUICK_STOP, FAULT_RESET)


CIA_402 = power_table()
