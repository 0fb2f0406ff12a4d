"""The profile of a servo on Modbus: its registers, and what their bits and codes mean.

A profile is *plain* (`ServoProfile.plain`) if a cycle writes one range and reads one range of holding or input
registers, and every bit is one of a single word, active high. `actuators.codec` packs such a one, compiled for six
drives in `actuators.servo_group`; `actuators.register_map` packs any.
"""

import difflib
import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from actuators import cia402
from actuators.errors import ConfigurationError
from actuators.interface import Status
from actuators.power import POWER_FLAGS, PowerState, PowerStep, PowerTable, PowerWord
from actuators.profile import (
    MAX_READ,
    MAX_WRITE,
    RANGES,
    Address,
    Bit,
    BitMap,
    IdentityMap,
    ProfileModel,
    Register,
    RegisterType,
    Signal,
    Text,
    Word,
    WordOrder,
    a_type,
    check_block,
    check_no_table,
    check_overlap,
    check_words,
    has_table,
    is_number,
    load_profile,
    shipped_profiles,
    spans,
)
from actuators.validation import FaultsError, SiUnit, shown


class FeedbackMap(ProfileModel):
    """Read every cycle. Leave out a register that the drive lacks.

    Without `sequence` a drive that hangs looks like one at rest; without `velocity` the speed is that between the
    last two positions. `words` are further words of status, for bits in `[status]`.
    """

    status: Register | None = None
    """Word with the bits of `[status]`; a u16."""
    error: Register | None = None
    """Code of the fault, 0 for none; a u16. `[errors]` has its words."""
    sequence: Register | None = None
    """Echo of `command.sequence`, by which a drive that hangs is noticed; a u16."""
    position: Register
    """m, from the reference, growing as the leg gets longer."""
    velocity: Register | None = None
    """m/s; without it the speed is that between the last two positions."""
    force: Register | None = None
    """N, of the drive's load cell, positive as it is compressed."""
    auxiliary: dict[str, Register] = Field(default_factory=dict)
    """Further values for the recording; `temperature` (°C) and `supply` (V) are watched as well."""
    words: dict[str, Register] = Field(default_factory=dict)
    """Further words of status, each a u16, for signals with `word`."""

    @property
    def registers(self) -> list[Register | None]:
        """All but the auxiliary ones, as raw feedback has them: status, error, sequence, position, velocity, force."""
        return [self.status, self.error, self.sequence, self.position, self.velocity, self.force]

    @property
    def read(self) -> dict[str, Register]:
        """All that there are, by key."""
        names = ("status", "error", "sequence", "position", "velocity", "force")
        found = {name: one for name, one in zip(names, self.registers, strict=True) if one is not None}
        found |= {f"auxiliary.{name}": register for name, register in self.auxiliary.items()}
        return found | {f"words.{name}": register for name, register in self.words.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_words({"status": self.status, "error": self.error, "sequence": self.sequence})
        check_words({f"words.{name}": register for name, register in self.words.items()})
        return self


def _as_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"must be a finite number, not {shown(value)}")
    return value


_Raw = Annotated[int | float, BeforeValidator(_as_number)]
"""Raw value of a register."""


class Constant(ProfileModel):
    """A register that is written every cycle with the same raw value, such as a reserved word."""

    address: Address
    """First register."""
    type: RegisterType = "u16"
    """Sign and bits of the value."""
    value: _Raw
    """Raw value that is written."""
    word_order: WordOrder | None = None
    """Of a value of 32 or 64 bits; left out: the profile's."""

    @property
    def register(self) -> Register:
        """The register."""
        return Register(address=self.address, type=self.type, word_order=self.word_order)

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = RANGES[self.register.type]
        if not low <= self.value <= high or not (self.register.floating or isinstance(self.value, int)):
            raise ValueError(f"value = {self.value} is not a value of {a_type(self.type)}: {low:g}..{high:g}")
        return self


class Trigger(Constant):
    """A register by which the drive takes a set-point over: `value` while it is to follow, `idle` while not."""

    idle: _Raw = 0
    """Raw value while it is not; another than `value`."""

    @model_validator(mode="after")
    def _check_idle(self) -> Self:
        Constant(address=self.address, type=self.type, value=self.idle)
        if self.idle == self.value:
            raise ValueError(f"value and idle are the same, {self.value}: the drive would see no new set-point")
        return self


class Handover(ProfileModel):
    """How the drive takes a set-point over; bits of the control word. Without it, it takes it as it is written.

    `toggle` changes with every exchange. `rising` is set with a new set-point and cleared as soon as `acknowledge` is
    set; without `acknowledge`, in the exchange after. `trigger` is a register.
    """

    toggle: Bit | None = None
    """Bit of the control word that changes with every exchange."""
    rising: Bit | None = None
    """Bit of the control word that rises with a new set-point."""
    acknowledge: Signal | None = None
    """Signal by which the drive has taken it, so that `rising` falls."""
    trigger: Trigger | None = None
    """Register that is written last."""

    @property
    def bit(self) -> int:
        """Mask of its bit in the control word; 0 for a register."""
        bit = self.toggle if self.rising is None else self.rising
        return 0 if bit is None else 1 << bit

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("toggle", "rising", "trigger") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"has {' and '.join(given) or 'none of them'}: give one of toggle, rising, trigger")
        if self.acknowledge is not None and self.rising is None:
            raise ValueError("acknowledge: answers rising, which is not given")
        return self


class CommandMap(ProfileModel):
    """Written every cycle: no register without a name is written.

    A drive has those set-points that its modes need. Without `mode` the drive's mode
    follows from bits of the control word.
    """

    control: Register | None = None
    """Word with the bits of `[control]`, or of `[power]`; a u16."""
    mode: Register | None = None
    """Register of the mode, by `[modes]`; a u16 or i16."""
    sequence: Register | None = None
    """Number that the drive echoes in `feedback.sequence`; a u16."""
    force: Register | None = None
    """N, positive to push."""
    position: Register | None = None
    """m, from the reference."""
    velocity: Register | None = None
    """m/s, the speed along the commanded motion."""
    constants: list[Constant] = Field(default_factory=list)
    """Registers that are written every cycle with the same value."""
    handover: Handover | None = None
    """How a set-point is taken over; left out: as it is written."""

    @property
    def registers(self) -> list[Register | None]:
        """All of them in the order of a raw command: control, mode, sequence, force, position, velocity."""
        return [self.control, self.mode, self.sequence, self.force, self.position, self.velocity]

    @property
    def written(self) -> dict[str, Register]:
        """All that there are, by key, with constants and the trigger."""
        names = ("control", "mode", "sequence", "force", "position", "velocity")
        found = {name: one for name, one in zip(names, self.registers, strict=True) if one is not None}
        found |= {f"constants[{place}]": one.register for place, one in enumerate(self.constants, start=1)}
        if self.handover is not None and self.handover.trigger is not None:
            found["handover.trigger"] = self.handover.trigger.register
        return found

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_words({"control": self.control, "sequence": self.sequence})
        if self.mode is not None and (self.mode.type not in ("u16", "i16") or self.mode.scale != 1.0):
            raise ValueError("mode: must be a u16 without scale, or an i16")
        for name, register in (("force", self.force), ("position", self.position), ("velocity", self.velocity)):
            if register is not None and register.type.startswith("u"):
                raise ValueError(f"{name}: a set-point has a sign, its type cannot be {register.type}")
        for name, register in self.written.items():
            if register.table is not None:
                raise ValueError(
                    f"{name}: register {register.address}: table is of feedback, a holding register is written"
                )
        if not self.written:
            raise ValueError("nothing is written")
        return self


class Setting(ProfileModel):
    """A parameter that is written before the drive is enabled, and read back; `verify` reads it again.

    `write = false`: it is only compared, because it takes effect at power-up, or is set with the maker's software.
    """

    address: Address
    """First register."""
    type: RegisterType = "u16"
    """Sign and bits of the value."""
    value: _Raw
    """Raw value that is written, or only compared."""
    word_order: WordOrder | None = None
    """Of a value of 32 or 64 bits; left out: the profile's."""
    write: bool = True
    """false: it is only compared."""

    @property
    def register(self) -> Register:
        """The register."""
        return Register(address=self.address, type=self.type, word_order=self.word_order)

    @model_validator(mode="after")
    def _check(self) -> Self:
        Constant(address=self.address, type=self.type, value=self.value)
        return self


class ParameterMap(ProfileModel):
    """Written once, before the drive is enabled."""

    watchdog: Register | None = None
    """Register of the time without a command before the drive stops by itself, s; 0 = never. Left out: it has none."""
    startup: dict[str, Setting] = Field(default_factory=dict)
    """Further parameters by name, in the order in which they are written."""

    @property
    def registers(self) -> dict[str, Register]:
        """All that there are, by key."""
        settings = {f"startup.{name}": setting.register for name, setting in self.startup.items()}
        return settings if self.watchdog is None else {"watchdog": self.watchdog, **settings}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.watchdog is not None and self.watchdog.type not in ("u16", "u32"):
            raise ValueError(f"watchdog: must be a u16 or u32, not {self.watchdog.type}")
        if self.watchdog is not None and self.watchdog.scale < 0.0:
            raise ValueError(f"watchdog: scale {self.watchdog.scale:g} of a time cannot be negative")
        check_no_table({"watchdog": self.watchdog})
        check_overlap(self.registers)
        return self


def _pairs(value: object) -> object:
    if not isinstance(value, bool) and value != "whole":
        raise ValueError(f'must be true, false or "whole", not {value!r}')
    return value


class Functions(ProfileModel):
    """Function codes. FC23 does a cycle's exchange in one; else the command is written, then feedback is read.

    `read` is for feedback whose register has no `table`, `write` for the command and for parameters.
    """

    exchange: Literal["together", "separate"] = "together"
    """The cycle by function 23, or the command by `write`, then feedback by `read`."""
    read: Literal[3, 4] = 3
    """For feedback whose register has no `table`."""
    write: Literal[16, 6] = 16
    """For the command and for parameters. 6: one register after the other, set-points first."""
    coils: Literal[15, 5] = 15
    """5: one coil after the other."""
    gap: Annotated[int, Field(ge=0, le=MAX_READ)] | None = None
    """Most registers without a name that a read of feedback or of start-up parameters goes across.

    Left out: the feedback is one range, and only neighbouring parameters are read together."""
    pairs: Annotated[bool | Literal["whole"], BeforeValidator(_pairs)] = False
    """Every parameter of the device takes two registers from an even address on: of one word, the other reads 0.

    All is read by whole parameters, and start-up parameters are written so by function 16. "whole": the device refuses
    everything else."""
    also: list[Literal[8, 23, 43]] = Field(default_factory=list)
    """Function codes that the device has and the driver does not use; the simulator serves them. 23 only with
    `exchange = "separate"`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if twice := [code for code in (8, 23, 43) if self.also.count(code) > 1]:
            raise ValueError(f"also: {twice[0]} is there twice")
        if self.exchange == "together" and 23 in self.also:
            raise ValueError('also: 23 is used by the driver, with exchange = "together"; leave it out')
        return self


class ControlBits(ProfileModel):
    """Bits of the control word, or coils."""

    enable: Signal
    """Asks for torque as long as it is set."""
    quick_stop: Signal
    """Asks for a stop by the drive's own ramp, and then no torque."""
    clear: Signal
    """Resets a fault by its edge."""

    @property
    def given(self) -> dict[str, BitMap]:
        """All of them, by name."""
        return self.entries()

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, signal in self.given.items():
            if signal.mask is not None or signal.discrete is not None or signal.word is not None:
                raise ValueError(f"{name}: is written: a bit of the control word, or a coil")
        return self


class StatusBits(ProfileModel):
    """Signals of the drive's state; leave out one that it lacks.

    With `[power]`, `ready`, `enabled`, `fault` and `quick_stop` are flags of its states instead.
    """

    ready: Signal | None = None
    """Nothing is in the way of torque."""
    enabled: Signal | None = None
    """There is torque. Needed without `[power]`."""
    fault: Signal | None = None
    """A fault is latched. Needed without `[power]`."""
    homed: Signal
    """The reference is known."""
    homing: Signal | None = None
    """The search of the reference runs, for a cycle at least."""
    quick_stop: Signal | None = None
    """The drive comes to rest by itself."""
    watchdog: Signal | None = None
    """Its watchdog has tripped."""
    brake: Signal | None = None
    """The brake is closed, and holds the leg."""
    standstill: Signal | None = None
    """The leg stands."""

    @property
    def given(self) -> dict[str, BitMap]:
        """Those that there are, by name of the flag."""
        return self.entries()


class SimulatorMap(ProfileModel):
    """What the simulator needs to know and the driver does not; of a profile that is not plain.

    Bits of the status word that masters wait for, and the force of the rated torque.
    """

    ready: Bit | None = None
    """There is no fault."""
    startable: Bit | None = None
    """The drive has torque and stands still, without a stop command."""
    in_position: Bit | None = None
    """It stands still within 0.1 mm of its last target."""
    rated_force: Annotated[float, Field(gt=0.0), SiUnit("N")] | None = None
    """Force by the rated torque: auxiliary `torque` is the motor's force over it, `load` its magnitude."""

    @property
    def bits(self) -> dict[str, int]:
        """The bits that there are, by name."""
        return {name: value for name, value in self.entries().items() if name != "rated_force"}


class RampRegister(ProfileModel):
    """A constant of [command] or a start-up parameter, by its register: the value times `scale` is in SI units."""

    address: Address
    """Of the constant or start-up parameter."""
    scale: Annotated[float, Field(gt=0.0)]
    """Its raw value times this is in m/s or m/s²."""


def _ramp_kind(value: object) -> str:
    return "register" if isinstance(value, Mapping | RampRegister) else "number"


_REGISTER = Annotated[RampRegister, Tag("register")]
_BY_KIND = Discriminator(_ramp_kind)
_RAMP_BOUNDS = {"speed": (1e-6, 100.0, "m/s"), "acceleration": (1e-4, 1e4, "m/s²")}
_SPEED = Annotated[float, Field(ge=1e-6, le=100.0), SiUnit("m/s"), Tag("number")]
_ACCELERATION = Annotated[float, Field(ge=1e-4, le=1e4), SiUnit("m/s²"), Tag("number")]


class RampMap(ProfileModel):
    """Greatest speed, m/s, and acceleration, m/s², with which the drive moves to a position by a ramp of its own.

    A motion that is faster is refused, and the simulator moves by this ramp. It is of a profile that is not plain, with
    `command.position` and without `command.velocity`.
    """

    speed: Annotated[_SPEED | _REGISTER, _BY_KIND]
    """A number, or a constant or start-up parameter by its register."""
    acceleration: Annotated[_ACCELERATION | _REGISTER, _BY_KIND]
    """Likewise."""


class ModeCode(ProfileModel):
    """A mode: value of the mode register, and bits of the control word that are set as soon as there is torque."""

    value: Annotated[int, Field(ge=-0x8000, le=0xFFFF)] = 0
    """Of the mode register."""
    control: Word = 0
    """Bits of the control word that are set as soon as there is torque."""


def _as_mode(value: object) -> object:
    return {"value": value} if is_number(value, "a value of the mode register", ModeCode) else value


_Mode = Annotated[ModeCode, BeforeValidator(_as_mode)]


class ModeCodes(ProfileModel):
    """Values of the mode register; leave out a mode that the drive lacks."""

    off: _Mode | None = None
    """No motion; there is none without a mode register."""
    force: _Mode | None = None
    """The drive follows `command.force`."""
    position: _Mode | None = None
    """The drive follows `command.position`."""
    homing: _Mode | None = None
    """The drive searches its reference."""

    @property
    def given(self) -> dict[str, ModeCode]:
        """Those that there are, by name of the mode."""
        return self.entries()


class WordMap(ProfileModel):
    """A command of the control word."""

    word: Word
    """Control word that is sent."""
    mask: Word | None = None
    """Bits by which the drive recognises it, for its simulator; left out: all bits of all words."""


class StepMap(WordMap):
    """A step to torque: the word is sent until the drive is in `state`."""

    state: str
    """State of `[power.states]` that ends the step."""
    timeout: Annotated[float, Field(gt=0.0, le=60.0), SiUnit("s")] = 1.0
    """Longest time until the state is reached; then it is a fault."""


class StateMap(ProfileModel):
    """A power state: the status word, masked, has `value`."""

    mask: Word
    """Bits of the status word that count."""
    value: Word
    """What they are in this state."""
    flags: list[Literal["ready", "enabled", "fault", "quick_stop"]] = Field(default_factory=list)
    """Signals of `[status]` that the state stands for."""


class PowerMap(ProfileModel):
    """States of the drive's power, and the words that lead to torque and away from it.

    `standard = "cia402"` has all of them; else give all the others.
    """

    standard: Literal["cia402"] | None = None
    """All states and words of a standard, in place of the entries below."""
    timeout: Annotated[float, Field(gt=0.0, le=60.0), SiUnit("s")] = 1.0
    """For each step of the standard."""
    states: dict[str, StateMap] = Field(default_factory=dict)
    """States by name."""
    enable: list[StepMap] = Field(default_factory=list)
    """Steps to torque, one after the other."""
    disable: WordMap | None = None
    """Word that takes torque away."""
    quick_stop: WordMap | None = None
    """Word that stops the drive by its own ramp."""
    reset: Bit | None = None
    """Bit whose rising edge clears a fault."""

    @functools.cached_property
    def table(self) -> PowerTable:
        """The states and commands. Raises ValueError."""
        if self.standard is not None:
            if self.states or self.enable or self.disable or self.quick_stop or self.reset is not None:
                raise ValueError(f"standard = {self.standard!r} has states and words: leave them out")
            return cia402.power_table(self.timeout)
        if self.disable is None or self.quick_stop is None or self.reset is None:
            missing = [name for name in ("disable", "quick_stop", "reset") if getattr(self, name) is None]
            raise ValueError(f"{', '.join(missing)}: missing, without a standard")
        states = {}
        for name, state in self.states.items():
            flags = Status(0)
            for flag in state.flags:
                flags |= Status[flag.upper()]
            states[name] = PowerState(name, state.mask, state.value, flags)
        every = self.disable.word | self.quick_stop.word
        for step in self.enable:
            every |= step.word

        def word(given: WordMap) -> PowerWord:
            return PowerWord(given.word, every if given.mask is None else given.mask)

        steps = []
        for place, step in enumerate(self.enable, start=1):
            if step.state not in states:
                raise ValueError(f"enable[{place}]: no state {step.state!r} in states: {', '.join(states) or 'none'}")
            steps.append(PowerStep(word(step), states[step.state], step.timeout))
        table = PowerTable(tuple(states.values()), steps, word(self.disable), word(self.quick_stop), 1 << self.reset)
        if faults := table.faults():
            raise FaultsError(faults)
        return table

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ = self.table
        return self


class ErrorCode(ProfileModel):
    """One value of the error register, in words.

    The simulator reports `watchdog` (no command in time), `not_homed` (a position without a reference), `sensor` (of
    the position) and `force_sensor` (a warning). Any other name only gives the text of a code.
    """

    code: Annotated[int, Field(ge=1, le=0xFFFF)]
    """Value of `feedback.error`."""
    text: str
    """What messages say of it."""


_ERRORS = ("watchdog", "not_homed", "sensor", "force_sensor")
"""Names of errors that the simulator reports; any other name only gives the text of a code."""
_GIVE_GAP = "is not of a plain profile: give functions.gap, which is missing (0 reads no register between)"
_POWER_SIGNALS = tuple(flag.name.lower() for flag in POWER_FLAGS if flag.name)


def _shared(key: str, mask: int, owners: Mapping[str, int], word: str) -> Iterator[str]:
    """What is wrong with bits of a word that others own as well. owners: mask by key."""
    for owner, theirs in owners.items():
        if mask & theirs:
            yield f"{key}: bits 0x{mask & theirs:04X} of {word} are those of {owner}, too"


class ServoProfile(ProfileModel):
    """A servo drive: cyclic registers, parameters, identity, and what the bits and codes mean."""

    name: str
    """Its name in messages."""
    description: str = ""
    """What drive it is of, for people."""
    word_order: WordOrder = "big"
    """Of values of 32 and 64 bits ABCD: "big" ABCD, "little" CDAB, "big-swapped" BADC, "little-swapped" DCBA."""
    wrong_unit: Literal["silent", "gateway"] = "silent"
    """What its simulator answers to a frame for another unit: nothing, or a gateway's exception 0B."""
    homing_ends_off: bool = False
    """The drive takes its torque off as it finds its reference; every other keeps it."""
    stop_keeps_torque: bool = False
    """The drive stands under torque after a quick stop; every other takes it off. Needs `[control]`,
    `status.standstill` and a profile that is not plain."""
    functions: Functions = Functions()
    feedback: FeedbackMap
    command: CommandMap
    parameters: ParameterMap = ParameterMap()
    identity: IdentityMap | None = None
    control: ControlBits | None = None
    power: PowerMap | None = None
    status: StatusBits
    ramp: RampMap | None = None
    simulator: SimulatorMap = SimulatorMap()
    modes: ModeCodes
    errors: dict[str, ErrorCode] = Field(default_factory=dict)
    inputs: dict[str, Signal] = Field(default_factory=dict)
    """Digital inputs: bits of the status word or of `feedback.words`, coils or discrete inputs."""
    outputs: dict[str, Signal] = Field(default_factory=dict)
    """Digital outputs: bits of the control word, or coils."""

    @functools.cached_property
    def plain(self) -> bool:
        """Whether its exchange has the plain form; see the module."""
        feedback, command = self.feedback, self.command
        signals = [*self.status.given.values(), *self.control_signals.values()]
        return (
            self.power is None
            and self.functions.gap is None
            and not self.functions.pairs
            and feedback.status is not None
            and command.control is not None
            and command.mode is not None
            and command.mode.type == "u16"
            and command.handover is None
            and not (feedback.words or command.constants or self.inputs or self.outputs)
            and all(signal.plain for signal in signals)
            and all(register.words <= 2 for register in [*feedback.read.values(), *command.written.values()])
            and all(register.table is None for register in feedback.read.values())
            and all(not code.control for code in self.modes.given.values())
        )

    @property
    def control_signals(self) -> dict[str, BitMap]:
        """Signals of `[control]`, by name; none with `[power]`."""
        return {} if self.control is None else self.control.given

    @property
    def ramp_limits(self) -> tuple[float, float]:
        """Greatest speed, m/s, and acceleration, m/s², of the drive's own ramp; infinite without one."""
        if self.ramp is None:
            return math.inf, math.inf
        return self._ramp_value(self.ramp.speed), self._ramp_value(self.ramp.acceleration)

    def written_at(self, address: int) -> Constant | Setting | None:
        """The constant or start-up parameter at a register; None if there is none."""
        written: list[Constant | Setting] = [*self.command.constants, *self.parameters.startup.values()]
        return next((one for one in written if one.address == address), None)

    def _ramp_value(self, given: float | RampRegister) -> float:
        if not isinstance(given, RampRegister):
            return given
        written = self.written_at(given.address)
        return math.nan if written is None else written.value * given.scale

    @property
    def startup_ranges(self) -> list[tuple[int, int]]:
        """First register and number of each range of start-up parameters, read together as `functions.gap` says."""
        registers = [setting.register for setting in self.parameters.startup.values()]
        ranges = spans(registers, self.functions.gap or 0, MAX_READ, pairs=bool(self.functions.pairs))
        return [(first, end - first) for first, end in ranges]

    def whole(self, register: Register | Text) -> range:
        """The registers of the parameter that has this one: with `functions.pairs`, whole pairs."""
        ((first, end),) = spans([register], 0, MAX_READ, pairs=bool(self.functions.pairs))
        return range(first, end)

    def tables(self) -> dict[int, dict[str, Register]]:
        """Feedback registers, by key, by the function that reads them, 3 or 4."""
        default = "holding" if self.functions.read == 3 else "input"
        found: dict[int, dict[str, Register]] = {}
        for name, register in self.feedback.read.items():
            found.setdefault(3 if (register.table or default) == "holding" else 4, {})[name] = register
        return found

    def _faults(self) -> Iterator[str]:
        """What is wrong between its tables."""
        command, feedback = self.command, self.feedback
        tables: dict[str, Mapping[str, object]] = {
            "control": self.control_signals,
            "status": self.status.given,
            "modes": {name: (code.value, code.control) for name, code in self.modes.given.items()},
            "errors": {name: error.code for name, error in self.errors.items()},
        }
        for table, values in tables.items():
            for (one, value), (other, same) in itertools.combinations(values.items(), 2):
                if value == same:
                    yield f"{table}: {one} and {other} have the same value"
        for mode in ("force", "position"):
            if getattr(self.modes, mode) is not None and getattr(command, mode) is None:
                yield f"command.{mode}: missing, but there is a mode {mode}"
        if (feedback.sequence is None) != (command.sequence is None):
            given, lacking = ("command", "feedback") if feedback.sequence is None else ("feedback", "command")
            yield f"{lacking}.sequence: missing, but there is {given}.sequence: an echo takes both"
        wide = [register.type for register in command.written.values() if register.words > 1]
        word_by_word = self.functions.write == 6 and (self.functions.exchange == "separate" or not self.plain)
        if word_by_word and wide:
            yield f"functions.write: function 6 writes 16-bit registers, [command] has {a_type(wide[0])}"
        if (self.control is None) == (self.power is None):
            given = "neither is" if self.power is None else "both are"
            yield f"control, power: {given} given, give one of these tables"
        yield from self._mode_faults()
        yield from self._signal_faults()
        yield from self._output_faults()
        yield from self._range_faults()
        yield from self._simulation_faults()
        for name in self.errors:
            (alike,) = difflib.get_close_matches(name.lower(), _ERRORS, 1, 0.86) or [name]
            if alike not in self.errors:
                names = f"{', '.join(_ERRORS[:-1])} and {_ERRORS[-1]}"
                yield f"errors.{name}: is it {alike}? Names are {names}; one of your own must be less like these"

    def _mode_faults(self) -> Iterator[str]:
        register, codes = self.command.mode, self.modes.given
        if register is None:
            for name, code in codes.items():
                if code.value:
                    yield f"modes.{name}: value {code.value} of a mode register, which [command] lacks"
            if self.modes.off is not None:
                yield "modes.off: of a mode register, which [command] lacks"
        else:
            if self.modes.off is None:
                yield "modes.off: missing"
            low, high = RANGES[register.type]
            for name, code in codes.items():
                if not low <= code.value <= high:
                    yield f"modes.{name}: value {code.value} is not one of {a_type(register.type)}: {low}..{high}"
        owners: dict[str, int] = {}
        if self.command.handover is not None:
            owners["command.handover"] = self.command.handover.bit
        if self.power is not None:
            claims = {"power": self.power.table.bits}
        else:
            signals = self.control_signals
            claims = {f"control.{name}": 1 << one.bit for name, one in signals.items() if one.bit is not None}
        for name, mask in claims.items():
            yield from _shared(name, mask, owners, "the control word")
            owners[name] = mask
        for name, code in codes.items():
            others = dict(owners)
            if name not in ("force", "position"):
                others.pop("command.handover", None)  # a bit may mean the start of homing as well
            yield from _shared(f"modes.{name}", code.control, others, "the control word")
        needs = self.power is not None or any(owners.values()) or any(code.control for code in codes.values())
        if needs and self.command.control is None:
            yield "command.control: missing, but there are bits of it"

    def _output_faults(self) -> Iterator[str]:
        handover, taken = self.command.handover, 0
        if handover is not None:
            taken |= handover.bit
        if self.power is not None:
            taken |= self.power.table.bits
        for code in self.modes.given.values():
            taken |= code.control
        coils = {signal.coil for signal in self.control_signals.values()} - {None}
        for signal in self.control_signals.values():
            taken |= 0 if signal.bit is None else 1 << signal.bit
        for name, signal in self.outputs.items():
            key = f"outputs.{name}"
            if signal.mask is not None or signal.discrete is not None or signal.word is not None:
                yield f"{key}: is written: a bit of the control word, or a coil"
            elif signal.active == "low":
                yield f'{key}: active = "low" is not of an output: one that is off has no signal'
            elif signal.coil is not None:
                if signal.coil in coils:
                    yield f"{key}: coil {signal.coil} is taken twice"
                coils.add(signal.coil)
            elif signal.bit is not None:
                if taken >> signal.bit & 1:
                    yield f"{key}: bit {signal.bit} of the control word is taken twice"
                if self.command.control is None:
                    yield f"{key}: a bit of command.control, which is missing"
                taken |= 1 << signal.bit

    def _signal_faults(self) -> Iterator[str]:
        coils = [signal.coil for signal in self.control_signals.values() if signal.coil is not None]
        if len(set(coils)) != len(coils):
            yield "control: two entries have the same coil"
        status = self.status.given
        if self.power is None:
            yield from (f"status.{name}: missing" for name in ("enabled", "fault") if name not in status)
        else:
            given = "is given by the flags of power.states; remove it here"
            yield from (f"status.{name}: {given}" for name in _POWER_SIGNALS if name in status)
        signals = {f"status.{name}": signal for name, signal in status.items()}
        handover = self.command.handover
        if handover is not None and handover.acknowledge is not None:
            signals["command.handover.acknowledge"] = handover.acknowledge
        signals |= {f"inputs.{name}": signal for name, signal in self.inputs.items()}
        owners: dict[str | None, dict[str, int]] = {None: {}}
        if self.power is not None:
            owners[None] = {f"power.states.{state.name}": state.mask for state in self.power.table.states}
        written = {f"control.{name}": signal.coil for name, signal in self.control_signals.items()}
        written |= {f"outputs.{name}": signal.coil for name, signal in self.outputs.items()}
        for key, signal in signals.items():
            if signal.coil is not None:
                writers = [name for name, coil in written.items() if coil == signal.coil]
                yield from (f"{key}: coil {signal.coil} is written by {name}" for name in writers[:1])
            if signal.pattern is None:
                continue
            mask, _ = signal.pattern
            if signal.word is not None and signal.word not in self.feedback.words:
                yield f"{key}: no word {signal.word!r} in feedback.words: {', '.join(self.feedback.words) or 'none'}"
            others = owners.setdefault(signal.word, {})
            if not self._same_place(signal, signals):
                yield from itertools.islice(_shared(key, mask, others, "its word"), 1)
            others[key] = mask
            if signal.word is None and self.feedback.status is None:
                yield f"{key}: a bit of feedback.status, which is missing"
        if self.power is not None and self.feedback.status is None:
            yield "feedback.status: missing, but [power] has states of it"
        if self.stop_keeps_torque:
            if self.plain:
                yield f"stop_keeps_torque: {_GIVE_GAP}"
            if self.power is not None:
                yield "stop_keeps_torque: [power] is given; it is of a drive with [control]"
            if "standstill" not in status:
                yield "stop_keeps_torque: needs status.standstill, which is missing"
        for name, bit in self.simulator.bits.items():
            yield from itertools.islice(_shared(f"simulator.{name}", 1 << bit, owners[None], "its word"), 1)
            owners[None][f"simulator.{name}"] = 1 << bit
            if self.feedback.status is None:
                yield f"simulator.{name}: a bit of feedback.status, which is missing"
        torque = self.feedback.auxiliary.keys() & {"torque", "load"}
        if self.simulator.rated_force is not None and not (self.plain or torque):
            yield "simulator.rated_force: of a register torque or load, which [feedback.auxiliary] lacks"

    def _simulation_faults(self) -> Iterator[str]:
        if self.ramp is not None:
            if self.plain:
                yield f"ramp: {_GIVE_GAP}"
            if self.command.position is None:
                yield "ramp: needs command.position, which is missing"
            if self.command.velocity is not None:
                yield "ramp: command.velocity is given; a drive with a ramp of its own takes no speed"
            for (name, (low, high, unit)), value in zip(_RAMP_BOUNDS.items(), self.ramp_limits, strict=True):
                given = getattr(self.ramp, name)
                if not isinstance(given, RampRegister):
                    continue
                where = f"ramp.{name}: register {given.address}"
                if not value > 0.0:
                    yield f"{where} is no constant or start-up parameter with a value above 0"
                elif not low <= value <= high:
                    yield f"{where} gives {value:g} {unit}, must be {low:g} to {high:g} {unit}"
        if self.plain:
            yield from (f"simulator.{name}: {_GIVE_GAP}" for name in self.simulator.entries())

    @staticmethod
    def _same_place(signal: BitMap, signals: Mapping[str, BitMap]) -> bool:
        """Whether another entry has just these bits; one with the same value as well is reported by itself."""
        place = (signal.word, signal.mask, signal.bit)
        return any(place == (other.word, other.mask, other.bit) for other in signals.values() if other is not signal)

    def _range_faults(self) -> Iterator[str]:
        gap = self.functions.gap
        once: dict[str, Register | Text] = {} if self.identity is None else self._named("identity", self.identity.read)
        settings = {name: setting.register for name, setting in self.parameters.startup.items()}
        once |= self._named("parameters.startup", settings)
        if self.parameters.watchdog is not None:
            once["parameters.watchdog"] = self.parameters.watchdog
        for name, register in once.items():
            whole = self.whole(register)
            for other, one in self.command.written.items():
                first = max(one.address, whole.start)
                if first < min(one.address + one.words, whole.stop):
                    yield f"{name}: register {first} is written every cycle, by command.{other}"
        written = self._named("command", self.command.written)
        yield from self._pair_faults(once | self._named("feedback", self.feedback.read) | written)
        read = [self._named("feedback", table) for table in self.tables().values()]
        try:
            for table in [*read, written]:
                check_overlap(table)
        except ValueError as error:
            yield str(error)
            return
        try:
            for table in read if gap is None else ():
                check_block(table, MAX_READ, contiguous=False)
            if self.plain:
                check_block(written, MAX_WRITE, contiguous=True)
        except ValueError as error:
            yield f"{error}; with functions.gap there may be several exchanges"

    @staticmethod
    def _named(table: str, registers: Mapping[str, Register | Text]) -> dict[str, Register | Text]:
        return {f"{table}.{name}": register for name, register in registers.items()}

    def _pair_faults(self, registers: Mapping[str, Register | Text]) -> Iterator[str]:
        functions = self.functions
        if functions.pairs:
            for name, register in registers.items():
                if isinstance(register, Register) and register.words > 1 and register.address % 2:
                    kind = a_type(register.type)
                    yield f"{name}: {kind} at address {register.address}, with functions.pairs it must be even"
        if functions.pairs == "whole" and functions.write == 6:
            yield "functions.pairs: function 6 writes no whole pair"
        elif functions.pairs == "whole":
            for first, end in spans([*self.command.written.values()], 0, MAX_WRITE):
                if first & 1 or end & 1:
                    what = f"[command] has a half of a pair among registers {first}..{end - 1}"
                    yield f"functions.pairs: {what}; write the other one as a constant"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if faults := list(self._faults()):
            raise FaultsError(faults)
        return self


def servo_profiles(path: str | Path | None = None) -> dict[str, ServoProfile]:
    """Profiles of servos by the name or path that loads each.

    path: None for those that are shipped; else a name, a file, or a folder, of which files with a table [feedback] are
    taken. Raises ConfigurationError for one that is wrong, or a folder without any.
    """
    if path is None:
        names = [name for name in shipped_profiles() if has_table(name, "feedback")]
    elif Path(path).is_dir():
        names = [str(file) for file in sorted(Path(path).glob("*.toml")) if has_table(file, "feedback")]
        if not names:
            raise ConfigurationError(f"{path}: no profile of a servo, with a table [feedback], is in this folder")
    else:
        names = [str(path)]
    return {name: load_profile(name, ServoProfile) for name in names}
