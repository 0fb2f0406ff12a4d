"""What changes by itself stays within its room."""

import pytest
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot

from gui.widgets import ScrolledPage, TextRoom


@pytest.mark.parametrize("text", ["", "short", "a text of many words " * 30])
def test_a_text_room_is_as_high_whatever_it_shows(qtbot: QtBot, text: str) -> None:
    window, room = QtWidgets.QWidget(), TextRoom(QtWidgets.QLabel(), 2)
    qtbot.addWidget(window)
    below = QtWidgets.QPushButton("below")
    layout = QtWidgets.QVBoxLayout(window)
    layout.addWidget(room)
    layout.addWidget(below)
    layout.addStretch()
    window.resize(200, 300)
    with qtbot.waitExposed(window):
        window.show()
    before = below.geometry()
    room.show_text(text)
    QtWidgets.QApplication.processEvents()
    assert below.geometry() == before
    assert room.height() == 2 * room.fontMetrics().lineSpacing()


def test_a_page_keeps_its_width_when_the_bar_comes(qtbot: QtBot) -> None:
    page = QtWidgets.QWidget()
    rows = QtWidgets.QVBoxLayout(page)
    button = QtWidgets.QPushButton("wide")
    rows.addWidget(button)
    tall = QtWidgets.QLabel()
    tall.hide()
    tall.setFixedHeight(1000)
    rows.addWidget(tall)
    rows.addStretch()
    scrolled = ScrolledPage(page)
    qtbot.addWidget(scrolled)
    scrolled.resize(300, 200)
    with qtbot.waitExposed(scrolled):
        scrolled.show()
    before = button.geometry()
    assert not scrolled.verticalScrollBar().isVisible()
    tall.show()
    QtWidgets.QApplication.processEvents()
    assert scrolled.verticalScrollBar().isVisible()
    assert button.geometry() == before
