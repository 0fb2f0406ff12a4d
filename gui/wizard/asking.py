"""The first step of a wizard: what is asked for, looked into before anything is computed."""

from collections.abc import Callable
from dataclasses import MISSING, replace
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import StepPage
from gui.texts import tr
from gui.widgets import TextRoom, field_refusal
from gui.wizard.description import Description, Entered, JobRequest, Role, Task
from gui.wizard.fields import Field, FieldGrid, FileField, choice, span_fault
from gui.wizard.recordings import RecordingsTable
from gui.wizard.running import ProbeCallback

_TASK = "task"
"""name of the field that chooses the task"""
_PAUSE = 400  # ms without another key


class AskPage(StepPage):
    """The fields and recordings of a description. Its files are looked into at once, when a person pauses.

    Args:
        description: of the wizard.
        folder: for what is saved while no file is named.
        look: looks into the files of what is asked, and calls back.
    """

    def __init__(
        self, description: Description, folder: Path, look: Callable[[JobRequest, ProbeCallback], None]
    ) -> None:
        super().__init__(*description.asking)
        self._description, self._look = description, look
        self._folder = folder if folder.is_dir() else Path.cwd()  # the first recording makes it
        self._looking: JobRequest | None = None
        """what is being looked into, or was"""
        self._found: tuple[str, str] | None = None
        """what that holds, and why it cannot be used; None while it is looked into"""
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._begin)
        chosen = [(task.choice, number) for number, task in enumerate(description.tasks)]
        first = [choice(_TASK, *description.choice, chosen, usual=0, whole=True)] if len(chosen) > 1 else []
        self._fields = [_with_default(each, description) for each in description.fields]
        self.fields = FieldGrid([*first, *self._fields])
        self.recordings: RecordingsTable | None = None
        self.holding: QtWidgets.QLabel | None = None
        if description.roles:
            self.recordings = RecordingsTable(description.roles, self._look_into)
            self.recordings.edited.connect(self.edited)
            self.column.addWidget(self.recordings, 1)
            self.column.addWidget(self.fields)
            self.column.addWidget(self.reason)
        else:
            self.column.addWidget(self.fields)
            if self.task.contents is not None:
                self._add_holding()
            self.close_form()
        description.link(self.fields.widgets)
        self.fields.edited.connect(self.edited)
        self.fields.edited.connect(self._permit)
        self._permit()

    def _add_holding(self) -> None:
        self.holding = QtWidgets.QLabel()
        self.holding.setObjectName("muted")
        self.holding.setAccessibleName(tr("Contents of the files"))
        self.column.addSpacing(8)
        self.column.addWidget(TextRoom(self.holding, 2))
        self.edited.connect(self._changed)

    def begin(self, source: Path | None, folder: Path) -> None:
        """Begin on a file; without one on the newest recording of a folder, or on nothing."""
        if self.recordings is not None:
            self.recordings.begin(folder if source is None else source.parent, source)
        elif source is not None:
            self._files[0].choose(source)

    def __getitem__(self, name: str) -> Any:
        """The widget of a field."""
        return self.fields.widgets[name]

    @property
    def _files(self) -> list[FileField]:
        return [each for each in self.fields.widgets.values() if isinstance(each, FileField)]

    # -- what is asked -----------------------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        """The task that is chosen."""
        return self._description.tasks[self._number]

    @property
    def _number(self) -> int:
        return self[_TASK].currentData() if _TASK in self.fields.widgets else 0

    def _counts(self, part: Field | Role) -> bool:
        return part.only in (None, self._number)

    @property
    def entered(self) -> Entered:
        """What is entered; only while no field's text is wrong."""
        values: dict[str, Any] = {
            each.name: each.read(self[each.name]) if self._counts(each) else None for each in self._fields
        }
        source = next((each.path for each in self._files), None)
        folder = self._folder
        if self.recordings is not None:
            folder, source = self.recordings.folder, next(iter(self.recordings.chosen(0)), None)
            for number, role in enumerate(self._description.roles):
                used = self.recordings.chosen(number)
                value = used if role.several else next(iter(used), None)
                values[role.name] = value if self._counts(role) else None
        return Entered(values, self._number, folder, source)

    @property
    def asked(self) -> JobRequest:
        """What is asked for, by what is entered now; only while no field's text is wrong."""
        entered, task = self.entered, self.task
        values = dict(entered.values)
        for each in self._fields:
            values[each.name] = each.requested(entered[each.name]) if self._counts(each) else None
        values |= task.values(entered)
        files = task.files
        if self.recordings is not None and self._counts(self._description.roles[0]):
            files = self.recordings.chosen(0)
        return JobRequest(
            task, {name: value for name, value in values.items() if value not in (None, "")}, files, task.saved(entered)
        )

    @property
    def fault(self) -> str:
        """Why it cannot be begun; empty when it may be."""
        if wrong := field_refusal(self) or span_fault(self.fields.widgets):
            return wrong
        entered = self.entered
        if wrong := self._description.check(entered):
            return wrong
        if self.recordings is not None:
            return self.recordings.fault if self._counts(self._description.roles[0]) else ""
        if self.task.contents is None:
            return ""
        if entered.source is None and self.task.lacking:
            return self.task.lacking
        if self._found is None or self._looking != self.asked:
            return tr("Reading the files …")
        return self._found[1]

    # -- what the files hold -----------------------------------------------------------------------------------------

    @property
    def holds(self) -> str:
        """What the files hold; empty while that is not known."""
        if field_refusal(self) or self._found is None or self._looking != self.asked:
            return ""
        return self._found[0]

    @property
    def _to_look_into(self) -> JobRequest | None:
        """What is asked where its files were not looked into; None for nothing."""
        if field_refusal(self) or (self.task.lacking and self.entered.source is None):
            return None
        asked = self.asked
        return None if self._looking == asked else asked

    def _changed(self) -> None:
        assert self.holding is not None
        self.holding.setText(self.task.holds.format(holds=self.holds) if self.holds else "")
        if self._to_look_into is not None:
            self._pause.start()

    def _begin(self) -> None:
        if (asked := self._to_look_into) is None:
            return
        self._looking, self._found = asked, None

        def done(holds: str, fault: str) -> None:
            if self._looking == asked:
                self._found = holds, fault
                self.edited.emit()

        self._look(asked, done)

    def _look_into(self, recording: Path, done: ProbeCallback) -> None:
        """Look into one recording, as the first role has it."""
        role = self._description.roles[0]
        values = {role.name: (recording,) if role.several else recording}
        self._look(JobRequest(self._description.tasks[0], values, (recording,)), done)

    # -- what can be entered -----------------------------------------------------------------------------------------

    def _permit(self) -> None:
        """Enable what counts for the task."""
        others = self.task.others
        for each in self._fields:
            if each.only is not None:
                _permit(self[each.name], "" if self._counts(each) else others)
        if self.recordings is not None and (role := self._description.roles[0]).only is not None:
            for widget in (self.recordings.table, self.recordings.browse):
                _permit(widget, "" if self._counts(role) else others)


def _with_default(field: Field, description: Description) -> Field:
    """A field with what the request has by default, where nothing else is usual."""
    kind = description.tasks[field.only or 0].kind
    defaults = {each.name: each.default for each in fields_of(kind) if each.default is not MISSING}
    return replace(field, usual=defaults.get(field.name)) if field.usual is None else field


def _permit(field: QtWidgets.QWidget, obstacle: str) -> None:
    """Enable a field, or disable it and say in its tip why."""
    if field.property("hint") is None:
        field.setProperty("hint", field.toolTip())
    field.setEnabled(not obstacle)
    field.setToolTip(obstacle or field.property("hint"))
    field.setAccessibleDescription(tr("not possible now: {obstacle}").format(obstacle=obstacle) if obstacle else "")
