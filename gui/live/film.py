"""Videos of a recording: frames drawn in the window's thread and written in another, the dialog and its button."""

import io
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.platform_view import PlatformView
from gui.models import Replay, Timeline, state_word
from gui.session import Worker
from gui.texts import tr
from gui.widgets import Choice, GuardedButton, QuantityBox, ask_save, field_refusal, set_icon
from rig.recording import MotionRecord

if TYPE_CHECKING:
    from PIL import Image


_AHEAD = 4
"""Frames drawn ahead of writing; bounds the memory."""
_PATIENCE = 5.0  # s to finish a frame on close
MOST_PIXELS = 400_000_000
"""Maximum pixels of all frames of an animated picture, which is assembled in memory; frame folders are unlimited."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Part of a recording to show: from `begin` to `end`, s, `speed` times as fast, at `rate` frames per second."""

    begin: float
    end: float
    speed: float
    rate: int
    size: tuple[int, int]

    @property
    def times(self) -> "list[float]":
        """Times of the frames in the recording, s."""
        count = int((self.end - self.begin) / self.speed * self.rate + 1e-6) + 1
        return [self.begin + index * self.speed / self.rate for index in range(count)]

    def fault(self, *, bounded: bool) -> str:
        """Why it cannot be made; empty if it can. bounded: the frames are assembled in memory."""
        if not self.end > self.begin:
            return tr("it ends at {end:.3f} s, must end after its start at {begin:.3f} s").format(
                end=self.end, begin=self.begin
            )
        pixels = len(self.times) * self.size[0] * self.size[1]
        if bounded and pixels > MOST_PIXELS:
            size = tr("{count} frames of {width} × {height} px").format(
                count=len(self.times), width=self.size[0], height=self.size[1]
            )
            most = tr("{pixels:.0f} million px, must be at most {most:.0f}").format(
                pixels=pixels / 1e6, most=MOST_PIXELS / 1e6
            )
            return tr("{size} are {most}: reduce the frames or the picture, or use a folder of frames").format(
                size=size, most=most
            )
        return ""


class Sink(Protocol):
    """Receives frames; called in the writing thread."""

    def add(self, png: bytes) -> None:
        """Write the next frame. Raises OSError on failure."""

    def finish(self) -> None:
        """Move the result to its final name. Raises OSError on failure."""

    def drop(self) -> None:
        """Delete partial output."""


class FrameFolder:
    """A folder of numbered PNG files, renamed when complete. Raises OSError if the name exists."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise FileExistsError(0, tr("{path} exists already").format(path=path))
        self._path = path
        self._made = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        self._count = 0

    def add(self, png: bytes) -> None:
        """See `Sink`."""
        self._count += 1
        (self._made / f"frame-{self._count:05d}.png").write_bytes(png)

    def finish(self) -> None:
        """See `Sink`."""
        self._made.chmod(0o755)
        self._made.rename(self._path)

    def drop(self) -> None:
        """See `Sink`."""
        shutil.rmtree(self._made, ignore_errors=True)


class AnimatedGif:
    """An endless GIF at `rate` frames per second, with the palette of the first frame."""

    def __init__(self, path: Path, rate: int) -> None:
        self._path = path
        self._duration = 1000 // rate  # ms
        self._frames: list[Image.Image] = []
        self._colours: Image.Image | None = None

    def add(self, png: bytes) -> None:
        """See `Sink`."""
        from PIL import Image  # slow import, deferred

        picture = Image.open(io.BytesIO(png)).convert("RGB")
        if self._colours is None:
            self._colours = _colours_of(picture)
        self._frames.append(picture.quantize(palette=self._colours, dither=Image.Dither.NONE))

    def finish(self) -> None:
        """See `Sink`."""
        first, *others = self._frames
        data = io.BytesIO()
        first.save(data, "GIF", save_all=True, append_images=others, duration=self._duration, loop=0)
        partial = self._path.with_name(f".{self._path.name}.part")
        try:
            partial.write_bytes(data.getvalue())
            partial.replace(self._path)
        finally:
            partial.unlink(missing_ok=True)

    def drop(self) -> None:
        """See `Sink`."""
        self._frames.clear()


def _colours_of(picture: "Image.Image") -> "Image.Image":
    """Return an image with a 256-colour palette: half by frequency, half by contrast."""
    from PIL import Image

    palette: list[int] = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE):
        half = picture.quantize(128, method).getpalette() or []
        palette += half[:384]
    colours = Image.new("P", (1, 1))
    colours.putpalette(palette)
    return colours


class FilmMaker(QtCore.QObject):
    """Makes one video: draws a frame whenever the event loop is idle, and writes it in a thread.

    Signals: `progressed(part)`: finished fraction; `finished(reason)`: why it failed, empty on success.

    Args:
        timeline: rows to show.
        cut: times to show, and the rate.
        draw: returns a picture of a size, px, of the rows up to an index, exclusive.
        open_sink: opens the output, in the writing thread.
        parent: owner.
    """

    progressed = QtCore.Signal(float)
    finished = QtCore.Signal(str)

    def __init__(
        self,
        timeline: Timeline,
        cut: Cut,
        draw: Callable[[Timeline, int, tuple[int, int]], QtGui.QImage],
        open_sink: Callable[[], Sink],
        parent: QtCore.QObject,
    ) -> None:
        super().__init__(parent)
        self._timeline, self._cut, self._draw = timeline.whole, cut, draw
        self._times = cut.times
        self._drawn = self._written = 0
        self._sink: Sink | None = None
        self.ended = False
        self._next = QtCore.QTimer(self)  # the event loop comes first
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._draw_next)
        self._writer = Worker("film", self)

        def open_it() -> None:
            self._sink = open_sink()

        self._writer.submit(open_it, self._continue)

    def cancel(self) -> None:
        """Cancel and delete partial output, unless already complete. May be called again."""
        if not self.ended:
            self._end(tr("cancelled"))

    def _draw_next(self) -> None:
        if self._drawn == len(self._times):
            self._writer.submit(self._finish, self._whole)
            return
        stop = int(np.searchsorted(self._timeline.times, self._times[self._drawn], "right"))
        png = QtCore.QBuffer()
        self._draw(self._timeline, max(stop, 1), self._cut.size).save(png, "PNG", 80)
        self._drawn += 1
        self._writer.submit(partial(self._add, bytes(png.data())), self._frame_written)
        if self._drawn - self._written < _AHEAD:
            self._next.start(0)

    def _frame_written(self, _none: None, failure: Exception | None) -> None:
        self._written += 1
        if not self.ended:
            self.progressed.emit(self._written / len(self._times))
        self._continue(None, failure)

    def _continue(self, _none: None, failure: Exception | None) -> None:
        if self.ended:
            return
        if failure is not None:
            self._end(str(getattr(failure, "strerror", None) or failure))
        elif self._drawn < len(self._times) or self._written == self._drawn:
            self._next.start(0)

    def _whole(self, _none: None, failure: Exception | None) -> None:
        if failure is not None:
            self._continue(None, failure)
        elif not self.ended:
            self._end("")

    def _end(self, reason: str) -> None:
        self.ended = True
        self._next.stop()
        if reason:
            self._writer.submit(self._drop, lambda _none, _failure: None)
        self._writer.finish()
        self._writer.join(_PATIENCE)
        self.finished.emit(reason)

    # -- in the writing thread ---------------------------------------------------------------------------------------

    def _add(self, png: bytes) -> None:
        assert self._sink is not None
        self._sink.add(png)

    def _finish(self) -> None:
        assert self._sink is not None
        self._sink.finish()

    def _drop(self) -> None:
        if self._sink is not None:
            self._sink.drop()


_SIZES = ((640, 480), (960, 720), (1280, 720), (1920, 1080))
_RATES = (10, 20, 25, 50)
"""Frame rates, Hz, that a GIF represents exactly in hundredths of a second."""
_SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_LETTERS = 700.0
"""px of a picture's shorter side at which letters have their screen size."""
_EDGE = 14.0  # px, margin of the time text


class FilmDialog(QtWidgets.QDialog):
    """Dialog that makes videos of a replay as a view shows it; signal `reported` with the result as text.

    Args:
        view: draws the frames.
        replay: the recording.
        until: s, suggested end as rig time.
        name: of the suggested file.
        obstacle: why CPU-heavy work is not allowed now, empty if it is.
        parent: owner.
    """

    reported = QtCore.Signal(str)

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
            tr("Output"), [(tr("Animated picture (GIF)"), "gif"), (tr("Folder of frames (PNG)"), "frames")]
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
        self.progress.setAccessibleName(tr("Progress of the film"))
        self.message = QtWidgets.QLabel()
        self.message.setWordWrap(True)
        self.message.setAccessibleName(tr("Properties of the film, or why it cannot be made"))
        self.make = GuardedButton(tr("Make …"), tr("Choose the file, then make the film"))
        self.cancel = GuardedButton(tr("Cancel"), tr("Delete the partial film"))
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
        """The selected cut."""
        size = self.size_.currentData()
        return Cut(self.begin.si(), self.end.si(), self.speed.currentData(), self.rate.currentData(), tuple(size))

    def refresh(self) -> None:
        """Show the properties of the video, or why none can be made."""
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
        """Make the selected video."""
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
        """Cancel the video in progress. May be called again."""
        if self.maker is not None:
            self.maker.cancel()

    def done(self, result: int) -> None:
        """Close; cancels the video in progress."""
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
        self.reported.emit(text)

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


class FilmButton(QtCore.QObject):
    """Adds a button to a picture's controls, enabled while there is a replay.

    Args:
        platform: the filmed picture.
        obstacle: why CPU-heavy work is not allowed now; empty if it is.
        parent: owner.
    """

    reported = QtCore.Signal(str)
    began = QtCore.Signal()
    """Emitted after the replay was paused for the dialog."""

    def __init__(self, platform: PlatformView, obstacle: Callable[[], str], parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._platform, self._obstacle, self._view = platform, obstacle, parent
        self._replay: Replay | None = None
        self._name = ""
        self._motions: Sequence[MotionRecord] = ()
        self.button = GuardedButton(
            tr("Film …"), tr("Make an animated picture or a folder of frames of this recording")
        )
        set_icon(self.button, "film")
        self.button.setAccessibleName(tr("Make a film of the recording"))
        platform.controls.addWidget(self.button)
        self.button.clicked.connect(self.begin)
        self.dialog: FilmDialog | None = None
        self.allow(None, "")

    def allow(self, replay: Replay | None, name: str, motions: Sequence[MotionRecord] = ()) -> None:
        """Set the replay to film, None for none.

        name: default file name; motions: time spans; a video that starts in one ends with it.
        """
        self._replay, self._name, self._motions = replay, name, motions
        missing = "" if replay is not None else tr("open a recording first")
        self.button.set_obstacle(self._platform.menu.problem or missing)

    def begin(self) -> None:
        """Open the dialog."""
        if self._replay is None:
            return
        self._replay.pause()
        self.began.emit()
        t = self._replay.position
        ends = [motion.end for motion in self._motions if motion.start <= t < motion.end]
        until = min([*ends, self._replay.end])
        self.dialog = FilmDialog(self._platform, self._replay, until, self._name, self._obstacle, self._view)
        self.dialog.reported.connect(self.reported)
        self.dialog.finished.connect(self._closed)
        self.dialog.setModal(True)
        self.dialog.show()

    def stop(self) -> None:
        """Cancel a video in progress. May be called again."""
        if self.dialog is not None:
            self.dialog.stop()

    def _closed(self, _result: int) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
