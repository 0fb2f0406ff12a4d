"""The page of dashboards by mouse and by keyboard."""

import numpy as np
import pytest
from dashboard_views import kept_dashboards, shape_of
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import KEY, LEFT, focus, press

from gui.dashboard import DashboardPage
from gui.live import LiveView
from gui.models.timeline import History

_NONE = QtCore.Qt.KeyboardModifier.NoModifier
_CTRL, _ALT = QtCore.Qt.KeyboardModifier.ControlModifier, QtCore.Qt.KeyboardModifier.AltModifier
_FORCES = tuple(f"force_measured.{leg}" for leg in range(1, 7))


def _drag(source: QtWidgets.QWidget, begin: QtCore.QPoint, target: QtWidgets.QWidget, end: QtCore.QPoint) -> None:
    """A drag with the mouse kept down, as the window system delivers it to where it began."""
    there = source.mapFromGlobal(target.mapToGlobal(end))
    QtTest.QTest.mousePress(source, LEFT, _NONE, begin)
    for part in (0.5, 1.0):
        at = begin + (there - begin) * part
        move = QtCore.QEvent.Type.MouseMove
        event = _mouse(move, source, at)
        QtWidgets.QApplication.sendEvent(source, event)
    QtTest.QTest.mouseRelease(source, LEFT, _NONE, there)


def _mouse(kind: QtCore.QEvent.Type, widget: QtWidgets.QWidget, at: QtCore.QPoint) -> QtCore.QEvent:
    return QtGui.QMouseEvent(kind, QtCore.QPointF(at), QtCore.QPointF(widget.mapToGlobal(at)), LEFT, LEFT, _NONE)


def _drag_signals(boards: DashboardPage, target: QtWidgets.QWidget) -> None:
    """Drag what is chosen in the tree into the middle of a widget."""
    viewport = boards.tree.tree.viewport()
    item = boards.tree.tree.visualItemRect(boards.tree.tree.selectedItems()[0])
    assert viewport.rect().contains(item.center())
    _drag(viewport, item.center(), target, target.rect().center())


def test_signals_are_found_by_words_and_dragged_to_an_empty_place_and_onto_a_plot(
    boards: DashboardPage, boards_history: History, boards_view: LiveView, qtbot: QtBot
) -> None:
    focus(qtbot, boards.tree.search)
    QtTest.QTest.keyClicks(boards.tree.search, "leg 3 measured force")
    QtTest.QTest.keyClick(boards.tree.search, KEY.Key_Return)
    assert boards.tree.chosen == ("force_measured.3",) and boards.tree.tree.hasFocus()
    _drag_signals(boards, boards.board.empty)
    assert shape_of(boards) == [["force_measured.3"]]
    boards.tree.search.setText("by the model leg 3")
    boards.tree.choose(["force_model.3"])
    (plot,) = boards.board.plots
    _drag_signals(boards, plot)
    (plot,) = boards.board.plots
    assert plot.signals == ("force_measured.3", "force_model.3")
    boards_view.refresh(boards_history)
    t, force = plot.curves[1].points(0)
    assert force[-1] == pytest.approx(29.75 + np.sin(t[-1])) and t[-1] == boards_history.end
    solid, dashed = (curves.pens[0] for curves in plot.curves)
    assert solid.color().name().upper() == "#009E73" and dashed.style() == QtCore.Qt.PenStyle.DashLine


def test_a_drag_that_esc_gives_up_or_that_ends_elsewhere_changes_nothing(boards: DashboardPage) -> None:
    boards.tree.tree.expandAll()
    boards.tree.choose(["length.1"])
    viewport = boards.tree.tree.viewport()
    at = boards.tree.tree.visualItemRect(boards.tree.tree.selectedItems()[0]).center()
    _drag(viewport, at, boards.choice, QtCore.QPoint(3, 3))
    QtTest.QTest.mousePress(viewport, LEFT, _NONE, at)
    QtWidgets.QApplication.sendEvent(
        viewport, _mouse(QtCore.QEvent.Type.MouseMove, viewport, at + QtCore.QPoint(90, 40))
    )
    assert boards.tree.dragging.on
    QtTest.QTest.keyClick(boards.tree.tree, KEY.Key_Escape)
    assert not boards.tree.dragging.on
    QtTest.QTest.mouseRelease(
        viewport, LEFT, _NONE, viewport.mapFromGlobal(boards.board.mapToGlobal(boards.board.pos()))
    )
    assert kept_dashboards(boards) == {} and boards.panels == []


def test_another_unit_is_refused_with_a_reason(boards: DashboardPage) -> None:
    boards.add(["force_measured.1"], own=True)
    boards.tree.choose(["position.x"])
    assert "is in mm and the plot in N: an axis has one unit" in boards.tree.add.toolTip()
    (plot,) = boards.board.plots
    boards.tree.search.setText("position measured x")
    boards.tree.choose(["position.x"])
    _drag_signals(boards, plot)
    assert "is in mm and the plot in N" in boards.choice.reason.text()
    assert shape_of(boards) == [["force_measured.1"]]
    press(boards.tree.own)
    assert shape_of(boards) == [["force_measured.1"], ["position.x"]] and boards.choice.reason.text() == ""


def test_plots_are_dragged_beside_each_other(boards: DashboardPage, qtbot: QtBot) -> None:
    for key in ("lateness", "period", "path_time"):
        boards.add([key], own=True)
    _first, _second, third = boards.board.plots
    qtbot.waitUntil(lambda: third.height() > 40 and third.y() >= 0)
    QtWidgets.QApplication.processEvents()
    _first, second, third = boards.board.plots
    _drag(third.header, QtCore.QPoint(20, 8), second, QtCore.QPoint(second.width() - 10, second.height() // 2))
    assert shape_of(boards) == [["lateness"], ["period", "path_time"]]
    first, _second, third = boards.board.plots
    _drag(third.header, QtCore.QPoint(20, 8), first, QtCore.QPoint(first.width() // 2, 5))
    assert shape_of(boards) == [["path_time"], ["lateness"], ["period"]]
    _drag(boards.board.plots[0].header, QtCore.QPoint(20, 8), boards.board.empty, boards.board.empty.rect().center())
    assert shape_of(boards) == [["lateness"], ["period"], ["path_time"]]


def test_all_of_it_by_keyboard(boards: DashboardPage, qtbot: QtBot) -> None:
    tree = boards.tree.tree
    focus(qtbot, boards.tree.search)
    for words, modifier in (("force measured leg 1", _NONE), ("lateness", _CTRL), ("computation", _NONE)):
        boards.tree.search.clear()
        QtTest.QTest.keyClicks(boards.tree.search, words)
        QtTest.QTest.keyClick(boards.tree.search, KEY.Key_Return)
        QtTest.QTest.keyClick(tree, KEY.Key_Return, modifier)
    assert shape_of(boards) == [["force_measured.1"], ["lateness"]]
    assert boards.board.plots[1].signals == ("lateness", "compute_time") and boards.board.plots[1].framed
    focus(qtbot, boards.board.plots[1])
    QtTest.QTest.keyClick(boards.board.plots[1], KEY.Key_Up, _ALT)
    assert shape_of(boards) == [["force_measured.1", "lateness"]]
    qtbot.waitUntil(boards.board.plots[1].hasFocus)
    QtTest.QTest.keyClick(boards.board.plots[1], KEY.Key_Left, _ALT)
    assert shape_of(boards) == [["lateness", "force_measured.1"]]
    menu = boards.board.plots[0].menu()
    actions = {action.text(): action for action in menu.actions()}
    actions["Remove Computation"].trigger()
    assert boards.board.plots[0].signals == ("lateness",)
    menu.deleteLater()
    qtbot.waitUntil(boards.board.plots[0].hasFocus)
    for left in ([["force_measured.1"]], []):
        QtTest.QTest.keyClick(boards.board.plots[0], KEY.Key_Delete)
        assert shape_of(boards) == left
    assert boards.board.empty.isVisible()


def test_the_menu_of_a_plot_comes_by_key_and_above_it_and_the_right_button_zooms_in_it(
    boards: DashboardPage, qtbot: QtBot
) -> None:
    boards.add(["cycle"], own=True)
    (plot,) = boards.board.plots
    reasons = QtGui.QContextMenuEvent.Reason
    for widget, reason, comes in (
        (plot, reasons.Keyboard, True),
        (plot.header, reasons.Mouse, True),
        (plot.plot.viewport(), reasons.Mouse, False),
    ):
        at = widget.rect().center()
        QtWidgets.QApplication.sendEvent(widget, QtGui.QContextMenuEvent(reason, at, widget.mapToGlobal(at)))
        menu = QtWidgets.QApplication.activePopupWidget()
        assert (menu is not None) is comes
        if menu is not None:
            assert [action.text() for action in menu.actions()][-1] == "&Remove the plot"
            menu.close()
    press(plot.more)
    menu = QtWidgets.QApplication.activePopupWidget()
    menu.actions()[-1].trigger()
    menu.close()
    assert boards.panels == []


def test_space_and_what_has_no_signals_add_nothing(boards: DashboardPage, qtbot: QtBot) -> None:
    tree = boards.tree.tree
    focus(qtbot, tree)
    tree.setCurrentItem(tree.topLevelItem(2))
    assert boards.tree.chosen == () and boards.tree.own.toolTip() == "choose signals in the tree"
    QtTest.QTest.keyClick(tree, KEY.Key_Return)
    assert tree.topLevelItem(2).isExpanded() and kept_dashboards(boards) == {}
    boards.tree.choose(["cycle"])
    for widget in (tree, boards.tree.own, boards.tree.add):
        QtTest.QTest.keyClick(widget, KEY.Key_Space)
    assert kept_dashboards(boards) == {}


def test_everything_has_a_name(boards: DashboardPage) -> None:
    boards.add(["force_measured.1"], own=True)
    (plot,) = boards.board.plots
    assert plot.accessibleName() == "Force measured, N"
    assert plot.more.accessibleName() == "Actions for the plot of Force measured, N"
    kinds = (QtWidgets.QAbstractButton, QtWidgets.QLineEdit, QtWidgets.QComboBox, QtWidgets.QTreeWidget)
    shown = [each for kind in kinds for each in boards.findChildren(kind) if each.isVisible()]
    assert [each for each in shown if not (each.accessibleName() or each.text())] == []


def test_dashboards_are_made_chosen_renamed_and_deleted(boards: DashboardPage, qtbot: QtBot) -> None:
    boards.add(["cycle"], own=True)
    press(boards.choice.new)
    assert boards.choice.name == "Dashboard 2" and boards.panels == []
    boards.add(["motion"], own=True)
    boards.choice.give_name("of motion")
    assert (
        list(kept_dashboards(boards)) == ["Dashboard", "of motion"] == [boards.choice.box.itemText(n) for n in range(2)]
    )
    boards.choice.give_name("Dashboard")
    assert "there is a dashboard 'Dashboard' already" in boards.choice.reason.text()
    boards.choice.box.setCurrentIndex(0)
    boards.choice.box.activated.emit(0)
    assert shape_of(boards) == [["cycle"]] and boards.choice.reason.text() == ""
    for answer, left in (("Keep", ["Dashboard", "of motion"]), ("Delete", ["of motion"])):
        press(boards.choice.delete)
        (box,) = boards.choice.findChildren(QtWidgets.QMessageBox)
        press(next(button for button in box.buttons() if button.text() == answer))
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
        assert list(kept_dashboards(boards)) == left
    assert boards.choice.name == "of motion" and shape_of(boards) == [["motion"]]


def test_a_broken_file_is_named_and_read_again_once_it_is_mended(boards: DashboardPage) -> None:
    path = boards.choice._dashboards.file.path
    boards.add(["cycle"], own=True)
    good = path.read_text()
    path.write_text("dashboard = 3\n")
    boards.add(["motion"], own=True)
    assert str(path) in boards.choice.reason.text() and path.read_text() == "dashboard = 3\n"
    boards.hide()
    boards.show()
    assert boards.panels == [] and boards.choice.again.isVisible()
    boards.tree.choose(["motion"])
    assert str(path) in boards.tree.own.toolTip() and str(path) in boards.choice.new.toolTip()
    path.write_text(good)
    press(boards.choice.again)
    assert shape_of(boards) == [["cycle"]] and not boards.choice.again.isVisible() and boards.tree.own.isEnabled()
