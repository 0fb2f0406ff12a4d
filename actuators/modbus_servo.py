"""Driver `servo`: a servo described by a register-map profile, on Modbus TCP, a serial line, or behind a gateway.

A plain profile has the fixed layout of `ExchangeCodec`; any other the messages of `MappedCodec`, and a `ControlWord`
that advances by at most one step an exchange.
"""

import contextlib
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from actuators.addresses import LineTimes, ModbusAddress, ModbusOptions
from actuators.bus import Bus, PipelinedBus
from actuators.codec import READ_HOLDING, WRITE_SINGLE, Block, ExchangeCodec
from actuators.control_word import ControlWord
from actuators.drive import SpeedFromPositions
from actuators.driver import DriveOptions, Driver, DriveSettings, Line, StationDrive
from actuators.errors import ConfigurationError, IdentityError, ProtocolError
from actuators.framing import CRC_LENGTH
from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.profile import RANGES, IdentityMap, Register, largest, load_profile
from actuators.register_map import INPUT, OUTPUT, MappedCodec, Signals
from actuators.servo_profile import ServoProfile
from actuators.station import IdentityRead, Station
from actuators.virtual.device import MBAP_FRAMING, Framing
from actuators.virtual.drive import PlantPort
from actuators.virtual.faults import FaultyServo
from actuators.virtual.mapped_servo import VirtualMappedServo
from actuators.virtual.servo import VirtualServo

_ANY = RANGES["f32"][1]


class ServoSettings(DriveSettings):
    """Settings common to all drives of a rig."""

    files = ("profile",)

    profile: Line = "generic-servo"
    """Name of a shipped register profile, or a TOML file relative to the configuration's folder."""


class ServoOptions(DriveOptions):
    """What a servo needs to know, wherever it is."""

    profile: str | Path | ServoProfile = "generic-servo"
    """A shipped profile's name, a TOML file's path, or a loaded profile."""


class Servo(StationDrive):
    """Modbus servo: a cycle writes the command registers and reads the feedback, in one FC23 or in turn."""

    def __init__(self, options: ServoOptions, bus: Bus, place: str, unit: int) -> None:
        """Make the drive without connecting. Raises ConfigurationError: bad profile, watchdog time out of range.

        bus: where it is `unit`. place: as messages say it.
        """
        self.profile = servo_profile(options)
        self._options = options
        self.codec: ExchangeCodec | MappedCodec
        self.codec = codec = (ExchangeCodec if self.profile.plain else MappedCodec)(self.profile, unit)
        can = _capabilities(self.profile, options.position_offset)
        super().__init__(options, can, bus, place, unit, len(codec.requests))
        self._unit = unit
        self._parameters = self._encode_parameters()
        """word of each register that is written before the drive is enabled"""
        watchdog = self.profile.parameters.watchdog
        self._watchdog_at = range(0) if watchdog is None else self.profile.whole(watchdog)
        self._watchdog_words = [self._parameters.get(address, 0) for address in self._watchdog_at]
        self._watchdog_requested = False
        self._watchdog_doubts = 0
        """successive answers with another watchdog time"""
        identity = self.profile.identity
        if options.serial is not None and (identity is None or identity.serial is None):
            lacking = "table [identity]" if identity is None else "register identity.serial"
            raise ConfigurationError(
                f"{self.name}: serial number {options.serial!r} cannot be compared: profile {self.profile.name} has no "
                f"{lacking}"
            )
        self._raw: tuple[int | float, ...] = ()
        self._set_points: tuple[int | float, ...] = ()
        """raw, that were sent last since connecting: force, position, velocity"""

        given, signals = self.profile.modes.given, Signals(self.profile)
        self.mode_codes = [given[mode.name.lower()].value if mode.name.lower() in given else 0 for mode in Mode]
        self._words = ControlWord(self.profile, signals)
        masks = signals.control if self.profile.plain else {}
        self.control_masks = tuple(masks.get(name, 0) for name in ("enable", "quick_stop", "clear"))
        """of a plain profile, as `status_bits` is"""
        self.status_bits = [
            (signals.status[flag.name.lower()][0], flag)
            for flag in Status
            if flag.name and flag.name.lower() in signals.status
        ]
        self._status_of: dict[int | float, Status] = {}
        self.input_names, self.output_names = tuple(self.profile.inputs), tuple(self.profile.outputs)
        self._inputs = {name: signals.status[INPUT + name] for name in self.input_names}
        self._outputs = {name: signals.control[OUTPUT + name] for name in self.output_names}
        self._answered = False
        """whether there was a good reply since connecting"""

        command, feedback = self.profile.command, self.profile.feedback
        self._offset = options.position_offset
        set_points = [register or Register(address=0) for register in command.registers[3:]]
        self._scales = tuple(register.scale for register in set_points)
        self._rounding = tuple(_rounding(register) for register in set_points)
        measured = [feedback.position, *(one or Register(address=0) for one in (feedback.velocity, feedback.force))]
        self._feedback_scales = tuple(register.scale for register in measured)
        self._invalid = tuple(register.invalid for register in measured)
        self._no_velocity = feedback.velocity is None
        self._speed = SpeedFromPositions()
        """for a drive that does not report it"""

    @property
    def has_own_exchange(self) -> bool:
        """Whether a class derived from this one exchanges in another way."""
        kind = type(self)
        return kind._begin is not Servo._begin or kind._finish is not Servo._finish

    @property
    def plain_codec(self) -> ExchangeCodec:
        """The codec of a servo with a plain profile."""
        assert isinstance(self.codec, ExchangeCodec)
        return self.codec

    @property
    def bus(self) -> Bus:
        """The bus that it is on."""
        return self._station.bus

    @property
    def plain(self) -> bool:
        """Whether the last reply was fresh and of its own cycle, and no other reply is expected."""
        bus = self._station.bus
        expecting = self._watchdog_requested or self._lag or self._reply_lag
        return not expecting and not self.overdue and self._last.fresh and isinstance(bus, PipelinedBus) and bus.idle

    def collect_watchdog(self) -> bool:
        """Take the answer to `request_watchdog`; False if none has arrived."""
        if not self._watchdog_requested:
            return False
        self._station.receive_pending()
        self._take_watchdog()
        return not self._watchdog_requested

    @property
    def limits(self) -> tuple[float, float, float]:
        """Largest force, N, distance from the position offset, m, and velocity, m/s, that can be commanded."""
        can = self.capabilities
        return can.force_limit, can.position_limit, can.velocity_limit

    @property
    def scaling(self) -> tuple[float, ...]:
        """Position offset, scales of the set-points and of the feedback, raw values without meaning (NaN: none)."""
        invalid = [math.nan if raw is None else float(raw) for raw in self._invalid]
        return (self._offset, *self._scales, *self._feedback_scales, *invalid)

    def begun(self, now: float, sequence: int, transaction: int | None, received: bytes) -> None:
        """Go on as after `begin` at `now`, s, for a command that its group has sent; see `Station.begun`."""
        self._now, self._sequence = now, sequence
        self._sampling.due(now)
        self._station.begun(self.plain_codec, transaction, received)

    def catch_up(self, count: int, now: float, sequence: int, raw: tuple[int | float, ...], last: Feedback) -> None:
        """Take over `count` good exchanges of its group, of which this is the last one, at `now`, s."""
        self._now, self._sequence, self._raw, self._last = now, sequence, raw, last
        self._sampling.catch_up(now)
        self._mismatch = -1
        self.counters.sent += count
        self.counters.received += count

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`."""
        both = zip(self.codec.requests, self.codec.replies, strict=True)
        return [(request + CRC_LENGTH, reply + CRC_LENGTH) for request, reply in both]

    @property
    def auxiliary(self) -> dict[str, float]:
        """See `Drive.auxiliary`: the profile's auxiliary registers, scaled."""
        values = self._raw[6:]
        registers = self.profile.feedback.auxiliary.items()
        return {
            name: math.nan if raw == register.invalid else raw * register.scale
            for (name, register), raw in zip(registers, values, strict=False)
        }

    @property
    def inputs(self) -> Mapping[str, bool]:
        """See `Drive.inputs`."""
        if not (self._inputs and self._answered):
            return {}
        word = int(self._raw[0])
        return {name: word & mask == value for name, (mask, value) in self._inputs.items()}

    def switch(self, output: str, on: bool) -> None:
        """See `Drive.switch`."""
        super().switch(output, on)
        self._words.outputs = sum(self._outputs[name] for name in self._outputs_on)

    def identify(self) -> Identity:
        """See `Drive.identify`."""
        return self._identity(self._options.request_timeout)

    def _identity(self, timeout: float) -> Identity:
        if self.profile.identity is None:
            return Identity("", self.profile.name, "", "")
        found = _read_identity(self._station, self.profile, self.profile.identity, timeout)
        for name, raw in found.numbers.items():
            field = self.profile.identity.numbers[name]
            value = field.masked(raw)
            if field.expect not in (None, value):
                raise IdentityError(
                    f"{self._station.label} is not what profile {self.profile.name} describes: {name}, register "
                    f"{field.address}, is 0x{value:X}, expected 0x{field.expect:X}"
                )
        identity = Identity(**found.texts)
        expected = self._options.serial
        if expected is not None and identity.serial != expected:
            raise IdentityError(f"{self._station.label} has serial number {identity.serial!r}, expected {expected!r}")
        return identity if identity.product else replace(identity, product=self.profile.name)

    def configure(self) -> None:
        """See `Drive.configure`: writes the start-up parameters and the watchdog time, and reads them back."""
        register, timeout = self.profile.parameters.watchdog, self._options.request_timeout
        self._watchdog_doubts = 0
        for setting in self.profile.parameters.startup.values():
            if setting.write:
                self._write_parameter(setting.register, timeout)
        self._confirm_settings(timeout)
        if register is not None:
            self._write_parameter(register, timeout)
            self._confirm_watchdog(timeout, "did not take")

    def _write_parameter(self, register: Register, timeout: float) -> None:
        """Write a register by function 6, or by 16 with the others of its parameter."""
        function = self.profile.functions.write
        own = range(register.address, register.address + register.words)
        addresses = own if function == WRITE_SINGLE else self.profile.whole(register)
        words = [self._parameters.get(address, 0) for address in addresses]
        self._station.write(addresses.start, words, timeout, function)

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        identity = self._identity(timeout)
        self._confirm_settings(timeout)
        self._confirm_watchdog(timeout, "no longer has")
        return identity

    @property
    def watchdog_fault(self) -> str:
        """See `Drive.watchdog_fault`: after two such answers, as replies on TCP have no checksum."""
        return "its watchdog is no longer what it was set to" if self._watchdog_doubts > 1 else ""

    def request_watchdog(self) -> None:
        """See `Drive.request_watchdog`: only on TCP, for drives whose exchange is one message."""
        register = self.profile.parameters.watchdog
        if register is None or self.line is not None or not self.codec.together:
            return
        self._watchdog_requested = True
        words = len(self._watchdog_words)
        self._station.ask_acyclic(
            struct.pack(">BBHH", self._unit, READ_HOLDING, self._watchdog_at.start, words), 3 + 2 * words
        )

    def _take_watchdog(self) -> None:
        """Take the answer to `request_watchdog` if it has been received; an invalid one has no effect."""
        if not (self._watchdog_requested and (answer := self._station.acyclic_reply)):
            return
        self._watchdog_requested = False
        words = len(self._watchdog_words)
        if len(answer) == 3 + 2 * words and answer[1] == READ_HOLDING:
            right = answer[3:] == struct.pack(f">{words}H", *self._watchdog_words)
            self._watchdog_doubts = 0 if right else self._watchdog_doubts + 1

    def _confirm_watchdog(self, timeout: float, otherwise: str) -> None:
        """Raise ConfigurationError, which says `otherwise`, where the register holds no or another watchdog time."""
        register, station, words = self.profile.parameters.watchdog, self._station, self._watchdog_words
        if register is None:
            return
        found = station.read(self._watchdog_at.start, len(words), timeout)
        if found == words:
            return
        if not any(found):
            raise ConfigurationError(f"{station.label} has no watchdog: register {register.address} reads back zero")
        raise ConfigurationError(
            f"{station.label} {otherwise} the watchdog time {self._options.watchdog:g} s: "
            f"register {register.address} reads back {found}, not {words}"
        )

    def _words_of(self, register: Register, raw: int | float) -> list[int]:
        """Words on the wire of a raw value."""
        data = Block([register], self.profile.word_order).pack([raw])
        return list(struct.unpack(f">{register.words}H", data))

    def _confirm_settings(self, timeout: float) -> None:
        """Raise ConfigurationError for a start-up parameter that the drive does not have."""
        there: dict[int, int] = {}
        for first, count in self.profile.startup_ranges:
            there |= dict(enumerate(self._station.read(first, count, timeout), start=first))
        for name, setting in self.profile.parameters.startup.items():
            register, block = setting.register, Block([setting.register], self.profile.word_order)
            words = [there[address] for address in range(register.address, register.address + register.words)]
            if words != self._words_of(register, setting.value):
                (found,) = block.unpack(struct.pack(f">{register.words}H", *words))
                why = "was written" if setting.write else "is needed: set it with the maker's software"
                raise ConfigurationError(
                    f"{self._station.label} does not have parameter {name}: register {register.address} reads back "
                    f"{found:g}, {setting.value:g} {why}"
                )

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`: reads only the feedback; a missing speed is 0."""
        if isinstance(self.codec, MappedCodec):
            station = self._station
            raw = self.codec.observe(
                lambda function, address, count: station.read_data(function, address, count, timeout)
            )
            feedback = self._feedback(raw)
        else:
            block = self.codec.read_block
            words = self._station.read(block.address, block.count, timeout, self.profile.functions.read)
            feedback = self._feedback(self.codec.values(struct.pack(f">{block.count}H", *words)))
        return feedback._replace(velocity=0.0) if self._no_velocity else feedback

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`."""
        if code == 0:
            return "no error"
        for error in self.profile.errors.values():
            if error.code == code:
                return error.text
        if text := self._words.error_text(code):
            return text
        return f"error {code}, which profile {self.profile.name} does not explain"

    def _connect(self, timeout: float) -> None:
        self._words.forget()
        self._answered, self._set_points = False, ()
        super()._connect(timeout)

    def _begin(self, command: Command) -> None:
        codec = self.codec
        if isinstance(codec, ExchangeCodec):
            enable, quick_stop, clear = self.control_masks
            control = enable if command.enable else 0
            if command.quick_stop:
                control |= quick_stop
            if command.clear:
                control |= clear
            mode = self.mode_codes[command.mode]
        else:
            control, mode = self._words.control(command, self._now)
        force_scale, position_scale, velocity_scale = self._scales
        round_force, round_position, round_velocity = self._rounding
        self._sequence = sequence = (self._sequence + 1) % SEQUENCES
        position = command.position - self._offset
        if command.position == 0.0 and abs(position) > self.capabilities.position_limit:
            position = 0.0  # no set-point, in a mode that follows none
        set_points: tuple[int | float, ...] = (
            round_force(command.force / force_scale),
            round_position(position / position_scale),
            round_velocity(command.velocity / velocity_scale),
        )
        urgent = command.stops and Status.ENABLED in self._last.status
        if urgent and not codec.together and self._set_points:
            set_points = self._set_points  # it still follows those that arrive before its stop
        self._set_points = set_points
        requests = codec.encode((control, mode, sequence, *set_points))
        if isinstance(codec, ExchangeCodec) and codec.together:
            self._station.begin(codec, requests[0], urgent=urgent)
        else:
            self._station.begin_all(codec.replies, requests, urgent=urgent)

    def _finish(self, deadline: float) -> Feedback | None:
        codec, station = self.codec, self._station
        if isinstance(codec, ExchangeCodec):
            raw = (station.finish if codec.together else station.finish_all)(codec, deadline)
        else:
            raw = station.finish_each(codec, deadline)
        self._take_watchdog()
        if raw is None:
            return None
        self._raw = raw
        feedback = self._feedback(raw)
        if isinstance(codec, MappedCodec):
            self._answered = True
            status = self._words.observe(int(raw[0]))
            feedback = feedback._replace(status=status, error=feedback.error or self._words.error)
        offset = 0.0 if self.line is None else self._station.carried_after(self._now)
        if self._no_velocity:
            feedback = feedback._replace(velocity=self._speed.after(self._now + offset, feedback))
        return feedback._replace(offset=offset) if offset else feedback

    def _feedback(self, raw: tuple[int | float, ...]) -> Feedback:
        """Fresh feedback from raw values, scaled."""
        status = self._status_of.get(raw[0])
        if status is None:
            status = self._status_of[raw[0]] = self._decode_status(int(raw[0]))
        position, velocity, force = raw[3], raw[4], raw[5]
        position_scale, velocity_scale, force_scale = self._feedback_scales
        no_position, no_velocity, no_force = self._invalid
        return Feedback(
            math.nan if position == no_position else position * position_scale + self._offset,
            math.nan if velocity == no_velocity else velocity * velocity_scale,
            math.nan if force == no_force else force * force_scale,
            status,
            int(raw[1]),
            True,
            0.0,
            int(raw[2]),
        )

    def _decode_status(self, word: int) -> Status:
        if isinstance(self.codec, MappedCodec):
            return self._words.status(word)
        status = Status(0)
        for mask, flag in self.status_bits:
            if word & mask:
                status |= flag
        return status

    def _encode_parameters(self) -> dict[int, int]:
        """Word of each register of start-up parameters and watchdog."""
        found: dict[int, int] = {}
        for setting in self.profile.parameters.startup.values():
            found |= dict(enumerate(self._words_of(setting.register, setting.value), start=setting.address))
        register, seconds = self.profile.parameters.watchdog, self._options.watchdog
        if register is None:
            return found
        counts = round(seconds / register.scale)
        if not 1 <= counts <= RANGES[register.type][1]:
            low, high = register.scale, RANGES[register.type][1] * register.scale
            raise ConfigurationError(f"{self.name}: watchdog {seconds:g} s is outside {low:g}..{high:g} s")
        return found | dict(enumerate(self._words_of(register, counts), start=register.address))


def servo_twin(options: ServoOptions, unit: int, leg: PlantPort, framing: Framing = MBAP_FRAMING) -> FaultyServo:
    """The virtual servo of a leg. Raises ConfigurationError."""
    profile = servo_profile(options)
    servo = (VirtualServo if profile.plain else VirtualMappedServo)(
        profile,
        leg,
        unit=unit,
        serial=options.serial or "VIRTUAL-1",
        position_offset=options.position_offset,
        framing=framing,
    )
    return FaultyServo(servo)


def recognise(station: Station, profiles: Mapping[str, ServoProfile], timeout: float) -> tuple[str, Identity] | None:
    """Name and identity of the profile whose drive a unit is, by reading alone; None if it is none of them.

    A drive is recognised by its identity: texts that can be read as such, or expected numbers. Where none has that, it
    is the only one of the others whose feedback can be read, with a status that [power] has; its `Identity` is then
    without vendor. profiles: by name. timeout: s, of an access. Raises ConnectError.
    """
    likely = []
    for name, profile in profiles.items():
        with contextlib.suppress(ProtocolError):
            identity = _identity_read(station, profile, timeout)
            if identity is None or not _gives_feedback(station, profile, timeout):
                continue
            if profile.identity is not None and profile.identity.decides:
                return name, identity
            likely.append((name, replace(identity, vendor="", product=profile.name)))
    return likely[0] if len(likely) == 1 else None


def _identity_read(station: Station, profile: ServoProfile, timeout: float) -> Identity | None:
    """Identity of a unit by a profile; None if it is not the one that the profile expects."""
    if profile.identity is None:
        return Identity("", profile.name, "", "")
    found = _read_identity(station, profile, profile.identity, timeout)
    if any(
        field.expect not in (None, field.masked(found.numbers[name]))
        for name, field in profile.identity.numbers.items()
    ):
        return None
    texts = [found.texts[name] for name in profile.identity.texts if name != "firmware"]
    return Identity(**found.texts) if all(text and "?" not in text for text in texts) else None


def _read_identity(station: Station, profile: ServoProfile, identity: IdentityMap, timeout: float) -> IdentityRead:
    return station.read_identity(identity, profile.word_order, timeout, pairs=bool(profile.functions.pairs))


def _gives_feedback(station: Station, profile: ServoProfile, timeout: float) -> bool:
    codec = MappedCodec(profile, 1)
    status = int(codec.observe(lambda function, first, count: station.read_data(function, first, count, timeout))[0])
    return profile.power is None or profile.power.table.state(status & 0xFFFF) is not None


def servo_profile(options: ServoOptions) -> ServoProfile:
    """The register map that the options name. Raises ConfigurationError."""
    profile = options.profile
    return profile if isinstance(profile, ServoProfile) else load_profile(profile, ServoProfile)


def force_step(options: ServoOptions) -> float:
    """Resolution of the drive's raw force, N; 0 without one, or for a float. Raises ConfigurationError."""
    force = servo_profile(options).feedback.force
    return 0.0 if force is None else force.step


def _capabilities(profile: ServoProfile, offset: float) -> Capabilities:
    codes, command = profile.modes.given, profile.command
    limit = _limit(command.position)
    speed, acceleration = profile.ramp_limits
    return Capabilities(
        modes=tuple(mode for mode in Mode if mode is Mode.OFF or mode.name.lower() in codes),
        force_feedback=profile.feedback.force is not None,
        homing=profile.modes.homing is not None,
        watchdog=profile.parameters.watchdog is not None,
        force_limit=_limit(command.force),
        position_limit=limit,
        position_centre=offset,
        reach=(-math.inf, math.inf) if command.position is None else (offset - limit, offset + limit),
        velocity_limit=_limit(command.velocity),
        resolution=profile.feedback.position.step,
        homing_ends_off=profile.homing_ends_off,
        velocity_feedback=profile.feedback.velocity is not None,
        force_feedforward=command.force is not None,
        velocity_feedforward=command.velocity is not None,
        extrapolates=command.velocity is not None,
        speed_limit=speed,
        ramp_limit=acceleration,
        set_point_exchanges=1 if command.handover is None or command.handover.rising is None else 2,  # it falls, too
    )


def _limit(register: Register | None) -> float:
    """Largest magnitude that can be commanded; arbitrary for a set-point that is not sent."""
    return _ANY if register is None else largest(register)


def _rounding(register: Register) -> Callable[[float], int | float]:
    return float if register.floating else round


class ModbusServoSettings(ServoSettings, LineTimes):
    """Settings common to all drives of a rig."""

    shared_connection: bool = False
    """Whether units at one host and port, as behind a gateway, share one connection; on a serial line they do."""


class ModbusServoOptions(ServoOptions, ModbusOptions):
    """What a `servo` needs to know."""

    shared_connection: bool = False


class ModbusServo(Servo):
    """A servo at a Modbus address.

    Several messages of a cycle are sent in turn, on TCP as well: many servers there take one at a time.
    """

    def __init__(self, options: ModbusServoOptions) -> None:
        """See `Servo`."""
        profile = servo_profile(options)
        in_turn = profile.functions.exchange == "separate"
        in_turn = in_turn or not (profile.plain or MappedCodec(profile, options.unit).together)
        bus = options.bus(shared=options.shared_connection, in_turn=in_turn)
        super().__init__(options, bus, options.place, options.unit)


DRIVER = Driver(
    ModbusAddress,
    ModbusServoSettings,
    ModbusServoOptions,
    ModbusServo,
    lambda options, leg: servo_twin(options, options.unit, leg, options.server_framing),
    cell_step=force_step,
)
"""What is registered as `servo`."""
