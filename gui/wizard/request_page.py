"""The first page of a wizard: the request, whose files are probed before anything is computed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import Field, Form, FormPage, fields
from gui.texts import tr
from gui.widgets import TextRoom, field_refusal
from gui.wizard.description import Description, Entered, JobRequest, Role, Task
from gui.wizard.recordings import RecordingsTable
from gui.wizard.service_runner import ProbeCallback

_TASK = "task"
"""Name of the field that selects the task."""
_PAUSE = 400  # ms after the last key


class RequestPage(FormPage):
    """The fields and recordings of a description. Their files are probed when the user pauses.

    Args:
        description: of the wizard.
        folder: of the saved file while no file is named.
        probe: probes a request's files, and calls back.
    """

    def __init__(
        self, description: Description, folder: Path, probe: Callable[[JobRequest, ProbeCallback], None]
    ) -> None:
        chosen = [(task.choice, number) for number, task in enumerate(description.tasks)]
        first = [fields.choice(_TASK, *description.choice, chosen, usual=0, whole=True)] if len(chosen) > 1 else []
        self._fields = [
            fields.with_default(each, description.tasks[each.only or 0].kind) for each in description.fields
        ]
        super().__init__(Form(*description.request_heading, [*first, *self._fields], link=description.link))
        self._description, self._probe = description, probe
        self._folder = folder if folder.is_dir() else Path.cwd()  # the first recording creates it
        self._probed_request: JobRequest | None = None
        """Last probed request."""
        self._found: tuple[str, str] | None = None
        """Its content, and why it cannot be used; None while it is being probed."""
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._begin)
        self.recordings: RecordingsTable | None = None
        self.content_label: QtWidgets.QLabel | None = None
        if description.roles:
            self.recordings = RecordingsTable(description.roles, self._probe_recording)
            self.recordings.edited.connect(self.edited)
            self.column.insertWidget(0, self.recordings, 1)
            self.column.addWidget(self.reason)
        else:
            if self.task.contents is not None:
                self._add_content_label()
            self.close_form()
        self.fields.edited.connect(self._permit)
        self._permit()

    def _add_content_label(self) -> None:
        self.content_label = QtWidgets.QLabel()
        self.content_label.setObjectName("muted")
        self.content_label.setAccessibleName(tr("Contents of the files"))
        self.column.addSpacing(8)
        self.column.addWidget(TextRoom(self.content_label, 2))
        self.edited.connect(self._changed)

    def begin(self, source: Path | None, folder: Path) -> None:
        """Start with a file; without one with the newest recording of a folder, if any."""
        if self.recordings is not None:
            self.recordings.begin(folder if source is None else source.parent, source)
        elif source is not None:
            self._files[0].choose(source)

    @property
    def _files(self) -> list[fields.FileField]:
        return [each for each in self.fields.widgets.values() if isinstance(each, fields.FileField)]

    # -- request -----------------------------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        """The selected task."""
        return self._description.tasks[self._number]

    @property
    def _number(self) -> int:
        return self[_TASK].currentData() if _TASK in self.fields.widgets else 0

    def _counts(self, part: Field | Role) -> bool:
        return part.only in (None, self._number)

    @property
    def entered(self) -> Entered:
        """Return the input; only while all fields are valid."""
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
    def request(self) -> JobRequest:
        """Return the request of the current input; only while all fields are valid."""
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
        """Why it cannot be started; empty if it can."""
        if wrong := field_refusal(self) or fields.span_fault(self.fields.widgets):
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
        if self._found is None or self._probed_request != self.request:
            return tr("Reading the files …")
        return self._found[1]

    # -- file probe --------------------------------------------------------------------------------------------------

    @property
    def content(self) -> str:
        """The content of the files; empty while unknown."""
        if field_refusal(self) or self._found is None or self._probed_request != self.request:
            return ""
        return self._found[0]

    @property
    def _unprobed_request(self) -> JobRequest | None:
        """Return the request if its files are not probed yet, else None."""
        if field_refusal(self) or (self.task.lacking and self.entered.source is None):
            return None
        request = self.request
        return None if self._probed_request == request else request

    def _changed(self) -> None:
        assert self.content_label is not None
        self.content_label.setText(self.task.content_text.format(holds=self.content) if self.content else "")
        if self._unprobed_request is not None:
            self._pause.start()

    def _begin(self) -> None:
        if (request := self._unprobed_request) is None:
            return
        self._probed_request, self._found = request, None

        def done(content: str, fault: str) -> None:
            if self._probed_request == request:
                self._found = content, fault
                self.edited.emit()

        self._probe(request, done)

    def _probe_recording(self, recording: Path, done: ProbeCallback) -> None:
        """Probe one recording for the first role."""
        role = self._description.roles[0]
        values = {role.name: (recording,) if role.several else recording}
        self._probe(JobRequest(self._description.tasks[0], values, (recording,)), done)

    # -- enabled fields ----------------------------------------------------------------------------------------------

    def _permit(self) -> None:
        """Enable the fields of the task."""
        others = self.task.others
        for each in self._fields:
            if each.only is not None:
                _permit(self[each.name], "" if self._counts(each) else others)
        if self.recordings is not None and (role := self._description.roles[0]).only is not None:
            for widget in (self.recordings.table, self.recordings.browse):
                _permit(widget, "" if self._counts(role) else others)


def _permit(field: QtWidgets.QWidget, obstacle: str) -> None:
    """Enable a field, or disable it with the reason as tooltip."""
    if field.property("hint") is None:
        field.setProperty("hint", field.toolTip())
    field.setEnabled(not obstacle)
    field.setToolTip(obstacle or field.property("hint"))
    field.setAccessibleDescription(tr("not possible now: {obstacle}").format(obstacle=obstacle) if obstacle else "")
