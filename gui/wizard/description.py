"""Description of a wizard over rig services, its requests, and its outcomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyqtgraph.Qt import QtWidgets

from gui.steps import Field
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard.pictures import Pictures

FileKind = Literal["parameters", "calibration", "motion", "plots"]
"""Content of a wizard's file."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Input of the first page.

    values: by names of fields and roles; None if not used by the selected task. task: its number. folder: of the saved
    file while no file is named. source: the first named file, None without.
    """

    values: Mapping[str, Any]
    task: int
    folder: Path
    source: Path | None

    def __getitem__(self, name: str) -> Any:
        """Return the value of a field or role."""
        return self.values[name]

    def named_after(self, end: str) -> Path:
        """Return a path next to the source, of the same name with another suffix."""
        path = self.source or self.folder / "rig"
        return path.with_name(f"{path.stem}{end}")


@dataclass(frozen=True, slots=True)
class Use:
    """Use of a saved file.

    label: of the line. line: text to copy. about: where it belongs. motion: whether the tab Motion can open it.
    """

    label: str
    line: str
    about: str
    motion: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """A recording's role.

    name: of the request's field. label: of the column. lacking: text if no recording has it, empty if optional.
    several:
    whether more than one may have it. only: number of its task, None for all.
    """

    name: str
    label: str
    lacking: str = ""
    several: bool = True
    only: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    name: accessible name. headings: of the columns. words: text columns. wide: column that gets the remaining width,
    None to share it.
    """

    name: str
    headings: Sequence[str]
    words: Sequence[int] = ()
    wide: int | None = None


@dataclass(frozen=True, slots=True)
class DisplayedResult:
    """Displayed result.

    drawn: for each picture what it draws. rows: of its table. lines: text. warnings: besides those of the outcome.
    refusal:
    in place of the outcome's, None for that.
    """

    drawn: Sequence[Any]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str]
    warnings: Sequence[str] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Pictures side by side above a table.

    pictures: legend, rich text, and factory of the picture by theme. show: converts an outcome. height: of a picture,
    px.
    """

    pictures: Callable[[Theme], Pictures]
    table: Table
    show: "Callable[[Outcome], DisplayedResult]"
    height: int = 190


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a wizard: a service, and the use of its result.

    verb: text of the start button. service, kind: function and request class of `rig.services`. saved: suggested file.
    result: shows the result. refused: shows a refusal if `result` does not. contents: service that only probes the
    files, None for none. values: additional fields of the request; None ones are left out. files: input files that are
    not recordings. use: use of the saved file. lacking: text while no file is named, empty if optional. choice: its
    text if there are several tasks. others: why fields of other tasks are disabled. content_text: text of the files'
    content, with {holds}. writes: the request's field for the output file.
    """

    verb: str
    service: Callable[..., Any]
    kind: type[Any]
    saved: Callable[[Entered], Path]
    result: Result
    refused: Result | None = None
    contents: Callable[..., Any] | None = None
    values: Callable[[Entered], Mapping[str, object]] = lambda _entered: {}
    files: tuple[Path, ...] = ()
    use: "Callable[[Outcome, Path], Use | None]" = lambda _outcome, _target: None
    lacking: str = ""
    choice: str = ""
    others: str = ""
    content_text: str = tr("Contents: {holds}.")
    writes: str = "output"


@dataclass(frozen=True, slots=True)
class Description:
    """A wizard: request, computation, and saved file.

    title: of the window. request_heading, compute_heading: title and subtitle of the first and the second page.
    file_kind: content of the file. tasks: alternatives. fields: of the first page. roles: of its recordings, empty for
    none. choice: label and accessible name of the task field. check: why the input is invalid, empty if valid. link:
    connects dependent fields, by name.
    """

    title: str
    request_heading: tuple[str, str]
    compute_heading: tuple[str, str]
    file_kind: FileKind
    tasks: Sequence[Task]
    fields: Sequence[Field]
    roles: Sequence[Role] = ()
    choice: tuple[str, str] = (tr("To do"), tr("What to do"))
    check: Callable[[Entered], str] = lambda _entered: ""
    link: Callable[[Mapping[str, QtWidgets.QWidget]], None] = lambda _fields: None


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Request to a task's service, without its output file.

    values: of the request, which is created when run: an invalid value is then refused by its name. files: input files.
    saved: suggested output file.
    """

    task: Task
    values: Mapping[str, object] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    saved: Path = Path()

    def service_request(self, output: Path | None = None) -> Any:
        """Return the request, without output file if it only probes files. Raises InputError."""
        return self.task.kind(**self.values, **({} if output is None else {self.task.writes: output}))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a service.

    request: its request. result: as a JSON object. text: of the output file, None if it was refused. refusal: why.
    warnings: of the service.
    """

    request: JobRequest
    result: Mapping[str, Any]
    text: str | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
