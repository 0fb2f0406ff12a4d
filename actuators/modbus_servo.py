"""Driver `servo`: a servo described by a register-map profile, on Modbus TCP, RTU, or RTU over TCP."""

from actuators.driver import Driver
from actuators.modbus_address import ModbusAddress, ReplyTimeout, Turnaround
from actuators.servo import Servo, ServoOptions, ServoSettings, servo_twin


class ModbusServoSettings(ServoSettings):
    """What all drives of a rig have in common."""

    shared_connection: bool = False
    """Whether units at one host and port, as behind a gateway, share one connection; on a serial line they do."""
    turnaround: Turnaround | None = None
    """Silence on a serial line between two frames, s; not given: 3.5 characters, 1.75 ms above 19200 baud."""
    reply_timeout: ReplyTimeout = 0.01
    """After which a unit on a serial line is given up, beyond the time of the bytes, s; longer than any takes."""


class ModbusServoOptions(ServoOptions, ModbusAddress):
    """What a `servo` needs to know."""

    shared_connection: bool = False
    turnaround: Turnaround | None = None
    reply_timeout: ReplyTimeout = 0.01


class ModbusServo(Servo):
    """A servo at a Modbus address."""

    def __init__(self, options: ModbusServoOptions) -> None:
        """See `Servo`."""
        bus = options.bus(
            options.open_wire,
            options.buses,
            shared=options.shared_connection,
            turnaround=options.turnaround,
            reply_timeout=options.reply_timeout,
        )
        super().__init__(options, bus, options.place, options.unit)


DRIVER = Driver(
    ModbusAddress,
    ModbusServoSettings,
    ModbusServoOptions,
    ModbusServo,
    lambda options, leg: servo_twin(options, options.unit, leg, options.server_framing),
)
"""What is registered as `servo`."""
