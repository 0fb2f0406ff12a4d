"""Texts written over the picture."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyqtgraph.Qt import QtCore, QtGui

from gui.session import Floats

_PLACES = 8  # above and below that are tried
_ROOM = 4.0  # px between a text and the edge of its ground


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A short text whose middle stands at a point (3,), m, in a colour; on a ground of its own unless that is empty."""

    text: str
    place: Floats
    colour: str
    ground: str = ""
    moves: bool = False
    """above or below its place where another stands there that came before; what does not move stands there anyway"""


def write_marks(
    painter: QtGui.QPainter, font: QtGui.QFont, marks: Iterable[Mark], places: Iterable[QtCore.QPointF]
) -> None:
    """Write marks at their places on the picture."""
    bold = QtGui.QFont(font)
    bold.setBold(True)
    painter.setFont(bold)
    metrics = QtGui.QFontMetricsF(bold)
    taken: list[QtCore.QRectF] = []
    for mark, place in zip(marks, places, strict=True):
        area = metrics.boundingRect(mark.text)
        area.moveCenter(place)
        if mark.ground:
            chip = QtCore.QRectF(0.0, 0.0, max(area.width() + 2 * _ROOM, area.height() + 2.0), area.height() + 2.0)
            chip.moveCenter(place)
            if mark.moves:
                chip = _apart(chip, taken)
            taken.append(chip)
            painter.setPen(QtCore.Qt.PenStyle.NoPen)
            painter.setBrush(QtGui.QColor(mark.ground))
            painter.drawRoundedRect(chip, 0.5 * chip.height(), 0.5 * chip.height())
            area = chip
        painter.setPen(QtGui.QColor(mark.colour))
        painter.drawText(area, QtCore.Qt.AlignmentFlag.AlignCenter, mark.text)


def _apart(chip: QtCore.QRectF, taken: Sequence[QtCore.QRectF]) -> QtCore.QRectF:
    """The nearest place above or below that nothing has taken."""
    step = chip.height() + 2.0
    tried = (chip.translated(0.0, step * number) for number in sorted(range(-_PLACES, _PLACES + 1), key=abs))
    return next((one for one in tried if not any(one.intersects(other) for other in taken)), chip)
