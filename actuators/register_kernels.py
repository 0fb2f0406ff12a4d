"""Registers in the frames of six devices of one profile, packed and unpacked in compiled code."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from actuators.codec import Block
from actuators.profile import Register, WordOrder
from kinematics import inlined

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]

_U16, _I16, _U32, _I32, _F32 = range(5)
_TYPES = {"u16": _U16, "i16": _I16, "u32": _U32, "i32": _I32, "f32": _F32}


def frame_fields(registers: Sequence[Register | None], block: Block, order: WordOrder, begin: int) -> Ints:
    """Return the fields (n, 6) of the registers that are there, in frames whose block begins at byte `begin`.

    Columns: type, place of the value, and places of the bytes, most significant first.
    """
    rows = []
    for place, register in enumerate(registers):
        if register is None:
            continue
        start = begin + 2 * (register.address - block.address)
        places = block.byte_places(register, order)
        rows.append([_TYPES[register.type], place, *(start + each for each in places), *[0] * (4 - len(places))])
    return np.array(rows, np.int64).reshape(-1, 6)


@inlined
def pack_kernel(value: float, fields: Ints, n: int, single: Singles, word: Words, frames: Bytes, i: int) -> None:
    """Write a raw value, which fits, into field n of frame i. single, word: one float32 and its bits.

    The arrays are passed whole: a view of one row costs more than what is done with it.
    """
    kind = fields[n, 0]
    if kind == _F32:
        single[0] = value
        bits = int(word[0])
    else:
        bits = int(value)
    if kind <= _I16:
        frames[i, fields[n, 2]] = (bits >> 8) & 0xFF
        frames[i, fields[n, 3]] = bits & 0xFF
    else:
        for k in range(4):
            frames[i, fields[n, 2 + k]] = (bits >> (24 - 8 * k)) & 0xFF


@inlined
def unpack_kernel(fields: Ints, n: int, single: Singles, word: Words, frames: Bytes, i: int) -> float:
    """Return the raw value of field n of frame i. single, word: one float32 and its bits."""
    kind = fields[n, 0]
    if kind <= _I16:
        bits = int(frames[i, fields[n, 2]]) << 8 | int(frames[i, fields[n, 3]])
        return float(bits - 0x10000 if kind == _I16 and bits >= 0x8000 else bits)
    bits = 0
    for k in range(4):
        bits = bits << 8 | int(frames[i, fields[n, 2 + k]])
    if kind == _F32:
        word[0] = bits
        return float(single[0])
    return float(bits - 0x100000000 if kind == _I32 and bits >= 0x80000000 else bits)
