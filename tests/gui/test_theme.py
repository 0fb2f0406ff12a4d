"""What the style sheet draws itself, and how much there is to be styled."""

import pytest
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import Plot
from gui.shell.style import dress
from gui.widgets.theme import DARK, LIGHT, Theme, style_sheet


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ticked", [True, False])
def test_a_check_box_has_a_frame_and_a_tick_that_are_seen(qtbot: QtBot, theme: Theme, ticked: bool) -> None:
    box = QtWidgets.QCheckBox()  # no text, whose colour is that of the tick
    qtbot.addWidget(box)
    box.setStyleSheet(style_sheet(theme))
    box.setChecked(ticked)
    box.ensurePolished()
    box.resize(box.sizeHint())
    picture = box.grab().toImage()
    colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert theme.muted.lower() in colours
    assert (theme.text.lower() in colours) is ticked


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_tabs_without_room_scroll_by_arrows_that_are_seen(qtbot: QtBot, theme: Theme) -> None:
    bar = QtWidgets.QTabBar()
    qtbot.addWidget(bar)
    bar.setStyleSheet(style_sheet(theme))
    for name in ("a long name", "another one", "and the last"):
        bar.addTab(name)
    bar.setCurrentIndex(1)  # from where both directions are possible
    bar.resize(130, bar.sizeHint().height())
    with qtbot.waitExposed(bar):
        bar.show()
    arrows = [button for button in bar.findChildren(QtWidgets.QToolButton) if button.isVisible()]
    assert len(arrows) == 2
    for arrow in arrows:
        assert arrow.isEnabled()
        picture = arrow.grab(arrow.rect().adjusted(3, 3, -3, -3)).toImage()
        colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
        assert len(colours) > 1


class _Styled(QtCore.QObject):  # type: ignore[misc]  # pyqtgraph.Qt has no types
    """Counts how often a widget is styled."""

    times = 0

    def eventFilter(self, _receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Look, and let go on."""
        self.times += event.type() == QtCore.QEvent.Type.StyleChange
        return False


def test_another_theme_takes_the_one_before_away_and_does_not_begin_the_style_anew(
    qtbot: QtBot, qapp: QtWidgets.QApplication
) -> None:
    dress(qapp, DARK)
    button, styled = QtWidgets.QPushButton(), _Styled()
    qtbot.addWidget(button)
    button.ensurePolished()
    button.installEventFilter(styled)
    dress(qapp, LIGHT)
    assert styled.times == 2  # at one go it takes Qt five times as long
    dress(qapp, LIGHT)
    assert styled.times == 2
    dress(qapp, DARK)


def test_a_plot_brings_no_menu_along(qtbot: QtBot) -> None:
    before = set(QtWidgets.QApplication.allWidgets())
    plot = Plot("Plot of nothing")
    qtbot.addWidget(plot)
    made = set(QtWidgets.QApplication.allWidgets()) - before
    assert all(widget is plot or plot.isAncestorOf(widget) for widget in made)
    assert not plot.findChildren(QtWidgets.QMenu) and not plot.findChildren(QtWidgets.QAbstractButton)
