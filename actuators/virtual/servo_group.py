"""Six virtual servos in one process: the plain requests of a cycle are answered by two compiled calls.

A request is plain if it is the cycle's exchange and leaves the servo's power and mode as they are. Any other one is
answered by its `VirtualServo`, as are all to a servo with a fault.
"""

import struct
from collections.abc import Sequence
from typing import Self

import numpy as np

from actuators.framing import HEADER
from actuators.interface import Mode, Status
from actuators.profile import RANGES, Register
from actuators.register_kernels import (
    Bytes,
    Floats,
    Ints,
    Singles,
    Words,
    frame_fields,
    pack_kernel,
    unpack_kernel,
)
from actuators.virtual.device import MBAP_FRAMING
from actuators.virtual.drive import PlantPorts
from actuators.virtual.faults import FaultyDevice, FaultyServo
from actuators.virtual.servo import (
    ARMED,
    CONTROL,
    FAULT,
    HOMED,
    LAST_WRITE,
    MODE,
    ON,
    POWER,
    ROW,
    SEQUENCE,
    STOPPING,
    WATCHDOG,
    WATCHDOG_TRIPPED,
    ZERO,
    VirtualServo,
)
from kinematics import inlined, kernel

_ALL = 0b111111  # bits of six servos
_MESSAGE = HEADER.size - 1  # where a frame's message begins, the unit id first
_RAW = 6  # raw values of a command, and of feedback without its auxiliary registers
_MODE_OFF, _MODE_HOMING = int(Mode.OFF), int(Mode.HOMING)
_READY, _ENABLED, _FAULT, _HOMED = int(Status.READY), int(Status.ENABLED), int(Status.FAULT), int(Status.HOMED)
_HOMING, _QUICK_STOP, _WATCHDOG = int(Status.HOMING), int(Status.QUICK_STOP), int(Status.WATCHDOG)
_BRAKE, _STANDSTILL = int(Status.BRAKE), int(Status.STANDSTILL)

# Rows of the sensors' parameters.
_LOW = 0
_HIGH = 1
_SCALE = 2
_INVALID = 3  # NaN for none
_WHOLE = 4


@kernel
def tick_kernel(rows: Floats, now: float) -> int:
    """Return bits of the servos whose state may change at `now`, s, without a request. rows (6, ROW)."""
    due = 0
    for i in range(6):
        silent = rows[i, WATCHDOG] != 0.0 and now - rows[i, LAST_WRITE] > rows[i, WATCHDOG]
        homing = rows[i, MODE] == _MODE_HOMING and rows[i, HOMED] == 0.0
        if rows[i, POWER] == STOPPING or (rows[i, POWER] == ON and (silent or homing)):
            due |= 1 << i
    return due


@inlined
def _is_plain(control: int, mode: int, masks: Ints, rows: Floats, i: int) -> bool:
    """Whether a command leaves power and mode of servo i as they are. mode: -1 for none."""
    enable, quick_stop = control & masks[0], control & masks[1]
    if mode < 0 or (control & masks[2] and not int(rows[i, CONTROL]) & masks[2] and rows[i, POWER] != STOPPING):
        return False
    if rows[i, POWER] == ON:
        return bool(enable and not quick_stop and mode != _MODE_OFF and mode == rows[i, MODE])
    if rows[i, POWER] == STOPPING:
        return bool(enable)
    return not enable or bool(quick_stop) or rows[i, ARMED] == 0.0


@kernel
def take_kernel(
    requests: Bytes, servos: int, heads: Bytes, fields: Ints, modes: Ints, masks: Ints, scales: Floats,
    offsets: Floats, now: float, single: Singles, word: Words, raw: Floats, rows: Floats, data: Bytes,
    commands: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Take the plain requests to `servos` (bits) at `now`, s; returns the bits of those taken, and of those commanded.

    requests (6, length). heads (6, n): what their frames have between the transaction and the registers. fields: of a
    command. modes (n, 2): code and mode. masks: of the control word: enable, quick stop, clear. scales: force N,
    position m, velocity m/s. offsets (6,): m. single, word: one float32 and its bits. raw (6,): scratch. rows (6,
    ROW). data (6, bytes): of the command registers. commands (6, 7): for the plant.
    """
    begin = 2 + heads.shape[1]
    taken = commanded = 0
    for i in range(6):
        plain = bool(servos >> i & 1)
        for k in range(heads.shape[1]):
            plain = plain and requests[i, 2 + k] == heads[i, k]
        if not plain:
            continue
        for n in range(len(fields)):
            raw[fields[n, 1]] = unpack_kernel(fields, n, single, word, requests, i)
        control, mode = int(raw[0]), -1
        for n in range(len(modes)):
            if raw[1] == modes[n, 0]:
                mode = modes[n, 1]
        if not (np.isfinite(raw[3] + raw[4] + raw[5]) and _is_plain(control, mode, masks, rows, i)):
            continue
        taken |= 1 << i
        rows[i, CONTROL], rows[i, SEQUENCE], rows[i, LAST_WRITE] = raw[0], raw[2], now
        for k in range(data.shape[1]):
            data[i, k] = requests[i, begin + k]
        if rows[i, POWER] == ON:
            commanded |= 1 << i
            commands[i, 0] = mode
            for k in range(3):
                commands[i, 1 + k] = raw[3 + k] * scales[k]
            commands[i, 2] += offsets[i]
            commands[i, 4], commands[i, 5], commands[i, 6] = 1.0, 0.0, 0.0
        elif rows[i, POWER] != STOPPING:
            if not control & masks[0]:
                rows[i, ARMED] = 1.0 if rows[i, FAULT] == 0.0 else 0.0
            elif control & masks[1]:
                rows[i, ARMED] = 0.0
    return taken, commanded


@kernel
def report_kernel(
    sensed: Floats, sensors: Floats, standstill: Floats, flags: Ints, rows: Floats, fields: Ints, auxiliary: Floats,
    requests: Bytes, servos: int, single: Singles, word: Words, raw: Floats, replies: Bytes,
) -> int:  # fmt: skip
    """Fill in the replies (6, length) of `servos` (bits); returns the bits of those with a sensor without a value.

    sensed (3, 6): m, m/s, N. sensors (5, 3): see the rows; a sensor that is not there has no field. standstill (6,):
    m/s. flags (n, 2): flag of `Status`, mask of the status word. auxiliary (6, n): raw. raw: scratch. The other
    arguments as for `take_kernel`.
    """
    invalid = 0
    for i in range(6):
        if not servos >> i & 1:
            continue
        for k in range(3):
            value = (sensed[k, i] - rows[i, ZERO] if k == 0 else sensed[k, i]) / sensors[_SCALE, k]
            valid = sensors[_LOW, k] <= value <= sensors[_HIGH, k]
            if valid and sensors[_WHOLE, k] != 0.0:
                value = np.rint(value)
                valid = value != sensors[_INVALID, k]
            if not valid:
                invalid |= 1 << i
                value = 0.0
            raw[3 + k] = value
        status = _FAULT if rows[i, FAULT] != 0.0 else _READY
        if rows[i, POWER] == ON:
            status |= _ENABLED
            if rows[i, MODE] == _MODE_HOMING and rows[i, HOMED] == 0.0:
                status |= _HOMING
        elif rows[i, POWER] == STOPPING:
            status |= _ENABLED | _QUICK_STOP
        else:
            status |= _BRAKE
        if rows[i, HOMED] != 0.0:
            status |= _HOMED
        if rows[i, WATCHDOG_TRIPPED] != 0.0:
            status |= _WATCHDOG
        if abs(sensed[1, i]) <= standstill[i]:
            status |= _STANDSTILL
        status_word = 0
        for n in range(len(flags)):
            if status & flags[n, 0]:
                status_word += flags[n, 1]
        raw[0], raw[1], raw[2] = status_word, rows[i, FAULT], rows[i, SEQUENCE]
        for k in range(auxiliary.shape[1]):
            raw[6 + k] = auxiliary[i, k]
        replies[i, 0], replies[i, 1] = requests[i, 0], requests[i, 1]
        for n in range(len(fields)):
            pack_kernel(raw[fields[n, 1]], fields, n, single, word, replies, i)
    return invalid


class VirtualServoGroup:
    """Six virtual servos of one profile with their plant."""

    kernels = tuple(f"actuators.virtual.servo_group.{name}_kernel" for name in ("tick", "take", "report"))
    """Compiled functions that it calls, with their module."""

    @classmethod
    def of(cls, devices: Sequence[FaultyDevice], ports: PlantPorts) -> Self | None:
        """The group of these devices, None where they must be asked one by one. ports: of their legs."""
        drives = [device for device in devices if isinstance(device, FaultyServo)]
        servos = [drive.servo for drive in drives if type(drive.servo) is VirtualServo]
        fits = len(devices) == len(servos) == 6 and all(_fits(servo) for servo in servos)
        alike = len({servo.profile.model_dump_json() for servo in servos}) == 1
        return cls(drives, servos, ports) if fits and alike else None

    def __init__(self, drives: Sequence[FaultyServo], servos: Sequence[VirtualServo], ports: PlantPorts) -> None:
        """drives, ports: see `of`. servos: of the drives."""
        self._drives, self._servos, self._ports = tuple(drives), tuple(servos), ports
        self._changed: set[FaultyDevice] = set(drives)
        for drive in drives:
            drive.changed = self._changed
        self._others = _ALL
        """bits of the servos whose last reply may be another one than in `replies`"""
        first = servos[0]
        profile, codec, command, feedback = first.profile, first.codec, first.profile.command, first.profile.feedback
        self.length = _MESSAGE + codec.requests[0]
        """Bytes of a request's frame."""
        self.replies = np.zeros((6, _MESSAGE + codec.reply_length), np.uint8)
        """Frames of the last replies."""
        begin = _MESSAGE + codec.request_data
        self._heads = np.zeros((6, begin - 2), np.uint8)
        for leg, servo in enumerate(servos):
            message = servo.codec.encode((0,) * _RAW)[0]
            frame = struct.pack(">HHH", 0, 0, len(message)) + message
            self._heads[leg] = np.frombuffer(frame[2:begin], np.uint8)
            reply = struct.pack(">HHH", 0, 0, codec.reply_length) + servo.codec.reply_head
            self.replies[leg, : len(reply)] = np.frombuffer(reply, np.uint8)
        self._fields = frame_fields(command.registers, codec.write_block, profile.word_order, begin)
        registers = [*feedback.registers, *feedback.auxiliary.values()]
        self._reply_fields = frame_fields(registers, codec.read_block, profile.word_order, _MESSAGE + 3)
        self._modes = np.array([[code, int(mode)] for code, mode in first.modes.items()], np.int64)
        self._masks = np.array(first.control_masks, np.int64)
        self._scales = np.array(first.command_scales)
        self._offsets = np.array([servo.position_offset for servo in servos])
        self._sensors = np.array([_sensor(register) for register in registers[3:_RAW]]).T.copy()
        self._standstill = np.array([servo.standstill_speed for servo in servos])
        self._flags = np.array(first.status_masks, np.int64).reshape(-1, 2)
        self._rows, self._data = np.zeros((6, ROW)), np.zeros((6, first.command_data.size), np.uint8)
        for leg, servo in enumerate(servos):
            self._rows[leg], self._data[leg] = servo.row, servo.command_data
            servo.row, servo.command_data = self._rows[leg], self._data[leg]
        self._auxiliary = np.zeros((6, len(feedback.auxiliary)))
        self._single = np.zeros(1, np.float32)
        self._word = self._single.view(np.uint32)
        self._raw, self._values = np.zeros(_RAW), np.zeros(len(registers))
        self._commands, self._sensed = np.zeros((6, 7)), np.zeros((3, 6))
        self._take(np.zeros((6, self.length), np.uint8), 0)  # compiled here, not at the first request
        self._report(np.zeros((6, self.length), np.uint8), 0)

    def _take(self, requests: Bytes, servos: int) -> tuple[int, int]:
        """See `take_kernel`."""
        found: tuple[int, int] = take_kernel(
            requests, servos, self._heads, self._fields, self._modes, self._masks, self._scales, self._offsets,
            self._servos[0].now, self._single, self._word, self._raw, self._rows, self._data, self._commands,
        )  # fmt: skip
        return found

    def _report(self, requests: Bytes, servos: int) -> int:
        """See `report_kernel`."""
        invalid: int = report_kernel(
            self._sensed, self._sensors, self._standstill, self._flags, self._rows, self._reply_fields,
            self._auxiliary, requests, servos, self._single, self._word, self._values, self.replies,
        )  # fmt: skip
        return invalid

    def _settled(self) -> int:
        """Bits of the servos without a fault, whose rows are up to date; none while one answers for another."""
        if not self._changed:
            return _ALL
        settled, exchanged = _ALL, False
        for leg, (drive, servo) in enumerate(zip(self._drives, self._servos, strict=True)):
            if drive not in self._changed:
                continue
            self._changed.discard(drive)  # first: another thread may inject a fault at any time
            self._others |= 1 << leg
            if drive.disturbed:
                self._changed.add(drive)
                settled &= ~(1 << leg)
                exchanged = exchanged or drive.exchanged
                continue
            servo.publish()
            self._auxiliary[leg] = servo.auxiliary
        return 0 if exchanged else settled

    def tick(self, now: float) -> None:
        """See `Responder.tick`, for all six."""
        settled = self._settled()
        for servo in self._servos:
            servo.now = now
        due = tick_kernel(self._rows, now) & settled | ~settled & _ALL
        for leg, servo in enumerate(self._servos) if due else ():
            if due >> leg & 1:
                servo.tick(now)
                if settled >> leg & 1:
                    servo.publish()

    def respond(self, requests: Bytes, servos: int) -> int:
        """See `WireGroup.respond`."""
        servos &= self._settled()
        if not servos or requests.shape[1] != self.length:
            return 0
        taken, commanded = self._take(requests, servos)
        if not taken:
            return 0
        if commanded:
            self._ports.command(self._commands, commanded)
        self._ports.sense(self._sensed, taken)
        invalid = self._report(requests, taken)
        for leg, servo in enumerate(self._servos) if invalid else ():
            if invalid >> leg & 1:
                message = servo.codec.encode_reply(servo.feedback(*self._sensed[:, leg].tolist()))
                self.replies[leg, _MESSAGE:] = np.frombuffer(message, np.uint8)
                self._changed.add(self._drives[leg])
        if self._others & taken:
            for leg, drive in enumerate(self._drives):
                if taken >> leg & 1:
                    drive.previous = self.replies[leg].data
            self._others &= ~taken
        return taken


def _fits(servo: VirtualServo) -> bool:
    """Whether a servo is exchanged with in one message, and measures a speed and a force."""
    feedback = servo.profile.feedback
    return (
        servo.codec.together
        and servo.framing is MBAP_FRAMING
        and feedback.velocity is not None
        and feedback.force is not None
    )


def _sensor(register: Register | None) -> tuple[float, ...]:
    """Return the parameters of a sensor, see the rows."""
    assert register is not None
    low, high = RANGES[register.type]
    invalid = np.nan if register.invalid is None else register.invalid
    return low, high, register.scale, invalid, not register.floating
