"""The profile of a load-cell amplifier on Modbus: the registers of its channels, and its status word."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.profile import (
    MAX_READ,
    Bit,
    IdentityMap,
    ProfileModel,
    Register,
    WordOrder,
    check_block,
    check_no_table,
    check_words,
)


class ReadingMap(ProfileModel):
    """Read from an amplifier every cycle: one range of registers. Leave out a register that it lacks.

    Without `sample` a conversion that was read before counts as a new one.
    """

    status: Register | None = None
    """Word with the bits of `invalid` and `negative`; a u16."""
    sample: Register | None = None
    """Counts conversions; a u16."""
    forces: Annotated[list[Register], Field(min_length=1, max_length=6)]
    """Channels: six cells of one amplifier, or the cell of one device."""
    invalid: list[list[Bit]] | None = None
    """Bits of the status word, by channel: a channel has no valid value if any of its bits is set;
    left out: bit n - 1 of channel n."""
    negative: list[Bit] | None = None
    """Bit of the status word, by channel: its value is negative, where registers hold the magnitude."""

    @property
    def registers(self) -> list[Register | None]:
        """Status, sample and channels, as a raw reading has them."""
        return [self.status, self.sample, *self.forces]

    @model_validator(mode="after")
    def _check(self) -> Self:
        words = {"status": self.status, "sample": self.sample}
        check_words(words)
        named = words | {f"forces[{place}]": register for place, register in enumerate(self.forces, start=1)}
        check_no_table(named)
        check_block({name: one for name, one in named.items() if one is not None}, MAX_READ, contiguous=False)
        for name, bits in (("invalid", self.invalid), ("negative", self.negative)):
            if bits is not None and self.status is None:
                raise ValueError(f"{name}: bits of a status word, which is not given")
            if bits is not None and len(bits) != len(self.forces):
                raise ValueError(f"{name}: {len(bits)} entries, not {len(self.forces)}, one for each channel")
        if self.negative is not None and not all(register.type.startswith("u") for register in self.forces):
            raise ValueError("negative: registers that hold a magnitude have a type without a sign, u16 or u32")
        return self

    def invalid_masks(self) -> list[int]:
        """Masks of the status word by channel: it has no valid value if any bit is set; 0: it always has."""
        if self.invalid is not None:
            return [sum(1 << bit for bit in set(bits)) for bits in self.invalid]
        return [0 if self.status is None else 1 << channel for channel in range(len(self.forces))]

    def negative_masks(self) -> list[int]:
        """Masks of the status word by channel: the value is negative if the bit is set; 0: the register has a sign."""
        return [0] * len(self.forces) if self.negative is None else [1 << bit for bit in self.negative]


class AmplifierProfile(ProfileModel):
    """A load-cell amplifier."""

    name: str
    """Its name in messages."""
    description: str = ""
    """What device it is of, for people."""
    word_order: WordOrder = "big"
    """Of values of 32 and 64 bits ABCD: "big" ABCD, "little" CDAB, "big-swapped" BADC, "little-swapped" DCBA."""
    wrong_unit: Literal["silent", "gateway"] = "silent"
    """What its simulator answers to a frame for another unit: nothing, or a gateway's exception 0B."""
    reading: ReadingMap
    identity: IdentityMap | None = None
