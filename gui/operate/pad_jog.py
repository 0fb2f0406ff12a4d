"""Hold-to-run by gamepad: its sticks hold the buttons of the page, and one of its buttons is STOP."""

from collections.abc import Mapping

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.operate.hold_button import HoldButton
from gui.operate.jog_steps import NAMES
from gui.session import Mover, RigSession
from gui.texts import tr
from gui.widgets import GuardedCheckBox
from rig.client import GamePad, GamepadMapping, JogRequest, PadReading
from rig.errors import RigError

_POLL_INTERVAL = 20  # ms
_MAP = (
    (tr("LB, left shoulder"), tr("dead-man's button: the platform moves only while it is down")),
    (tr("Left stick"), tr("along x and y")),
    (tr("Right stick, up and down"), tr("along z")),
    (tr("RB, right shoulder"), tr("while it is down the sticks rotate about x, y, z")),
    (tr("B, right one of the four"), tr("STOP, on every page")),
)
"""Buttons and sticks, and their functions."""


class PadJog(QtWidgets.QWidget):
    """Gamepad control: its switch, state and key map. Off at the start of every session.

    A jog request presses the button of its direction, like the mouse, and releases it when the request changes. A
    motion keeps its initial speed, so another speed step, like another axis, first stops the platform. Anything else
    that ends a hold, such as a stop or another window, suspends the pad until its sticks are centred.

    Args:
        session: the rig.
        mover: moves while a button is held.
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
        self._request: JogRequest | None = None  # request whose button is pressed
        self._changing = False  # the platform is stopping for another request
        self._spent = ""  # why the request does not move the platform, until the sticks are centred
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
        self._timer.setInterval(_POLL_INTERVAL)
        self._timer.timeout.connect(self._poll)
        self.switch.toggled.connect(self._switch)
        self._show_state()

    @property
    def share(self) -> float:
        """Fraction of the hold speed, by stick deflection; 1 if no pad holds."""
        return 1.0 if self._request is None else self._request.share

    def close_pad(self) -> None:
        """Release everything and close the pad. May be called again."""
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
            self._release_input()
            self._pad.close()
            self._pad, self._there = None, PadReading()
        self.map.setVisible(on)
        lines = 2 * self.words.fontMetrics().lineSpacing()  # constant height
        self.words.setMinimumHeight(lines if on else 0)
        self._show_state()

    def _poll(self) -> None:
        """Poll the pad: stop, press or release."""
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
        self._show_state()

    def _follow(self, request: JogRequest | None) -> None:
        if self._request is not None and not self._buttons[self._request.way].is_held:
            self._release_input()
            self._spent = tr("it has ended")
        elif self._request is not None and request != self._request:
            self._release_input()
            self._changing = True
        if request is None:
            self._spent, self._changing = "", False
        elif self._request is None and not self._spent:
            button = self._buttons[request.way]
            if button.press_input():
                self._request, self._changing = request, False
            elif not (self._changing and self._mover.active):
                self._spent = button.obstacle or tr("its button cannot be held down now")

    def _release_input(self) -> None:
        if self._request is not None:
            self._buttons[self._request.way].release_input()
        self._request = None

    def _show_state(self) -> None:
        text = self._text()
        if text != self.words.text():
            self.words.setText(text)

    def _text(self) -> str:
        if self._pad is None:
            return tr("Off: no game pad is read.")
        there, request = self._there, self._request
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
        elif request is not None:
            way = request.way[0].replace("-", "−") + NAMES[request.way[1:]]
            words = tr("{way}, {share:.0f} % of the speed while held").format(way=way, share=100.0 * request.share)
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
