"""What describes a wizard over services of the rig, what it asks of them, and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyqtgraph.Qt import QtWidgets

from gui.texts import tr
from gui.widgets import Theme
from gui.wizard.fields import Field
from gui.wizard.pictures import Pictures

StoredKind = Literal["parameters", "calibration", "motion", "plots"]
"""What a wizard's file holds."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What is entered on the first page.

    values: by the names of fields and roles; None of what does not count for the task that is chosen. task: its number.
    folder: for what is saved while no file is named. source: the file that is named first, None for none.
    """

    values: Mapping[str, Any]
    task: int
    folder: Path
    source: Path | None

    def __getitem__(self, name: str) -> Any:
        """The value of a field or role."""
        return self.values[name]

    def named_after(self, end: str) -> Path:
        """A file in the folder of the source, of its name with another end."""
        path = self.source or self.folder / "rig"
        return path.with_name(f"{path.stem}{end}")


@dataclass(frozen=True, slots=True)
class Use:
    """What a file that was saved is used by.

    label: of the line. line: to be copied. about: where it belongs. motion: whether the tab Motion can open it.
    """

    label: str
    line: str
    about: str
    motion: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """What a recording can be for.

    name: of the request's field. label: of the column. lacking: the text where none has it, empty where none must.
    several: whether more than one may have it. only: number of the task that it counts for, None for all.
    """

    name: str
    label: str
    lacking: str = ""
    several: bool = True
    only: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    name: accessible name. headings: of the columns. words: columns that are no numbers. wide: the one that takes the
    room that is left, None where all share it.
    """

    name: str
    headings: Sequence[str]
    words: Sequence[int] = ()
    wide: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What a result shows.

    drawn: for each of its pictures what that draws. rows: of its table. lines: said of it. warnings: more than those of
    the outcome. refusal: said in place of the outcome's, None for that.
    """

    drawn: Sequence[Any]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str]
    warnings: Sequence[str] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Pictures side by side above a table.

    pictures: legend, rich text, and picture of a theme. show: what an outcome shows. height: of a picture, px.
    """

    pictures: Callable[[Theme], Pictures]
    table: Table
    show: "Callable[[Outcome], Shown]"
    height: int = 190


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that a wizard can do: a service, and what is made of its result.

    verb: on the button that begins it. service, kind: of `rig.services`, the function and the class of its request.
    saved: the file that is offered to be saved. result: shows what came of it. refused: shows what was refused,
    where `result` does not. contents: the service that only looks into the files, None for none. values: more fields
    of the request, those that are None are left out. files: that it works on, where those are no recordings. use: what
    the saved file is for. lacking: the text while no file is named, empty where none must be. choice: its text where
    there are several. others: why fields of other tasks cannot be used. holds: the text of what the files hold, with
    {holds}. writes: the field of the request that names the file.
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
    holds: str = tr("Contents: {holds}.")
    writes: str = "output"


@dataclass(frozen=True, slots=True)
class Description:
    """A wizard: what is asked, what is computed of it, and what is saved.

    title: of the window. asking, computing: title and subtitle of the first and the second page. stored: what the file
    holds. tasks: of which one is chosen. fields: of the first page. roles: of its recordings, empty for a page without.
    choice: label and accessible name of the field that chooses a task. check: why what is entered cannot be used, empty
    where it can. link: connects fields that depend on each other, by their names.
    """

    title: str
    asking: tuple[str, str]
    computing: tuple[str, str]
    stored: StoredKind
    tasks: Sequence[Task]
    fields: Sequence[Field]
    roles: Sequence[Role] = ()
    choice: tuple[str, str] = (tr("To do"), tr("What to do"))
    check: Callable[[Entered], str] = lambda _entered: ""
    link: Callable[[Mapping[str, QtWidgets.QWidget]], None] = lambda _fields: None


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What is asked of a task's service, without the file that it writes.

    values: of the request, which is made once it is run: a value that cannot be is then refused by its name. files:
    that it works on. saved: the file that is offered to be saved.
    """

    task: Task
    values: Mapping[str, object] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    saved: Path = Path()

    def request(self, output: Path | None = None) -> Any:
        """The request; of one that only looks into files, without the file that it writes. Raises InputError."""
        return self.task.kind(**self.values, **({} if output is None else {self.task.writes: output}))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    asked: for it. result: as a JSON object. text: of the file that it wrote, None where it refused to write
    one. refusal: why, in its words. warnings: that it gave.
    """

    asked: JobRequest
    result: Mapping[str, Any]
    text: str | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
