"""Motion editor: frame and pivot, the ordered parts, and a form for each part."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import LEAST_AMPLITUDE, TRANSITION, Data, authored, in_words, new_part, part_models, with_transitions
from gui.motion.fields import PartForm, TupleField, make_field
from gui.texts import mark, tr
from gui.widgets import Choice, PageStack, QuantityBox, field_refusal, set_icon
from kinematics import TrajectorySpec

_FRAMES = {"home": tr("relative to the home pose"), "base": tr("in the base frame")}
_ACCESSIBLE = {
    "Add": mark("Add part"),
    "Remove": mark("Remove part"),
    "Up": mark("Up part"),
    "Down": mark("Down part"),
}
_LIST_HEIGHT = 96  # px
_PART = QtCore.Qt.ItemDataRole.UserRole  # item data: the index of its part, None for a transition


class MotionEditor(QtWidgets.QWidget):
    """A whole motion as a form. `edited` is emitted for every change except transitions, which are not editable."""

    edited = QtCore.Signal()

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.size = 1.0
        """Size of the machine, see `size_class`; scales new parts."""
        self.folder = Path()
        """Base folder of the parts' file names."""
        self._models = part_models()
        self._transitions: dict[tuple[PartForm, PartForm], float] = {}  # by the parts before and after, s
        self._quiet = False  # true while a motion is set
        self._thresholds: dict[str, float] = {}
        self.amplitude = QuantityBox(tr("Size of the motion about its start pose"), "%", 100.0, LEAST_AMPLITUDE, 100.0)
        """Placed by the owner."""
        self.frame = Choice(tr("Frame of the motion"), [(text, frame) for frame, text in _FRAMES.items()])
        point = TrajectorySpec.model_fields["pivot"]
        self.pivot = make_field(in_words("pivot"), point)
        assert isinstance(self.pivot, TupleField)
        self.pivot.setToolTip(tr("Point of the platform, in platform axes, that is moved and rotated about"))
        self.parts = QtWidgets.QListWidget()
        self.parts.setAccessibleName(tr("Parts of the motion, in their order"))
        self.parts.setMaximumHeight(_LIST_HEIGHT)
        self.kinds = Choice(tr("Kind of the part to add"), [(kind, kind) for kind in self._models])
        self.forms = PageStack()
        acts = {
            mark("Add"): self._add,
            mark("Remove"): self._remove,
            mark("Up"): lambda: self._shift(-1),
            mark("Down"): lambda: self._shift(1),
        }
        self.buttons: dict[str, QtWidgets.QPushButton] = {}
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.kinds, 1)
        for text, act in acts.items():
            button = QtWidgets.QPushButton(tr(text))
            button.setAccessibleName(tr(_ACCESSIBLE[text]))
            button.clicked.connect(lambda _checked=False, act=act: act())
            row.addWidget(button)
            self.buttons[text] = button
        for text, hint in (("Up", tr("Move the part up")), ("Down", tr("Move the part down"))):
            set_icon(self.buttons[text], text.lower()).setText("")
            self.buttons[text].setToolTip(hint)
        scroll = QtWidgets.QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        scroll.setWidget(self.forms)
        scroll.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Frame"), self.frame)
        form.addRow(tr("Pivot"), self.pivot)
        self.judged_by = QtWidgets.QLabel()
        self.judged_by.setObjectName("muted")
        self.judged_by.setWordWrap(True)
        self.judged_by.setAccessibleName(tr("Thresholds of the motion's own"))
        self.judged_by.setToolTip(
            tr("[validation] of the motion's file: its runs are judged by these before the rig's")
        )
        self.judged_by.hide()
        form.addRow(self.judged_by)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(form)
        layout.addWidget(self.parts)
        layout.addLayout(row)
        layout.addWidget(scroll, 1)
        self.frame.activated.connect(lambda _index: self._placed_elsewhere())
        self.pivot.edited.connect(self._placed_elsewhere)
        self.amplitude.changed.connect(self._emit_edited)
        self.parts.currentItemChanged.connect(self._choose)

    @property
    def refusal(self) -> str:
        """Name and fault of the first invalid field; empty if `value` is what is shown."""
        return field_refusal(self, self.amplitude)

    def value(self) -> Data:
        """The motion as data, SI, with the known transitions."""
        forms = self._forms()
        between = [self._transitions.get(pair) for pair in pairwise(forms)]
        durations = {index: duration for index, duration in enumerate(between) if duration is not None}
        amplitude = self.amplitude.known() / 100.0
        motion = {
            "frame": self.frame.currentData(),
            "pivot": self.pivot.value(),
            "parts": [form.value() for form in forms],
        }
        if amplitude != 1.0:
            motion["amplitude"] = amplitude
        if self._thresholds:
            motion["validation"] = dict(self._thresholds)
        return with_transitions(motion, durations)

    def set_value(self, motion: Data, folder: Path) -> None:
        """Show a motion with file names relative to `folder`.

        Raises ValueError, naming part and field, if a number is beyond the bounds of its field; the current motion
        stays.
        """
        size = 100.0 * float(motion.get("amplitude", 1.0))
        if fault := self.amplitude.fault(size):
            raise ValueError(fault)
        forms = []
        for number, part in enumerate(motion["parts"], start=1):
            try:
                if part["type"] != TRANSITION:
                    forms.append(self._make(part))
            except ValueError as error:
                raise ValueError(f"part {number}, {error}") from None
        with self._silence():
            self.pivot.set_value(motion["pivot"])
            self.folder = folder
            while self.forms.count():
                self._remove_part(0)
            for form in forms:
                self._insert(self.forms.count(), form)
            self._place(motion, size)
        self._list_parts(0)
        self._emit_edited()

    def set_thresholds(self, thresholds: Mapping[str, float]) -> None:
        """Replace the motion's own thresholds, SI, by name."""
        self._show_thresholds(thresholds)
        self._emit_edited()

    def restore(self, motion: Data, part: int) -> None:
        """Show an earlier motion with `part` selected; reuses existing forms."""
        parts = authored(motion)["parts"]
        with self._silence():
            if [part["type"] for part in parts] != [form.kind for form in self._forms()]:
                while self.forms.count():
                    self._remove_part(0)
                for each in parts:
                    self._insert(self.forms.count(), self._make(each))
                self.parts.setFocus()  # the form with the focus was removed
            for form, each in zip(self._forms(), parts, strict=True):
                if form.value() != each:
                    form.set_value(each)
            self.pivot.set_value(motion["pivot"])
            self._place(motion, 100.0 * float(motion.get("amplitude", 1.0)))
        self._list_parts(part)
        self._emit_edited()

    def put_transitions(self, durations: dict[int, float]) -> None:
        """Show transitions of given durations, s, after the parts at these indices of the motion in `value`."""
        places = [index for index, part in enumerate(self.value()["parts"]) if part["type"] != TRANSITION]
        forms = self._forms()
        for index, duration in durations.items():
            before = places.index(index)
            self._transitions[forms[before], forms[before + 1]] = duration
        self._list_parts(self.forms.currentIndex())

    def form(self, index: int) -> PartForm:
        """Return the form of a part, counted from 0 without transitions."""
        form: PartForm = self.forms.widget(index)
        return form

    def _forms(self) -> list[PartForm]:
        return [self.form(index) for index in range(self.forms.count())]

    @contextmanager
    def _silence(self) -> Iterator[None]:
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _emit_edited(self) -> None:
        if not self._quiet:
            self.edited.emit()

    def _place(self, motion: Data, size: float) -> None:
        """Show the common fields and the transitions."""
        self._show_thresholds(motion.get("validation", {}))
        self.frame.setCurrentIndex(self.frame.findData(motion["frame"]))
        self.amplitude.set_si(size)
        self._transitions, forms, parts = {}, iter(self._forms()), motion["parts"]
        pairs = dict(enumerate(pairwise(forms)))
        passed = -1
        for part in parts:
            if part["type"] == TRANSITION:
                self._transitions[pairs[passed]] = part["duration"]
            else:
                passed += 1

    def _show_thresholds(self, thresholds: Mapping[str, float]) -> None:
        self._thresholds = dict(thresholds)
        text = ", ".join(f"{in_words(name)} {value:g}" for name, value in thresholds.items())
        self.judged_by.setText(tr("Judged by its own {thresholds}").format(thresholds=text))
        self.judged_by.setVisible(bool(thresholds))

    def _placed_elsewhere(self) -> None:
        if not self._quiet:
            self._transitions = {}  # frame and pivot change which transitions are possible
            self._list_parts(self.forms.currentIndex())
            self._emit_edited()

    def _part_edited(self, form: PartForm) -> None:
        if not self._quiet:
            self._drop_transitions(form)
            self._list_parts(self.forms.currentIndex())
            self._emit_edited()

    def _drop_transitions(self, form: PartForm) -> None:
        """Remove the transitions next to a part that was changed or removed."""
        self._transitions = {pair: length for pair, length in self._transitions.items() if form not in pair}

    def _make(self, part: Data) -> PartForm:
        form = PartForm(part["type"], self._models[part["type"]])
        form.set_value(part)
        form.edited.connect(lambda: self._part_edited(form))
        return form

    def _insert(self, index: int, form: PartForm) -> None:
        self.forms.insertWidget(index, form)
        form.follow(self.buttons["Down"])

    def _remove_part(self, index: int) -> Data:
        form = self.form(index)
        part = form.value()
        self._drop_transitions(form)
        self.forms.removeWidget(form)
        form.deleteLater()
        return part

    def _add(self) -> None:
        kind = self.kinds.currentText()
        part = new_part(kind, self.size)
        index = self.forms.currentIndex() + 1
        self._insert(index, self._make(part))
        self._list_parts(index)
        self._emit_edited()

    def _remove(self) -> None:
        if self.forms.count() > 1:
            index = self.forms.currentIndex()
            self._remove_part(index)
            self._list_parts(min(index, self.forms.count() - 1))
            self._emit_edited()

    def _shift(self, by: int) -> None:
        index = self.forms.currentIndex()
        if 0 <= index + by < self.forms.count():
            self._insert(index + by, self._make(self._remove_part(index)))
            self._list_parts(index + by)
            self._emit_edited()

    def _choose(self, item: QtWidgets.QListWidgetItem | None, _before: object) -> None:
        if item is not None and (index := item.data(_PART)) is not None:
            self.forms.setCurrentIndex(index)

    def _list_parts(self, current: int) -> None:
        """Fill the list and select a part; transitions are shown for information only."""
        forms = self._forms()
        current = min(current, len(forms) - 1)
        with QtCore.QSignalBlocker(self.parts):
            self.parts.clear()
            for index, form in enumerate(forms):
                self._list(form.value(), index)
                if (pair := tuple(forms[index : index + 2])) in self._transitions:
                    self._list({"type": TRANSITION, "duration": self._transitions[pair]}, None)
        rows = [self.parts.item(row).data(_PART) for row in range(self.parts.count())]
        self.parts.setCurrentRow(rows.index(current))
        self.forms.setCurrentIndex(current)

    def _list(self, part: Data, index: int | None) -> None:
        length = f", {part['duration']:g} s" if "duration" in part else ""
        item = QtWidgets.QListWidgetItem(f"{self.parts.count() + 1}  {part['type']}{length}")
        item.setData(_PART, index)
        if index is None:
            item.setFlags(QtCore.Qt.ItemFlag.NoItemFlags)
            item.setToolTip(tr("Inserted where adjacent parts do not meet, as long as the limits of the rig require"))
        self.parts.addItem(item)
