"""What the style sheet draws itself, and how much there is to be styled."""

from itertools import pairwise
from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import FakeSession, be_rid_of, make_settings

from gui.live import Plot
from gui.shell.appearance import dress
from gui.shell.main_window import MainWindow
from gui.widgets import WholeNumber, run_all
from gui.widgets.theme import DARK, LIGHT, STYLE_SHEET, Theme

_TICK = "#4a86e8"


@pytest.mark.parametrize("ticked", [True, False])
def test_a_check_box_has_a_frame_and_a_tick_that_are_seen(qtbot: QtBot, theme: Theme, ticked: bool) -> None:
    box = QtWidgets.QCheckBox()  # no text, whose colour is that of the tick
    qtbot.addWidget(box)
    box.setStyleSheet(STYLE_SHEET)
    box.setChecked(ticked)
    box.ensurePolished()
    box.resize(box.sizeHint())
    picture = box.grab().toImage()
    colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert theme.muted.lower() in colours
    assert (_TICK in colours) is ticked
    assert _contrast(_TICK, theme.surface) >= 3.0


def _contrast(one: str, other: str) -> float:
    """Of two colours, as the WCAG count it: 3 at least for what is no text."""
    light = [_lightness(QtGui.QColor(colour)) + 0.05 for colour in (one, other)]
    return max(light) / min(light)


def _lightness(colour: QtGui.QColor) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.getRgbF()[:3]]
    return float(sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)))


def test_tabs_without_room_scroll_by_arrows_that_are_seen(qtbot: QtBot, theme: Theme) -> None:
    bar = QtWidgets.QTabBar()
    qtbot.addWidget(bar)
    bar.setStyleSheet(STYLE_SHEET)
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


def test_another_theme_looks_as_if_it_had_been_there_from_the_beginning(session: FakeSession, tmp_path: Path) -> None:
    light, dark = make_settings(tmp_path / "light"), make_settings(tmp_path / "dark")
    light.setValue("theme", LIGHT.name)
    expected = _pictures(session, light, "")
    found = _pictures(session, dark, LIGHT.name)
    assert list(found) == list(expected)
    assert [name for name in found if found[name] != expected[name]] == []


def _pictures(session: FakeSession, settings: QtCore.QSettings, changed: str) -> dict[str, QtGui.QImage]:
    """Of all pages that are there at once, after a change to another theme or without one."""
    window = MainWindow(session, settings)
    window.views.building.stop()
    window.motion._changed.stop()
    try:
        window.resize(1280, 800)
        window.show()
        pages = [window.motion, window.jog, window.faults, window.views.log]
        for page in pages:  # each of them styled for its first time
            window.tabs.setCurrentWidget(page)
            QtWidgets.QApplication.processEvents()
        if changed:
            window.appearance.use(changed)
            while not window.appearance.dressing.done:
                QtWidgets.QApplication.processEvents()
        found = {}
        for page in pages:
            window.tabs.setCurrentWidget(page)
            QtWidgets.QApplication.processEvents()
            found[window.tabs.tabText(window.tabs.currentIndex())] = window.grab().toImage()
        return found
    finally:
        be_rid_of(window)


class _Styled(QtCore.QObject):  # type: ignore[misc]  # pyqtgraph.Qt has no types
    """Counts how often widgets are told that their style is another."""

    times = 0

    def eventFilter(self, _receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Look, and let go on."""
        self.times += event.type() == QtCore.QEvent.Type.StyleChange
        return False


def test_another_theme_styles_some_widgets_at_a_time_and_what_is_in_view_first(
    qtbot: QtBot, qapp: QtWidgets.QApplication
) -> None:
    before, sheet = qapp.palette(), qapp.styleSheet()
    run_all(dress(qapp, DARK))
    seen, page, styled = QtWidgets.QPushButton(), QtWidgets.QWidget(), _Styled()
    hidden = [QtWidgets.QPushButton(page) for _ in range(1000)]
    for each in (seen, *hidden):
        each.ensurePolished()
    qtbot.addWidget(seen)
    qtbot.addWidget(page)
    with qtbot.waitExposed(seen):
        seen.show()
    qapp.installEventFilter(styled)
    turns = []
    for _ in dress(qapp, LIGHT):
        colours = [each.palette().buttonText().color().name() for each in (seen, *hidden)]
        turns.append([name == LIGHT.text.lower() for name in colours])
        if len(turns) == 2:
            hidden.pop().deleteLater()  # somebody closes something meanwhile
            qapp.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    qapp.removeEventFilter(styled)
    assert turns[0] == [True] + [False] * 1000 and turns[-1] == [True] * 1000
    more = [sum(after) - sum(one) for one, after in pairwise(turns)]
    assert len(more) >= 3 and max(more) <= 300
    assert styled.times == 0  # the application's style is not begun anew, which would be in one go
    assert list(dress(qapp, LIGHT)) == []
    qapp.setStyleSheet(sheet)
    qapp.setPalette(before)


def test_a_plot_brings_no_menu_along(qtbot: QtBot) -> None:
    before = set(QtWidgets.QApplication.allWidgets())
    plot = Plot("Plot of nothing")
    qtbot.addWidget(plot)
    made = set(QtWidgets.QApplication.allWidgets()) - before
    assert all(widget is plot or plot.isAncestorOf(widget) for widget in made)
    assert not plot.findChildren(QtWidgets.QMenu) and not plot.findChildren(QtWidgets.QAbstractButton)


def test_a_number_field_that_is_made_later_has_its_text_in_its_middle(window: MainWindow) -> None:
    """The rules of a line edit are not for the one within a number field, whenever that is made."""
    dialog, later = QtWidgets.QDialog(window), WholeNumber("count", 3, 1, 9)
    QtWidgets.QVBoxLayout(dialog).addWidget(later)
    dialog.show()
    for field in (later, window.motion.transport.speed):
        edit = field.lineEdit()
        option = QtWidgets.QStyleOptionFrame()
        edit.initStyleOption(option)
        contents = edit.style().subElementRect(QtWidgets.QStyle.SubElement.SE_LineEditContents, option, edit)
        assert (contents.top(), contents.height()) == (0, edit.height())
    dialog.close()
