"""Tuning of a washout: a TOML file, validated, each key with its unit and bounds."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics.errors import InputFileError
from kinematics.inputs import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularSpeed,
    Length,
    Number,
    fault_reason,
    parse_toml,
    read_text,
    within,
)

Scale: TypeAlias = Annotated[Number, within(0.0, 2.0)]
ForceLimit: TypeAlias = Annotated[Acceleration, within(0.01, 50.0, "m/s^2")]
RateLimit: TypeAlias = Annotated[AngularSpeed, within(0.001, 10.0, "rad/s")]
BreakFrequency: TypeAlias = Annotated[AngularSpeed, within(0.01, 30.0, "rad/s")]
DampingRatio: TypeAlias = Annotated[Number, within(0.3, 3.0)]
Weight: TypeAlias = Annotated[Number, within(1e-3, 1e3)]
Place: TypeAlias = Annotated[Length, within(-5.0, 5.0, "m")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)


class InputTuning(_Section):
    """Scaling and limiting of the vehicle's motion, axes x, y, z each."""

    force_scale: tuple[Scale, Scale, Scale] = (0.5, 0.5, 0.5)
    """Factor of the specific force, less that of rest."""
    force_limit: tuple[ForceLimit, ForceLimit, ForceLimit] = (4.0, 4.0, 4.0)
    """Greatest magnitude of the scaled specific force, less that of rest, m/s^2."""
    rate_scale: tuple[Scale, Scale, Scale] = (0.5, 0.5, 0.5)
    """Factor of the angular rate."""
    rate_limit: tuple[RateLimit, RateLimit, RateLimit] = (0.5, 0.5, 0.5)
    """Greatest magnitude of the scaled angular rate, rad/s."""


class TranslationTuning(_Section):
    """High-pass of the translation, axes x, y, z each."""

    order: Literal[2, 3] = 3
    """2: s²/(s² + 2ζω s + ω²), after a sustained input the platform stands away from home. 3: times s/(s + ω_b), it
    returns home."""
    frequency: tuple[BreakFrequency, BreakFrequency, BreakFrequency] = (4.0, 4.0, 4.0)
    """Break frequency ω, rad/s."""
    damping: tuple[DampingRatio, DampingRatio, DampingRatio] = (1.0, 1.0, 1.0)
    """Damping ratio ζ."""
    return_frequency: tuple[BreakFrequency, BreakFrequency, BreakFrequency] = (0.3, 0.3, 0.3)
    """Break frequency ω_b of order 3, rad/s."""


class TiltTuning(_Section):
    """Tilt coordination: sustained specific force by gravity. Axes x (by pitch) and y (by roll)."""

    frequency: tuple[BreakFrequency, BreakFrequency] = (4.0, 4.0)
    """Break frequency of the second-order low-pass, rad/s."""
    damping: tuple[DampingRatio, DampingRatio] = (1.0, 1.0)
    """Its damping ratio."""
    rate: Annotated[AngularSpeed, within(1e-3, 1.0, "rad/s")] = 0.05236
    """Greatest rate of the tilt, rad/s: below the threshold of perception, some 3 deg/s."""
    acceleration: Annotated[AngularAcceleration, within(1e-3, 50.0, "rad/s^2")] = 0.2
    """Greatest angular acceleration of the tilt, rad/s^2."""
    angle: Annotated[Angle, within(0.0, 0.6, "rad")] = 0.2
    """Greatest tilt, rad; 0: no tilt coordination."""


class RotationTuning(_Section):
    """High-pass of the rotation, axes x (roll), y (pitch), z (yaw) each."""

    order: Literal[1, 2] = 1
    """1: s/(s + ω). 2: s²/(s² + 2ζω s + ω²), after a sustained rate the platform returns to level."""
    frequency: tuple[BreakFrequency, BreakFrequency, BreakFrequency] = (1.0, 1.0, 1.0)
    """Break frequency ω, rad/s."""
    damping: tuple[DampingRatio, DampingRatio, DampingRatio] = (1.0, 1.0, 1.0)
    """Damping ratio ζ of order 2."""


class LimiterTuning(_Section):
    """How the legs' bounds are kept. That they are kept does not depend on it."""

    stroke_margin: Annotated[Length, within(1e-5, 0.5, "m")] = 1e-3
    """Distance that a leg keeps from both ends of its stroke, m."""
    speed_share: Annotated[Number, within(0.05, 0.98)] = 0.8
    """Share of a leg's speed limit that cues may use."""
    acceleration_share: Annotated[Number, within(0.05, 0.9)] = 0.6
    """Share of a leg's acceleration limit that cues may use."""
    jerk: Annotated[Number, within(1.0, 1e6, "m/s^3")] = 300.0
    """Greatest jerk of a leg as long as nothing forces it to brake, m/s^3."""
    approach: Annotated[AngularSpeed, within(0.5, 50.0, "rad/s")] = 6.0
    """Rate with which a leg settles at the end of its stroke, rad/s: lower is gentler, and begins earlier."""
    recovery: Annotated[AngularSpeed, within(0.2, 20.0, "rad/s")] = 3.0
    """Rate with which the platform returns to the filters' motion after a bound has changed it, rad/s."""
    weights: tuple[Weight, Weight, Weight, Weight, Weight, Weight] = (1.0, 1.0, 1.0, 20.0, 20.0, 20.0)
    """Weights of squared changes where bounds force some: of x, y, z by (m/s^2)^2, of rx, ry, rz by (rad/s^2)^2."""


class Tuning(_Section):
    """Tuning of a washout."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    """Name, for reports."""
    algorithm: Literal["classical", "constrained"] = "classical"
    """classical: filters say the motion, which the limiter follows as far as the legs reach. constrained: the
    translation's washout acts on the platform's own motion, so that the legs' bounds are part of it."""
    axes: Literal["z-up", "z-down"] = "z-up"
    """Axes of the vehicle's motion: x forward, y left, z up (road vehicles, ISO 8855), or x forward, y right, z down
    (aircraft)."""
    head: tuple[Place, Place, Place] = (0.0, 0.0, 0.0)
    """The point whose motion is that of the vehicle's occupant, m, platform axes, from the platform's origin."""
    input: InputTuning = InputTuning()
    translation: TranslationTuning = TranslationTuning()
    tilt: TiltTuning = TiltTuning()
    rotation: RotationTuning = RotationTuning()
    limiter: LimiterTuning = LimiterTuning()


def tuning_names() -> list[str]:
    """Return the names of the shipped tunings: that of the machine, and behind a dash that of a variant."""
    entries = _shipped().iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_tuning(source: str | Path) -> Tuning:
    """Read a tuning: a .toml file, or the bare name of a shipped one.

    Raises InputFileError naming the file, with all its faults: each key, its value, its unit and its bounds.
    """
    try:
        return parse_tuning(tuning_source(source))
    except InputFileError as error:
        raise InputFileError(f"{source}: {error}") from None


def tuning_source(source: str | Path) -> str:
    """Return the text of a tuning: of a .toml file, or of a shipped one by its name. Raises InputFileError."""
    path = Path(source)
    if path.suffix.lower() == ".toml":
        return read_text(path)
    if path.name == str(source) and path.name in tuning_names():
        return _shipped().joinpath(f"{path.name}.toml").read_text(encoding="utf-8")
    raise InputFileError(f"must be a .toml file, or a shipped tuning ({', '.join(tuning_names())})")


def parse_tuning(text: str) -> Tuning:
    """Parse the text of a tuning. Raises InputFileError with all faults."""
    try:
        return Tuning.model_validate(parse_toml(text))
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault_reason(fault)}" for fault in error.errors(include_url=False)]
        raise InputFileError("; ".join(faults)) from None


def blended(before: Tuning, after: Tuning, share: float) -> Tuning:
    """Return the tuning on the way from one to another: numbers in proportion, all else that of `after`.

    share: 0 to 1, the part of the way in time; numbers leave and arrive smoothly.
    """
    if share >= 1.0:
        return after
    weight = share * share * (3.0 - 2.0 * share)

    def between(one: Any, other: Any) -> Any:
        if isinstance(other, dict):
            return {key: between(one[key], value) for key, value in other.items()}
        if isinstance(other, tuple):
            return tuple(map(between, one, other))
        return one + weight * (other - one) if isinstance(other, float) else other

    return Tuning.model_validate(between(before.model_dump(), after.model_dump()))


def tuning_changes(before: Tuning, after: Tuning) -> list[str]:
    """Return what differs between two tunings, as texts: key, value before, value after, SI."""
    old = dict(_values(before.model_dump()))
    return [f"{key} {old[key]} → {value}" for key, value in _values(after.model_dump()) if old[key] != value]


def tuning_values(tuning: Tuning) -> list[str]:
    """Return all of a tuning, as texts: key and value, SI."""
    return [f"{key} {value}" for key, value in _values(tuning.model_dump())]


def _values(data: dict[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a tuning with its value as text, with all digits that tell it from others."""

    def shown(value: Any) -> str:
        if isinstance(value, tuple):
            return "[" + ", ".join(map(shown, value)) + "]"
        if not isinstance(value, float):
            return str(value)
        return f"{value:.6g}" if float(f"{value:.6g}") == value else repr(value)

    for key, value in data.items():
        if isinstance(value, dict):
            yield from _values(value, f"{key}.")
        else:
            yield f"{place}{key}", shown(value)


def tuning_text(tuning: Tuning, before: str = "") -> str:
    """Return a tuning as the text of its file.

    before: text of a tuning's file, whose comments, order and unchanged values stay; "" for a new file.

    Raises InputFileError if `before` is no tuning.
    """
    old = parse_tuning(before).model_dump() if before else {}
    document = tomlkit.parse(before)

    def put(table: Any, new: dict[str, Any], known: dict[str, Any]) -> None:
        for key, value in new.items():
            if isinstance(value, dict):
                if key not in table:
                    table[key] = tomlkit.table()
                put(table[key], value, known.get(key, {}))
            elif key not in known or known[key] != value:
                table[key] = list(value) if isinstance(value, tuple) else value

    put(document, tuning.model_dump(), old)
    return tomlkit.dumps(document)


def _shipped() -> Traversable:
    return resources.files(__package__).joinpath("tunings")


def _place(location: tuple[int | str, ...]) -> str:
    """Return a key as the file has it: `input.force_scale`, its values counted from 1."""
    keys = ".".join(item for item in location if isinstance(item, str))
    values = "".join(f", value {item + 1}" for item in location if isinstance(item, int))
    return f"{keys}{values}" or "file"
