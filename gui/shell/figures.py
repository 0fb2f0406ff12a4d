"""How punctual the engine is, and how much of it is recorded: the figures of the banner."""

from pyqtgraph.Qt import QtWidgets

from gui.session import CycleFigures
from gui.texts import mark, tr, trn
from gui.widgets import ElidedLabel
from rig.engine import Snapshot
from rig.recording import room_text
from rig.runtime import slowdown_text

_NEAR = 6 * 3600.0
"""s of room on the disk, below which that is shown in place of the file's size."""


class Figures(QtWidgets.QWidget):
    """Six numbers with their captions; a dash for what is not known."""

    def __init__(self) -> None:
        super().__init__()
        self._labels = {name: _figure(name) for name in _MEANINGS}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(2)
        for place, (name, label) in enumerate(self._labels.items()):
            caption = QtWidgets.QLabel(tr(name))
            caption.setObjectName("muted")
            grid.addWidget(caption, place % 3, 2 * (place // 3))
            grid.addWidget(label, place % 3, 2 * (place // 3) + 1)

    def show_status(self, status: Snapshot | None, *, silent: bool) -> None:
        """Show what the engine says of itself; `silent`: it does not answer."""
        late = "–" if status is None or silent else _lateness(status)
        self._labels["Overruns"].setText(late)
        self._labels["Overruns"].setToolTip(f"{late}: {_MEANINGS['Overruns']}")
        self._labels["Recorded"].setText("–" if status is None else _rows(status.rows))
        self._labels["Dropped"].setText("–" if status is None else _rows(status.dropped))

    def show_cycle(self, figures: CycleFigures | None, size: int | None, room: float) -> None:
        """Show what the cycle achieves, the recording's size in bytes, and for how long there is room for it, s."""
        self._labels["Rate"].setText("–" if figures is None else f"{figures.rate:.1f} Hz")
        self._labels["Jitter"].setText("–" if figures is None else f"± {figures.spread * 1e6:.0f} µs")
        file, left = ("–" if size is None else _size(size)), room_text(room)
        near = size is not None and room < _NEAR
        self._labels["Size, left"].setText(tr("{time} left").format(time=left) if near else file)
        whole = ", ".join(filter(None, [file, left]))
        self._labels["Size, left"].setToolTip(f"{whole}: {_MEANINGS['Size, left']}")

    def text(self, name: str) -> str:
        """The text of one figure by its caption."""
        return str(self._labels[name].text())


_MEANINGS = {
    mark("Rate"): tr("cycles carried out a second, over the last two seconds"),
    mark("Overruns"): tr(
        "cycles skipped since the engine started, and how much slower than real time a busy computer was"
    ),
    mark("Jitter"): tr("99 % of the cycles came within this of their period, over the last two seconds"),
    mark("Recorded"): tr("rows of telemetry in the recording"),
    mark("Size, left"): tr(
        "size of the recording's file, or, once that is near, the time until the disk is full as fast as it grows now"
    ),
    mark("Dropped"): tr("rows that are missing in the recording"),
}


def _rows(count: int) -> str:
    return trn("{count} row", "{count} rows", count).format(count=count)


def _size(size: int) -> str:
    value, unit = (size / 1e6, "MB") if size < 999.5e6 else (size / 1e9, "GB")
    return f"{value:.{1 if value < 9.95 else 0}f} {unit}"


def _lateness(status: Snapshot) -> str:
    if not slowdown_text(status.slower):
        return str(status.overruns)
    return _slower(status.overruns, status.slower)


def _slower(count: int, share: float) -> str:
    return tr("{count}, {share:.0f} % slower").format(count=count, share=100.0 * share)


def _figure(name: str) -> ElidedLabel:
    """Of one width, whatever it says: nothing beside the figures moves. What is longer is whole in its hint."""
    label = ElidedLabel()
    label.setText("–")
    label.setAccessibleName(tr(name))
    label.setToolTip(_MEANINGS[name])
    longest = "± 999 µs" if name in ("Rate", "Overruns", "Jitter") else _rows(99999)
    label.setFixedWidth(label.fontMetrics().horizontalAdvance(longest))
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Preferred)
    return label
