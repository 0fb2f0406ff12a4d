"""Registers of a Modbus device, and the register map that a person writes about it, validated."""

import functools
import itertools
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from actuators.errors import ConfigurationError

Address = Annotated[int, Field(ge=0, le=0xFFFF, strict=True)]
Word = Annotated[int, Field(ge=0, le=0xFFFF, strict=True)]
Bit = Annotated[int, Field(ge=0, le=15, strict=True)]
WordOrder = Literal["big", "little", "big-swapped", "little-swapped"]
"""Bytes of a 32-bit value ABCD on the wire: ABCD, CDAB (lower word first), BADC, DCBA (bytes of each word swapped)."""

FORMATS = {"u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f"}
"""struct code of every register type."""
RANGES = {
    "u16": (0, 2**16 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "u32": (0, 2**32 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "f32": (-(2.0**127), 2.0**127),
}
"""Smallest and largest raw value of every register type (for f32 a power of two well inside it)."""
MAX_READ = 125
MAX_WRITE = 121
"""Most registers FC23 reads and writes."""


class ProfileModel(BaseModel):
    """A table of a profile."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Register(ProfileModel):
    """A number in one or two registers: raw value times `scale` is the quantity in SI units."""

    address: Address
    type: Literal["u16", "i16", "u32", "i32", "f32"] = "u16"
    scale: float = Field(default=1.0, ge=1e-15, le=1e6)
    word_order: WordOrder | None = None
    """Of a 32-bit value; None = the profile's."""
    invalid: int | None = Field(default=None, strict=True)
    """Raw value by which the device says that it has no valid value; it reads as NaN."""

    @property
    def words(self) -> int:
        """Registers it takes."""
        return 2 if self.type.endswith("32") else 1

    @property
    def step(self) -> float:
        """What its quantity changes by at least, SI; 0 of a float, whose own step says nothing of the device's."""
        return 0.0 if self.type == "f32" else self.scale

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = RANGES[self.type]
        if self.address + self.words > 0x10000:
            raise ValueError(f"a {self.type} at address {self.address} ends beyond register 65535")
        if self.invalid is not None and (self.type == "f32" or not low <= self.invalid <= high):
            raise ValueError(f"invalid = {self.invalid} is not a value of a {self.type}")
        return self


class Text(ProfileModel):
    """ASCII text, two characters a register, the first in the high byte, padded with NUL or space."""

    address: Address
    length: Annotated[int, Field(ge=1, le=MAX_READ, strict=True)]

    @property
    def words(self) -> int:
        """Registers it takes."""
        return self.length


def check_words(registers: Mapping[str, Register | None]) -> None:
    """Refuse (ValueError) registers that are no plain words; None is none."""
    for name, register in registers.items():
        if register is not None and (register.type != "u16" or register.scale != 1.0):
            raise ValueError(f"{name}: must be a u16 without scale")


def check_block(registers: Sequence[Register | Text], limit: int, *, contiguous: bool) -> None:
    """Refuse (ValueError) registers that overlap, leave a gap where there may be none, or take more than `limit`."""
    ordered = sorted(registers, key=lambda register: register.address)
    for before, after in itertools.pairwise(ordered):
        end = before.address + before.words
        if after.address < end:
            raise ValueError(f"the registers at {before.address} and {after.address} overlap")
        if contiguous and after.address > end:
            raise ValueError(f"registers {end}..{after.address - 1} lie between others and would be written blindly")
    count = ordered[-1].address + ordered[-1].words - ordered[0].address
    if count > limit:
        raise ValueError(f"the range takes {count} registers, one exchange takes {limit}")


_Code = Annotated[int, Field(ge=1, le=0xFFFF, strict=True)]


class IdentityMap(ProfileModel):
    """Who the device is; one readable range of registers."""

    vendor: Text
    product: Text
    serial: Text
    firmware: Text

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_block([self.vendor, self.product, self.serial, self.firmware], MAX_READ, contiguous=False)
        return self


class FeedbackMap(ProfileModel):
    """Read every cycle: one range of registers, read as a whole. A drive that lacks a register has None for it.

    Without `sequence` a drive that hangs is not told from one at rest; without `velocity` the speed is that between the
    last two positions.
    """

    status: Register
    error: Register | None = None
    sequence: Register | None = None
    position: Register
    velocity: Register | None = None
    force: Register | None = None
    auxiliary: dict[str, Register] = Field(default_factory=dict)

    @property
    def registers(self) -> list[Register | None]:
        """All but the auxiliary ones, as raw feedback has them: status, error, sequence, position, velocity, force."""
        return [self.status, self.error, self.sequence, self.position, self.velocity, self.force]

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_words({"status": self.status, "error": self.error, "sequence": self.sequence})
        registers = [register for register in self.registers if register is not None]
        check_block([*registers, *self.auxiliary.values()], MAX_READ, contiguous=False)
        return self


class CommandMap(ProfileModel):
    """Written every cycle: one range of registers without a gap, since the whole of it is written.

    A drive has those set-points that its modes need; None = it takes none of this kind.
    """

    control: Register
    mode: Register
    sequence: Register | None = None
    force: Register | None = None
    position: Register | None = None
    velocity: Register | None = None

    @property
    def registers(self) -> list[Register | None]:
        """All of them in the order of a raw command: control, mode, sequence, force, position, velocity."""
        return [self.control, self.mode, self.sequence, self.force, self.position, self.velocity]

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_words({"control": self.control, "mode": self.mode, "sequence": self.sequence})
        for name, register in (("force", self.force), ("position", self.position), ("velocity", self.velocity)):
            if register is not None and register.type.startswith("u"):
                raise ValueError(f"{name}: a set-point has a sign, its type cannot be {register.type}")
        check_block([register for register in self.registers if register], MAX_WRITE, contiguous=True)
        return self


class ParameterMap(ProfileModel):
    """Written once, before the drive is enabled."""

    watchdog: Register | None = None
    """s without a command before the drive stops by itself; 0 = never. None: the drive has no watchdog."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.watchdog is not None and self.watchdog.type not in ("u16", "u32"):
            raise ValueError(f"watchdog: must be a u16 or u32, not {self.watchdog.type}")
        return self


class Functions(ProfileModel):
    """Function codes. FC23 does a cycle's exchange in one; else the command is written, then feedback is read.

    `read` is for feedback, `write` for the command and for parameters.
    """

    exchange: Literal["together", "separate"] = "together"
    read: Literal[3, 4] = 3
    write: Literal[16, 6] = 16
    """6: one register after the other, set-points first."""


class ControlBits(ProfileModel):
    """Bits of the control word."""

    enable: Bit
    quick_stop: Bit
    clear: Bit


class StatusBits(ProfileModel):
    """Bits of the status word; None = the drive does not say."""

    ready: Bit | None = None
    enabled: Bit
    fault: Bit
    homed: Bit
    homing: Bit | None = None
    quick_stop: Bit | None = None
    watchdog: Bit | None = None
    brake: Bit | None = None
    standstill: Bit | None = None


class ModeCodes(ProfileModel):
    """Values of the mode register; None = the drive lacks the mode."""

    off: Word
    force: Word | None = None
    position: Word | None = None
    homing: Word | None = None


class ErrorCode(ProfileModel):
    """One value of the error register, in words."""

    code: _Code
    text: str


class ServoProfile(ProfileModel):
    """A servo drive: cyclic blocks, parameters, identity, and what the bits and codes mean."""

    name: str
    description: str = ""
    word_order: WordOrder = "big"
    wrong_unit: Literal["silent", "gateway"] = "silent"
    homing_ends_off: bool = False
    """The drive takes its torque off as it finds its reference; every other keeps it."""
    functions: Functions = Functions()
    feedback: FeedbackMap
    command: CommandMap
    parameters: ParameterMap = ParameterMap()
    identity: IdentityMap | None = None
    control: ControlBits
    status: StatusBits
    modes: ModeCodes
    errors: dict[str, ErrorCode] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        faults = []
        for name, values in (
            ("control", list(self.control.model_dump().values())),
            ("status", list(self.status.model_dump().values())),
            ("modes", list(self.modes.model_dump().values())),
            ("errors", [error.code for error in self.errors.values()]),
        ):
            given = [value for value in values if value is not None]
            if len(set(given)) != len(given):
                faults.append(f"{name}: two entries have the same value")
        for mode in ("force", "position"):
            if getattr(self.modes, mode) is not None and getattr(self.command, mode) is None:
                faults.append(f"command.{mode}: missing, but there is a mode {mode}")
        if (self.feedback.sequence is None) != (self.command.sequence is None):
            faults.append("sequence: an echo takes a register of [command] and one of [feedback]")
        wide = [register.type for register in self.command.registers if register is not None and register.words > 1]
        if self.functions.exchange == "separate" and self.functions.write == 6 and wide:
            faults.append(f"functions.write: function 6 writes 16-bit registers, [command] has a {wide[0]}")
        if faults:
            raise ValueError("; ".join(faults))
        return self


class ReadingMap(ProfileModel):
    """Read from an amplifier every cycle: one range of registers. One that lacks a register has None for it.

    Without `sample` a conversion that was read before is not told from a new one.
    """

    status: Register | None = None
    sample: Register | None = None
    forces: Annotated[list[Register], Field(min_length=1, max_length=6)]
    """Channels: six cells of one amplifier, or the cell of one device."""
    invalid: list[list[Bit]] | None = None
    """Bits of the status word, any of which says that a channel has no valid value; None: bit n - 1 of channel n."""
    negative: list[Bit] | None = None
    """Bit of the status word that says that a channel's value is negative, where registers hold its size."""

    @property
    def registers(self) -> list[Register | None]:
        """Status, sample and channels, as a raw reading has them."""
        return [self.status, self.sample, *self.forces]

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_words({"status": self.status, "sample": self.sample})
        check_block([register for register in self.registers if register], MAX_READ, contiguous=False)
        for name, bits in (("invalid", self.invalid), ("negative", self.negative)):
            if bits is not None and self.status is None:
                raise ValueError(f"{name}: bits of a status word, which is not given")
            if bits is not None and len(bits) != len(self.forces):
                raise ValueError(f"{name}: {len(bits)} entries, not {len(self.forces)}, one for each channel")
        if self.negative is not None and not all(register.type.startswith("u") for register in self.forces):
            raise ValueError("negative: registers that hold a size have a type without a sign, u16 or u32")
        return self

    def invalid_masks(self) -> list[int]:
        """What says in the status word that a channel has no valid value, by channel; 0 where nothing does."""
        if self.invalid is not None:
            return [sum(1 << bit for bit in set(bits)) for bits in self.invalid]
        return [0 if self.status is None else 1 << channel for channel in range(len(self.forces))]

    def negative_masks(self) -> list[int]:
        """What says there that its value is negative, by channel; 0 where the register does."""
        return [0] * len(self.forces) if self.negative is None else [1 << bit for bit in self.negative]


class AmplifierProfile(ProfileModel):
    """A load-cell amplifier."""

    name: str
    description: str = ""
    word_order: WordOrder = "big"
    wrong_unit: Literal["silent", "gateway"] = "silent"
    reading: ReadingMap
    identity: IdentityMap | None = None


_MOST_BYTES = 64_000
"""Of a profile's file; one of every register there is has some 5,000."""
_LISTED_FAULTS = 30
_LONGEST_LINE = 2000
"""Bytes; the TOML parser is quadratic in the parts of a dotted key."""

P = TypeVar("P", ServoProfile, AmplifierProfile)


def load_profile(name_or_path: str | Path, kind: type[P]) -> P:
    """Load a shipped profile by its bare name, or a TOML file by its path (anything with a separator or ".toml").

    kind: `ServoProfile` or `AmplifierProfile`. Raises ConfigurationError listing all faults of the file at once.
    """
    text = str(name_or_path)
    shipped = resources.files("actuators.profiles")
    source = Path(text) if "/" in text or "\\" in text or text.endswith(".toml") else shipped / f"{text}.toml"
    try:
        content = _read(source) if isinstance(source, Path) else source.read_bytes()
        profile: P = _profile(content, kind)
        return profile
    except FileNotFoundError:
        known = sorted(entry.name[:-5] for entry in shipped.iterdir() if entry.name.endswith(".toml"))
        raise ConfigurationError(f"no profile {text!r}; shipped profiles: {', '.join(known)}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"profile {text} is not TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"profile {text} is not a profile: its tables and lists are nested too deep") from None
    except ValidationError as error:
        raise ConfigurationError(f"profile {text}:\n{describe(error)}") from None
    except (OSError, ValueError) as error:  # of the name, the text, or a number of more digits than are converted
        raise ConfigurationError(f"cannot read profile {text!r}: {error}") from None


@functools.lru_cache(maxsize=16)
def _profile(content: bytes, kind: type[P]) -> P:
    """What a file's bytes say; read once for the six drives that have it, and their twins."""
    return kind.model_validate(tomllib.loads(content.decode()))


def _read(path: Path) -> bytes:
    """The bytes of a regular file; OSError where it is none, or larger than a profile can be."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)  # a pipe would block
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    with open(descriptor, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(f"more than {_MOST_BYTES} bytes")
    longest = max(map(len, content.splitlines()), default=0)
    if longest > _LONGEST_LINE:
        raise OSError(f"a line of {longest} bytes, at most {_LONGEST_LINE}")
    return content


def describe(error: ValidationError) -> str:
    """All faults of a pydantic validation, one line each: path inside the input, then what is wrong."""
    faults = [
        f"  {'.'.join(map(str, fault['loc'])) or '(whole)'}: {fault['msg'].removeprefix('Value error, ')}"
        for fault in error.errors(include_url=False)
    ]
    more = len(faults) - _LISTED_FAULTS
    return "\n".join(faults[:_LISTED_FAULTS] + ([f"  and {more} more"] if more > 0 else []))
