"""The exchange with six servos of one profile as one operation: two compiled calls pack requests and unpack replies.

The bytes are those of `Servo`. A reply is plain if it is exactly the frame expected in this cycle, with its echo; any
other one is handled by the drive's own `Servo`.
"""

import math
import struct
from collections.abc import Mapping, Sequence

import numpy as np

from actuators.bus import HalfDuplexBus, PipelinedBus, advance_all
from actuators.drive import Drive
from actuators.exchange import CycleExchange
from actuators.interface import SEQUENCES, Command, Commands, Feedback, Mode, Status
from actuators.modbus_servo import Servo
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
from actuators.wire import WireGroup, wire_group
from kinematics import kernel

_SIGNED = ("i16", "i32", "f32")
_HEADER = 7  # bytes of Modbus TCP before the function code, the unit id included
_COMMAND = 7  # columns of a command: mode, force, position, velocity, enable, quick stop, clear
_ALL = 0b111111  # bits of six drives
_SEQUENCE = 2  # place of the sequence among raw values
_RAW = 6  # raw values of a command, and of feedback without its auxiliary registers

_POSITION_MODE = int(Mode.POSITION)

# Columns of a drive's parameters.
_OFFSET = 0  # m, position offset
_COMMAND_SCALE = 1  # force, position, velocity
_FEEDBACK_SCALE = 4  # position, velocity, force
_INVALID = 7  # raw value that means "not valid" of the same three, NaN for none


@kernel
def encode_kernel(
    commands: Floats, drives: int, limits: Floats, modes: Ints, masks: Ints, parameters: Floats, whole: Ints,
    fields: Ints, sequences: Ints, transactions: Ints, raw: Floats, single: Singles, word: Words, requests: Bytes,
) -> int:  # fmt: skip
    """Fill in the next requests to `drives` (bits); -1, or the first of all whose command is refused, with no change.

    commands (6, 7): mode, force N, position m, velocity m/s, and enable, quick stop, clear as 0 or 1. limits (6, 3): N,
    m, m/s. modes: code of each `Mode`, -1 for one that the drive lacks. masks: of the control word. parameters (6, 10):
    see the columns. whole (3,): 1 for a set-point in an integer register. fields (n, 6): register type, index of the
    value, positions of its bytes, most significant first. sequences, transactions (6,): of the last requests, counted
    on. raw (6,): scratch. single, word: one float32 and its bits. requests (6, length): frames with constant heads.
    """
    for i in range(6):
        mode = int(commands[i, 0])
        if not 0 <= mode < len(modes) or modes[mode] < 0:
            return i
        for k in range(3):
            centre = parameters[i, _OFFSET] if k == 1 else 0.0
            inside = -limits[i, k] <= commands[i, 1 + k] - centre <= limits[i, k]
            if not (inside or (k == 1 and commands[i, 2] == 0.0 and mode != _POSITION_MODE)):
                return i
    for i in range(6):
        if not drives >> i & 1:
            continue
        sequences[i] = (sequences[i] + 1) % SEQUENCES
        transactions[i] = transactions[i] % 0xFFFF + 1
        control = 0
        for k in range(3):
            if commands[i, 4 + k] != 0.0:
                control |= masks[k]
        raw[0], raw[1], raw[2] = control, modes[int(commands[i, 0])], sequences[i]
        for k in range(3):
            value = commands[i, 1 + k] - (parameters[i, _OFFSET] if k == 1 else 0.0)
            if k == 1 and commands[i, 2] == 0.0 and not -limits[i, 1] <= value <= limits[i, 1]:
                value = 0.0  # no set-point, in a mode that follows none
            raw[3 + k] = value / parameters[i, _COMMAND_SCALE + k]
            if whole[k]:
                raw[3 + k] = np.rint(raw[3 + k])
        requests[i, 0], requests[i, 1] = transactions[i] >> 8, transactions[i] & 0xFF
        for n in range(len(fields)):
            pack_kernel(raw[fields[n, 1]], fields, n, single, word, requests, i)
    return -1


@kernel
def decode_kernel(
    replies: Bytes, lengths: Ints, head: Bytes, transactions: Ints, sequences: Ints, fields: Ints, parameters: Floats,
    flags: Ints, single: Singles, word: Words, raw: Floats, values: Floats, status: Ints,
) -> int:  # fmt: skip
    """Unpack the plain replies; returns one bit for each drive whose reply is plain.

    replies (6, length); lengths (6,), bytes received. head (6, 7): constant head of each drive's reply, behind the
    transaction. flags (n, 2): bit of the status word, flag of `Status`. raw (6, n): raw values. values: those of
    `CycleExchange`. status (6, 2): flags of `Status`, error.
    """
    good = 0
    width = head.shape[1]
    for i in range(6):
        if lengths[i] != replies.shape[1]:
            continue
        plain = replies[i, 0] == transactions[i] >> 8 and replies[i, 1] == transactions[i] & 0xFF
        for k in range(width):
            plain = plain and replies[i, 2 + k] == head[i, k]
        if not plain:
            continue
        expected = True
        for n in range(len(fields)):
            place, value = fields[n, 1], unpack_kernel(fields, n, single, word, replies, i)
            if place == _SEQUENCE and value != sequences[i]:
                expected = False
                break
            raw[i, place] = value
        if not expected:
            continue
        good |= 1 << i
        for k in range(3):
            value = raw[i, 3 + k]
            if value == parameters[i, _INVALID + k]:
                values[k, i] = np.nan
            else:
                values[k, i] = value * parameters[i, _FEEDBACK_SCALE + k]
        values[0, i] += parameters[i, _OFFSET]
        values[3, i] = 1.0  # fresh, now, of this command
        for k in range(4, len(values)):
            values[k, i] = 0.0
        found = 0
        for n in range(len(flags)):
            if int(raw[i, 0]) & flags[n, 0]:
                found |= flags[n, 1]
        status[i, 0], status[i, 1] = found, int(raw[i, 1])
    return good


class ServoGroup(CycleExchange):
    """Six servos of one profile, each on its own Modbus TCP connection, with one message per cycle.

    The state of each `Servo` (last feedback, counters) is updated by `sync`, not in every cycle.
    """

    kernels = ("actuators.servo_group.encode_kernel", "actuators.servo_group.decode_kernel")

    @classmethod
    def of(cls, drives: Sequence[Drive]) -> "ServoGroup | None":
        """The group of these drives, None where they must be exchanged with one by one."""
        servos = [drive for drive in drives if isinstance(drive, Servo) and not drive.has_own_exchange]
        return cls(servos) if len(servos) == len(drives) == 6 and all(map(_fits, servos)) and _alike(servos) else None

    def __init__(self, drives: Sequence[Servo]) -> None:
        """drives: see `of`."""
        super().__init__(drives)
        self._servos = tuple(drives)
        first = drives[0]
        profile, codec = first.profile, first.plain_codec
        self._buses = [drive.bus for drive in drives if isinstance(drive.bus, PipelinedBus)]
        command, feedback = profile.command, profile.feedback
        self._fields = frame_fields(
            command.registers, codec.write_block, profile.word_order, _HEADER - 1 + codec.request_data
        )
        registers = [*feedback.registers, *feedback.auxiliary.values()]
        fields = frame_fields(registers, codec.read_block, profile.word_order, _HEADER - 1 + 3)
        self._reply_fields = fields[np.argsort(fields[:, 1] != _SEQUENCE, kind="stable")]  # first
        self._auxiliary = [(name, one.scale, one.invalid) for name, one in feedback.auxiliary.items()]
        self._scaled: list[tuple[list[float], dict[str, float]]] = [([math.nan], {})] * 6
        """last auxiliary values by leg, raw and scaled"""
        self._requests = np.zeros((6, _HEADER - 1 + codec.requests[0]), np.uint8)
        self._replies = np.zeros((6, _HEADER - 1 + codec.reply_length), np.uint8)
        self._heads = np.zeros((6, 4 + 3), np.uint8)
        for leg, drive in enumerate(drives):
            message = drive.plain_codec.encode((0,) * _RAW)[0]
            frame = struct.pack(">HHH", 0, 0, len(message)) + message
            self._requests[leg] = np.frombuffer(frame, np.uint8)
            head = struct.pack(">HH", 0, codec.reply_length) + drive.plain_codec.reply_head
            self._heads[leg] = np.frombuffer(head, np.uint8)
        self._modes = np.array(
            [
                code if mode in first.capabilities.modes else -1
                for mode, code in zip(Mode, first.mode_codes, strict=True)
            ]
        )
        self._masks = np.array(first.control_masks)
        set_points = command.registers[3:]
        self._whole = np.array([int(one is not None and not one.floating) for one in set_points])
        self._flags = np.array([[mask, int(flag)] for mask, flag in first.status_bits], np.int64).reshape(-1, 2)
        self._limits = np.array([drive.limits for drive in drives])
        self._parameters = np.array([drive.scaling for drive in drives])
        self._sequences, self._transactions = np.zeros(6, np.int64), np.zeros(6, np.int64)
        self._lengths, self._whole_lengths = np.zeros(6, np.int64), np.full(6, self._replies.shape[1])
        self._commands = np.zeros((6, _COMMAND))
        self._values, self._raw = np.zeros(_RAW), np.zeros((6, len(registers)))
        self._raw[:, 2:] = -1.0, *[math.nan] * (len(registers) - 3)
        self._raw_auxiliary = [row[_RAW:] for row in self._raw]
        self._status = np.zeros((6, 2), np.int64)
        self._single = np.zeros(1, np.float32)
        self._word = self._single.view(np.uint32)
        self._sent = [row.data for row in self._requests]
        self._received = [row.data for row in self._replies]
        self._arrived = [b""] * 6
        """what came for the last requests, where the devices do not answer together"""
        self._plain = 0
        """bits of the drives with which the last exchange was plain, so that the next one may be"""
        self._count, self._known = 0, [0] * 6
        """good exchanges, and those of them that each drive's `Servo` knows"""
        self._now = 0.0
        self._wires: WireGroup | None = None
        """the devices, where they are in this process and answer together"""

    def rehearse(self) -> None:
        """See `CycleExchange.rehearse`: a command that no drive takes, and no reply."""
        self._encode(self._commands, 0)
        self._lengths[:] = 0
        self._decode(self._replies, self._lengths)

    def _encode(self, commands: Floats, drives: int) -> int:
        """See `encode_kernel`."""
        refused: int = encode_kernel(
            commands, drives, self._limits, self._modes, self._masks, self._parameters, self._whole, self._fields,
            self._sequences, self._transactions, self._values, self._single, self._word, self._requests,
        )  # fmt: skip
        return refused

    def _decode(self, replies: Bytes, lengths: Ints) -> int:
        """See `decode_kernel`."""
        good: int = decode_kernel(
            replies, lengths, self._heads, self._transactions, self._sequences, self._reply_fields,
            self._parameters, self._flags, self._single, self._word, self._raw, self.values, self._status,
        )  # fmt: skip
        return good

    def interrupt(self, leg: int) -> None:
        """See `CycleExchange.interrupt`."""
        self.sync(leg)
        self._plain &= ~(1 << leg)

    def sync(self, leg: int) -> None:
        """See `CycleExchange.sync`."""
        count, self._known[leg] = self._count - self._known[leg], self._count
        if not count:
            return
        position, velocity, force = self.values[:3, leg].tolist()
        status, error = self._status[leg].tolist()
        raw = tuple(self._raw[leg].tolist())
        last = Feedback(position, velocity, force, Status(status), error, True, 0.0, int(raw[2]))
        self._servos[leg].catch_up(count, self._now, int(self._sequences[leg]), raw, last)
        self._buses[leg].transaction = int(self._transactions[leg])

    def auxiliary(self, leg: int) -> Mapping[str, float]:
        """See `CycleExchange.auxiliary`."""
        if self._known[leg] == self._count:
            return self._servos[leg].auxiliary
        values, (before, found) = self._raw_auxiliary[leg].tolist(), self._scaled[leg]
        if values != before:
            found = {
                name: math.nan if raw == invalid else raw * scale
                for (name, scale, invalid), raw in zip(self._auxiliary, values, strict=True)
            }
            self._scaled[leg] = values, found
        return found

    def exchange(
        self, commands: Sequence[Command], now: float, timeout: float, lines: Sequence[HalfDuplexBus] = ()
    ) -> None:
        """See `CycleExchange.exchange`."""
        if self._plain != _ALL:
            self._resume()
        plain = self._plain
        if isinstance(commands, Commands):
            values = commands.values
        else:
            values = self._commands
            values.ravel()[:] = [number for command in commands for number in command]
        if not plain or self._encode(values, plain) >= 0:
            self._separately(commands, now, timeout, lines)  # which says why a command is refused
            return
        wires, answered, deadline = self._wires, 0, now + timeout
        if wires is not None:
            answered = wires.respond(self._requests, plain)
        sent = answered if answered == _ALL else answered | self._send(plain & ~answered, commands, now)
        if lines:
            advance_all(lines, deadline)
        if wires is not None and answered == _ALL:
            replies, lengths = wires.replies, self._whole_lengths
        else:
            replies, lengths = self._replies, self._lengths
            self._receive(answered, sent, deadline)
        good = self._decode(replies, lengths)
        self.prompt = good == _ALL
        if not self.prompt:
            self._finish_alone(good, sent, replies, now, deadline)
        self._count, self._now = self._count + 1, now
        self.status, self.error = self._status.T.tolist()

    def _resume(self) -> None:
        """Go on with drives that were asked outside the cycle and have answered."""
        for leg, servo in enumerate(self._servos):
            if not self._plain >> leg & 1 and servo.collect_watchdog():
                self._follow(leg)
        self._find_wires()

    def _find_wires(self) -> None:
        """Find the devices that answer together, with frames of this length."""
        found = wire_group([bus.wire for bus in self._buses])
        self._wires = found if found is not None and found.replies.shape == self._replies.shape else None

    def _send(self, drives: int, commands: Sequence[Command], now: float) -> int:
        """Send the plain requests to `drives` (bits), and have the others begin that are not plain; the bits sent."""
        sent = 0
        for leg, bus in enumerate(self._buses):
            if drives >> leg & 1:
                sent |= bus.send(bytes(self._sent[leg])) << leg
            elif not self._plain >> leg & 1:
                self._servos[leg].start(commands[leg], now)
        return sent

    def _receive(self, answered: int, sent: int, deadline: float) -> None:
        """Take what has arrived by `deadline`, s, for the requests `sent` (bits), of which some are `answered`."""
        expected = self._replies.shape[1]
        for leg, bus in enumerate(self._buses):
            data = b""
            if answered >> leg & 1 and self._wires is not None:
                data = self._wires.replies[leg].tobytes()
            elif sent >> leg & 1:
                data = bus.receive(deadline)
            self._arrived[leg], self._lengths[leg] = data, len(data)
            if len(data) == expected:
                self._received[leg][:] = data

    def _finish_alone(self, good: int, sent: int, replies: Bytes, now: float, deadline: float) -> None:
        """Let drives whose reply is not `good` (bits) finish by themselves."""
        for leg, (servo, bus) in enumerate(zip(self._servos, self._buses, strict=True)):
            if good >> leg & 1:
                continue
            if self._plain >> leg & 1:
                self.sync(leg)
                bus.transaction = transaction = int(self._transactions[leg])
                data = self._arrived[leg] if replies is self._replies else replies[leg].tobytes()
                servo.begun(now, int(self._sequences[leg]), transaction if sent >> leg & 1 else None, data)
            self._take(leg, servo.finish(deadline))
            self._follow(leg)
            self._known[leg] = self._count + 1  # with this exchange

    def _follow(self, leg: int) -> None:
        """Go on from where a drive is that was asked by itself."""
        servo = self._servos[leg]
        self._sequences[leg], self._transactions[leg] = servo.sequence, self._buses[leg].transaction
        self._plain = self._plain & ~(1 << leg) | servo.plain << leg

    def _separately(
        self, commands: Sequence[Command], now: float, timeout: float, lines: Sequence[HalfDuplexBus]
    ) -> None:
        """Exchange with each drive by itself."""
        for leg in range(6):
            self.interrupt(leg)
        super().exchange(commands, now, timeout, lines)
        for leg in range(6):
            self._follow(leg)
        self._find_wires()

    def _take(self, leg: int, feedback: Feedback) -> None:
        """See `CycleExchange._take`."""
        super()._take(leg, feedback)
        self._status[leg] = int(feedback.status), feedback.error


def _fits(servo: Servo) -> bool:
    """Whether a drive is exchanged with in one message per cycle, with signed set-points and a measured speed."""
    profile = servo.profile
    signed = all(register is None or register.type in _SIGNED for register in profile.command.registers[3:])
    in_every_cycle = profile.plain and servo.codec.together and not servo.sample_period
    return isinstance(servo.bus, PipelinedBus) and signed and in_every_cycle and profile.feedback.velocity is not None


def _alike(servos: Sequence[Servo]) -> bool:
    """Whether drives have the same registers and each its own connection."""
    profiles = {servo.profile.model_dump_json() for servo in servos}
    return len(profiles) == 1 and len({id(servo.bus) for servo in servos}) == len(servos)
