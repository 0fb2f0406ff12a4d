"""A moving picture of a recording: frames drawn one after the other, written in a thread as they come."""

import io
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui

from gui.session import Timeline, Worker
from gui.texts import tr

if TYPE_CHECKING:
    from PIL import Image

_AHEAD = 4
"""frames drawn that are not written yet: more would only fill the memory"""
_PATIENCE = 5.0  # s for a frame that is being written
MOST_PIXELS = 400_000_000
"""of all frames of an animated picture together, which is put together in memory; a folder of frames has no bound"""


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a recording is shown: from `begin` to `end`, s, `speed` times as fast, with `rate` frames a second."""

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
        """Why it cannot be made, in words; empty when it can. bounded: it is put together in memory."""
        if not self.end > self.begin:
            return tr("it ends at {end:.3f} s, must end after its beginning at {begin:.3f} s").format(
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
            return tr("{size} are {most}: fewer frames, a smaller picture, or a folder of frames").format(
                size=size, most=most
            )
        return ""


class Sink(Protocol):
    """Where frames go; called in the thread that writes."""

    def add(self, png: bytes) -> None:
        """Take the next frame. Raises OSError where it cannot be written."""

    def finish(self) -> None:
        """Give the whole its name. Raises OSError where that cannot be done."""

    def drop(self) -> None:
        """Leave nothing behind."""


class FrameFolder:
    """A folder of PNG files, numbered; it has its name once it is whole. Raises OSError where that is taken."""

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
    """A GIF that goes on for ever, `rate` frames a second, all in the colours of the first frame."""

    def __init__(self, path: Path, rate: int) -> None:
        self._path = path
        self._duration = 1000 // rate  # ms
        self._frames: list[Image.Image] = []
        self._colours: Image.Image | None = None

    def add(self, png: bytes) -> None:
        """See `Sink`."""
        from PIL import Image  # takes long to import, for which no window waits

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
    """An image with a palette of 256 colours: half for what there is much of, half for what stands out."""
    from PIL import Image

    palette: list[int] = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE):
        half = picture.quantize(128, method).getpalette() or []
        palette += half[:384]
    colours = Image.new("P", (1, 1))
    colours.putpalette(palette)
    return colours


class FilmMaker(QtCore.QObject):
    """Makes one film: draws a frame whenever the window has nothing else to do, and writes it in a thread.

    Signals: `progressed` with the part that is done; `finished` with why it did not work, empty when it did.

    Args:
        timeline: what is shown.
        cut: which times of it, and how.
        draw: picture of a size, px, of the rows up to an index, exclusive.
        open_sink: opens where the frames go, in the thread that writes.
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
        self._next = QtCore.QTimer(self)  # the window comes first
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._draw_next)
        self._writer = Worker("film", self)

        def open_it() -> None:
            self._sink = open_sink()

        self._writer.submit(open_it, self._go_on)

    def cancel(self) -> None:
        """End it and leave nothing behind, unless it is whole already. May be called again."""
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
        self._go_on(None, failure)

    def _go_on(self, _none: None, failure: Exception | None) -> None:
        if self.ended:
            return
        if failure is not None:
            self._end(str(getattr(failure, "strerror", None) or failure))
        elif self._drawn < len(self._times) or self._written == self._drawn:
            self._next.start(0)

    def _whole(self, _none: None, failure: Exception | None) -> None:
        if failure is not None:
            self._go_on(None, failure)
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

    # -- in the thread that writes -----------------------------------------------------------------------------------

    def _add(self, png: bytes) -> None:
        assert self._sink is not None
        self._sink.add(png)

    def _finish(self) -> None:
        assert self._sink is not None
        self._sink.finish()

    def _drop(self) -> None:
        if self._sink is not None:
            self._sink.drop()
