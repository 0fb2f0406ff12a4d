"""How rows lie in a recording: as this version writes them, or as versions before did, which become its own."""

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from rig.recording.schema import CDR_HEADER, PACKED_SIZE, cycle_definition, layout
from rig.telemetry import ABSENT, ROW

Rows = npt.NDArray[np.void]

_FIELD = re.compile(r"(float64|uint64|uint32|uint16|uint8)(?:\[(\d+)\])? (\w+)")
_MOST = 4096  # elements of a field; a damaged definition must not fill the memory
_WITHOUT_PADDING = np.dtype(
    {"names": ["row"], "formats": [f"V{PACKED_SIZE}"], "offsets": [0], "itemsize": ROW.itemsize}
)


class RowLayout:
    """One layout of rows, by the fields of its message definition.

    Args:
        fields: types and names, as `rig.recording.schema.layout` gives them.

    `message` is the dtype of a row's message as it lies in a chunk, one after the other, its packed row the field
    `row`.

    Raises ValueError for fields that no version's rows have.
    """

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._own = list(fields) == layout(cycle_definition())
        self._fields = _packed(fields)
        size = max(offset + kind.itemsize for kind, offset in (self._fields.fields or {}).values())  # type: ignore[misc]
        self.message = np.dtype(
            [
                ("opcode", "u1"),
                ("length", "<u8"),
                ("channel", "<u2"),
                ("sequence", "<u4"),
                ("times", "<u8", 2),
                ("cdr", f"V{len(CDR_HEADER)}"),
                ("row", f"V{size}"),
            ]
        )
        self._padded = np.dtype({"names": ["row"], "formats": [f"V{size}"], "itemsize": self._fields.itemsize})
        if not self._own:
            _match(self._fields)

    def place(self, stretch: Rows, rows: Rows) -> None:
        """Copy packed rows (n,) into rows (n,) of dtype ROW.

        A value that a row had once is every leg's; what it did not have yet is as `rig.telemetry.ABSENT` says.
        """
        if self._own:
            rows.view(_WITHOUT_PADDING)["row"] = stretch
            return
        old = np.zeros(len(stretch), self._fields)
        old.view(self._padded)["row"] = stretch
        for name in ROW.names or ():
            if name not in (self._fields.names or ()):
                rows[name] = ABSENT[name]
            elif rows[name].size == old[name].size:
                rows[name] = old[name].reshape(rows[name].shape)
            else:
                rows[name] = old[name][:, np.newaxis]


@cache
def own_layout() -> RowLayout:
    """The layout in which this version writes."""
    return RowLayout(tuple(layout(cycle_definition())))


def _packed(fields: tuple[str, ...]) -> np.dtype[np.void]:
    """The fields as CDR aligns them."""
    parts = []
    for field in fields:
        found = _FIELD.fullmatch(field)
        count = 1 if found is None else int(found[2] or 1)
        if found is None or not 0 < count <= _MOST:
            raise ValueError(f"row: field {field!r}")
        parts.append((found[3], found[1]) if found[2] is None else (found[3], found[1], (count,)))
    return np.dtype(parts, align=True)


def _match(old: np.dtype[np.void]) -> None:
    """Raise ValueError unless rows of `old` have become today's by fields added, or given to each leg."""
    for name in old.names or ():
        now = ROW[name] if name in (ROW.names or ()) else None
        if now is None or now.base != old[name].base or not _counts_match(old[name], now):
            raise ValueError(f"row: field {name!r}")
    missing = [name for name in ROW.names or () if name not in (old.names or ()) and name not in ABSENT]
    if missing:
        raise ValueError(f"row: without field {missing[0]!r}")


def _counts_match(old: np.dtype[np.void], now: np.dtype[np.void]) -> bool:
    counts = [int(np.prod(kind.shape)) for kind in (old, now)]
    return counts[0] == counts[1] or counts[0] == 1
