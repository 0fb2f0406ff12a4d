"""The tab Follow: a stream of poses or of a vehicle, an FMU, or a reference of another package, and what it does."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import (
    FRAME_TEXTS,
    STREAM,
    UNIT,
    Action,
    Fact,
    Followed,
    Frame,
    advice,
    against_following,
    against_unit,
    arrival_facts,
    concerns_following,
    following_facts,
    follows,
    in_words,
    receiver_facts,
    stream_facts,
    unit_facts,
    unit_progress_facts,
    washout_facts,
    what_may_be_followed,
)
from gui.motion.fields import ChoiceField, Field, FileField, QuantityField, SwitchField, WholeField, least_of
from gui.session import LogEntry, Mover, RigSession, StreamReceiving, UnitFollowing, named_unit
from gui.texts import mark, sentence, tr
from gui.widgets import (
    Card,
    Choice,
    GuardedButton,
    PageStack,
    Reason,
    ScrolledPage,
    field_refusal,
    mark_next,
    room_for,
    set_icon,
)
from kinematics import Quantity
from rig.config import ReferenceFmu
from rig.findings import Finding

_MOST_LINES = 200
_LEAST_CAPTION = 150  # px, so that the columns of the tables stand in line


class FactTable(QtWidgets.QWidget):
    """Captions and texts in two columns."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        super().__init__()
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, _LEAST_CAPTION)
        self._texts: list[QtWidgets.QLabel] = []
        top = QtCore.Qt.AlignmentFlag.AlignTop
        for row, fact in enumerate(facts):
            caption, text = QtWidgets.QLabel(fact.caption), QtWidgets.QLabel()
            caption.setObjectName("muted")
            text.setAccessibleName(fact.caption)
            text.setWordWrap(True)
            text.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(caption, row, 0, top)
            grid.addWidget(text, row, 1)
            self._texts.append(text)
        self.show_facts(facts)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show other texts for the same captions."""
        for label, fact in zip(self._texts, facts, strict=True):
            if label.text() != fact.text:
                label.setText(fact.text)
            if label.objectName() != fact.role:
                label.setObjectName(fact.role)
                label.style().unpolish(label)
                label.style().polish(label)

    def text(self, row: int) -> str:
        """The text of a row."""
        return str(self._texts[row].text())


class LineField(Field):
    """A line: text, or a value of another kind as in JSON."""

    def __init__(self, name: str, *, text: bool) -> None:
        super().__init__()
        self._text = text
        self.line = QtWidgets.QLineEdit()
        self.line.setAccessibleName(name)
        self.line.textEdited.connect(lambda _text: self.edited.emit())
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.line)

    def value(self) -> Any:
        """See `Field`; the text itself where it is no JSON."""
        text = str(self.line.text())
        if not self._text:
            with contextlib.suppress(ValueError):
                return json.loads(text)
        return text

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.line.setText(str(value) if self._text else json.dumps(value))


def settings_field(label: str, info: FieldInfo) -> Field:
    """The field of an entry of a reference's settings; of a type without one of its own, a line."""
    kind = info.annotation
    if get_origin(kind) is Literal:
        return ChoiceField(label, get_args(kind))
    if kind is bool:
        return SwitchField(label)
    if kind is int and any(hasattr(each, "ge") for each in info.metadata):
        return WholeField(label, info.metadata)
    if kind is float:
        quantity = next((each for each in info.metadata if isinstance(each, Quantity)), Quantity("number", ""))
        return QuantityField(label, quantity, least_of(info.metadata))
    return LineField(label, text=kind is str)


class SettingsForm(QtWidgets.QWidget):
    """The settings of a reference, from the model that it declares. `edited` follows every change by the user."""

    edited = QtCore.Signal()

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__()
        self.fields: dict[str, Field] = {}
        layout = QtWidgets.QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        written = model().model_dump(mode="json")
        for name, info in model.model_fields.items():
            label = sentence(info.title or in_words(name))
            field = self.fields[name] = settings_field(label, info)
            field.set_value(written[name])
            field.setToolTip(info.description or "")
            field.edited.connect(self.edited)
            layout.addRow(label, field)
            if info.description:
                about = QtWidgets.QLabel(info.description)
                about.setObjectName("muted")
                about.setWordWrap(True)
                layout.addRow("", about)

    def values(self) -> dict[str, Any]:
        """The settings by name."""
        return {name: field.value() for name, field in self.fields.items()}


class FollowPanel(QtWidgets.QWidget):
    """What is followed at the left, what comes in and what the platform does at the right.

    Args:
        session: the rig.
        mover: stops what is followed.
    """

    def __init__(self, session: RigSession, mover: Mover) -> None:
        super().__init__()
        self._session = session
        self.receiving, self.unit = StreamReceiving(session, self), UnitFollowing(session, self)
        self._forms: dict[str, SettingsForm] = {}
        self.things = what_may_be_followed(session.config)
        self.list = QtWidgets.QListWidget()
        self.list.setAccessibleName(tr("What is followed"))
        self.list.addItems([each.caption for each in self.things])
        self.list.setFixedHeight(self.list.sizeHintForRow(0) * max(3, min(6, len(self.things))) + 8)
        self.listen = GuardedButton(tr("Listen"))
        self.listen.setFixedWidth(room_for(self.listen, [tr("Stop listening")]) + 12)
        self.listen.clicked.connect(self._listen)
        self.receiver = FactTable(receiver_facts(session.config))
        self.arrivals = FactTable(arrival_facts(None))
        self.washout = FactTable(washout_facts(None))
        self.unit_progress = FactTable(unit_progress_facts("off", None))
        self.platform = FactTable(following_facts(session.config, None))
        configured = session.config.reference
        self.file = FileField(tr("FMU"), tr("vehicle.fmu"), tr("FMUs (*.fmu)"))
        self.file.set_value("" if configured is None else configured.fmu)
        self.unit_settings = FactTable(unit_facts(session.config, configured))
        self.frame = Choice(tr("Frame of the poses"), [(tr(text), frame) for frame, text in FRAME_TEXTS.items()])
        self.frame.setCurrentIndex(self.frame.findData(session.config.stream.frame))
        self.stack = PageStack()
        self.findings = QtWidgets.QPlainTextEdit()
        self.findings.setReadOnly(True)
        self.findings.setMaximumBlockCount(_MOST_LINES)
        self.findings.setAccessibleName(tr("What was found of the stream, and what to do"))
        self.findings.setPlaceholderText(tr("What is found while it is followed, and what to do"))
        self.start = GuardedButton(tr("Start"), tr("Go slowly to the first pose, fade in, and follow"))
        self.start.setAccessibleName(tr("Start following"))
        self.stop = GuardedButton(tr("Stop following"), tr("Come to rest, and hold under power"))
        set_icon(self.start, "run")
        set_icon(self.stop, "hold")
        self.start.clicked.connect(self._start)
        self.stop.clicked.connect(mover.hold)
        self._reason = Reason()
        self._lay_out()
        self.list.currentRowChanged.connect(self._choose)
        self.list.setCurrentRow(0)
        session.changed.connect(self.refresh)
        session.statusChanged.connect(self._show_status)
        session.logged.connect(self._note)
        self.receiving.changed.connect(self.refresh)
        self.unit.changed.connect(self.refresh)
        self.file.edited.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        config = self._session.config
        self._stream_page = QtWidgets.QWidget()
        page = QtWidgets.QVBoxLayout(self._stream_page)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(Card(tr("Receiver"), self.receiver, self.listen))
        self._frames = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self._frames)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QtWidgets.QLabel(tr("Frame of the poses")))
        row.addWidget(self.frame, 1)
        page.addWidget(Card(tr("[stream] of the configuration"), FactTable(stream_facts(config))))
        page.addStretch(1)
        self._unit_page = QtWidgets.QWidget()
        page = QtWidgets.QVBoxLayout(self._unit_page)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(Card(tr("FMU"), self.file))
        page.addWidget(Card(tr("[reference] and [stream] of the configuration"), self.unit_settings))
        page.addStretch(1)
        self._bare = QtWidgets.QLabel(tr("It has no settings."))
        self._bare.setObjectName("muted")
        self._bare.setAlignment(QtCore.Qt.AlignmentFlag.AlignTop)
        self.stack.addWidget(self._stream_page)
        self.stack.addWidget(self._unit_page)
        self.stack.addWidget(self._bare)
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.start, 1)
        buttons.addWidget(self.stop, 1)
        title = QtWidgets.QLabel(tr("What is followed"))
        title.setObjectName("heading")
        left, right = QtWidgets.QWidget(), QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(left)
        column.setContentsMargins(6, 6, 6, 6)
        for widget in (title, self.list, self._frames):
            column.addWidget(widget)
        column.addWidget(ScrolledPage(self.stack), 1)
        column.addLayout(buttons)
        column.addWidget(self._reason)
        column = QtWidgets.QVBoxLayout(right)
        column.setContentsMargins(6, 6, 6, 6)
        self._coming = Card(tr("What comes in"), self.arrivals, self.washout, self.unit_progress)
        column.addWidget(self._coming)
        column.addWidget(Card(tr("What the platform does"), self.platform))
        column.addWidget(self.findings, 1)
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(left, 1)
        layout.addWidget(right, 1)

    @property
    def chosen(self) -> Followed:
        """What would be followed."""
        row: int = max(0, self.list.currentRow())
        return self.things[row]

    def choose(self, key: str) -> None:
        """Choose by the key of `Followed`."""
        self.list.setCurrentRow([each.key for each in self.things].index(key))

    @property
    def form(self) -> SettingsForm | None:
        """The form of what is chosen, None without settings."""
        return self._forms.get(self.chosen.key)

    def _choose(self, _row: int) -> None:
        chosen = self.chosen
        if chosen.key in (STREAM, UNIT):
            self.stack.setCurrentWidget(self._stream_page if chosen.key == STREAM else self._unit_page)
        else:
            if chosen.settings is not None and chosen.key not in self._forms:
                form = self._forms[chosen.key] = SettingsForm(chosen.settings)
                form.edited.connect(self.refresh)
                self.stack.addWidget(form)
            self.stack.setCurrentWidget(self._forms.get(chosen.key, self._bare))
        self._coming.setVisible(chosen.key in (STREAM, UNIT))
        self.arrivals.setVisible(chosen.key == STREAM)
        self.washout.setVisible(chosen.key == STREAM and self._session.config.stream.cue is not None)
        self.unit_progress.setVisible(chosen.key == UNIT)
        absolute = chosen.key == STREAM and self._session.config.stream.cue is not None  # as a washout's are
        self._frames.setVisible(chosen.key in (STREAM, UNIT) and not absolute)
        self.refresh()

    def refresh(self) -> None:
        """Show what comes in, and enable what is possible."""
        session, receiving, now = self._session, self.receiving, self._session.situation
        following = follows(now)
        self.receiver.show_facts(receiver_facts(session.config, receiving.address))
        self.arrivals.show_facts(arrival_facts(receiving.status))
        self.washout.show_facts(washout_facts(receiving.cueing))
        self.unit_settings.show_facts(unit_facts(session.config, self._reference))
        self.unit_progress.show_facts(unit_progress_facts(self.unit.phase, self.unit.report, failed=self.unit.failed))
        self.listen.setText(tr("Stop listening") if receiving.on else tr("Listen"))
        self.listen.setAccessibleName(self.listen.text())
        held = tr("a stream is followed: stop it first") if following and receiving.on else ""
        self.listen.set_obstacle(held or receiving.fault)
        against = self._against(following=following)
        self.start.set_obstacle(against)
        self.stop.set_obstacle("" if following else session.obstacle(Action.HOLD) or tr("nothing is followed"))
        mark_next(self.start, not against)
        self._reason.show_reason("" if following else against)

    @property
    def _reference(self) -> ReferenceFmu | None:
        return named_unit(self._session.config, self.file.value())

    def _against(self, *, following: bool) -> str:
        if following:
            return tr("it is followed already")
        form = self.form
        wrong = "" if form is None else field_refusal(form)
        if self.chosen.key == UNIT:
            wrong = against_unit(self._session.config, self._reference, self.unit.phase)
        values = {} if form is None or wrong else form.values()
        return against_following(self.chosen, values, wrong, self._session.situation, self.receiving.status)

    def _show_status(self, status: Any) -> None:
        self.platform.show_facts(following_facts(self._session.config, status))

    def _listen(self) -> None:
        self.receiving.end() if self.receiving.on else self.receiving.listen()

    def _start(self) -> None:
        if self._against(following=follows(self._session.situation)):
            return
        self.findings.clear()
        form, reference, chosen = self.form, self._reference, self.chosen
        if chosen.key == UNIT and reference is not None:
            self.unit.start(reference, self.frame.currentData())
            return
        cued = self._session.config.stream.cue is not None
        frame: Frame = "base" if cued else self.frame.currentData()
        command = chosen.command(self.receiving.ring, frame, {} if form is None else form.values())
        self._session.send(mark("follow"), command, done=self._begun if chosen.key == STREAM else None)

    def _begun(self, refusal: Finding | None) -> None:
        if refusal is None:
            self.receiving.note_beginning()

    def _note(self, entry: LogEntry) -> None:
        """Show a finding on what is followed, with what to do."""
        found = entry.finding
        if found is not None and concerns_following(found.code):
            to_do = advice(found.code)
            self.findings.appendPlainText(f"{sentence(entry.text).rstrip('.')}. {to_do}".rstrip())

    def close_receiver(self) -> None:
        """End the receiver, the FMU, and their threads."""
        self.receiving.close()
        self.unit.close()
