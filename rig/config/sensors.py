"""Section [[sensors]] of a rig's configuration: external sensors, and those that other distributions read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol, get_args
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from actuators import Declarations, Parity, SerialEndpoint
from kinematics import Angle, Frequency, Length, Time, within
from rig.config.declarations import ExtensionSettings, read_settings
from rig.config.sections import Line, Section, Text, is_local
from rig.errors import ConfigError
from rig.telemetry import CHANNELS, MOST_CHANNELS, SensorChannels

SENSOR_GROUP = "stewart_rig.sensors"
"""Entry-point group: name of a sensor's reader → its `SensorDeclaration`."""
MOST_SENSORS = 32
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_BAUD = (50, 10_000_000)
_SILENCE = 0.25  # s


def _valid_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r}: must be a small letter, then at most 30 small letters, digits and underscores")
    return text


Name = Annotated[Text, AfterValidator(_valid_name)]
"""A small letter, then small letters, digits and underscores."""
_Place = Annotated[Length, within(-100.0, 100.0, "m")]
_Turn = Annotated[Angle, within(-2.0 * math.pi, 2.0 * math.pi, "rad")]
Position = tuple[_Place, _Place, _Place]
Rotation = tuple[_Turn, _Turn, _Turn]
_NOWHERE = (0.0, 0.0, 0.0)


# -- where readings come from ------------------------------------------------------------------------------------------


class UdpSource(NamedTuple):
    """A UDP port that is listened on."""

    host: str
    port: int


class PluginSource(NamedTuple):
    """A reader of another distribution, by its name."""

    name: str


Source = UdpSource | SerialEndpoint | PluginSource


def read_source(text: str) -> Source:
    """Read a source: udp://HOST:PORT, serial:///dev/NAME?baud=N&parity=even, plugin://NAME.

    Raises:
        ValueError: it is none of these, or a part of it is wrong.
    """
    parts = urlsplit(text)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme == "udp":
        if not parts.hostname or port is None or parts.path or parts.query:
            raise ValueError(f"{text!r}: must be udp://HOST:PORT")
        return UdpSource(parts.hostname, port)
    if parts.scheme == "serial":
        return _serial(text, parts.netloc + parts.path, dict(parse_qsl(parts.query)))
    if parts.scheme == "plugin":
        if not parts.netloc or parts.path or parts.query:
            raise ValueError(f"{text!r}: must be plugin://NAME")
        return PluginSource(parts.netloc)
    raise ValueError(f"{text!r}: must begin with udp://, serial:// or plugin://")


def _serial(text: str, device: str, query: dict[str, str]) -> SerialEndpoint:
    baud, parity = query.pop("baud", "115200"), query.pop("parity", "none")
    if not device.startswith("/"):
        raise ValueError(f"{text!r}: must be serial:///dev/NAME, the path of a device")
    if query:
        raise ValueError(f"{text!r}: {next(iter(query))!r} is neither baud nor parity")
    if not (baud.isascii() and baud.isdecimal() and _BAUD[0] <= int(baud) <= _BAUD[1]):
        raise ValueError(f"{text!r}: baud {baud!r} must be {_BAUD[0]} to {_BAUD[1]}")
    if parity not in get_args(Parity):
        raise ValueError(f"{text!r}: parity {parity!r} must be one of {', '.join(get_args(Parity))}")
    return SerialEndpoint(device, int(baud), parity)  # type: ignore[arg-type]


def _valid_source(text: str) -> str:
    read_source(text)
    return text


# -- readers of other distributions ------------------------------------------------------------------------------------


class SensorDevice(Protocol):
    """A sensor that a reader of another distribution has opened; used by one thread."""

    def read(self, timeout: float) -> Sequence[tuple[float | None, Sequence[float]]]:
        """Readings since the last call, waiting at most `timeout` s for a first one; none if there are none.

        Each is the time at which it was measured, s of `time.monotonic()`, None: when it is returned; and the values of
        its channels. An exception ends the reading; the sensor is opened again after a second.
        """

    def close(self) -> None:
        """Let go of the sensor."""


@dataclass(frozen=True, slots=True)
class SensorDeclaration:
    """What a reader of sensors declares.

    name: by which a configuration names it, plugin://NAME. caption: its name for a person. open: of its settings and
    the sensor's channels, a `SensorDevice`. settings: the model of its settings.
    """

    name: str
    caption: str
    open: Callable[[Any, SensorChannels], SensorDevice]
    settings: type[ExtensionSettings] = ExtensionSettings


_READERS = Declarations("sensor reader", SensorDeclaration, SENSOR_GROUP, error=ConfigError)


def find_sensor(name: str) -> SensorDeclaration:
    """The declaration of the reader called `name`.

    Raises:
        ConfigError: no such reader, with the known names; its declaration cannot be loaded, or is none.
    """
    return _READERS.find(name)


class ReaderSettings(dict[str, Any]):
    """Settings of a reader; not changed once it is made, so that a configuration has a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(sorted(self.items())))


def _table(data: object) -> ReaderSettings:
    if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
        raise ValueError("must be a table")
    return ReaderSettings(data)


# -- the section -------------------------------------------------------------------------------------------------------


class Channel(Section):
    """A channel of a scalar sensor."""

    name: Name
    """Name: small letters, digits and underscores."""
    unit: Annotated[Line, Field(max_length=20)] = ""
    """Unit of its values, as text."""


class SensorOptions(Section):
    """An external sensor, see docs/sensors.md."""

    name: Name
    """Name: small letters, digits and underscores."""
    kind: Literal["imu", "pose", "scalar"]
    """"imu", specific force and angular rate; "pose", a tracker's; "scalar", named channels."""
    source: Annotated[Text, AfterValidator(_valid_source)]
    """Where its readings come from: "udp://HOST:PORT", listened on; "serial:///dev/NAME?baud=N"; "plugin://NAME"."""
    channels: Annotated[tuple[Channel, ...], Field(max_length=MOST_CHANNELS)] = ()
    """Channels of a scalar sensor, `{ name = "motor", unit = "°C" }` each."""
    settings: Annotated[ReaderSettings, PlainValidator(_table)] = Field(default_factory=ReaderSettings)
    """Settings of the reader that `plugin://` names."""
    position: Position = _NOWHERE
    """Place of an IMU, or of a tracker's target, on the platform: platform frame, m."""
    rotation: Rotation = _NOWHERE
    """Attitude of its axes in the platform frame: angles rx, ry, rz of Rz(rz) Ry(ry) Rx(rx), rad."""
    frame_position: Position = _NOWHERE
    """Place of a tracker's own frame in the base frame, m."""
    frame_rotation: Rotation = _NOWHERE
    """Attitude of a tracker's own frame in the base frame, likewise, rad."""
    rate: Annotated[Frequency, within(0.01, 2000.0, "Hz")] = 100.0
    """Readings per second that it gives."""
    delay: Annotated[Time, within(-1.0, 1.0, "s")] = 0.0
    """Known time by which a reading is older than its stamp, such as a filter's delay, s."""
    clock: Literal["sender", "machine", "arrival"] = "sender"
    """Clock of the stamps: "sender", one of its own, which is modelled; "machine", this machine's monotonic clock;
    "arrival", there are none, the time of arrival counts."""
    stale_after: Annotated[Time, within(0.01, 3600.0, "s")] | None = None
    """Time without a reading after which the sensor counts as stale, s; left out: 0.25 s, or three periods if that is
    longer."""
    key_file: Text | None = None
    """File with the key of its packets, as that of a stream; relative to the configuration's folder."""
    required: bool = False
    """Whether the rig starts only if the sensor can be opened."""

    @model_validator(mode="after")
    def _consistent(self) -> SensorOptions:
        for fault in self._faults():
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        source = read_source(self.source)
        fixed = self.kind != "scalar"
        if fixed and self.channels:
            names = ", ".join(name for name, _ in CHANNELS[self.kind])
            yield f'channels: kind "{self.kind}" has its own, {names}'
        if not fixed and not self.channels:
            yield 'channels: kind "scalar" needs one at least'
        names_given = [channel.name for channel in self.channels]
        if len(set(names_given)) < len(names_given):
            yield f"channels: {', '.join(names_given)}: two have one name"
        if self.kind == "scalar" and (any(self.position) or any(self.rotation)):
            yield 'position and rotation are of kinds "imu" and "pose"'
        if self.kind != "pose" and (any(self.frame_position) or any(self.frame_rotation)):
            yield 'frame_position and frame_rotation are of kind "pose"'
        if self.silence < 1.0 / self.rate:
            yield f"stale_after, {self.silence:g} s, is below the period of {self.rate:g} Hz"
        if isinstance(source, UdpSource):
            if self.key_file is None and not is_local(source.host):
                yield f"host {source.host!r} is reached from other machines: give a key_file, or listen on 127.0.0.1"
        elif self.key_file is not None:
            yield "key_file is of a source udp://"
        if not isinstance(source, PluginSource):
            if self.settings:
                yield "settings are of a source plugin://"
            return
        if self.clock == "sender":
            yield 'clock: a reader gives times of this machine: "machine" or "arrival"'
        try:
            self.reader_settings()
        except ConfigError as error:
            yield str(error)

    @property
    def place(self) -> Source:
        """Return where its readings come from."""
        return read_source(self.source)

    @property
    def silence(self) -> float:
        """Return the time without a reading after which it counts as stale, s."""
        return max(_SILENCE, 3.0 / self.rate) if self.stale_after is None else self.stale_after

    @property
    def meaning(self) -> SensorChannels:
        """Return its channels with their units."""
        pairs = CHANNELS.get(self.kind) or tuple((channel.name, channel.unit) for channel in self.channels)
        return SensorChannels(self.name, self.kind, *zip(*pairs, strict=True))

    def reader_settings(self) -> ExtensionSettings:
        """Return the settings of its reader, validated by the model that this declares.

        Raises:
            ConfigError: no such reader, or unusable settings.
        """
        source = self.place
        assert isinstance(source, PluginSource)
        declared = find_sensor(source.name)
        try:
            return read_settings(declared.settings, self.settings)
        except ConfigError as error:
            raise ConfigError(f"settings: {error}") from error


def _place_of(source: Source) -> object:
    """What only one sensor can have: a serial device, a port. No two sensors share a port, on whatever address."""
    if isinstance(source, SerialEndpoint):
        return source.device
    return source.port if isinstance(source, UdpSource) else source


def sensor_faults(sensors: Sequence[SensorOptions]) -> Iterator[tuple[int, str]]:
    """Yield contradictions between sensors: the place of one, from 0, and what is wrong with it."""
    names: dict[str, int] = {}
    places: dict[object, int] = {}
    for number, sensor in enumerate(sensors):
        if names.setdefault(sensor.name, number) != number:
            yield number, f"name: {sensor.name!r} is there twice"
        source = sensor.place
        place = _place_of(source)
        if not isinstance(source, PluginSource) and places.setdefault(place, number) != number:
            yield number, f"source: {sensor.source!r} is that of sensor {sensors[places[place]].name!r}, too"
