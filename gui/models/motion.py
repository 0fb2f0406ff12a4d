"""A motion as a document: its data, changes, file, prediction, and whether it can be run."""

import math
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from gui.models.rules import Action, Phase, Situation, obstacle
from gui.texts import finding_text, sentence, tr
from kinematics import (
    COORDINATES,
    SYNTHETIC,
    Array,
    InputFileError,
    MotionTable,
    Thresholds,
    TrajectoryError,
    TrajectorySpec,
    parse_trajectory,
    read_text,
)
from rig.names import as_name
from rig.safety import AT_ENDS, LimitCheck, TrajectoryVerdict
from rig.states import State

Data = dict[str, Any]
"""Data of a motion as in its file, SI."""

_REST = [0.0] * 6
TRANSITION = "transition"
"""Type of the parts that the app inserts where neighbours do not meet."""

NEW_PARTS: dict[str, Data] = {
    "minimum-jerk": {"start": _REST, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.0], "duration": 2.0},
    "blend": {"start": _REST, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.0], "duration": 2.0, "speed": 0.015},
    "harmonic": {
        "terms": [{"dof": "z", "amplitude": 0.01, "frequency": 0.5, "phase": 0.0}],
        "duration": 8.0,
        "fade": 2.0,
        "offset": _REST,
    },
    "chirp": {
        "terms": [{"dof": "z", "amplitude": 0.003, "start_frequency": 0.2, "end_frequency": 2.0, "phase": 0.0}],
        "duration": 10.0,
        "fade": 2.0,
        "offset": _REST,
    },
    "random": {
        "terms": [{"dof": "z", "rms": 0.003, "low_frequency": 0.2, "high_frequency": 2.0}],
        "duration": 10.0,
        "fade": 2.0,
        "seed": 1,
        "offset": _REST,
    },
    "hold": {"position": _REST, "duration": 1.0},
    "poses": {"file": "", "rest_ends": True},
    "accelerations": {
        "file": SYNTHETIC,
        "file_y": "",
        "file_z": "",
        "axis": "x",
        "unit": "file",
        "seed": 1,
        "high_pass": 0.5,
        "low_pass": 10.0,
        "fade": 1.0,
        "scale": 0.05,
        "offset": _REST,
    },
}
"""Defaults of a new part of each kind for a desktop machine, see `new_part`."""
_LENGTHS = ("start", "end", "offset", "position", "speed", "amplitude", "rms")
"""Fields whose x, y and z, or whose number, scale with the size of the machine."""
_FILES = ("file", "file_y", "file_z")
"""Fields of a part that name a file."""


def new_part(kind: str, size: float = 1.0) -> Data:
    """Return the defaults of a new part: a small motion around home, for a machine of a `size_class`."""
    return {"type": kind, **_sized(NEW_PARTS[kind], size)}


def _sized(values: Data, size: float) -> Data:
    made: Data = {}
    for name, value in values.items():
        if name == "terms":
            made[name] = [_sized(term, size) for term in value]
        elif name not in _LENGTHS:
            made[name] = value
        elif isinstance(value, list):
            made[name] = [size * number for number in value[:3]] + value[3:]
        else:
            made[name] = size * value
    return made


def part_models() -> dict[str, type[BaseModel]]:
    """Return the models of the parts that users write, by `type`."""
    union = get_args(get_args(TrajectorySpec.model_fields["parts"].annotation)[0])[0]
    models = {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(union)}
    return {kind: model for kind, model in models.items() if kind != TRANSITION}


def authored(motion: Data) -> Data:
    """Return a motion without its transitions, as written by the user."""
    return motion | {"parts": [part for part in motion["parts"] if part["type"] != TRANSITION]}


def with_transitions(motion: Data, durations: dict[int, float]) -> Data:
    """Insert transitions of given durations, s, after the parts with these indices."""
    parts: list[Data] = []
    for index, part in enumerate(motion["parts"]):
        parts.append(part)
        if index in durations:
            parts.append({"type": TRANSITION, "duration": durations[index]})
    return motion | {"parts": parts}


def read_motion(path: Path, home: np.ndarray[Any, Any]) -> Data:
    """Read a motion file (TOML, or CSV of poses). Raises TrajectoryError with all faults."""
    if path.suffix.lower() == ".csv":
        return {"frame": "base", "pivot": [0.0] * 3, "parts": [{"type": "poses", "file": path.name, "rest_ends": True}]}
    try:
        text = read_text(path)
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    parse_trajectory(text, home, path.parent)  # reports faults in the file's terms
    return _data(text)


def shipped_motion(name: str) -> Data:
    """Return a shipped motion as data."""
    return _data((resources.files("kinematics") / "trajectories" / f"{name}.toml").read_text(encoding="utf-8"))


def _data(text: str) -> Data:
    return as_data(TrajectorySpec.model_validate(tomllib.loads(text)))


def as_data(specification: TrajectorySpec) -> Data:
    """Return a motion as data."""
    motion = specification.model_dump(mode="json")
    if motion["amplitude"] == 1.0:
        del motion["amplitude"]
    motion["validation"] = specification.validation.named
    if not motion["validation"]:
        del motion["validation"]
    return motion


def moved(motion: Data, folder: Path, target: Path) -> Data:
    """Return a motion whose relative file names are moved from `folder` to `target`; they name the same files.

    Files in or below `target` become relative, all others absolute.
    """
    here, there = (Path(os.path.abspath(each)) for each in (folder, target))

    def renamed(part: Data) -> Data:
        changed = {}
        for key in _FILES:
            name = part.get(key)
            if not name or name == SYNTHETIC or Path(name).is_absolute():
                continue
            place = Path(os.path.normpath(here / name))
            changed[key] = (place.relative_to(there) if place.is_relative_to(there) else place).as_posix()
        return part | changed

    return motion | {"parts": [renamed(part) for part in motion["parts"]]}


def in_words(name: str) -> str:
    """Return the displayed name of a field of a motion's file."""
    return tr(name.replace("_", " "))


Place = tuple[str | int, ...]
"""Keys and indices of a value in a motion's data."""

_COORDINATES = tuple(each.replace("r", "θ") for each in COORDINATES)


def what_changed(before: Data, after: Data) -> tuple[Place, str]:
    """Return where two motions differ, and a description; the place ends at a list that grew or shrank."""
    old, new = before["parts"], after["parts"]
    if len(old) != len(new):
        index = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        kind = (new if len(new) > len(old) else old)[index]["type"]
        done = tr("adding {kind}") if len(new) > len(old) else tr("removing {kind}")
        return ("parts", index), done.format(kind=kind)
    places = list(_differences(before, after))
    parts = {place[1] for place in places if place[0] == "parts"}
    if len(parts) > 1:
        return ("parts", min(parts)), tr("moving a part")
    place = _common(places)
    return place, _in_words(place) if place else tr("changing the motion")


def is_field(place: Place, before: Data, after: Data) -> bool:
    """Whether a place is a field, not a list of parts or lines that grew or shrank."""
    if not place or (place[0] == "parts" and len(place) < 3):
        return False
    old, new = (_at(authored(motion), place) for motion in (before, after))
    return not (isinstance(old, list) and isinstance(new, list) and len(old) != len(new))


def _at(motion: Any, place: Place) -> Any:
    """Return the value at a place, None without one."""
    for key in place:
        if isinstance(motion, dict):
            motion = motion.get(key)
        else:
            motion = motion[key] if isinstance(motion, list) and isinstance(key, int) else None
    return motion


def _common(places: list[Place]) -> Place:
    """Return the common prefix of places."""
    same = takewhile(lambda each: len(set(each)) == 1, zip(*places, strict=False))
    return tuple(each[0] for each in same)


def _differences(before: Any, after: Any, place: Place = ()) -> Iterator[Place]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _differences(before.get(key), after.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from _differences(a, b, (*place, index))
    elif before != after:
        yield place


def _in_words(place: Place) -> str:
    """Return a place as text, such as "end z of part 1" or "amplitude of line 2 of part 1"."""
    if place[0] == "validation":
        return " ".join([tr("thresholds"), *(in_words(str(each)) for each in place[1:])])
    words = [in_words(each) for each in place if isinstance(each, str) and each not in ("parts", "terms")]
    numbers = [each for each in place if isinstance(each, int)]
    of = [tr("part {number}").format(number=numbers.pop(0) + 1)] if place[0] == "parts" else []
    if "terms" in place:
        of = [*(tr("line {number}").format(number=number + 1) for number in numbers), *of]
        words = words or ([] if numbers else [tr("lines")])
    else:
        words += [_COORDINATES[number] for number in numbers]
    first, *others = [*filter(None, [" ".join(words)]), *of]
    return reduce(lambda what, whole: tr("{what} of {whole}").format(what=what, whole=whole), others, first)


@dataclass(slots=True)
class MotionDocument:
    """Name and file of the edited motion, and the motion as opened or last saved.

    `shown` of its methods is the edited motion.
    """

    name: str = "motion"
    path: Path | None = None
    """File of the motion, None without one."""
    made: bool = False
    """Whether it was created here and is in no file yet."""
    reading: str = ""
    """Name of the file being read."""
    saved_motion: Data = field(default_factory=dict)
    """The motion as opened or saved."""

    def changed(self, shown: Data) -> bool:
        """Whether it was changed since it was opened or saved."""
        return shown != self.saved_motion

    def unsaved(self, shown: Data) -> bool:
        """Whether leaving it would lose something: changes, or a motion created here."""
        return self.made or self.changed(shown)

    def title(self, shown: Data) -> str:
        """Name, and whether it was changed."""
        if self.reading:
            return tr("Motion: reading {name} …").format(name=self.reading)
        text = tr("Motion: {name} (changed)") if self.changed(shown) else tr("Motion: {name}")
        return (tr("Motion: {name} (not saved)") if self.made else text).format(name=self.name)

    def open(self, name: str, shown: Data, path: Path | None, *, made: bool) -> None:
        """Set a new document."""
        self.name, self.path, self.made = as_name(name, "motion"), path, made
        self.reading, self.saved_motion = "", shown

    def rename(self, name: str) -> None:
        """Rename the motion; its file keeps its name. Ignores a blank name."""
        if name.strip():
            self.name = as_name(name, "motion")

    def save(self, path: Path, shown: Data) -> None:
        """Take the motion as saved in a file."""
        if path != self.path:
            self.name, self.path = as_name(path.stem, "motion"), path
        self.saved_motion, self.made = shown, False

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Take thresholds as saved in the file, and nothing else."""
        others = {key: value for key, value in self.saved_motion.items() if key != "validation"}
        self.saved_motion = others | ({"validation": thresholds.named} if thresholds.named else {})


LEAST_AMPLITUDE = 0.1
"""%, of the size as stated."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Outlines over time `t` (n,) s: coordinates (n, 6) m and rad; per leg (n, 6) length m, speed m/s, drive force N.

    `from_home`: the position is that from the home pose, otherwise in the base frame.
    """

    from_home: bool
    t: Array
    coordinates: Array
    lengths: Array
    speeds: Array
    forces: Array


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """Space that a plate sweeps along a motion, m, base frame.

    rings: its corners, (n, 6, 3). faces: triangles of the convex hull of all corners, outwards, (m, 3) indices into
    rings.reshape(-1, 3); None if the corners are coplanar.
    """

    rings: Array
    faces: npt.NDArray[np.int64] | None


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """Prediction of a motion: `fault` says why there is none, else the rest is set."""

    fault: str = ""
    pending: bool = False
    """Whether it is still being computed."""
    table: MotionTable | None = None
    verdict: TrajectoryVerdict | None = None
    curves: Curves | None = None
    rows: npt.NDArray[np.void] | None = None
    """Telemetry rows expected by the model, a few per second and at the end, for the animation."""
    swept: Swept | None = None
    """Space of the platform's plate in these rows."""
    transitions: dict[int, float] = field(default_factory=dict)
    """Durations, s, of inserted transitions, by the index of the part before."""

    @property
    def obstacle(self) -> str:
        """Why the motion must not be run, in one line; empty if it may."""
        if self.fault or self.verdict is None:
            return tr("the motion is not complete: see the message above")
        return "" if self.verdict.passed else tr("the motion does not pass the check")


def tightest(verdict: TrajectoryVerdict) -> LimitCheck | None:
    """Return the check nearest to its bound, or farthest beyond; without the end speeds, which are nearly zero."""
    checks = [check for check in verdict.checks if check.name != AT_ENDS]
    return max(checks, key=_use, default=None)


def _use(check: LimitCheck) -> float:
    if check.is_minimum:
        return check.bound / check.value if check.value > 0.0 else float("inf")
    return check.value / check.bound if check.bound > 0.0 else float("inf")


def describe(verdict: TrajectoryVerdict) -> str:
    """Return the verdict as text."""
    if verdict.finding is not None:
        return sentence(finding_text(verdict.finding))
    text = tr("Within all limits over {duration:g} s.").format(duration=verdict.duration)
    nearest = tightest(verdict)
    if nearest is None:
        return text
    return text + " " + tr("Nearest to its limit: {check}.").format(check=finding_text(nearest.finding))


def verdict_of(preview: Preview) -> tuple[str, str]:
    """Return the role, which sets the colour, and the text of the verdict on a motion."""
    if preview.pending:
        return "muted", tr("Checking …")
    if preview.verdict is None:
        return "bad", f"✗ {preview.fault}"
    passed = preview.verdict.passed
    return "good" if passed else "bad", f"{'✓' if passed else '✗'} {describe(preview.verdict)}"


@dataclass(slots=True)
class MotionRun:
    """What *Run* runs: the edited motion, unless a template is shown, which is no motion yet."""

    name: str = ""
    """Name of the edited motion."""
    preview: Preview = field(default_factory=Preview)
    template: tuple[str, Preview] | None = None
    """Name and prediction of the motion that the visible template would create; None without a template."""
    ran: str = ""
    """Name of the last motion run, empty after another one is opened."""

    @property
    def named(self) -> tuple[str, float | None]:
        """Return the name for the button, and the duration of one pass, s, None if unknown."""
        name, preview = self.template or (self.name, self.preview)
        return name, None if preview.table is None else preview.table.duration

    def obstacle(self, now: Situation, wrong: str, *, moving: bool) -> str:
        """Why it cannot be run; empty if it can. wrong: fault of a field; moving: whether a motion is in progress."""
        busy = tr("a motion is under way") if moving else ""
        template = tr("a template is shown, not a motion: press Create") if self.template else ""
        return obstacle(Action.MOVE, now) or busy or template or wrong or self.preview.obstacle

    def largest(self, amplitude: float) -> float:
        """Return the largest amplitude that passes, %, rounded down to tenths, 0 for none; `amplitude`: the present."""
        scale = 0.0 if self.preview.verdict is None else self.preview.verdict.scale
        return math.floor(10.0 * amplitude * scale + 1e-6) / 10.0

    def against_smaller(self, amplitude: float) -> str:
        """Why it cannot be reduced until it passes; empty if it can."""
        verdict = self.preview.verdict
        if verdict is None or verdict.passed or self.template is not None:
            return tr("only a motion that does not pass the check is made smaller")
        least = tr("none above {least:g} % passes").format(least=LEAST_AMPLITUDE)
        return "" if self.largest(amplitude) > 0.0 else least

    def present(self, now: Situation, *, moving: bool) -> tuple[float | None, bool]:
        """Return the present time in the motion run from here, s, None without one; and whether something moves."""
        status = now.status if now.phase is Phase.UP and self.ran and self.template is None else None
        if status is None or not (status.state is State.RUNNING or status.resumable):
            return None, False
        t = status.path_time if status.motion == self.ran else None
        return t, t is not None or moving
