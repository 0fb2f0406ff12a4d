"""Always in view: the state with its first cause, timing, recording, what was refused last, and STOP."""

from collections.abc import Mapping, Sequence

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import (
    FIGURES,
    MEND_TEXTS,
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
from gui.widgets import ElidedLabel, GuardedButton, IconLabel, TextRoom, fit_text, give, room_for
from rig.engine import Compiling
from rig.findings import Finding

_ICON = 36  # px


class Figures(QtWidgets.QWidget):
    """Six numbers with their captions; a dash for what is not known."""

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
        """Show some of them by their names; `whole`: what is said of the disk in full."""
        for name, text in figures.items():
            self._labels[name].setText(text)
            if name in ("Overruns", "Size, left"):
                self._labels[name].setToolTip(f"{whole or text}: {FIGURES[name]}")

    def text(self, name: str) -> str:
        """The text of one figure by its caption."""
        return str(self._labels[name].text())


def _figure(name: str) -> ElidedLabel:
    """Of one width, whatever it says: nothing beside the figures moves. What is longer is whole in its hint."""
    label = ElidedLabel()
    label.setText("–")
    label.setAccessibleName(tr(name))
    label.setToolTip(FIGURES[name])
    longest = "± 999 µs" if name in ("Rate", "Overruns", "Jitter") else rows_text(99999)
    label.setFixedWidth(label.fontMetrics().horizontalAdvance(longest))
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Preferred)
    return label


class Notice(QtWidgets.QWidget):
    """A message in the banner, in what height that has: stays until it is taken back or dismissed.

    A long one scrolls; its buttons are always in the same places.

    Where an operator can do something about a refusal, it has a button for that: `repair_asked(repair)`.
    `saying(whether)`: there is something to be said, or nothing any more.
    """

    repair_asked = QtCore.Signal(object)
    saying = QtCore.Signal(bool)

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Ignored)
        self._label = QtWidgets.QLabel()
        self._label.setAccessibleName(tr("Last refusal and its reason"))
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._room = TextRoom(self._label, 1)
        self._room.setSizePolicy(self.sizePolicy())
        self.mend = GuardedButton("")
        self.mend.setAccessibleName(tr("Step that the refusal asks for"))
        self.message = Message()
        self.mend.clicked.connect(lambda: self.repair_asked.emit(self.message.repair))
        self.dismiss = QtWidgets.QToolButton()
        give(self.dismiss, "close")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName(tr("Dismiss the message"))
        self.dismiss.setToolTip(tr("Dismiss the message"))
        self.dismiss.clicked.connect(self.clear)
        said = QtWidgets.QVBoxLayout()
        said.setSpacing(2)
        said.addWidget(self._room, 1)
        said.addWidget(self.mend)
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(said, 1)
        row.addWidget(self.dismiss, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        self.clear()

    def refuse(self, what: str, reason: Finding | str) -> None:
        """Say that `what` was refused, and why, whole; of a finding with what can be done about it."""
        self.message.refuse(what, reason)
        self._show()

    def remark(self, text: str) -> None:
        """Say what is no refusal."""
        self.message.remark(text)
        self._show()

    def clear(self) -> None:
        """Say nothing."""
        self.message.clear()
        self._label.clear()
        self.saying.emit(False)

    def follow(self, now: Situation) -> None:
        """Enable the button while what it does can be done; a refusal whose step was taken meanwhile is gone."""
        if self.message.follow(now):
            self.clear()
        elif self.message.repair is not None:
            self.mend.set_obstacle(self.message.obstacle)

    def text(self) -> str:
        """What is said."""
        return str(self._label.text())

    def _show(self) -> None:
        repair = self.message.repair
        if repair is not None:
            self.mend.setText(repair.text)
            self.mend.setAccessibleName(repair.text)
            self.mend.set_obstacle(self.message.obstacle)
        self._room.show_text(self.message.text)
        self._label.setObjectName(self.message.role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)
        self.mend.setVisible(repair is not None)
        self._label.setToolTip(self.message.text)
        self.saying.emit(True)
        self._fit()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Write as large as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.layout().activate()
        fit_text(self._label, self.font(), self._room.viewport().height())


class Banner(QtWidgets.QFrame):
    """The strip on top of the window.

    Signals: `mend_asked(action)`: the button was pressed that leads out of a trouble.

    Args:
        stop: the red button.
        virtual: whether the rig is a virtual one.
        off: checks that the configuration switches off, by name.
    """

    mend_asked = QtCore.Signal(object)

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
        self._text.setMinimumWidth(max(widths))  # in no state does the window become wider
        self._detail = QtWidgets.QLabel()
        self._detail.setWordWrap(True)
        # a long word, such as a motion's name, must not push STOP out of the window
        self._detail.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        self._detail.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._detail.setAccessibleName(tr("Cause, or next step"))
        self.mend = GuardedButton(MEND_TEXTS[-1])
        self.mend.setObjectName("mend")
        give(self.mend, "reset", colour="#10151a")
        self.mend.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)  # it comes and goes; the steps have the keyboard
        self.mend.clicked.connect(lambda: self.mend_asked.emit(self._mends))
        policy = self.mend.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # its room is there before it is
        self.mend.setSizePolicy(policy)
        self.mend.hide()
        self._mends: Action | None = None
        self.waiting = QtWidgets.QProgressBar()
        self.waiting.setObjectName("thin")
        self.waiting.setRange(0, 0)
        self.waiting.setTextVisible(False)
        self.waiting.setAccessibleName(tr("The engine is starting"))
        self.waiting.hide()
        self._seconds = 0
        """that the engine has been starting"""
        self._second = QtCore.QTimer(self, interval=1000)
        self._second.timeout.connect(self._count)
        state = QtWidgets.QGridLayout(self._state)
        state.setContentsMargins(8, 4, 8, 4)
        state.setVerticalSpacing(0)
        state.addWidget(self._icon, 0, 0, 2, 1)
        state.addWidget(self._text, 0, 1)
        state.addWidget(self.mend, 0, 2)
        state.addWidget(self._detail, 1, 1, 1, 2)
        state.addWidget(self.waiting, 2, 0, 1, 3)
        state.setColumnStretch(1, 1)
        self._figures = Figures()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(4, 6, 4, 6)
        layout.setSpacing(5)  # with its longest button it has room in 1024 px
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
        """what was refused last, in the place of the figures while there is something"""
        aside = QtWidgets.QStackedWidget()
        for widget in (self._figures, self.notice):
            aside.addWidget(widget)
        # as wide as the longest figures: the buttons beside them stay where they are
        aside.setFixedWidth(self._figures.minimumSizeHint().width())
        self.notice.saying.connect(lambda saying: aside.setCurrentIndex(int(saying)))
        layout.addWidget(aside)
        layout.addWidget(stop)
        self.setFixedHeight(92)
        self._shown: tuple[str, str] = ("", "")
        self.show_situation(Situation())

    def show_situation(self, now: Situation) -> None:
        """Show state and cause."""
        look, detail = state_style(now), detail_of(now)
        self._figures.show(status_figures(now.status, silent=now.silent))
        self._show_mend(now)
        self._show_waiting(now.phase is Phase.STARTING, now.compiling)
        if self._shown == (look.text, detail):
            return
        renamed = look.text != self._shown[0]
        self._shown = (look.text, detail)
        self._detail.setText(detail)
        self._detail.setToolTip(detail)
        if renamed:
            self._icon.show_icon(look.icon, look.foreground)
            self._text.setText(look.text)
            sheet = f"QFrame#state {{ background: {look.background}; border-radius: 6px; }}"
            self._state.setStyleSheet(f"{sheet} QLabel {{ color: {look.foreground}; background: transparent; }}")
            self.setAccessibleName(tr("State of the rig: {state}").format(state=look.text))  # Qt tells a screen reader
        self.setAccessibleDescription(detail)
        self._fit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Give the button its room, once it has its look: it is as wide as its longest text."""
        super().showEvent(event)
        self.mend.ensurePolished()
        self.mend.setFixedWidth(room_for(self.mend, MEND_TEXTS))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Write as large as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make the cause smaller where it would be cut; all of it is in its tooltip as well."""
        self._state.layout().activate()
        fit_text(self._detail, self.font(), self._detail.height())

    def _show_mend(self, now: Situation) -> None:
        found = remedy_of(now)
        self.mend.setVisible(found is not None)
        if found is not None:
            self._mends, text = found
            self.mend.setText(text)
            self.mend.setAccessibleName(text)
            self.mend.set_obstacle(obstacle(self._mends, now))

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
        """Show what the cycle achieves, how large the recording is, and for how long there is room for it."""
        self._figures.show(*cycle_figures(now, figures))

    def figure(self, name: str) -> str:
        """The text of one figure by its caption."""
        return self._figures.text(name)

    @property
    def state_text(self) -> str:
        """The state as it is shown."""
        return str(self._text.text())

    @property
    def detail(self) -> str:
        """The cause or next step as it is shown."""
        return str(self._detail.text())
