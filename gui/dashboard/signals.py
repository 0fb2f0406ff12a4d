"""All signals that a dashboard may plot, of telemetry and of external sensors: grouped, named, with unit."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from gui.live import Sources
from gui.models import EXACT, MODEL_NAMES, Floats, Rows, Segment, length_error, wrench_of
from gui.texts import mark, tr, trn
from gui.widgets import AXIS_COLOURS, LEG_COLOURS
from rig.angles import shown_angle
from rig.recording import SENSOR_TOPICS, SensorSeries
from rig.telemetry import CHANNELS, MEANING, QUATERNION, TERMS, SensorChannels

_TERMS = {
    "platform inertia": mark("Term platform inertia"),
    "gravity": mark("Term gravity"),
    "leg inertia": mark("Term leg inertia"),
    "friction": mark("Term friction"),
    "external": mark("Term external"),
}
"""Titles of `TERMS`."""
_LEGS = tuple(str(leg) for leg in range(1, 7))
_AXES = ("x", "y", "z")
_MM, _DEGREE, _US = ("mm", 1e3), ("°", math.degrees(1.0)), ("µs", 1e6)
_N, _COUNT = ("N", 1.0), ("", 1.0)
SENSOR_GROUP = mark("External sensors")
_OLDEST = 1.0
"""s, of a reading that is shown, or as many periods as in `_PERIODS` if that is longer"""
_PERIODS = 3.0
_LAST = 200
"""readings by which a sensor's period is known"""
_SENSOR_MEANING = mark("the newest reading by then, as measured, in the sensor's own axes")
_POSITION, _TWIST, _ACCELERATION = 0, 7, 13
"""Start columns of the pose, the twist and the acceleration in a row of motion."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """Signals of one kind: one per leg, per axis, or one alone. Texts are English; `tr` translates them.

    `extract` turns rows (n,) into (n, k) in `unit`, a column for each of `columns`, which are the numbers of legs, the
    names of axes or "" alone; `colours` are #RRGGBB or fields of a theme; `reference`: commanded or modelled, drawn
    dashed; `field` is its column of the recording; `digits` and `least` as in a panel.
    """

    key: str
    group: str
    title: str
    unit: str
    extract: Callable[[Rows], Floats]
    field: str
    columns: tuple[str, ...] = ("",)
    colours: tuple[str, ...] = ("text",)
    reference: bool = False
    digits: int | None = 1
    least: float = 1.0

    def values(self, segment: Segment, sources: Sources) -> Floats:
        """Return the values in rows (n,), (n, k); `sources` gives data besides the rows."""
        del sources
        return self.extract(segment.rows)

    @property
    def model(self) -> str:
        """Published model it belongs to, of `dynamics.MODELS`; empty for all others."""
        return ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of its signals in a file: its own, with ".leg" or ".axis" appended."""
        return tuple(f"{self.key}.{column}" if column else self.key for column in self.columns)

    @property
    def per_leg(self) -> bool:
        """Whether the columns are the legs."""
        return self.colours is LEG_COLOURS

    @property
    def meaning(self) -> str:
        """Description of the recording's column, with its own unit."""
        return f"{self.field}: {tr(MEANING[self.field])}"


@dataclass(frozen=True, slots=True, eq=False)
class OfModel(Quantity):
    """Cell forces or residuals by a published model: those of the exact one plus `sign` times the difference.

    `extract` is of the exact one; `of` the model's name.
    """

    of: str = EXACT
    sign: float = 1.0

    def values(self, segment: Segment, sources: Sources) -> Floats:
        """See `Quantity`; NaN in rows not computed yet."""
        if sources.differences is None:
            return np.full((len(segment), len(self.columns)), np.nan)
        return self.extract(segment.rows) + self.sign * sources.differences(self.of, segment)

    @property
    def model(self) -> str:
        """See `Quantity`."""
        return self.of


@dataclass(frozen=True, slots=True, eq=False)
class OfWrench(Quantity):
    """External force or moment on the platform implied by the residuals, from column `begin` of the wrench."""

    begin: int = 0

    def values(self, segment: Segment, sources: Sources) -> Floats:
        """See `Quantity`; NaN if the mechanism is not known."""
        geometry = sources.geometry()
        if geometry is None:
            return self.extract(segment.rows)
        return wrench_of(geometry, segment.rows)[:, self.begin : self.begin + len(self.columns)]


@dataclass(frozen=True, slots=True, eq=False)
class OfSensor(Quantity):
    """Readings of an external sensor: `convert` turns the values (n, k) of its `channels` into those in `unit`.

    At each time the newest reading by then, unless it is older than a second and than three periods of the sensor.
    """

    channels: SensorChannels = field(kw_only=True)
    convert: Callable[[Floats], Floats] = field(kw_only=True)

    def values(self, segment: Segment, sources: Sources) -> Floats:
        """See `Quantity`; NaN where there is no such sensor, or none with these channels in these units."""
        for series in sources.sensors():
            places = self._places(series.channels)
            if places:
                return self.convert(series.newest(segment.times, _oldest(series))[:, places])
        return self.extract(segment.rows)

    @property
    def meaning(self) -> str:
        """See `Quantity`."""
        return f"{self.field}: {', '.join(self.channels.names)}\n{tr(_SENSOR_MEANING)}"

    def _places(self, there: SensorChannels) -> list[int]:
        """The places of the channels among those of a sensor; empty if it is another one."""
        units = dict(zip(there.names, there.units, strict=True))
        wanted = self.channels
        if (there.name, there.kind) != (wanted.name, wanted.kind) or any(
            units.get(name) != unit for name, unit in zip(wanted.names, wanted.units, strict=True)
        ):
            return []
        return [there.names.index(name) for name in wanted.names]


def _oldest(series: SensorSeries) -> float:
    """Age, s, of a reading up to which it is shown."""
    periods = np.diff(series.time[-_LAST:])
    return max(_OLDEST, _PERIODS * float(np.median(periods))) if len(periods) else _OLDEST


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """One curve: a column of a quantity."""

    quantity: Quantity
    column: int

    @property
    def key(self) -> str:
        """Key in a file."""
        return self.quantity.keys[self.column]

    @property
    def leg(self) -> int:
        """1 to 6; 0 if it belongs to no leg."""
        return self.column + 1 if self.quantity.per_leg else 0

    @property
    def name(self) -> str:
        """Displayed name."""
        column, title = self.quantity.columns[self.column], tr(self.quantity.title)
        return (
            tr("{quantity} leg {leg}").format(quantity=title, leg=column) if self.leg else f"{title} {column}".strip()
        )

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name}, {tr(self.quantity.unit)}" if self.quantity.unit else self.name


def _of_legs(
    group: str,
    title: str,
    field: str,
    unit: tuple[str, float],
    *,
    reference: bool = False,
    digits: int = 1,
    least: float,
) -> Quantity:
    name, scale = unit

    def extract(rows: Rows) -> Floats:
        return np.asarray(scale * rows[field])

    return Quantity(field, group, title, name, extract, field, _LEGS, LEG_COLOURS, reference, digits, least)


def _term(number: int, name: str) -> Quantity:
    def extract(rows: Rows) -> Floats:
        return np.asarray(rows["terms"][:, number])

    key = f"term_{name.replace(' ', '_')}"
    return Quantity(key, mark("Forces"), _TERMS[name], "N", extract, "terms", _LEGS, LEG_COLOURS, least=0.5)


def _of_axes(key: str, title: str, field: str, begin: int, unit: tuple[str, float], *, reference: bool) -> Quantity:
    name, scale = unit

    def extract(rows: Rows) -> Floats:
        return np.asarray(scale * rows[field][:, begin : begin + 3])

    return Quantity(key, mark("Platform"), title, name, extract, field, _AXES, AXIS_COLOURS, reference, 3, 0.1)


def _shown_angles(quaternions: Floats) -> Floats:
    return np.degrees(np.column_stack([shown_angle(quaternions, axis) for axis in range(3)]))


def _angles(key: str, title: str, field: str, *, reference: bool) -> Quantity:
    def extract(rows: Rows) -> Floats:
        return _shown_angles(rows[field][:, 3:7])

    return Quantity(key, mark("Platform"), title, "°", extract, field, _AXES, AXIS_COLOURS, reference, 3, 0.1)


def _alone(
    group: str, title: str, field: str, unit: tuple[str, float], *, digits: int = 0, least: float = 1.0
) -> Quantity:
    name, scale = unit

    def extract(rows: Rows) -> Floats:
        return np.asarray(scale * rows[field].astype(float)[:, None])

    return Quantity(field, group, title, name, extract, field, digits=digits, least=least)


def _stream_count(number: int, key: str, title: str) -> Quantity:
    def extract(rows: Rows) -> Floats:
        return np.asarray(rows["stream_counts"][:, number, None].astype(float))

    return Quantity(key, mark("Stream"), title, "", extract, "stream_counts", digits=0)


def _error() -> Quantity:
    def extract(rows: Rows) -> Floats:
        return 1e6 * length_error(rows)

    title = mark("Length measured − reference")
    return Quantity("length_error", mark("Legs"), title, "µm", extract, "length", _LEGS, LEG_COLOURS, least=2.0)


def _of_model(model: str, name: str) -> tuple[Quantity, Quantity]:
    """Quantities of a published model: its cell forces and its residuals."""
    key = model.replace("-", "_")

    def force(rows: Rows) -> Floats:
        return np.asarray(rows["force_model"])

    def residual(rows: Rows) -> Floats:
        return np.asarray(rows["force_residual"])

    group, of = mark("Forces"), tr(name)
    by, left = tr("Force by {name}").format(name=of), tr("Residual, measured − {name}").format(name=of)
    return (
        OfModel(
            f"force_{key}",
            group,
            by,
            "N",
            force,
            "force_model",
            _LEGS,
            LEG_COLOURS,
            reference=True,
            least=2.0,
            of=model,
        ),
        OfModel(
            f"residual_{key}",
            group,
            left,
            "N",
            residual,
            "force_residual",
            _LEGS,
            LEG_COLOURS,
            digits=2,
            of=model,
            sign=-1.0,
        ),
    )


def _implied(key: str, title: str, unit: str, begin: int, least: float, digits: int) -> Quantity:
    def unknown(rows: Rows) -> Floats:
        return np.full((len(rows), len(_AXES)), np.nan)

    group, field = mark("External wrench"), "force_residual"
    return OfWrench(key, group, title, unit, unknown, field, _AXES, AXIS_COLOURS, False, digits, least, begin)


QUANTITIES = (
    _of_legs(mark("Legs"), mark("Length measured"), "length", _MM, digits=3, least=0.1),
    _of_legs(
        mark("Legs"), mark("Length of the reference"), "length_reference", _MM, reference=True, digits=3, least=0.1
    ),
    _error(),
    _of_legs(mark("Legs"), mark("Speed measured"), "velocity", ("mm/s", 1e3), digits=2, least=0.5),
    _of_legs(
        mark("Legs"),
        mark("Speed of the reference"),
        "velocity_reference",
        ("mm/s", 1e3),
        reference=True,
        digits=2,
        least=0.5,
    ),
    _of_legs(
        mark("Legs"),
        mark("Speed by holding commands"),
        "velocity_held",
        ("mm/s", 1e3),
        reference=True,
        digits=3,
        least=0.1,
    ),
    _of_axes("position", mark("Position measured"), "pose", _POSITION, _MM, reference=False),
    _of_axes("position_reference", mark("Position of the reference"), "reference", _POSITION, _MM, reference=True),
    _angles("angle", mark("Angle measured"), "pose", reference=False),
    _angles("angle_reference", mark("Angle of the reference"), "reference", reference=True),
    _of_axes("position_asked", mark("Position asked by the stream"), "stream_asked", _POSITION, _MM, reference=True),
    _angles("angle_asked", mark("Angle asked by the stream"), "stream_asked", reference=True),
    _of_axes("speed", mark("Platform speed measured"), "twist", 0, ("mm/s", 1e3), reference=False),
    _of_axes(
        "speed_reference", mark("Platform speed of the reference"), "reference", _TWIST, ("mm/s", 1e3), reference=True
    ),
    _of_axes("turning", mark("Turning measured"), "twist", 3, ("°/s", _DEGREE[1]), reference=False),
    _of_axes(
        "turning_reference",
        mark("Turning of the reference"),
        "reference",
        _TWIST + 3,
        ("°/s", _DEGREE[1]),
        reference=True,
    ),
    _of_axes(
        "acceleration", mark("Acceleration of the reference"), "reference", _ACCELERATION, ("m/s²", 1.0), reference=True
    ),
    _of_axes(
        "turning_acceleration",
        mark("Angular acceleration of the reference"),
        "reference",
        _ACCELERATION + 3,
        ("°/s²", _DEGREE[1]),
        reference=True,
    ),
    _alone(mark("Platform"), mark("Condition number of H"), "condition", _COUNT, digits=2, least=0.2),
    _of_legs(mark("Forces"), mark("Force measured"), "force_measured", _N, least=2.0),
    _of_legs(mark("Forces"), mark("Force by the model"), "force_model", _N, reference=True, least=2.0),
    _of_legs(mark("Forces"), mark("Residual, measured − model"), "force_residual", _N, digits=2, least=1.0),
    _of_legs(mark("Forces"), mark("Force by holding commands"), "force_held", _N, reference=True, digits=2, least=1.0),
    *(_term(number, name) for number, name in enumerate(TERMS)),
    _of_legs(mark("Forces"), mark("Force commanded"), "force_command", _N, reference=True, least=2.0),
    _of_legs(
        mark("Forces"), mark("Force commanded, the model's part"), "force_feedforward", _N, reference=True, least=2.0
    ),
    *(quantity for model, name in MODEL_NAMES.items() if model != EXACT for quantity in _of_model(model, name)),
    _implied("external_force", mark("External force implied"), "N", 0, 2.0, 2),
    _implied("external_moment", mark("External moment implied"), "N m", 3, 0.5, 3),
    _of_legs(mark("Drives"), mark("Length commanded"), "position_command", _MM, reference=True, digits=3, least=0.1),
    _of_legs(mark("Drives"), mark("Mode commanded"), "mode", _COUNT, reference=True, digits=0, least=1.0),
    _of_legs(mark("Drives"), mark("Status bits"), "drive_status", _COUNT, digits=0, least=1.0),
    _of_legs(mark("Drives"), mark("Error code"), "drive_error", _COUNT, digits=0, least=1.0),
    _of_legs(mark("Drives"), mark("Cycles without feedback"), "stale", (mark("cycles"), 1.0), digits=0, least=1.0),
    _alone(mark("Stream"), mark("Delay of the stream"), "stream_delay", ("ms", 1e3), digits=1),
    _stream_count(0, "stream_used", mark("Samples used")),
    _stream_count(1, "stream_lost", mark("Samples lost")),
    _stream_count(2, "stream_late", mark("Samples late or unusable")),
    _stream_count(3, "stream_limited", mark("Cycles limited")),
    _alone(mark("Timing"), mark("Lateness"), "lateness", _US, least=20.0),
    _alone(mark("Timing"), mark("Period"), "period", _US, least=20.0),
    _alone(mark("Timing"), mark("Exchange"), "exchange_time", _US, least=20.0),
    _alone(mark("Timing"), mark("Computation"), "compute_time", _US, least=20.0),
    _alone(mark("Timing"), mark("Cycle"), "cycle", (mark("cycles"), 1.0)),
    _alone(mark("Timing"), mark("Cycles skipped"), "overruns", (mark("cycles"), 1.0)),
    _alone(mark("Motion and state"), mark("Time on the path"), "path_time", ("s", 1.0), digits=3, least=0.1),
    _alone(mark("Motion and state"), mark("Rate on the path"), "path_rate", _COUNT, digits=3, least=0.1),
    _alone(mark("Motion and state"), mark("Motion"), "motion", _COUNT),
    _alone(mark("Motion and state"), mark("State"), "state", _COUNT),
    _alone(mark("Motion and state"), mark("Stop"), "stop", _COUNT),
    _alone(mark("Motion and state"), mark("Fault code"), "fault", _COUNT),
    _alone(mark("Motion and state"), mark("Leg of the fault"), "fault_leg", _COUNT),
    _alone(mark("Motion and state"), mark("Flags"), "flags", _COUNT),
)
"""All quantities of telemetry, sorted by group."""

SIGNALS: dict[str, Signal] = {
    key: Signal(quantity, column) for quantity in QUANTITIES for column, key in enumerate(quantity.keys)
}
"""All signals of telemetry by key."""


# -- external sensors, by their names ----------------------------------------------------------------------------------

_SENSOR_KEY = re.compile(
    r"(?P<kind>imu|pose|scalar)\.(?P<name>[a-z][a-z0-9_]*)\.(?P<channel>\w+)(?: \[(?P<unit>.*)\])?(?:\.[xyz])?"
)
"""Of a sensor's signals. That of a scalar channel has the unit, which is known from nowhere else without the sensor."""


def sensor_quantities(sensor: SensorChannels) -> tuple[Quantity, ...]:
    """Return the quantities of an external sensor: two vectors, or one for each scalar channel."""
    parts: list[tuple[str, str, str, slice, Callable[[Floats], Floats]]]
    vector = sensor.kind != "scalar"
    if sensor.kind == "imu":
        parts = [
            ("force", tr("specific force"), "m/s²", slice(0, 3), np.asarray),
            ("rate", tr("angular rate"), "°/s", slice(3, 6), np.degrees),
        ]
    elif sensor.kind == "pose":
        parts = [
            ("position", tr("position"), "mm", slice(0, 3), lambda position: 1e3 * position),
            ("angle", tr("angle"), "°", QUATERNION, _shown_angles),
        ]
    else:
        parts = [
            (f"{name} [{unit}]" if unit else name, name, unit, slice(place, place + 1), np.asarray)
            for place, (name, unit) in enumerate(zip(sensor.names, sensor.units, strict=True))
        ]
    columns, colours = (_AXES, AXIS_COLOURS) if vector else (("",), ("text",))

    def unknown(rows: Rows) -> Floats:
        return np.full((len(rows), len(columns)), np.nan)

    return tuple(
        OfSensor(
            f"{sensor.kind}.{sensor.name}.{key}",
            SENSOR_GROUP,
            f"{sensor.name}: {title}",
            unit,
            unknown,
            f"{SENSOR_TOPICS}{sensor.name}",
            columns,
            colours,
            digits=3 if vector else None,
            least=0.1 if vector else 1e-3,
            channels=SensorChannels(sensor.name, sensor.kind, sensor.names[part], sensor.units[part]),
            convert=convert,
        )
        for key, title, unit, part, convert in parts
    )


def signal_of(key: str) -> Signal:
    """Return the signal of a key, of telemetry or of any external sensor. Raises KeyError for an unknown one.

    A sensor's key says all that its plot needs: a dashboard keeps it where the configuration has no such sensor.
    """
    if key in SIGNALS:
        return SIGNALS[key]
    found = _SENSOR_KEY.fullmatch(key)
    if found is not None:
        kind, name, channel, unit = found["kind"], found["name"], found["channel"], found["unit"] or ""
        names, units = zip(*CHANNELS.get(kind, ((channel, unit),)), strict=True)
        for quantity in sensor_quantities(SensorChannels(name, kind, names, units)):
            if key in quantity.keys:
                return Signal(quantity, quantity.keys.index(key))
    raise KeyError(key)


def is_known(key: str) -> bool:
    """Return whether there is a signal of this key."""
    try:
        signal_of(key)
    except KeyError:
        return False
    return True


def units_of(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the units of signals, without duplicates, in order. Raises KeyError for an unknown signal."""
    return tuple(dict.fromkeys(signal_of(key).quantity.unit for key in keys))


def and_more(first: str, others: int) -> str:
    """Text of the first of several and the number of others."""
    if not others:
        return first
    return trn("{first} and {count} more", "{first} and {count} more", others).format(first=first, count=others)
