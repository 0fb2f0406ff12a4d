"""New motions from templates: selection, and their few numbers."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Data, Preview, preview_template
from gui.motion.fields import Field, make_field
from gui.session import Worker
from gui.texts import tr
from gui.widgets import GuardedButton, PageStack, field_refusal, number_fields
from kinematics import SYNTHETIC, Array
from rig.client import TEMPLATES, Template
from rig.config import RigConfig

_PAUSE = 200  # ms without a change before sizes are computed
_SIZES = tr("Sizes are about half of the largest passing ones until you type one.")
_FACTOR = tr("The factor is the largest passing one, at most 1, until you type one.")


class TemplateForm(QtWidgets.QWidget):
    """The numbers of one template. `changed(name)` is emitted for every change by the user.

    Args:
        template: of the form.
    """

    changed = QtCore.Signal(str)

    def __init__(self, template: type[Template]) -> None:
        super().__init__()
        self._template = template
        self.typed: set[str] = set()
        """Sizes set by the user."""
        self._quiet = False
        self.fields: dict[str, Field] = {}
        self._layout = QtWidgets.QFormLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        about = QtWidgets.QLabel(tr(str(template.__doc__)))
        about.setObjectName("muted")
        about.setWordWrap(True)
        self._layout.addRow(about)
        for name, info in template.model_fields.items():
            label = tr(info.title or name)
            field = make_field(label, info)
            if not info.is_required():
                field.set_value(info.get_default())
            field.edited.connect(lambda name=name: self._edited(name))
            self.fields[name] = field
            self._layout.addRow(label, field)
        self._show_what_matters()

    def template(self) -> Template:
        """Return the template with these numbers. Raises ValueError, naming the field, if it is invalid."""
        if wrong := field_refusal(self):
            raise ValueError(wrong)
        try:
            return self._template.model_validate({name: field.value() for name, field in self.fields.items()})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            title = self._template.model_fields[str(first["loc"][0])].title or ""
            reason = {"too_short": tr("choose at least one"), "string_too_short": tr("choose one")}.get(first["type"])
            raise ValueError(f"{tr(title)}: {reason or first['msg']}") from None

    def show_sizes(self, template: Template) -> None:
        """Show the computed sizes, except those set by the user."""
        self._quiet = True
        for name in template.sizes:
            if name not in self.typed:
                self.fields[name].set_value(getattr(template, name))
        self._quiet = False

    def _edited(self, name: str) -> None:
        if self._quiet:
            return
        if name in self._template.sizes:
            self.typed.add(name)
        self._show_what_matters()
        self.changed.emit(name)

    def _show_what_matters(self) -> None:
        try:
            template = self.template()
        except ValueError:
            return
        for name, field in self.fields.items():
            matters = template.matters(name)
            field.setVisible(matters)
            self._layout.labelForField(field).setVisible(matters)
            if not matters:
                for box in number_fields(field):
                    box.revert()  # discard invalid text: its fault would be invisible


class TemplatePage(QtWidgets.QWidget):
    """Selects a template.

    `made` gives name and data of the new motion; `closed`: no motion; `seen` gives name and preview of the motion that
    would be made, with each change.

    Args:
        config: the rig that the sizes are for.
        plate: corners (6, 3) of the platform's plate, m, platform frame.
        worker: computes sizes.
    """

    made = QtCore.Signal(str, object)
    closed = QtCore.Signal()
    seen = QtCore.Signal(str, object)

    def __init__(self, config: RigConfig, plate: Array, worker: Worker) -> None:
        super().__init__()
        self._config, self._plate, self._worker = config, plate, worker
        self._version = 0
        self.list = QtWidgets.QListWidget()
        self.list.setAccessibleName(tr("Templates"))
        self.list.addItems([tr(template.title) for template in TEMPLATES.values()])
        self.stack = PageStack()
        self._forms: dict[int, TemplateForm] = {}
        """By row, created on first use."""
        self.list.setFixedHeight(self.list.sizeHintForRow(0) * len(TEMPLATES) + 2 * self.list.frameWidth() + 4)
        self.message = QtWidgets.QLabel()
        self.message.setAccessibleName(tr("Message of the template"))
        self.message.setWordWrap(True)
        self.create = GuardedButton(
            tr("Create"), tr("Create the motion; it can be edited, checked, saved and run like any other")
        )
        self.cancel = QtWidgets.QPushButton(tr("Cancel"))
        self.create.setAccessibleName(tr("Create the motion"))
        self.cancel.setAccessibleName(tr("Back to the motion"))
        self.create.clicked.connect(lambda _checked=False: self._create())
        self.cancel.clicked.connect(lambda _checked=False: self.leave())
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.create, 1)
        buttons.addWidget(self.cancel, 1)
        title = QtWidgets.QLabel(tr("New from template"))
        title.setObjectName("heading")
        scroll = QtWidgets.QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self.stack)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(title)
        layout.addWidget(self.list)
        layout.addWidget(scroll, 1)
        layout.addWidget(self.message)
        layout.addLayout(buttons)
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._compute_sizes)
        self.list.currentRowChanged.connect(self._choose)

    @property
    def found(self) -> bool:
        """Whether sizes were found for the current numbers."""
        return self.message.text() in (_SIZES, _FACTOR)

    @property
    def form(self) -> TemplateForm:
        """The form of the selected template."""
        form: TemplateForm = self.stack.currentWidget()
        return form

    @property
    def name(self) -> str:
        """The name of the selected template."""
        row: int = self.list.currentRow()
        return list(TEMPLATES)[row]

    def begin(self) -> None:
        """Start with the last selected template, at first with the first one."""
        self.list.setCurrentRow(max(self.list.currentRow(), 0))
        self.list.setFocus()
        self._compute_sizes()

    def leave(self) -> None:
        """Leave without a motion; a pending preview is dropped."""
        self._version += 1
        self._pause.stop()
        self.closed.emit()

    def _choose(self, row: int) -> None:
        if row not in self._forms:
            form = self._forms[row] = TemplateForm(list(TEMPLATES.values())[row])
            form.changed.connect(self._changed)
            self.stack.addWidget(form)
        self.stack.setCurrentWidget(self._forms[row])
        self._refuse()
        if self.isVisible():
            self._compute_sizes()

    def _changed(self, _name: str) -> None:
        self._version += 1
        self._refuse()
        self._pause.start()

    def _refuse(self) -> None:
        self.create.set_obstacle(field_refusal(self.form))

    def _compute_sizes(self) -> None:
        """Compute sizes that pass with the other numbers, and show them."""
        self._find(create=False)

    def _create(self) -> None:
        self._find(create=True)

    def _find(self, *, create: bool) -> None:
        self._pause.stop()
        self._version += 1
        version, form, config = self._version, self.form, self._config
        name = self.name
        try:
            template = form.template()
        except ValueError as error:
            self._set_message(str(error) if create or name != "csv" else "", "bad" if create else "muted")
            self.seen.emit(name, Preview(fault=str(error)))
            return
        given = set(form.typed)
        self._set_message(tr("Searching for passing sizes …"), "muted")

        def find() -> tuple[Template, Data, Preview | None] | None:
            if version != self._version:
                return None
            return self._worker.compute(preview_template, config, template, given, None if create else self._plate)

        def found(result: Any, error: Exception | None) -> None:
            if version != self._version:
                return
            if result is None:
                self._set_message(tr("Not possible with these values: {reason}").format(reason=error), "bad")
                self.seen.emit(name, Preview(fault=str(error)))
                return
            made, motion, preview = result
            form.show_sizes(made)
            self._set_message((_FACTOR if made.whole else _SIZES) if made.sizes else "", "muted")
            file = getattr(made, "file", "")
            called = Path(file).stem if file and file != SYNTHETIC else name
            if preview is not None:
                self.seen.emit(called, preview)
            else:
                self.made.emit(called, motion)

        self._worker.submit(find, found)

    def _set_message(self, text: str, role: str) -> None:
        self.message.setText(text)
        self.message.setObjectName(role)
        self.message.style().unpolish(self.message)
        self.message.style().polish(self.message)
