"""The banner, always visible: state with first cause, timing, recording, last refusal, and STOP."""

from collections.abc import Mapping, Sequence

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import (
    FIGURES,
    REMEDY_TEXTS,
    STATE_TEXTS,
    Action,
    CycleFigures,
    Message,
    Phase,
    Situation,
    cycle_figures,
    detail_of,
    obstacle,
    remedy_of,
    rows_text,
    state_style,
    status_figures,
)
from gui.session import StopButton
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, IconLabel, TextRoom, fit_text, room_for, set_icon
from rig.engine import Compiling
from rig.findings import Finding

_ICON = 36  # px


class Figures(QtWidgets.QWidget):
    """Six numbers with captions; a dash if unknown."""

    def __init__(self) -> None:
        super().__init__()
        self._labels = {name: _figure(name) for name in FIGURES}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(2)
        for place, (name, label) in enumerate(self._labels.items()):
            caption = QtWidgets.QLabel(tr(name))
            caption.setObjectName("muted")
            grid.addWidget(caption, place % 3, 2 * (place // 3))
            grid.addWidget(label, place % 3, 2 * (place // 3) + 1)

    def show(self, figures: Mapping[str, str], whole: str = "") -> None:
        """Set figures by name; `whole`: the full text about the disk."""
        for name, text in figures.items():
            self._labels[name].setText(text)
            if name in ("Overruns", "Size, left"):
                self._labels[name].setToolTip(f"{whole or text}: {FIGURES[name]}")

    def text(self, name: str) -> str:
        """Return the text of a figure by its caption."""
        return str(self._labels[name].text())


def _figure(name: str) -> ElidedLabel:
    """Return a label of constant width, so that nothing moves; its tooltip has the full text."""
    label = ElidedLabel()
    label.setText("–")
    label.setAccessibleName(tr(name))
    label.setToolTip(FIGURES[name])
    longest = "± 999 µs" if name in ("Rate", "Overruns", "Jitter") else rows_text(99999)
    label.setFixedWidth(label.fontMetrics().horizontalAdvance(longest))
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Preferred)
    return label


class Notice(QtWidgets.QWidget):
    """A message in the banner, of fixed height: stays until it is cleared or dismissed.

    Long ones scroll; the buttons have fixed places.

    Signals: `repair_requested(repair)`: the refusal's repair button was pressed; `message_changed(shown)`.
    """

    repair_requested = QtCore.Signal(object)
    message_changed = QtCore.Signal(bool)

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Ignored)
        self._label = QtWidgets.QLabel()
        self._label.setAccessibleName(tr("Last refusal and its reason"))
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._room = TextRoom(self._label, 1)
        self._room.setSizePolicy(self.sizePolicy())
        self.remedy_button = GuardedButton("")
        self.remedy_button.setAccessibleName(tr("Step that the refusal asks for"))
        self.message = Message()
        self.remedy_button.clicked.connect(lambda: self.repair_requested.emit(self.message.repair))
        self.dismiss = QtWidgets.QToolButton()
        set_icon(self.dismiss, "close")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName(tr("Dismiss the message"))
        self.dismiss.setToolTip(tr("Dismiss the message"))
        self.dismiss.clicked.connect(self.clear)
        column = QtWidgets.QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(self._room, 1)
        column.addWidget(self.remedy_button)
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(column, 1)
        row.addWidget(self.dismiss, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        self.clear()

    def refuse(self, what: str, reason: Finding | str) -> None:
        """Show that `what` was refused, with the full reason; a finding with its remedy."""
        self.message.refuse(what, reason)
        self._show()

    def remark(self, text: str) -> None:
        """Show a remark."""
        self.message.remark(text)
        self._show()

    def clear(self) -> None:
        """Clear the message."""
        self.message.clear()
        self._label.clear()
        self.message_changed.emit(False)

    def follow(self, now: Situation) -> None:
        """Enable the repair button while possible; clear a refusal whose repair was done meanwhile."""
        if self.message.follow(now):
            self.clear()
        elif self.message.repair is not None:
            self.remedy_button.set_obstacle(self.message.obstacle)

    def text(self) -> str:
        """The displayed text."""
        return str(self._label.text())

    def _show(self) -> None:
        repair = self.message.repair
        if repair is not None:
            self.remedy_button.setText(repair.text)
            self.remedy_button.setAccessibleName(repair.text)
            self.remedy_button.set_obstacle(self.message.obstacle)
        self._room.show_text(self.message.text)
        self._label.setObjectName(self.message.role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)
        self.remedy_button.setVisible(repair is not None)
        self._label.setToolTip(self.message.text)
        self.message_changed.emit(True)
        self._fit()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Adapt the font size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.layout().activate()
        fit_text(self._label, self.font(), self._room.viewport().height())


class Banner(QtWidgets.QFrame):
    """The strip at the top of the window.

    Signals: `remedy_requested(action)`: the remedy button was pressed.

    Args:
        stop: the red button.
        virtual: whether the rig is a virtual one.
        off: checks that the configuration switches off, by name.
    """

    remedy_requested = QtCore.Signal(object)

    def __init__(
        self, stop: StopButton, virtual: bool, off: Sequence[str] = (), parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("State of the rig"))
        self._state = QtWidgets.QFrame()
        self._state.setObjectName("state")
        self._icon = IconLabel(_ICON)
        self._text = QtWidgets.QLabel()
        self._text.setStyleSheet("font-size: 20px; font-weight: bold;")
        self._text.ensurePolished()
        widths = (self._text.fontMetrics().horizontalAdvance(text) for text in STATE_TEXTS)
        self._text.setMinimumWidth(max(widths))  # constant minimum width in all states
        self._detail = QtWidgets.QLabel()
        self._detail.setWordWrap(True)
        # a long word, such as a motion's name, must not push STOP out of the window
        self._detail.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        self._detail.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._detail.setAccessibleName(tr("Cause, or next step"))
        self.remedy_button = GuardedButton(REMEDY_TEXTS[-1])
        self.remedy_button.setObjectName("remedy")
        self.remedy_button.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)  # it comes and goes; the steps keep the focus
        self.remedy_button.clicked.connect(lambda: self.remedy_requested.emit(self._remedy))
        policy = self.remedy_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # reserves its space
        self.remedy_button.setSizePolicy(policy)
        self.remedy_button.hide()
        self._remedy: Action | None = None
        self.waiting = QtWidgets.QProgressBar()
        self.waiting.setObjectName("thin")
        self.waiting.setRange(0, 0)
        self.waiting.setTextVisible(False)
        self.waiting.setAccessibleName(tr("The engine is starting"))
        self.waiting.hide()
        self._seconds = 0
        """s since the engine's start began"""
        self._second = QtCore.QTimer(self, interval=1000)
        self._second.timeout.connect(self._count)
        state = QtWidgets.QGridLayout(self._state)
        state.setContentsMargins(8, 4, 8, 4)
        state.setVerticalSpacing(0)
        state.addWidget(self._icon, 0, 0, 2, 1)
        state.addWidget(self._text, 0, 1)
        state.addWidget(self.remedy_button, 0, 2)
        state.addWidget(self._detail, 1, 1, 1, 2)
        state.addWidget(self.waiting, 2, 0, 1, 3)
        state.setColumnStretch(1, 1)
        self._figures = Figures()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(4, 6, 4, 6)
        layout.setSpacing(5)  # fits 1024 px with its longest button
        layout.addWidget(self._state, 1)
        if virtual:
            badge = QtWidgets.QLabel(tr("VIRTUAL RIG"))
            badge.setObjectName("virtual")
            badge.setToolTip(tr("No hardware moves: drives and plant are simulated in a separate process"))
            layout.addWidget(badge, 0, QtCore.Qt.AlignmentFlag.AlignVCenter)
        if off:
            names = QtWidgets.QLabel(tr("CHECKS OFF") + "\n" + "\n".join(off))
            names.setObjectName("off")
            names.setToolTip(tr("The configuration disables these checks (safety.off)"))
            names.setAccessibleName(tr("Checks switched off: {checks}").format(checks=", ".join(off)))
            layout.addWidget(names, 0, QtCore.Qt.AlignmentFlag.AlignVCenter)
        self.notice = Notice()
        """The last refusal, shown in place of the figures."""
        aside = QtWidgets.QStackedWidget()
        for widget in (self._figures, self.notice):
            aside.addWidget(widget)
        # as wide as the longest figures: the buttons next to them do not move
        aside.setFixedWidth(self._figures.minimumSizeHint().width())
        self.notice.message_changed.connect(lambda shown: aside.setCurrentIndex(int(shown)))
        layout.addWidget(aside)
        layout.addWidget(stop)
        self.setFixedHeight(92)
        self._shown: tuple[str, str] = ("", "")
        self.show_situation(Situation())

    def show_situation(self, now: Situation) -> None:
        """Show state and cause."""
        style, detail = state_style(now), detail_of(now)
        self._figures.show(status_figures(now.status, silent=now.silent))
        self._show_remedy(now)
        self._show_waiting(now.phase is Phase.STARTING, now.compiling)
        if self._shown == (style.text, detail):
            return
        renamed = style.text != self._shown[0]
        self._shown = (style.text, detail)
        self._detail.setText(detail)
        self._detail.setToolTip(detail)
        if renamed:
            self._icon.show_icon(style.icon, style.foreground)
            self._text.setText(style.text)
            sheet = f"QFrame#state {{ background: {style.background}; border-radius: 6px; }}"
            self._state.setStyleSheet(f"{sheet} QLabel {{ color: {style.foreground}; background: transparent; }}")
            self.setAccessibleName(tr("State of the rig: {state}").format(state=style.text))  # announced by Qt
        self.setAccessibleDescription(detail)
        self._fit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Reserve the button's width once it is styled."""
        super().showEvent(event)
        self.remedy_button.ensurePolished()
        self.remedy_button.setFixedWidth(room_for(self.remedy_button, REMEDY_TEXTS))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Adapt the font size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Shrink the cause to fit; the tooltip has the full text."""
        self._state.layout().activate()
        fit_text(self._detail, self.font(), self._detail.height())

    def _show_remedy(self, now: Situation) -> None:
        found = remedy_of(now)
        self.remedy_button.setVisible(found is not None)
        if found is not None:
            self._remedy, text = found
            meaning = "reset" if self._remedy is Action.RESET else "connect"
            if self.remedy_button.property("meaning") != meaning:
                set_icon(self.remedy_button, meaning)
            self.remedy_button.setText(text)
            self.remedy_button.setAccessibleName(text)
            self.remedy_button.set_obstacle(obstacle(self._remedy, now))

    def _show_waiting(self, waiting: bool, compiling: Compiling | None) -> None:
        if compiling is None or compiling.finished:
            self.waiting.setRange(0, 0)
        else:
            self.waiting.setRange(0, compiling.total)
            self.waiting.setValue(compiling.done)
        if waiting != self._second.isActive():
            self._seconds = 0
            self.waiting.setVisible(waiting)
            self._second.start() if waiting else self._second.stop()

    def _count(self) -> None:
        self._seconds += 1
        self._detail.setText(self._shown[1] + " " + tr("{time} s so far.").format(time=self._seconds))
        self._fit()

    def show_cycle(self, now: Situation, figures: CycleFigures | None) -> None:
        """Show the cycle statistics, the size of the recording, and how long the disk will last."""
        self._figures.show(*cycle_figures(now, figures))

    def figure(self, name: str) -> str:
        """Return the text of a figure by its caption."""
        return self._figures.text(name)

    @property
    def state_text(self) -> str:
        """The displayed state."""
        return str(self._text.text())

    @property
    def detail(self) -> str:
        """The displayed cause or next step."""
        return str(self._detail.text())
