"""The twin of a CiA 402 drive on CANopen: NMT, SDO server, PDOs by their mapping, heartbeats, and its leg."""

import math
import struct
from collections.abc import Mapping
from typing import ClassVar

from actuators.canopen.drive import CanopenOptions, CanopenPoints
from actuators.canopen.frames import (
    ABORT_CONNECTION,
    BOOTED,
    CAN_FRAMING,
    CONSUMER_HEARTBEAT,
    CONTROL,
    CYCLE_EXPONENT,
    CYCLE_TIME,
    DEVICE_NAME,
    DEVICE_TYPE,
    EMERGENCY,
    ERROR_CODE,
    FAULT_OPTION,
    FUNCTION,
    HEARTBEAT,
    HOMING_METHOD,
    INPUTS,
    MAPPED,
    MAPPED_INPUTS,
    MAPPED_OUTPUTS,
    MAPPING,
    MODE,
    MODE_DISPLAY,
    NMT,
    NMT_PREPARE,
    NMT_START,
    NO_OBJECT,
    NODE,
    NOT_NOW,
    OPERATIONAL,
    OUTPUTS,
    OUTPUTS_MASK,
    PDO_OFF,
    POSITION,
    PRE_OPERATIONAL,
    PRODUCER_HEARTBEAT,
    PRODUCT,
    QUICK_STOP_OPTION,
    READ_ONLY,
    REVISION,
    RPDO_1,
    RPDO_2,
    RPDO_3,
    SDO_REPLY,
    SDO_REQUEST,
    SERIAL,
    STATUS,
    SYNC,
    TARGET_POSITION,
    TARGET_TORQUE,
    TPDO_1,
    TPDO_2,
    TPDO_3,
    UNKNOWN_COMMAND,
    VELOCITY,
    VENDOR,
    WRONG_LENGTH,
    Object,
    line_of,
)
from actuators.canopen.interpolation import Interpolator
from actuators.cia402 import (
    ATTAINED,
    CIA_402,
    CYCLIC_POSITION,
    CYCLIC_TORQUE,
    HOMING,
    REMOTE,
    TARGET_REACHED,
    VOLTAGE,
)
from actuators.interface import Mode
from actuators.virtual.drive import AUXILIARY_FAULTS, SERVO_FAULTS, FaultKind, PlantPort, VirtualDrive
from actuators.virtual.faults import FaultyServo
from actuators.virtual.power import VirtualPower

_NAME = b"virtual CiA 402 drive"
_LOST, _SENSOR = 0x8130, 0x7305  # error codes
_STANDSTILL = 1e-3  # m/s
_STEP = 1e-3  # s, within which the drive's own cycle begins
_LARGEST = 2**31 - 1
_TOGGLE, _SEGMENT = 0x10, 7

_ERROR_REGISTER = Object(0x1001, 0, "B")
_SERVO = 0x00020192
_PDOS = {**MAPPED, **MAPPED_OUTPUTS, **MAPPED_INPUTS}
_READ_ONLY = frozenset((DEVICE_TYPE, _ERROR_REGISTER, VENDOR, PRODUCT, REVISION, SERIAL))
_SIGNS = {8: "b", 16: "h", 32: "i"}


def _power_up(serial: int) -> dict[tuple[int, int], tuple[Object, int]]:
    """The object dictionary after power-up: entry and value of each index and sub-index."""
    found = {
        DEVICE_TYPE: _SERVO, _ERROR_REGISTER: 0, CONSUMER_HEARTBEAT: 0, PRODUCER_HEARTBEAT: 0,
        VENDOR: 0, PRODUCT: 402, REVISION: 1 << 16, SERIAL: serial,
        ABORT_CONNECTION: 0, ERROR_CODE: 0, CONTROL: 0, QUICK_STOP_OPTION: 2, FAULT_OPTION: 2, MODE: HOMING,
        TARGET_TORQUE: 0, TARGET_POSITION: 0, HOMING_METHOD: 37, CYCLE_TIME: 1, CYCLE_EXPONENT: -3,
        OUTPUTS: 0, OUTPUTS_MASK: 0,
    }  # fmt: skip
    for pdo, (parameters, _, _) in _PDOS.items():
        found |= {Object(parameters, 1, "I"): PDO_OFF | pdo, Object(parameters, 2, "B"): 1}
        found |= {Object(parameters + MAPPING, 0, "B"): 0}
        found |= {Object(parameters + MAPPING, place, "I"): 0 for place in range(1, 5)}
    return {(entry.index, entry.sub): (entry, value) for entry, value in found.items()}


class VirtualCanopenDrive(VirtualDrive):
    """A drive with cyclic synchronous position and torque, and homing.

    It takes control word and torque over at a SYNC, and samples there; positions are those of an `Interpolator`. By SDO
    a control word counts at once, and a target from the next SYNC on. Its
    encoder is incremental: homing finds the reference. It says nothing of a brake, which closes without torque. Digital
    outputs stay as they are when it stops by its watchdog, as nobody tells otherwise.
    """

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = {
        name: kind for name, kind in SERVO_FAULTS.items() if name not in ("swap_unit", *AUXILIARY_FAULTS)
    }
    longest_step = _STEP

    def __init__(self, leg: PlantPort, options: CanopenOptions) -> None:
        """leg: the leg of the plant. options: node, units, serial number."""
        super().__init__(options.unit, CAN_FRAMING)
        self.plant = leg
        self._options = options
        points = isinstance(options, CanopenPoints)
        self._input_bits, self._output_bits = (options.inputs, options.outputs) if points else ({}, {})
        self.inputs = dict.fromkeys(self._input_bits, True)
        self._serial = int("".join(filter(str.isdecimal, options.serial or "")) or 1)
        self._due: list[bytes] = []
        self._barred = self._hung = False
        self._frozen: dict[int, bytes] = {}
        self.reboot()
        self._due.clear()

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`: it says so by its boot-up message."""
        self._objects = _power_up(self._serial)
        self._switch()
        self._state = PRE_OPERATIONAL
        self._power = VirtualPower(CIA_402)
        self._mode = HOMING
        self._homed = self._homing = self._start = False
        self._rpdos: dict[int, bytes] = {}
        self._targeted = False
        """whether a target was written by SDO, which counts from the next SYNC on"""
        self._zero = self.plant.length if math.isfinite(self.plant.length) else self._options.position_offset
        self._heard, self._spoke = math.inf, self.now
        self._set_points = Interpolator(self._zero)
        self._upload = b""
        self._due.append(line_of(HEARTBEAT + self.unit, bytes((BOOTED,))))
        self._drive()

    @property
    def hung(self) -> bool:
        """See `VirtualDevice.hung`: the stack answers every SYNC with the same values."""
        return self._hung

    @hung.setter
    def hung(self, hung: bool) -> None:
        self._frozen = {pdo: self._packed(pdo) for pdo in (TPDO_1, TPDO_2, TPDO_3)} if hung else {}
        self._hung = hung

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`: it says none of them."""

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`."""
        self._barred = barred
        if barred:
            self._power.lose()
        self._drive()

    def due(self) -> bytes:
        """See `Responder.due`: boot-up, emergencies, heartbeats."""
        said, self._due = b"".join(self._due), []
        return said

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`."""
        return self.now if self._due else math.inf

    def tick(self, now: float) -> None:
        """See `Responder.tick`."""
        super().tick(now)
        produced = 1e-3 * self._value(PRODUCER_HEARTBEAT)
        if produced and now - self._spoke >= produced:
            self._spoke = now
            self._due.append(line_of(HEARTBEAT + self.unit, bytes((self._state,))))
        if self._hung:
            return
        consumed = 1e-3 * (self._value(CONSUMER_HEARTBEAT) & 0xFFFF)
        if consumed and now - self._heard > consumed:
            self._heard = math.inf
            if self._value(ABORT_CONNECTION) == 1:
                self._fail(_LOST)
        if not math.isfinite(self.plant.length + self.plant.velocity):
            self._homed = False
            self._fail(_SENSOR)
        if self._power.stopping and not abs(self.plant.velocity) > _STANDSTILL:
            self._power.rest()
        if self._homing and self.plant.homing_done:
            self._homing, self._homed, self._zero = False, True, self._options.position_offset
            self._set_points.stand(self.plant.length)
        self._drive()

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`: the lines of the frames that it sends for one that it receives."""
        identifier, data = int.from_bytes(message[1:3], "big"), message[3:]
        function, node = identifier & FUNCTION, identifier & NODE
        sent = b""
        if identifier == NMT:
            self._manage(data)
        elif identifier == SYNC:
            sent = self._sync()
        elif function == HEARTBEAT:
            if node == self._value(CONSUMER_HEARTBEAT) >> 16:
                self._heard = self.now
        elif node != self.unit:
            return b""
        elif function == SDO_REQUEST:
            sent = line_of(SDO_REPLY + self.unit, self._serve(data.ljust(8, b"\0")[:8]))
        elif function in (RPDO_1, RPDO_2, RPDO_3) and self._state == OPERATIONAL and not self._hung:
            parameters = _PDOS[function][0]
            if not self._objects[parameters, 1][1] & PDO_OFF:
                self._rpdos[function] = data
                if self._objects[parameters, 2][1] >= 254:
                    self._take(function)
        return message[:1] + sent if sent else b""

    def refusal(self, message: bytes) -> bytes:
        """See `VirtualDevice.refusal`: of an SDO an abort, of the rest nothing."""
        if int.from_bytes(message[1:3], "big") != SDO_REQUEST + self.unit:
            return b""
        return message[:1] + line_of(SDO_REPLY + self.unit, _abort(message[3:7].ljust(4, b"\0"), NOT_NOW))

    def _manage(self, data: bytes) -> None:
        if len(data) != 2 or data[1] not in (0, self.unit) or self._hung:
            return
        if data[0] == NMT_START:
            self._state = OPERATIONAL
        elif data[0] == NMT_PREPARE:
            self._state = PRE_OPERATIONAL
            self._rpdos.clear()
        elif data[0] in (0x81, 0x82):  # reset of the node, or of its communication
            self.reboot()

    def _sync(self) -> bytes:
        """Take set-points over, and say the TPDOs."""
        if self._state != OPERATIONAL:
            return b""
        if not self._hung:
            self._set_points.sync(self.now, self._value(CYCLE_TIME) * 10.0 ** self._value(CYCLE_EXPONENT))
            for pdo in (RPDO_3, RPDO_2, RPDO_1):
                self._take(pdo)
            if self._targeted:
                self._act()
        sent = b""
        for pdo in (TPDO_1, TPDO_2, TPDO_3):
            identifier = self._objects[_PDOS[pdo][0], 1][1]
            if not identifier & PDO_OFF:
                sent += line_of(identifier & 0x7FF, self._frozen.get(pdo) or self._packed(pdo))
        return sent

    def _take(self, pdo: int) -> None:
        """Write what an RPDO has brought by its mapping."""
        data, done = self._rpdos.pop(pdo, b""), 0
        if not data:
            return
        for entry in self._mapped(pdo):
            value = data[done : done + entry.size]
            if len(value) == entry.size:
                self._set(entry, entry.unpack(value))
            done += entry.size
        if pdo == RPDO_1:
            self._act()

    def _packed(self, pdo: int) -> bytes:
        return b"".join(entry.pack(self._value(entry)) for entry in self._mapped(pdo))

    def _mapped(self, pdo: int) -> list[Object]:
        """Entries of a PDO by the mapping that was written."""
        mapping = _PDOS[pdo][0] + MAPPING
        found = []
        for place in range(1, self._objects[mapping, 0][1] + 1):
            value = self._objects[mapping, place][1]
            found.append(Object(value >> 16, value >> 8 & 0xFF, _code(value)))
        return found

    def _set(self, entry: Object, value: int) -> None:
        self._objects[entry.index, entry.sub] = (entry, value)
        if entry.index == OUTPUTS.index:
            self._switch()
        if entry == MODE and value != self._mode and value in (HOMING, CYCLIC_POSITION, CYCLIC_TORQUE):
            self._mode = value
            self._homing = self._homing and value == HOMING
            if math.isfinite(self.plant.length):
                self._set_points.stand(self.plant.length)

    def _switch(self) -> None:
        """Switch the digital outputs that the mask leaves to the bus."""
        on = self._value(OUTPUTS) & self._value(OUTPUTS_MASK)
        self.outputs = {name: bool(on >> bit & 1) for name, bit in self._output_bits.items()}

    def _act(self) -> None:
        """Do what control word and targets say."""
        self._targeted = False
        word = self._value(CONTROL)
        self._power.write(word if not self._barred else 0)
        if not self._power.failed:
            self._objects[ERROR_CODE.index, 0] = (ERROR_CODE, 0)
        start = bool(word & 0x10) and self._mode == HOMING and self._power.enabled
        if start and not self._start:
            self._homing, self._homed = True, False
        self._homing = self._homing and start
        self._start = start
        if self._mode == CYCLIC_POSITION:
            self._set_points.take(self.now, self._value(TARGET_POSITION) * self._options.resolution + self._zero)
        self._drive()

    def _drive(self) -> None:
        """Command the leg for the present moment."""
        power = self._power
        if not power.enabled and math.isfinite(self.plant.length):
            self._set_points.stand(self.plant.length)
        on = power.enabled or power.stopping or (self.torque_stuck and not self._barred)
        position, speed = self._set_points.position(self.now)
        if self._homing:
            mode = Mode.HOMING
        elif self._mode == CYCLIC_TORQUE:
            mode = Mode.FORCE
        else:
            mode = Mode.POSITION
        force = self._value(TARGET_TORQUE) * self._options.rated_force / 1000.0 if mode is Mode.FORCE else 0.0
        brake = not (power.enabled or power.stopping)
        self.plant.command(mode if on else Mode.OFF, force, position, speed, on, power.stopping, brake)

    def _fail(self, code: int) -> None:
        if self._power.failed:
            return
        self._power.fail()
        self._homing = False
        self._objects[ERROR_CODE.index, 0] = (ERROR_CODE, code)
        register = 0x11 if code == _LOST else 0x21
        self._objects[_ERROR_REGISTER.index, 0] = (_ERROR_REGISTER, register)
        self._due.append(line_of(EMERGENCY + self.unit, struct.pack("<HB5s", code, register, b"")))

    def _value(self, entry: Object) -> int:
        """Value of an entry now."""
        if entry.index == STATUS.index:
            word = self._power.state.value | REMOTE | (0 if self._barred else VOLTAGE)
            if self.torque_stuck:
                word |= 0x07
            word |= 0x20 if self._power.enabled else 0  # no quick stop is active
            if self._mode == HOMING:
                word |= (ATTAINED if self._homed else 0) | (0 if self._homing else TARGET_REACHED)
            elif self._power.enabled:
                word |= ATTAINED  # it follows the command
            return word
        if entry.index == MODE_DISPLAY.index:
            return self._mode
        if entry.index == POSITION.index:
            return _counts(self.plant.length - self._zero, self._options.resolution)
        if entry.index == VELOCITY.index:
            return _counts(self.plant.velocity, self._options.speed_resolution)
        if entry.index == INPUTS.index:
            return sum(self.inputs[name] << bit for name, bit in self._input_bits.items())
        return self._objects[entry.index, entry.sub][1]

    def _serve(self, request: bytes) -> bytes:
        """Answer an SDO request."""
        command, index, sub = struct.unpack_from("<BHB", request)
        multiplexer = request[1:4]
        if command & 0xE0 == 0x60:
            return self._segment(command)
        if command == 0x40:
            return self._begin_upload(index, sub, multiplexer)
        if command & 0xE3 != 0x23:
            return _abort(request[:4], UNKNOWN_COMMAND)
        found = self._objects.get((index, sub))
        if found is None:
            code = READ_ONLY if (index, sub) == DEVICE_NAME or index in _REPORTED else NO_OBJECT
            return _abort(request[:4], code)
        entry, data = found[0], request[4 : 8 - (command >> 2 & 3)]
        if entry in _READ_ONLY or len(data) != entry.size:
            return _abort(request[:4], READ_ONLY if entry in _READ_ONLY else WRONG_LENGTH)
        if not self._hung:
            self._set(entry, entry.unpack(data))
            if entry == CONSUMER_HEARTBEAT:
                self._heard = math.inf  # watched from the first one on
            if entry == CONTROL:
                self._act()
            self._targeted |= entry in (TARGET_POSITION, TARGET_TORQUE)
        return b"\x60" + multiplexer + bytes(4)

    def _begin_upload(self, index: int, sub: int, multiplexer: bytes) -> bytes:
        if (index, sub) == DEVICE_NAME:
            self._upload = _NAME
            return b"\x41" + multiplexer + len(_NAME).to_bytes(4, "little")
        entry = _REPORTED.get(index) if sub == 0 else None
        if entry is None:
            if (index, sub) not in self._objects:
                return _abort(b"\0" + multiplexer, NO_OBJECT)
            entry = self._objects[index, sub][0]
        data = entry.pack(self._value(entry))
        return bytes((0x43 | (4 - len(data)) << 2,)) + multiplexer + data.ljust(4, b"\0")

    def _segment(self, command: int) -> bytes:
        part, self._upload = self._upload[:_SEGMENT], self._upload[_SEGMENT:]
        head = command & _TOGGLE | (_SEGMENT - len(part)) << 1 | (0 if self._upload else 1)
        return bytes((head,)) + part.ljust(_SEGMENT, b"\0")


_REPORTED = {entry.index: entry for entry in (STATUS, MODE_DISPLAY, POSITION, VELOCITY, INPUTS)}
"""Objects that are computed when they are read."""


def _code(mapping: int) -> str:
    known = {(each.index, each.sub): each.code for _, objects, _ in _PDOS.values() for each in objects}
    return known.get((mapping >> 16, mapping >> 8 & 0xFF), _SIGNS.get(mapping & 0xFF, "i"))


def _counts(value: float, unit: float) -> int:
    """A value in units of the drive; the end of its range where it is beyond or no number."""
    counts = value / unit
    return round(counts) if abs(counts) <= _LARGEST else int(math.copysign(_LARGEST, counts))


def _abort(request: bytes, code: int) -> bytes:
    return b"\x80" + request[1:4] + code.to_bytes(4, "little")


class FaultyCanopenDrive(FaultyServo):
    """A drive on a CAN bus that can fail. A frame with a wrong bit is destroyed by its checksum, and never arrives."""

    def _carried(self, reply: bytes) -> bytes:
        return b"" if {"bit_flip", "noise"} & self._wire.keys() else super()._carried(reply)


def canopen_twin(options: CanopenOptions, leg: PlantPort) -> FaultyCanopenDrive:
    """The virtual drive of a leg, behind a bus that can fail."""
    return FaultyCanopenDrive(VirtualCanopenDrive(leg, options))
