"""Runs `rig identify` beside the app, and reads what came of it."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from calibration import Parameter, parse_parameters
from gui.session import RigCommand
from rig.errors import ExitCode

_STEP = "… "
_ERROR = "error: "


@dataclass(frozen=True, slots=True)
class Asked:
    """What is identified from: recordings to fit on, others to judge by (none: the last quarter of every motion)."""

    fitted: tuple[Path, ...] = ()
    held_out: tuple[Path, ...] = ()
    note: str = ""

    def arguments(self, output: Path) -> list[str]:
        """Those of the command that writes the parameter file `output`."""
        held = [part for path in self.held_out for part in ("--hold-out", str(path))]
        note = ["--note", self.note] if self.note else []
        options = ["--progress", "--json", "-o", str(output), *held, *note]
        return ["identify", *options, "--", *map(str, self.fitted)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an identification.

    asked: for it. text: of the parameter file. mechanism: its name. parameters: of the file, those first that changed
    most in their standard deviations. before, after, noise: N RMS at the cells on what was held out, of legs 1 to 6 and
    of all. told: of so many combinations.
    """

    asked: Asked
    text: str
    mechanism: str
    parameters: tuple[Parameter, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    noise: tuple[float, ...]
    told: int
    combinations: int
    consistent: bool
    drives: bool


def shift(parameter: Parameter) -> float:
    """By how many of its standard deviations a parameter changed; 0 for one that is known exactly."""
    return (parameter.value - parameter.nominal) / parameter.sigma if parameter.sigma > 0.0 else 0.0


class Identifier(QtCore.QObject):
    """One identification at a time, in a process of its own; what it writes goes into a folder that does not last.

    Signals: `stepped(text)` as each step begins; `finished(outcome, reason)`: an `Outcome` and "", or None and why
    there is none, in the estimator's words.
    """

    stepped = QtCore.Signal(str)
    finished = QtCore.Signal(object, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._command = RigCommand(self)
        self._command.told.connect(self._told)
        self._command.ended.connect(self._done)
        self._asked = Asked()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being identified."""
        return self._command.busy

    def start(self, asked: Asked) -> None:
        """Identify. Nothing while another identification runs."""
        if self.busy:
            return
        self._asked = asked
        self._folder = tempfile.TemporaryDirectory(prefix="rig-identify-")
        self._command.start(asked.arguments(self._output))

    def cancel(self) -> None:
        """Give it up: nothing is left of it, nothing is told. At any time."""
        self._command.close()
        self._clean()

    @property
    def _output(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / "parameters.toml"

    def _told(self, line: str) -> None:
        if line.startswith(_STEP):
            self.stepped.emit(line.removeprefix(_STEP))

    def _done(self, code: int, output: str, errors: str) -> None:
        outcome, reason = None, ""
        if code == ExitCode.OK:
            outcome = _outcome(self._asked, json.loads(output), self._output.read_text(encoding="utf-8"))
        else:
            reason = errors.partition(_ERROR)[2].strip() or errors.strip() or f"rig identify ended with {code}"
        self._clean()
        self.finished.emit(outcome, reason)

    def _clean(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _outcome(asked: Asked, told: Mapping[str, Any], text: str) -> Outcome:
    held, base = told["holdout"], told["base_parameters"]

    def of(name: str) -> tuple[float, ...]:
        return (*(float(leg[name]) for leg in held["legs"]), float(held[name]))

    return Outcome(
        asked=asked,
        text=text,
        mechanism=told["mechanism"],
        parameters=tuple(sorted(parse_parameters(text).parameters, key=lambda each: -abs(shift(each)))),
        before=of("residual_before_n"),
        after=of("residual_after_n"),
        noise=of("noise_n"),
        told=sum(each["told"] for each in base),
        combinations=len(base),
        consistent=told["consistent"],
        drives=told["drives_used"],
    )
