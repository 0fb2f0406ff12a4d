"""What the style sheet draws itself."""

from collections.abc import Iterator

import pytest
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot

from gui.shell_style import dress
from gui.theme import DARK, LIGHT, Theme


@pytest.fixture
def application(qapp: QtWidgets.QApplication) -> Iterator[QtWidgets.QApplication]:
    """The application, undressed again afterwards."""
    style, palette, sheet = qapp.style().objectName(), qapp.palette(), qapp.styleSheet()
    yield qapp
    qapp.setStyleSheet(sheet)
    qapp.setStyle(style)
    qapp.setPalette(palette)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ticked", [True, False])
def test_a_check_box_has_a_frame_and_a_tick_that_are_seen(
    application: QtWidgets.QApplication, qtbot: QtBot, theme: Theme, ticked: bool
) -> None:
    dress(application, theme)
    box = QtWidgets.QCheckBox()  # no text, whose colour is that of the tick
    qtbot.addWidget(box)
    box.setChecked(ticked)
    box.ensurePolished()
    box.resize(box.sizeHint())
    picture = box.grab().toImage()
    colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert theme.muted.lower() in colours
    assert (theme.text.lower() in colours) is ticked
