"""The dialog that makes a film of a recording: which part, how fast, how large, as what; progress, and cancel."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.film import AnimatedGif, Cut, FilmMaker, FrameFolder
from gui.live.platform_view import PlatformView
from gui.live.replay import Replay
from gui.session import Timeline, state_word
from gui.texts import tr
from gui.widgets import Choice, GuardedButton, QuantityBox, ask_save, field_refusal

_SIZES = ((640, 480), (960, 720), (1280, 720), (1920, 1080))
_RATES = (10, 20, 25, 50)
"""frames a second that a GIF can keep to, which counts hundredths of a second"""
_SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_LETTERS = 700.0
"""px of a picture's shorter side at which its letters are as large as on the screen"""
_EDGE = 14.0  # px, of the line about the time


class FilmDialog(QtWidgets.QDialog):
    """Makes films of a replay as a view shows it; signal `said` with what became of one.

    Args:
        view: how it is shown, and from where.
        replay: the recording.
        until: s, rig time at which it is proposed to end.
        name: of the file that is suggested.
        obstacle: why what keeps the processor busy cannot be done now, empty when it can.
        parent: owner.
    """

    said = QtCore.Signal(str)

    def __init__(
        self,
        view: PlatformView,
        replay: Replay,
        until: float,
        name: str,
        obstacle: Callable[[], str],
        parent: QtWidgets.QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Film of the recording"))
        self._view, self._replay, self._name, self._obstacle = view, replay, name, obstacle
        self.maker: FilmMaker | None = None
        self._path = Path()
        begin, end = replay.begin, replay.end
        self.begin = QuantityBox(tr("First moment of the film, rig time"), "s", max(begin, replay.position), begin, end)
        self.end = QuantityBox(tr("Last moment of the film, rig time"), "s", until, begin, end)
        self.speed = Choice(tr("Speed, times real time"), [(f"{speed:g} ×", speed) for speed in _SPEEDS])
        self.speed.setCurrentIndex(_SPEEDS.index(1.0))
        self.rate = Choice(tr("Frames a second"), [(tr("{rate} a second").format(rate=rate), rate) for rate in _RATES])
        self.rate.setCurrentIndex(_RATES.index(20))
        self.size_ = Choice(tr("Size of the picture"), [(f"{w} × {h} px", (w, h)) for w, h in _SIZES])
        self.size_.setCurrentIndex(1)
        self.kind = Choice(
            tr("What is made"), [(tr("Animated picture (GIF)"), "gif"), (tr("Folder of frames (PNG)"), "frames")]
        )
        form = QtWidgets.QFormLayout()
        for text, field in (
            (tr("From"), self.begin),
            (tr("To"), self.end),
            (tr("Speed"), self.speed),
            (tr("Frames"), self.rate),
            (tr("Size"), self.size_),
            (tr("As"), self.kind),
        ):
            form.addRow(text, field)
        self.progress = QtWidgets.QProgressBar()
        self.progress.setAccessibleName(tr("Part of the film that is made"))
        self.message = QtWidgets.QLabel()
        self.message.setWordWrap(True)
        self.message.setAccessibleName(tr("What the film will be, or why it cannot be made"))
        self.make = GuardedButton(tr("Make …"), tr("Choose the file, then make the film"))
        self.cancel = GuardedButton(tr("Cancel"), tr("Leave nothing of the film behind"))
        self.cancel.set_obstacle(tr("no film is being made"))
        row = QtWidgets.QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.make)
        row.addWidget(self.cancel)
        layout = QtWidgets.QVBoxLayout(self)
        layout.addLayout(form)
        layout.addWidget(self.message)
        layout.addWidget(self.progress)
        layout.addLayout(row)
        for box in (self.begin, self.end):
            box.changed.connect(self.refresh)
        for choice in (self.speed, self.rate, self.size_, self.kind):
            choice.currentIndexChanged.connect(lambda _index: self.refresh())
        self.make.clicked.connect(self._ask)
        self.cancel.clicked.connect(self.stop)
        self.refresh()

    @property
    def cut(self) -> Cut:
        """What is chosen."""
        size = self.size_.currentData()
        return Cut(self.begin.si(), self.end.si(), self.speed.currentData(), self.rate.currentData(), tuple(size))

    def refresh(self) -> None:
        """Say what the film will be, or why there can be none."""
        busy = self.maker is not None and not self.maker.ended
        if wrong := field_refusal(self.begin, self.end):
            self.make.set_obstacle(wrong)
            return
        cut = self.cut
        fault = cut.fault(bounded=self.kind.currentData() == "gif")
        self.make.set_obstacle(tr("a film is being made") if busy else fault or self._obstacle())
        self.cancel.set_obstacle("" if busy else tr("no film is being made"))
        if not busy:
            self.message.setText(
                fault
                or tr("{count} frames, {duration:.1f} s").format(
                    count=len(cut.times), duration=len(cut.times) / cut.rate
                )
            )

    def start(self, path: Path) -> None:
        """Make the film that is chosen."""
        rate, gif = self.cut.rate, self.kind.currentData() == "gif"
        self._path = path
        self.maker = FilmMaker(
            self._replay.excerpt,
            self.cut,
            self._draw,
            lambda: AnimatedGif(path, rate) if gif else FrameFolder(path),
            self,
        )
        self.maker.progressed.connect(lambda part: self.progress.setValue(round(100 * part)))
        self.maker.finished.connect(self._finished)
        self.message.setText(tr("Making {name} …").format(name=path.name))
        self.progress.setValue(0)
        self.refresh()

    def stop(self) -> None:
        """Cancel what is being made. May be called again."""
        if self.maker is not None:
            self.maker.cancel()

    def done(self, result: int) -> None:
        """Close; what is being made is cancelled."""
        self.stop()
        super().done(result)

    def _ask(self) -> None:
        gif = self.kind.currentData() == "gif"
        kind, suffix = (tr("Animated pictures (*.gif)"), ".gif") if gif else (tr("Folders (*)"), "")
        path = ask_save(self, tr("Make the film"), f"{self._name}{suffix}", kind, suffix)
        if path is not None:
            self.start(path)

    def _finished(self, reason: str) -> None:
        self.refresh()
        text = (
            tr("{name} was not made: {reason}").format(name=self._path.name, reason=reason)
            if reason
            else tr("Saved {name}").format(name=self._path.name)
        )
        self.message.setText(text)
        self.said.emit(text)

    def _draw(self, timeline: Timeline, stop: int, size: tuple[int, int]) -> QtGui.QImage:
        rows = timeline.rows[:stop]
        letters = min(size) / _LETTERS
        image = self._view.picture_of(rows[-1], rows, size, letters)
        painter = QtGui.QPainter(image)
        font = QtGui.QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * letters)
        painter.setFont(font)
        painter.setPen(self.palette().color(QtGui.QPalette.ColorRole.WindowText))
        text = f"{float(rows[-1]['t']):.2f} s   {state_word(rows[-1]['state'])}"
        painter.drawText(QtCore.QPointF(_EDGE * letters, size[1] - _EDGE * letters), text)
        painter.end()
        return image
