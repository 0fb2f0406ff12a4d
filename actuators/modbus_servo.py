"""Driver `servo`: a servo described by a register-map profile, on Modbus TCP, RTU, or RTU over TCP."""

from actuators.driver import Driver
from actuators.line_address import LineTimes
from actuators.modbus_address import ModbusAddress, ModbusOptions
from actuators.servo import Servo, ServoOptions, ServoSettings, force_step, recognise, servo_profile, servo_twin


class ModbusServoSettings(ServoSettings, LineTimes):
    """What all drives of a rig have in common."""

    shared_connection: bool = False
    """Whether units at one host and port, as behind a gateway, share one connection; on a serial line they do."""


class ModbusServoOptions(ServoOptions, ModbusOptions):
    """What a `servo` needs to know."""

    shared_connection: bool = False


class ModbusServo(Servo):
    """A servo at a Modbus address.

    Where a cycle is several messages they are sent in turn, on TCP as well: many servers there take one at a time.
    """

    def __init__(self, options: ModbusServoOptions) -> None:
        """See `Servo`."""
        in_turn = servo_profile(options).functions.exchange == "separate"
        bus = options.bus(shared=options.shared_connection, in_turn=in_turn)
        super().__init__(options, bus, options.place, options.unit)


DRIVER = Driver(
    ModbusAddress,
    ModbusServoSettings,
    ModbusServoOptions,
    ModbusServo,
    lambda options, leg: servo_twin(options, options.unit, leg, options.server_framing),
    recognise,
    force_step,
)
"""What is registered as `servo`."""
