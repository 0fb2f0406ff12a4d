"""What profiles of servos and of amplifiers share: registers, identity, and files, validated."""

import functools
import itertools
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from actuators.errors import ConfigurationError
from actuators.validation import describe, shown

MOST_ADDRESS = 0xFFFF


def _as_address(value: object) -> object:
    """Refuse (ValueError) the number that a manual gives a register in place of its address."""
    if isinstance(value, int) and value > MOST_ADDRESS:
        number, address = (value, value - 400_001) if 400_001 <= value <= 400_001 + MOST_ADDRESS else (40_001, 0)
        hint = f"addresses count from 0, holding register {number} is address {address}, coil 1 is address 0"
        raise ValueError(f"must be at most {MOST_ADDRESS}, not {value}: {hint}")
    return value


Address = Annotated[int, Field(ge=0, le=MOST_ADDRESS), BeforeValidator(_as_address)]
Word = Annotated[int, Field(ge=0, le=0xFFFF)]
Bit = Annotated[int, Field(ge=0, le=15)]
WordOrder = Literal["big", "little", "big-swapped", "little-swapped"]
"""Bytes of a 32-bit value ABCD on the wire: ABCD, CDAB (lower word first), BADC, DCBA (bytes of each word swapped).

One of 64 bits likewise: words from the upper or from the lower end, bytes of each as they are or swapped."""

RegisterType = Literal["u16", "i16", "u32", "i32", "f32", "u64", "i64", "f64"]
FORMATS = {"u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f", "u64": "Q", "i64": "q", "f64": "d"}
"""struct code of every register type."""
RANGES = {
    "u16": (0, 2**16 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "u32": (0, 2**32 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "f32": (-(2.0**127), 2.0**127),
    "u64": (0, 2**64 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "f64": (-(2.0**1022), 2.0**1022),
}
"""Smallest and largest raw value of every register type (for floats a power of two well inside it)."""
MAX_READ = 125
MAX_WRITE = 121
"""Most registers FC23 reads and writes."""
MAX_BITS = 2000
"""Most coils or discrete inputs that one exchange reads."""


class ProfileModel(BaseModel):
    """A table of a profile."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)

    def entries(self) -> dict[str, Any]:
        """Those that there are, by name."""
        return {name: value for name, value in self if value is not None}


class Register(ProfileModel):
    """A number in one to four registers: raw value times `scale` is the quantity in SI units."""

    address: Address
    """First register, counted from 0."""
    type: RegisterType = "u16"
    """Sign and bits of the raw value; f: a floating-point number."""
    scale: Annotated[float, Field(ge=-1e6, le=1e6)] = 1.0
    """SI units a count. Negative: the device counts the other way."""
    word_order: WordOrder | None = None
    """Of a value of 32 or 64 bits; left out: the profile's."""
    invalid: int | None = None
    """Raw value by which the device says that it has no valid value; it reads as NaN."""
    table: Literal["holding", "input"] | None = None
    """Where a feedback register is; left out: by `functions.read`."""

    @property
    def words(self) -> int:
        """Registers it takes."""
        return int(self.type[1:]) // 16

    @property
    def floating(self) -> bool:
        """Whether it holds a floating-point number."""
        return self.type.startswith("f")

    @property
    def step(self) -> float:
        """What its quantity changes by at least, SI; 0 of a float, whose own step says nothing of the device's."""
        return 0.0 if self.floating else abs(self.scale)

    @field_validator("scale")
    @classmethod
    def _check_scale(cls, scale: float) -> float:
        if abs(scale) < 1e-15:
            raise ValueError(f"must be at least 1e-15 in magnitude, not {scale:g}")
        return scale

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = RANGES[self.type]
        if self.address + self.words > 0x10000:
            raise ValueError(f"{a_type(self.type)} at address {self.address} ends beyond register 65535")
        if self.invalid is not None and (self.floating or not low <= self.invalid <= high):
            raise ValueError(f"invalid = {self.invalid} is not a value of {a_type(self.type)}")
        return self


def a_type(kind: str) -> str:
    """A type of register with its article."""
    return f"an {kind}" if kind.startswith("i") else f"a {kind}"


def largest(register: Register) -> float:
    """Largest magnitude of the quantity in a signed register, m, N or m/s."""
    high = RANGES[register.type][1]
    return (high if register.words < 4 or register.floating else high - 0xFFF) * abs(register.scale)


def is_number(value: object, what: str, table: type[ProfileModel]) -> bool:
    """Whether it is an integer, the short form of a table; what is neither is refused (ValueError) as not `what`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return True
    if not isinstance(value, Mapping | table):
        raise ValueError(f"must be {what} or a table, not {shown(value)}")
    return False


class BitMap(ProfileModel):
    """A signal of the device: a bit of a word, a value of some of its bits, a coil, or a discrete input.

    Written as a number, it is that bit of the status or control word, active high.
    """

    bit: Bit | None = None
    """Bit of its word."""
    mask: Word | None = None
    """Several bits of its word."""
    value: Word | None = None
    """With `mask`: the word, masked, has this value."""
    coil: Address | None = None
    """Coil, counted from 0."""
    discrete: Address | None = None
    """Discrete input, counted from 0."""
    word: str | None = None
    """Which of `feedback.words` has the bit; left out: the status word."""
    active: Literal["high", "low"] = "high"
    """low: of a bit, a coil or a discrete input that is 0 while the signal is there."""

    @property
    def plain(self) -> bool:
        """Whether it is a bit of the one status or control word, active high."""
        return self.bit is not None and self.word is None and self.active == "high"

    @property
    def pattern(self) -> tuple[int, int] | None:
        """Mask and value of its word where it is active; None of a coil or a discrete input."""
        if self.bit is not None:
            return 1 << self.bit, (self.active == "high") << self.bit
        return None if self.mask is None or self.value is None else (self.mask, self.value)

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("bit", "mask", "coil", "discrete") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"has {' and '.join(given) or 'none of them'}: give one of bit, mask, coil, discrete")
        if (self.mask is None) != (self.value is None):
            raise ValueError("mask and value go together")
        if self.mask is not None and self.value is not None:
            if not self.mask or self.value & ~self.mask:
                raise ValueError(f"value 0x{self.value:04X} has bits outside of mask 0x{self.mask:04X}")
            if self.active == "low":
                raise ValueError('active = "low" is of a bit, a coil or a discrete input; give another value')
        if self.word is not None and given[0] not in ("bit", "mask"):
            raise ValueError(f"word: a {given[0]} is in none")
        return self


def _as_bit(value: object) -> object:
    return {"bit": value} if is_number(value, "a bit's number", BitMap) else value


Signal = Annotated[BitMap, BeforeValidator(_as_bit)]


class Text(ProfileModel):
    """ASCII text, two characters a register, the first in the high byte, padded with NUL or space."""

    address: Address
    """First register, counted from 0."""
    length: Annotated[int, Field(ge=1, le=MAX_READ)]
    """Registers of it."""

    @property
    def words(self) -> int:
        """Registers it takes."""
        return self.length


def check_words(registers: Mapping[str, Register | None]) -> None:
    """Refuse (ValueError) registers that are no plain words; None is none."""
    for name, register in registers.items():
        if register is not None and (register.type != "u16" or register.scale != 1.0):
            raise ValueError(f"{name}: must be a u16 without scale")


def check_no_table(registers: Mapping[str, Register | None]) -> None:
    """Refuse (ValueError) registers that name a table, where function 3 reads all of them."""
    for name, register in registers.items():
        if register is not None and register.table is not None:
            raise ValueError(f"{name}: table is of feedback registers of a servo")


def check_block(registers: Mapping[str, Register | Text], limit: int, *, contiguous: bool) -> None:
    """Refuse (ValueError), by key, registers that overlap, leave a gap but may not, or take more than `limit`."""
    check_overlap(registers)
    ordered = sorted(registers.items(), key=lambda item: item[1].address)
    for (one, before), (other, after) in itertools.pairwise(ordered):
        end = before.address + before.words
        if contiguous and after.address > end:
            between = f"registers {end}..{after.address - 1}"
            raise ValueError(f"{one} and {other}: {between} lie between them and would be written blindly")
    (first, lowest), (last, highest) = ordered[0], ordered[-1]
    count = highest.address + highest.words - lowest.address
    if count > limit:
        raise ValueError(f"{first} to {last}: the range takes {count} registers, one exchange takes {limit}")


def check_overlap(registers: Mapping[str, Register | Text]) -> None:
    """Refuse (ValueError) registers that overlap, by their keys."""
    ordered = sorted(registers.items(), key=lambda item: item[1].address)
    for (one, before), (other, after) in itertools.pairwise(ordered):
        if after.address < before.address + before.words:
            raise ValueError(f"{one} and {other}: the registers at {before.address} and {after.address} overlap")


def spans(
    registers: Sequence[Register | Text], gap: int | None, limit: int, *, pairs: bool = False
) -> list[tuple[int, int]]:
    """First register and the one behind the last of each range that takes one exchange.

    gap: most registers without a name between two of one range; None = any. limit: most registers of a range.
    pairs: whether each begins at an even register and ends behind an odd one.
    """
    found: list[tuple[int, int]] = []
    for register in sorted(registers, key=lambda one: one.address):
        first, end = register.address, register.address + register.words
        if pairs:
            first, end = first & ~1, end + (end & 1)
        if found and (gap is None or first - found[-1][1] <= gap) and end - found[-1][0] <= limit:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((first, end))
    return found


class Number(Register):
    """A number that identifies a device, written in decimal, or with `base` 16 in hexadecimal."""

    mask: int | None = Field(default=None, gt=0)
    """Bits of it that count."""
    expect: int | None = Field(default=None, ge=0)
    """What they must be; a device where they are not is refused."""
    base: Literal[10, 16] = 10
    """Decimal, or 16: it is written in hexadecimal."""

    @model_validator(mode="after")
    def _check_number(self) -> Self:
        if self.type not in ("u16", "u32", "u64") or self.scale != 1.0 or self.invalid is not None:
            raise ValueError("a number of an identity must be a u16, u32 or u64 without scale and invalid")
        for name in ("mask", "expect"):
            value = getattr(self, name)
            if value is not None and value > RANGES[self.type][1]:
                raise ValueError(f"{name} = {value} is not a value of {a_type(self.type)}")
        if self.expect is not None and self.mask is not None and self.expect & ~self.mask:
            raise ValueError(f"expect 0x{self.expect:X} has bits outside of mask 0x{self.mask:X}")
        return self

    def masked(self, raw: int) -> int:
        """The bits that count."""
        return raw if self.mask is None else raw & self.mask

    def text(self, raw: int) -> str:
        """What is written of it."""
        value = self.masked(raw)
        return str(value) if self.base == 10 else f"{value:X}"


def _kind(value: object) -> str:
    if not isinstance(value, Mapping | Text | Number):
        return "fixed"
    text = "length" in value if isinstance(value, Mapping) else isinstance(value, Text)
    return "text" if text else "number"


IdentityField = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Number, Tag("number")] | Annotated[str | None, Tag("fixed")],
    Discriminator(_kind),
]
"""A text or a number that is read, a fixed text of the profile, or nothing."""


class IdentityMap(ProfileModel):
    """Who the device is. Texts alone are one readable range of registers; else neighbours are read together."""

    vendor: IdentityField = None
    """Who made it."""
    product: IdentityField = None
    """Which one it is."""
    serial: IdentityField = None
    """Its serial number; is read, as it differs from device to device."""
    firmware: IdentityField = None
    """Version of its program."""

    @property
    def read(self) -> dict[str, Text | Number]:
        """What of it is read."""
        return {name: field for name, field in self if isinstance(field, Text | Number)}

    @property
    def numbers(self) -> dict[str, Number]:
        """What of it is read as a number."""
        return {name: field for name, field in self.read.items() if isinstance(field, Number)}

    @property
    def texts(self) -> list[str]:
        """Names of what is read as text."""
        return [name for name, field in self.read.items() if isinstance(field, Text)]

    @property
    def decides(self) -> bool:
        """Whether reading it can show that a device is another one."""
        return bool(self.texts) or any(field.expect is not None for field in self.numbers.values())

    def ranges(self, *, pairs: bool = False) -> list[tuple[int, int]]:
        """First register and number of each range that is read. pairs: see `spans`."""
        fields = list(self.read.values())
        together = all(isinstance(field, Text) for field in fields)
        return [(first, end - first) for first, end in spans(fields, None if together else 0, MAX_READ, pairs=pairs)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        fields = list(self.read.values())
        check_no_table(self.numbers)
        if not fields:
            raise ValueError("nothing of it is read: leave the table out")
        check_overlap(self.read)
        if all(isinstance(field, Text) for field in fields):
            check_block(self.read, MAX_READ, contiguous=False)
        if isinstance(self.serial, str):
            raise ValueError("serial: must be read, it cannot be the same for all devices")
        return self


_MOST_BYTES = 64_000
"""Of a profile's file; one of every register there is has some 5,000."""
_LONGEST_LINE = 2000
"""Bytes; the TOML parser is quadratic in the parts of a dotted key."""

P = TypeVar("P", bound=ProfileModel)


def load_profile(name_or_path: str | Path, kind: type[P]) -> P:
    """Load a shipped profile by its bare name, or a TOML file by its path (anything with a separator or ".toml").

    kind: `ServoProfile` or `AmplifierProfile`. Raises ConfigurationError listing all faults of the file at once.
    """
    text = str(name_or_path)
    try:
        profile: P = _profile(_content(text), kind)
        return profile
    except FileNotFoundError:
        raise ConfigurationError(f"no profile {text!r}; shipped profiles: {', '.join(shipped_profiles())}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"profile {text} is not TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"profile {text} is not a profile: its tables and lists are nested too deep") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"profile {text}:\n{error}") from None
    except (OSError, ValueError) as error:  # of the name, the text, or a number of more digits than are converted
        raise ConfigurationError(f"cannot read profile {text!r}: {error}") from None


def shipped_profiles() -> list[str]:
    """Names of the shipped profiles, sorted."""
    files = resources.files("actuators.profiles").iterdir()
    return sorted(entry.name[:-5] for entry in files if entry.name.endswith(".toml"))


def has_table(name_or_path: str | Path, table: str) -> bool:
    """Whether a profile, named as for `load_profile`, can be read and has this table."""
    try:
        return table in tomllib.loads(_content(str(name_or_path)).decode())
    except (OSError, ValueError, RecursionError):
        return False


@functools.lru_cache(maxsize=16)
def _profile(content: bytes, kind: type[P]) -> P:
    """What a file's bytes say; read once for the six drives that have it, and their twins."""
    data = tomllib.loads(content.decode())
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(describe(error, data)) from None


def _content(text: str) -> bytes:
    """The bytes of a shipped profile, or of the file at a path. Raises OSError."""
    if "/" in text or "\\" in text or text.endswith(".toml"):
        return _read(Path(text))
    return (resources.files("actuators.profiles") / f"{text}.toml").read_bytes()


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
