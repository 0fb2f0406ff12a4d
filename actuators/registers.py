"""Registers of a Modbus device: where a number or a text is, and how it is to be read."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
