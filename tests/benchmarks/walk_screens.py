"""Walks through the running app as `gui.tour` does, and says of every screen what is cut, covered or out of view.

A program of its own, as Qt reads the scale once: `python walk_screens.py` with the arguments of `gui.tour`. It writes a
line for each trouble, and ends with how many screens it has looked at.
"""

import sys
from collections.abc import Iterator
from itertools import combinations

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui import tour
from gui.session import StopButton
from gui.widgets import ElidedLabel

_SLACK = 2
"""px, by which fonts and frames are rounded"""
_ROUND_A_COMBO = 18  # px of its frame and its arrow
_BESIDE_ICON = 4  # px between an icon and its text
_SETTLED = 2.0  # s
_OVER_OTHERS = (QtWidgets.QSplitterHandle, QtWidgets.QSizeGrip, QtWidgets.QTabBar, QtWidgets.QScrollBar)
"""lie over their neighbours by design"""


def troubles(top: QtWidgets.QWidget) -> Iterator[str]:
    """What is wrong with a window that is shown, in words."""
    for widget in [top, *top.findChildren(QtWidgets.QWidget)]:
        if widget.isVisible() and not widget.visibleRegion().isEmpty():
            if cut := _cut(widget):
                yield f"{_name(widget)}: {cut}"
            yield from _covered(widget)
    if not any(_in_reach(stop, top) for stop in top.findChildren(StopButton)):
        yield "STOP is not whole in view"


def _name(widget: QtWidgets.QWidget) -> str:
    text = widget.accessibleName() or str(getattr(widget, "text", str)())[:60]
    return f"{type(widget).__name__} {text!r}"


def _in_reach(stop: QtWidgets.QWidget, top: QtWidgets.QWidget) -> bool:
    """Whether a click takes it, wherever on it."""
    inner = stop.rect().adjusted(_SLACK, _SLACK, -_SLACK, -_SLACK)
    places = (inner.center(), inner.topLeft(), inner.topRight(), inner.bottomLeft(), inner.bottomRight())
    return stop.isVisible() and all(top.childAt(stop.mapTo(top, place)) is stop for place in places)


def _cut(widget: QtWidgets.QWidget) -> str:
    """How its text is cut; empty where it is not."""
    metrics, text, room = widget.fontMetrics(), "", widget.width() + _SLACK
    if isinstance(widget, QtWidgets.QLabel):
        if isinstance(widget, ElidedLabel) or not widget.text():
            return ""  # one ends with dots where there is no room
        if widget.wordWrap():
            needed = widget.heightForWidth(widget.width())
            return f"{needed} px high in {widget.height()} px" if needed > widget.height() + _SLACK else ""
        text, room = widget.text(), widget.contentsRect().width() + _SLACK
        if QtCore.Qt.mightBeRichText(text):
            page = QtGui.QTextDocument()
            page.setDocumentMargin(0)
            page.setDefaultFont(widget.font())
            page.setHtml(text)
            needed = round(page.idealWidth())
            return f"{needed} px wide in {room} px" if needed > room else ""
    elif isinstance(widget, QtWidgets.QToolButton):
        icon = QtCore.Qt.ToolButtonStyle.ToolButtonIconOnly
        text = "" if widget.toolButtonStyle() == icon and not widget.icon().isNull() else widget.text()
    elif isinstance(widget, QtWidgets.QPushButton):
        text, option = widget.text(), QtWidgets.QStyleOptionButton()
        option.initFrom(widget)
        option.text, option.icon, option.iconSize = text, widget.icon(), widget.iconSize()
        room = widget.style().subElementRect(QtWidgets.QStyle.SE_PushButtonContents, option, widget).width() + _SLACK
        room -= 0 if widget.icon().isNull() or not text else widget.iconSize().width() + _BESIDE_ICON
    elif isinstance(widget, QtWidgets.QAbstractButton):
        text = widget.text()
    elif isinstance(widget, QtWidgets.QComboBox):
        text, room = widget.currentText(), room - _ROUND_A_COMBO
    elif isinstance(widget, QtWidgets.QAbstractSpinBox):
        text, room = widget.text(), widget.lineEdit().width() + _SLACK
    needed = max((metrics.horizontalAdvance(line) for line in text.replace("&", "").split("\n")), default=0)
    if needed > room:
        return f"{needed} px wide in {room} px"
    if text and metrics.height() > widget.height() + _SLACK:
        return f"{metrics.height()} px high in {widget.height()} px"
    return ""


def _covered(parent: QtWidgets.QWidget) -> Iterator[str]:
    """Children of a laid out widget that lie over each other, or reach beyond it."""
    if parent.layout() is None or isinstance(parent, QtWidgets.QMainWindow):
        return  # its bars and its middle are placed by itself
    children = [
        child
        for child in parent.children()
        if isinstance(child, QtWidgets.QWidget)
        and child.isVisible()
        and not child.isWindow()
        and not isinstance(child, _OVER_OTHERS)
        and _laid_out(parent.layout(), child)
    ]
    inside = parent.rect().adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK)
    for child in children:
        if not inside.contains(child.geometry()):
            yield f"{_name(child)}: reaches beyond {_name(parent)}"
    for first, second in combinations(children, 2):
        shared = first.geometry() & second.geometry()
        if shared.width() > _SLACK and shared.height() > _SLACK:
            yield f"{_name(first)}: lies over {_name(second)} by {shared.width()} × {shared.height()} px"


def _laid_out(layout: QtWidgets.QLayout, widget: QtWidgets.QWidget) -> bool:
    """Whether a layout, or one within it, places the widget, beside others and not in their stead."""
    if isinstance(layout, QtWidgets.QStackedLayout):
        return False
    if layout.indexOf(widget) >= 0:
        return True
    within = (layout.itemAt(index).layout() for index in range(layout.count()))
    return any(inner is not None and _laid_out(inner, widget) for inner in within)


class Look(tour.Tour):
    """The walk, with what is wrong on the way."""

    looked = 0
    """screens so far, of all walks"""
    size: QtCore.QSize | None = None
    """of the window, as it was at first"""

    def _photograph(
        self, name: str, panel: QtWidgets.QWidget | None = None, window: QtWidgets.QWidget | None = None
    ) -> None:
        super()._photograph(name, panel, window)
        Look.size = Look.size or self.window.size()
        if self.window.size() != Look.size:
            print(f"{name}: the window needs {self.window.width()} × {self.window.height()} px", flush=True)
        Look.looked += 1
        if any(troubles(window or self.window)):  # a large screen takes longer to settle
            self.pass_time(_SETTLED)
            super()._photograph(name, panel, window)
        for trouble in troubles(window or self.window):
            print(f"{name}: {trouble}", flush=True)


if __name__ == "__main__":
    tour.Tour = Look  # type: ignore[misc]  # what its main makes
    code = tour.main()
    print(f"{Look.looked} screens", flush=True)
    sys.exit(code)
