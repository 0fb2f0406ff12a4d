"""What the columns of a log are: a mapping in TOML, or the same in options; and which columns are there by default."""

import re
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from kinematics import (
    Frequency,
    InputFileError,
    Time,
    parse_toml,
    read_quantity,
    read_text,
    within,
)
from rig.csvio import POSE, per_leg
from rig.errors import InputError

GROUPS = ("lengths", "pose", "commanded_lengths", "commanded_pose", "forces")
"""Tables of a mapping that name columns, beside `time`."""

_ROTATIONS = ("wxyz", "xyzw", "vector")
_EULER = re.compile(r"(?!.*([xyzXYZ])\1)(?:[xyz]{3}|[XYZ]{3})")
_GIVEN = re.compile(r"(?P<group>[a-z_]+)\s*=\s*(?P<columns>[^\[\]]+?)\s*(?:\[(?P<units>[^\[\]]+)\])?\s*")
_DEFAULTS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("lengths", (per_leg("l"),)),
    ("pose", (POSE, tuple(f"pose_{k}" for k in range(1, 8)))),
    ("commanded_pose", (tuple(f"reference_{k}" for k in range(1, 8)),)),
    ("forces", (per_leg("f"), per_leg("force_measured_"))),
)
"""Columns that are taken where nothing is said: those of this program's own tables."""


def _rotation(text: str) -> str:
    if text not in _ROTATIONS and _EULER.fullmatch(text) is None:
        raise ValueError(
            f'{text!r} is no rotation: "wxyz" or "xyzw" of a quaternion, "vector", or three axes in the order of their '
            'columns, "xyz" about fixed, "XYZ" about moving axes'
        )
    return text


class _Unit:
    """A unit by its spelling, the SI unit of a quantity or another one of its dimension."""

    def __init__(self, si: str) -> None:
        self.si = si

    def __call__(self, text: str) -> str:
        factor_of(text, self.si)
        return text


def factor_of(unit: str, si: str) -> float:
    """How many of the SI unit one `unit` is. Raises ValueError for one of another dimension, or that is not known."""
    if unit == si:
        return 1.0
    try:
        return read_quantity(f"1 {unit}", (si,))
    except ValueError as error:
        raise ValueError(f"{unit!r} is no unit for {si}: {error}") from None


_Name = Annotated[str, Field(min_length=1)]
_Six = tuple[_Name, _Name, _Name, _Name, _Name, _Name]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeColumn(_Table):
    """When each row was measured: by a column of stamps, or by a constant rate."""

    column: _Name | None = None
    unit: Annotated[str, AfterValidator(_Unit("s"))] = "s"
    rate: Annotated[Frequency, within(1e-3, 1e6, "Hz")] | None = None
    """Of a log without stamps."""
    stamps: Literal["auto", "sampled", "even"] = "auto"
    """Whether the samples were taken when the stamps say, or evenly, the stamps being late; "auto": as motion tells."""
    gap: Annotated[Time, within(1e-6, 1e3, "s")] | None = None
    """Longest interval that is no gap; left out: one and a half of the usual one."""

    @model_validator(mode="after")
    def _either(self) -> "TimeColumn":
        if (self.column is None) == (self.rate is None):
            raise ValueError("needs either column or rate")
        return self


class LegColumns(_Table):
    """Six leg lengths, legs 1 to 6: column plus `offset` is the leg's length."""

    columns: _Six
    unit: Annotated[str, AfterValidator(_Unit("m"))] = "m"
    offset: tuple[float, ...] = (0.0,) * 6
    """One for each leg, in `unit`."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, data: Any) -> Any:
        return _spread_offset(data)

    @model_validator(mode="after")
    def _of_six(self) -> Any:
        _check_six(self.offset)
        return self


class ForceColumns(_Table):
    """Six leg forces, legs 1 to 6: column plus `offset`, in `unit`."""

    columns: _Six
    unit: Annotated[str, AfterValidator(_Unit("N"))] = "N"
    offset: tuple[float, ...] = (0.0,) * 6
    positive: Literal["compression", "tension"] = "compression"
    """Which forces have a positive sign in the columns."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, data: Any) -> Any:
        return _spread_offset(data)

    @model_validator(mode="after")
    def _of_six(self) -> Any:
        _check_six(self.offset)
        return self


class PoseColumns(_Table):
    """Position x, y, z and a rotation: three columns, or four of a quaternion."""

    columns: Annotated[tuple[_Name, ...], Field(min_length=6, max_length=7)]
    unit: Annotated[str, AfterValidator(_Unit("m"))] = "m"
    angle: Annotated[str, AfterValidator(_Unit("rad"))] = "rad"
    rotation: Annotated[str, AfterValidator(_rotation)] = ""
    """Left out: "xyz" of three columns (R = Rz·Ry·Rx), "wxyz" of four."""
    frame: Literal["base", "home"] = "base"
    """Whether zeros are the base's origin, or the platform's home pose, as in a trajectory's file."""

    @model_validator(mode="before")
    @classmethod
    def _usual_rotation(cls, data: Any) -> Any:
        if isinstance(data, AnyMapping) and "rotation" not in data and isinstance(data.get("columns"), list | tuple):
            return {**data, "rotation": "wxyz" if len(data["columns"]) == 7 else "xyz"}
        return data

    @model_validator(mode="after")
    def _fits(self) -> "PoseColumns":
        wanted = 7 if self.rotation in ("wxyz", "xyzw") else 6
        if len(self.columns) != wanted:
            raise ValueError(f"rotation {self.rotation!r} takes {wanted} columns, there are {len(self.columns)}")
        return self


class LogMapping(_Table):
    """What a log's columns are; without a line of names they are called by their numbers, from "1" on."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Between columns; left out: that of semicolon, tab, comma and blank of which the line of names has most."""
    names: bool = True
    """Whether a line names the columns; lines before it are left out."""
    skip: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Lines that are left out: below the names, as of units, or without names at the file's beginning."""
    encoding: Literal["utf-8", "latin-1", "cp1252", "utf-16"] = "utf-8"
    corrected: bool = False
    """Whether lengths and forces lack already what the configuration's parameter files give as the drives' offsets and
    the cells' zeros."""
    time: TimeColumn = TimeColumn(column="t")
    lengths: LegColumns | None = None
    pose: PoseColumns | None = None
    commanded_lengths: LegColumns | None = None
    commanded_pose: PoseColumns | None = None
    forces: ForceColumns | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        found = [] if self.time.column is None else [self.time.column]
        for group in GROUPS:
            if (table := getattr(self, group)) is not None:
                found += table.columns
        return tuple(found)


def load_mapping(path: Path | None, given: Sequence[str] = ()) -> LogMapping | None:
    """The mapping of a TOML file with what options say over it; None where neither says anything.

    Args:
        path: of the file.
        given: `GROUP=COLUMN,COLUMN,… [UNIT]`, of a pose `[UNIT,ANGLE]`, of time `time=COLUMN [UNIT]`.

    Raises:
        InputError: it cannot be used, with every reason.
    """
    if path is None and not given:
        return None
    data: dict[str, Any] = {}
    if path is not None:
        try:
            data = parse_toml(read_text(path))
        except InputFileError as error:
            raise InputError(f"mapping {path}: {error}") from None
    for text in given:
        group, table = _given(text)
        data[group] = {**(data[group] if isinstance(data.get(group), dict) else {}), **table}
    return parse_mapping(data, "columns" if path is None else f"mapping {path}")


def parse_mapping(data: AnyMapping[str, Any], what: str) -> LogMapping:
    """The mapping of a TOML file's tables. Raises InputError, with every reason; `what` is its name."""
    faults = []
    try:
        mapping = LogMapping.model_validate(data)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            place = ".".join(str(part) for part in item["loc"])
            text = "unknown key" if item["type"] == "extra_forbidden" else item["msg"].removeprefix("Value error, ")
            faults.append(f"{place}: {text}" if place else text)
        raise InputError(f"{what} cannot be used:", faults) from None
    twice = [name for name in dict.fromkeys(mapping.columns) if mapping.columns.count(name) > 1]
    faults += [f"column {name!r} is named twice" for name in twice]
    if mapping.lengths is None and mapping.pose is None:
        faults.append("neither lengths nor pose: measured motion is needed, six leg lengths or a pose")
    if faults:
        raise InputError(f"{what} cannot be used:", faults)
    return mapping


def usual_mapping(names: Sequence[str]) -> LogMapping | None:
    """The mapping of a table that has this program's own names: of `rig export`, `rig ik`, `rig fk`; None of others."""
    there = set(names)
    found: dict[str, Any] = {}
    for group, candidates in _DEFAULTS:
        columns = next((each for each in candidates if there.issuperset(each)), None)
        if columns is not None:
            found[group] = {"columns": list(columns)}
    if "t" not in there or not {"lengths", "pose"} & found.keys():
        return None
    corrected = {"corrected": True} if "force_measured_1" in there else {}
    return LogMapping.model_validate(corrected | found)


def _given(text: str) -> tuple[str, dict[str, Any]]:
    match = _GIVEN.fullmatch(text)
    known = ("time", *GROUPS)
    if match is None or match["group"] not in known:
        raise InputError(
            f"--columns {text!r}: must be GROUP=COLUMN,COLUMN,… with its unit behind it in brackets where that is not "
            f"SI, as in lengths=a,b,c,d,e,f [mm]; groups are {', '.join(known)}"
        )
    group = match["group"]
    columns = [name.strip() for name in match["columns"].split(",")]
    units = [unit.strip() for unit in (match["units"] or "").split(",") if unit.strip()]
    if len(units) > (2 if group.endswith("pose") else 1):
        raise InputError(f"--columns {text!r}: {len(units)} units, one goes with {group}")
    table: dict[str, Any] = dict(zip(("unit", "angle"), units, strict=False))
    if group != "time":
        return group, table | {"columns": columns}
    if len(columns) != 1:
        raise InputError(f"--columns {text!r}: {len(columns)} columns, time is one")
    return group, table | {"column": columns[0]}


def _spread_offset(data: Any) -> Any:
    """One offset is every leg's."""
    if isinstance(data, AnyMapping) and isinstance(data.get("offset"), int | float):
        return {**data, "offset": [data["offset"]] * 6}
    return data


def _check_six(offset: tuple[float, ...]) -> None:
    if len(offset) != 6:
        raise ValueError(f"offset: {len(offset)} numbers, must be one, or one for each of six legs")
    if not all(abs(value) < float("inf") for value in offset):
        raise ValueError("offset: must be finite")
