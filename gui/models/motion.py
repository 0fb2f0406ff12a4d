"""A motion as a document: its data, what was changed, its file; what it would do, and whether it can be run."""

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
"""A motion as its file states it, SI."""

_REST = [0.0] * 6
TRANSITION = "transition"
"""type of the parts that the app puts in where others do not meet"""

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
}
"""What a new part of each kind begins as on a machine on a table, see `new_part`."""
_LENGTHS = ("start", "end", "offset", "position", "speed", "amplitude", "rms")
"""of which x, y and z, or the number itself, go with the size of the machine"""


def new_part(kind: str, size: float = 1.0) -> Data:
    """What a new part of a kind begins as: a small motion about home, on a machine of a `size_class`."""
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
    """The model of each kind of part that a person writes, by its `type`."""
    union = get_args(get_args(TrajectorySpec.model_fields["parts"].annotation)[0])[0]
    models = {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(union)}
    return {kind: model for kind, model in models.items() if kind != TRANSITION}


def authored(motion: Data) -> Data:
    """A motion without its transitions: what a person writes."""
    return motion | {"parts": [part for part in motion["parts"] if part["type"] != TRANSITION]}


def with_transitions(motion: Data, durations: dict[int, float]) -> Data:
    """A motion with transitions put in, s long each, behind the parts with these indices."""
    parts: list[Data] = []
    for index, part in enumerate(motion["parts"]):
        parts.append(part)
        if index in durations:
            parts.append({"type": TRANSITION, "duration": durations[index]})
    return motion | {"parts": parts}


def read_motion(path: Path, home: np.ndarray[Any, Any]) -> Data:
    """A motion file (TOML, or CSV of poses) as data. Raises TrajectoryError listing what is wrong with it."""
    if path.suffix.lower() == ".csv":
        return {"frame": "base", "pivot": [0.0] * 3, "parts": [{"type": "poses", "file": path.name, "rest_ends": True}]}
    try:
        text = read_text(path)
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    parse_trajectory(text, home, path.parent)  # says what is wrong in the file's own terms
    return _data(text)


def shipped_motion(name: str) -> Data:
    """A motion that comes along, as data."""
    return _data((resources.files("kinematics") / "trajectories" / f"{name}.toml").read_text(encoding="utf-8"))


def _data(text: str) -> Data:
    return as_data(TrajectorySpec.model_validate(tomllib.loads(text)))


def as_data(specification: TrajectorySpec) -> Data:
    """A motion as data."""
    motion = specification.model_dump(mode="json")
    if motion["amplitude"] == 1.0:
        del motion["amplitude"]
    motion["validation"] = specification.validation.named
    if not motion["validation"]:
        del motion["validation"]
    return motion


def moved(motion: Data, folder: Path, target: Path) -> Data:
    """A motion whose relative file names start at `folder`, to be kept in the folder `target`: the same files.

    A file in or below `target` is named from there, any other by its whole path.
    """
    here, there = (Path(os.path.abspath(each)) for each in (folder, target))

    def renamed(part: Data) -> Data:
        name = part.get("file")
        if not name or Path(name).is_absolute():
            return part
        place = Path(os.path.normpath(here / name))
        return part | {"file": (place.relative_to(there) if place.is_relative_to(there) else place).as_posix()}

    return motion | {"parts": [renamed(part) for part in motion["parts"]]}


def in_words(name: str) -> str:
    """A field of a motion's file as a person reads it."""
    return tr(name.replace("_", " "))


Place = tuple[str | int, ...]
"""Keys and indices that lead to a number in a motion's data."""

_COORDINATES = tuple(each.replace("r", "θ") for each in COORDINATES)


def what_changed(before: Data, after: Data) -> tuple[Place, str]:
    """Where two motions differ, and what was done in words; the place ends where there is more or less of something."""
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
    """Whether a place is one that is typed in, and not one of parts or lines of which there are more now, or fewer."""
    if not place or (place[0] == "parts" and len(place) < 3):
        return False
    old, new = (_at(authored(motion), place) for motion in (before, after))
    return not (isinstance(old, list) and isinstance(new, list) and len(old) != len(new))


def _at(motion: Any, place: Place) -> Any:
    """What a motion has at a place, None where it has nothing there."""
    for key in place:
        if isinstance(motion, dict):
            motion = motion.get(key)
        else:
            motion = motion[key] if isinstance(motion, list) and isinstance(key, int) else None
    return motion


def _common(places: list[Place]) -> Place:
    """The beginning that all places have."""
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
    """What is at a place, such as "end z of part 1" or "amplitude of line 2 of part 1"."""
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
    """Name and file of the motion in the editor, and the motion as it was opened or saved last.

    `shown` of its methods is the motion in the editor.
    """

    name: str = "motion"
    path: Path | None = None
    """its file, None where it has none of its own"""
    made: bool = False
    """whether a person made it, and it is in no file yet"""
    reading: str = ""
    """name of the file that is being read"""
    taken: Data = field(default_factory=dict)
    """the motion as it was opened or saved"""

    def changed(self, shown: Data) -> bool:
        """Whether it was changed since it was opened or saved."""
        return shown != self.taken

    def unsaved(self, shown: Data) -> bool:
        """Whether something would be lost with it: changes, or all of a motion that was made here."""
        return self.made or self.changed(shown)

    def title(self, shown: Data) -> str:
        """Its name, and whether it was changed."""
        if self.reading:
            return tr("Motion: reading {name} …").format(name=self.reading)
        text = tr("Motion: {name} (changed)") if self.changed(shown) else tr("Motion: {name}")
        return (tr("Motion: {name} (not saved)") if self.made else text).format(name=self.name)

    def open(self, name: str, shown: Data, path: Path | None, *, made: bool) -> None:
        """Another motion is shown."""
        self.name, self.path, self.made = as_name(name, "motion"), path, made
        self.reading, self.taken = "", shown

    def rename(self, name: str) -> None:
        """Give the motion another name; its file keeps its own. A blank name changes nothing."""
        if name.strip():
            self.name = as_name(name, "motion")

    def save(self, path: Path, shown: Data) -> None:
        """The motion was written to a file."""
        if path != self.path:
            self.name, self.path = as_name(path.stem, "motion"), path
        self.taken, self.made = shown, False

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Thresholds were written to the file, and nothing else."""
        others = {key: value for key, value in self.taken.items() if key != "validation"}
        self.taken = others | ({"validation": thresholds.named} if thresholds.named else {})


LEAST_AMPLITUDE = 0.1
"""%, of the motion as it is stated"""


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
class Preview:
    """A motion that was looked at: `fault` says why there is nothing to look at, else the rest is there."""

    fault: str = ""
    pending: bool = False
    """whether it is still being looked at"""
    table: MotionTable | None = None
    verdict: TrajectoryVerdict | None = None
    curves: Curves | None = None
    rows: npt.NDArray[np.void] | None = None
    """the motion as telemetry rows that the model expects, some a second and with its end, to be looked at"""
    rings: Array | None = None
    """where the corners of the platform's plate are in them, (n, 6, 3) m, base frame"""
    transitions: dict[int, float] = field(default_factory=dict)
    """s of those that were put in, by the index of the part before"""

    @property
    def obstacle(self) -> str:
        """Why the motion must not be run, in one line; empty when it may."""
        if self.fault or self.verdict is None:
            return tr("the motion is not complete: see the message above")
        return "" if self.verdict.passed else tr("the motion does not pass the check")


def tightest(verdict: TrajectoryVerdict) -> LimitCheck | None:
    """The check that is nearest to its bound, or farthest beyond it; the ends' speeds, nearly zero, are left out."""
    checks = [check for check in verdict.checks if check.name != AT_ENDS]
    return max(checks, key=_use, default=None)


def _use(check: LimitCheck) -> float:
    if check.is_minimum:
        return check.bound / check.value if check.value > 0.0 else float("inf")
    return check.value / check.bound if check.bound > 0.0 else float("inf")


def describe(verdict: TrajectoryVerdict) -> str:
    """The verdict in words."""
    if verdict.finding is not None:
        return sentence(finding_text(verdict.finding))
    text = tr("Within all limits over {duration:g} s.").format(duration=verdict.duration)
    nearest = tightest(verdict)
    if nearest is None:
        return text
    return text + " " + tr("Nearest to its limit: {check}.").format(check=finding_text(nearest.finding))


def verdict_of(preview: Preview) -> tuple[str, str]:
    """The verdict on a motion: the role of its text, by which that is coloured, and the text."""
    if preview.pending:
        return "muted", tr("Checking …")
    if preview.verdict is None:
        return "bad", f"✗ {preview.fault}"
    passed = preview.verdict.passed
    return "good" if passed else "bad", f"{'✓' if passed else '✗'} {describe(preview.verdict)}"


@dataclass(slots=True)
class MotionRun:
    """What *Run* runs: the motion shown, unless a template is shown in its place, which is no motion yet."""

    name: str = ""
    """of the motion that is shown"""
    preview: Preview = field(default_factory=Preview)
    template: tuple[str, Preview] | None = None
    """the motion that the template shown would make: its name, and what it would do; None while none is shown"""
    ran: str = ""
    """name of the motion that was run last, empty once another is shown"""

    @property
    def named(self) -> tuple[str, float | None]:
        """What the button names: the motion, and the s that one pass of it takes, None where that is not known."""
        name, preview = self.template or (self.name, self.preview)
        return name, None if preview.table is None else preview.table.duration

    def obstacle(self, now: Situation, wrong: str, *, moving: bool) -> str:
        """Why it cannot be run; empty where it can. wrong: of a field; moving: whether a motion is under way."""
        busy = tr("a motion is under way") if moving else ""
        template = tr("a template is shown, not a motion: press Create") if self.template else ""
        return obstacle(Action.MOVE, now) or busy or template or wrong or self.preview.obstacle

    def largest(self, amplitude: float) -> float:
        """The largest amplitude that passes, %, in tenths and never more, where it is `amplitude` now; 0: none does."""
        scale = 0.0 if self.preview.verdict is None else self.preview.verdict.scale
        return math.floor(10.0 * amplitude * scale + 1e-6) / 10.0

    def against_smaller(self, amplitude: float) -> str:
        """Why it is not made smaller until it passes; empty where it can be."""
        verdict = self.preview.verdict
        if verdict is None or verdict.passed or self.template is not None:
            return tr("only a motion that does not pass the check is made smaller")
        least = tr("none above {least:g} % passes").format(least=LEAST_AMPLITUDE)
        return "" if self.largest(amplitude) > 0.0 else least

    def present(self, now: Situation, *, moving: bool) -> tuple[float | None, bool]:
        """Where the motion that was run from here is, s, None where it is nowhere; and whether something moves."""
        status = now.status if now.phase is Phase.UP and self.ran and self.template is None else None
        if status is None or not (status.state is State.RUNNING or status.resumable):
            return None, False
        t = status.path_time if status.motion == self.ran else None
        return t, t is not None or moving
