"""Hold-to-run by a game pad: what its sticks ask for holds the buttons of the page, and one button of it is STOP."""

from collections.abc import Mapping

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.operate.hold_button import HoldButton
from gui.operate.jog_steps import NAMES
from gui.session import Mover, RigSession
from gui.texts import tr
from gui.widgets import GuardedCheckBox
from rig.client import GamePad, GamepadMapping, JogRequest, PadReading
from rig.errors import RigError

_LOOK = 20  # ms
_MAP = (
    (tr("LB, left shoulder"), tr("dead-man's button: the platform moves only while it is down")),
    (tr("Left stick"), tr("along x and y")),
    (tr("Right stick, up and down"), tr("along z")),
    (tr("RB, right shoulder"), tr("while it is down the sticks rotate about x, y, z")),
    (tr("B, right one of the four"), tr("STOP, on every page")),
)
"""Buttons and sticks, and what each does."""


class PadJog(QtWidgets.QWidget):
    """The switch, which pad is there, and what its buttons do. Off until somebody turns it on, in every session.

    A wish holds the button of its way down, like the mouse, and lets it up once it is another: a motion keeps the speed
    that it began with, so a stick that goes on into the next step of speed has the platform come to a stand first, as
    one does that goes over to another axis. What else ends a hold, a stop or another window, makes the pad wait until
    nothing is asked for by it.

    Args:
        session: the rig.
        mover: which moves while a button is held.
        buttons: by direction, such as "+x" and "-rz".
    """

    def __init__(
        self,
        session: RigSession,
        mover: Mover,
        buttons: Mapping[str, HoldButton],
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._mover = mover
        self._buttons = buttons
        self._pad: GamePad | None = None
        self._wishes = GamepadMapping()
        self._there = PadReading()
        self._wish: JogRequest | None = None  # whose button is down
        self._changing = False  # the platform comes to a stand for another wish
        self._spent = ""  # why what is asked for does not move the platform, until nothing is asked for
        self.switch = GuardedCheckBox(tr("Use a game pad"))
        self.switch.setToolTip(tr("Read a game pad: its sticks hold down the buttons of Step in pose"))
        self.words = QtWidgets.QLabel()
        self.words.setObjectName("muted")
        self.words.setWordWrap(True)
        self.words.setAccessibleName(tr("Game pad"))
        self.map = _map()
        self.map.hide()
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(4, 2, 4, 4)
        column.setSpacing(4)
        for widget in (self.switch, self.words, self.map):
            column.addWidget(widget)
        self._timer = QtCore.QTimer(self)
        self._timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_LOOK)
        self._timer.timeout.connect(self._take)
        self.switch.toggled.connect(self._switch)
        self._say()

    @property
    def share(self) -> float:
        """Of the speed of what is held, as far as a stick is out; 1 where no pad holds it."""
        return 1.0 if self._wish is None else self._wish.share

    def close_pad(self) -> None:
        """Let go of everything, and give the pad back. May be called again."""
        self.switch.setChecked(False)

    def _switch(self, on: bool) -> None:
        if on:
            try:
                self._pad = GamePad()
            except RigError as error:
                self.switch.setChecked(False)
                self.words.setText(str(error))
                return
            self._wishes = GamepadMapping()
            self._timer.start()
        elif self._pad is not None:
            self._timer.stop()
            self._let_up()
            self._pad.close()
            self._pad, self._there = None, PadReading()
        self.map.setVisible(on)
        lines = 2 * self.words.fontMetrics().lineSpacing()  # whatever it says, what is below stays there
        self.words.setMinimumHeight(lines if on else 0)
        self._say()

    def _take(self) -> None:
        """Look at the pad: stop, or hold and let go of what it asks for."""
        assert self._pad is not None
        reading = self._pad.read()
        if reading.stop:
            self._session.stop(1, "game pad")
        if self._there.pad is not None and reading.pad != self._there.pad:
            self._session.log(
                "warning", "app", tr("the game pad {name!r} was disconnected").format(name=self._there.name)
            )
        self._there = reading
        self._follow(self._wishes.take(reading))
        self._say()

    def _follow(self, wish: JogRequest | None) -> None:
        if self._wish is not None and not self._buttons[self._wish.way].in_hand:
            self._let_up()
            self._spent = tr("it has ended")
        elif self._wish is not None and wish != self._wish:
            self._let_up()
            self._changing = True
        if wish is None:
            self._spent, self._changing = "", False
        elif self._wish is None and not self._spent:
            button = self._buttons[wish.way]
            if button.hold_down():
                self._wish, self._changing = wish, False
            elif not (self._changing and self._mover.active):
                self._spent = button.obstacle or tr("its button cannot be held down now")

    def _let_up(self) -> None:
        if self._wish is not None:
            self._buttons[self._wish.way].let_up()
        self._wish = None

    def _say(self) -> None:
        text = self._text()
        if text != self.words.text():
            self.words.setText(text)

    def _text(self) -> str:
        if self._pad is None:
            return tr("Off: no game pad is read.")
        there, wish = self._there, self._wish
        if there.pad is None:
            return (
                tr("{name}: SDL has no mapping for its buttons.").format(name=there.name)
                if there.name
                else tr("No game pad is there.")
            )
        if not self._wishes.ready:
            words = tr("release the dead-man's button first")
        elif self._spent:
            words = tr("{reason}; bring the stick back to its middle first").format(reason=self._spent)
        elif wish is not None:
            way = wish.way[0].replace("-", "−") + NAMES[wish.way[1:]]
            words = tr("{way}, {share:.0f} % of the speed while held").format(way=way, share=100.0 * wish.share)
        elif self._changing:
            words = tr("stops first, then continues with the stick")
        elif there.dead_man:
            words = tr("the dead-man's button is down: a stick moves the platform")
        else:
            words = tr("hold the dead-man's button and move a stick")
        return f"{there.name}: {words}."


def _map() -> QtWidgets.QWidget:
    shown = QtWidgets.QWidget()
    grid = QtWidgets.QGridLayout(shown)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(2)
    for row, (button, meaning) in enumerate(_MAP):
        does = QtWidgets.QLabel(meaning)
        does.setWordWrap(True)
        does.setAccessibleName(tr("Game pad, {button}").format(button=button))
        grid.addWidget(QtWidgets.QLabel(button), row, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        grid.addWidget(does, row, 1)
    grid.setColumnStretch(1, 1)
    return shown
