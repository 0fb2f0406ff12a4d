"""Curves painted together: each with its pen, gaps left open; and texts that change beside them."""

import numpy as np
import numpy.typing as npt
import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live.plot import Curves
from gui.widgets import FixedSize

COLOURS = ("#ff0000", "#00ff00")
TIMES = np.arange(0.0, 100.0)
LEVELS = np.tile([10.5, 20.5], (100, 1))


def _curves() -> Curves:
    curves = Curves(2)
    for column, colour in enumerate(COLOURS):
        curves.pens[column] = QtGui.QPen(QtGui.QColor(colour), 1)
    return curves


def _columns_painted(curves: Curves, colour: str) -> list[int]:
    """Columns of pixels, a pixel for each unit, in which a curve of this colour is."""
    image = QtGui.QImage(120, 30, QtGui.QImage.Format.Format_RGB32)
    image.fill(QtCore.Qt.GlobalColor.black)
    painter = QtGui.QPainter(image)
    curves.paint(painter, QtWidgets.QStyleOptionGraphicsItem())
    painter.end()
    wanted = QtGui.QColor(colour).rgb()
    return [x for x in range(120) if any(image.pixel(x, y) == wanted for y in range(30))]


def test_each_has_its_pen_and_they_say_where_they_lie(qapp: QtWidgets.QApplication) -> None:
    curves = _curves()
    assert curves.show_points(TIMES, LEVELS) == (10.5, 20.5)
    assert curves.boundingRect() == QtCore.QRectF(0.0, 10.5, 99.0, 10.0)
    for colour in COLOURS:
        assert set(_columns_painted(curves, colour)) >= set(range(1, 99))


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_a_gap_in_its_own_curve(qapp: QtWidgets.QApplication, nothing: float) -> None:
    curves, values = _curves(), LEVELS.copy()
    values[:10, 0] = values[40:60, 0] = nothing
    assert curves.show_points(TIMES, values) == (10.5, 20.5)
    first, second = (set(_columns_painted(curves, colour)) for colour in COLOURS)
    assert not first & {*range(1, 9), *range(41, 59)} and first >= {*range(11, 39), *range(61, 99)}
    assert second >= set(range(1, 99))
    curves.show_points(TIMES, LEVELS)
    assert set(_columns_painted(curves, COLOURS[0])) >= set(range(1, 99))  # the gap is over


def test_one_that_is_not_shown_is_neither_drawn_nor_reckoned_with(qapp: QtWidgets.QApplication) -> None:
    curves = _curves()
    curves.shown = [False, True]
    assert curves.show_points(TIMES, LEVELS) == (20.5, 20.5)
    assert not _columns_painted(curves, COLOURS[0]) and _columns_painted(curves, COLOURS[1])


@pytest.mark.parametrize("values", [np.zeros((0, 2)), np.full((100, 2), np.nan)])
def test_of_nothing_there_is_nothing(qapp: QtWidgets.QApplication, values: npt.NDArray[np.float64]) -> None:
    curves = _curves()
    curves.show_points(TIMES, LEVELS)
    assert curves.show_points(TIMES[: len(values)], values) is None
    assert curves.boundingRect().isNull() and not any(_columns_painted(curves, colour) for colour in COLOURS)


class _Around(QtWidgets.QWidget):  # type: ignore[misc]
    """Counts how often its layout is to be worked out."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def event(self, event: QtCore.QEvent) -> bool:
        self.asked += event.type() == QtCore.QEvent.Type.LayoutRequest
        return bool(super().event(event))


def test_a_text_that_changes_has_no_layout_around_it_worked_out(qtbot: QtBot) -> None:
    around, free, held = _Around(), QtWidgets.QLabel("0"), QtWidgets.QLabel("0")
    held.setWordWrap(True)
    still = FixedSize(held)
    column = QtWidgets.QVBoxLayout(around)
    column.addWidget(free)
    column.addWidget(still)
    column.addStretch(1)
    qtbot.addWidget(around)
    around.resize(200, 400)
    around.show()
    qtbot.waitExposed(around)
    QtWidgets.QApplication.processEvents()
    around.asked = 0
    held.setText("123.4")
    still.make_room()
    QtWidgets.QApplication.processEvents()
    assert around.asked == 0
    free.setText("123.4")
    QtWidgets.QApplication.processEvents()
    assert around.asked > 0
    height = still.height()
    held.setText("long enough for more than one line of this narrow window, " * 3)
    still.make_room()
    QtWidgets.QApplication.processEvents()
    grown = still.height()
    assert grown > height and held.geometry() == still.rect()
    held.setText("0")
    still.make_room()
    QtWidgets.QApplication.processEvents()
    assert still.height() == grown  # what is below does not jump up
    around.resize(600, 400)
    QtWidgets.QApplication.processEvents()
    assert still.height() < grown
