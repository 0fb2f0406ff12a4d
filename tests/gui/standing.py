"""Where everything is that can be pressed, and what has moved, appeared over something or scrolled by itself since."""

from collections.abc import Callable
from dataclasses import dataclass

from pyqtgraph.Qt import QtCore, QtWidgets

_PRESSED = (
    QtWidgets.QAbstractButton,
    QtWidgets.QComboBox,
    QtWidgets.QAbstractSpinBox,
    QtWidgets.QLineEdit,
    QtWidgets.QAbstractSlider,
    QtWidgets.QTabBar,
    QtWidgets.QMenuBar,
    QtWidgets.QSplitterHandle,
    QtWidgets.QAbstractItemView,
)
_WHOLE = (QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox, QtWidgets.QTabBar, QtWidgets.QHeaderView)
_AREAS = (QtWidgets.QAbstractItemView, QtWidgets.QLineEdit)
"""what is in them, and how far they reach, may change at their right and lower edge: they stand where they begin"""


@dataclass(frozen=True)
class Standing:
    """A look at the windows that are in view."""

    places: dict[QtWidgets.QWidget, QtCore.QRect]
    """of what can be pressed, the part in view, px of the screen"""
    scrolled: dict[QtWidgets.QScrollBar, int]

    def moved_since(self, before: "Standing") -> list[str]:
        """What is not where it was, and what appeared over something that could be pressed, in words."""
        found = []
        for widget, now in self.places.items():
            old = before.places.get(widget)
            if old is None:
                over = [
                    each for each, place in before.places.items() if place.intersects(now) and not _part(widget, each)
                ]
                found += [f"{_name(widget)} appeared over {_name(each)}" for each in over]
            elif now.topLeft() != old.topLeft() or (now.size() != old.size() and not isinstance(widget, _AREAS)):
                found.append(f"{_name(widget)} moved: {_text(old)} → {_text(now)}")
        for bar, value in self.scrolled.items():
            if before.scrolled.get(bar, value) != value:
                found.append(f"{_name(bar.parentWidget().parentWidget())} scrolled: {before.scrolled[bar]} → {value}")
        return found


def pressable(window: QtWidgets.QWidget | None = None) -> list[QtWidgets.QWidget]:
    """What can be pressed, and what scrolls, in a window or in all that are in view; some of it may be hidden."""
    tops = [top for top in QtWidgets.QApplication.topLevelWidgets() if top.isVisible()]
    found = (each for top in tops for each in top.findChildren(QtWidgets.QWidget) if isinstance(each, _PRESSED))
    return [
        each
        for each in found
        if (isinstance(each, QtWidgets.QScrollBar) or not isinstance(each.parentWidget(), _WHOLE))
        and (window is None or each.window() is window)
    ]


def settle() -> None:
    """Have everything placed, without its being painted."""
    for _ in range(4):  # from the innermost to the window
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.LayoutRequest)


def moved_by(events: dict[str, Callable[[], object]], window: QtWidgets.QWidget | None = None) -> list[str]:
    """What each of the events moves of what can be pressed, one after the other, in words."""
    settle()
    QtWidgets.QApplication.processEvents()
    settle()
    widgets, moved = pressable(window), []
    before = standing(widgets)
    for name, event in events.items():
        event()
        settle()
        now = standing(widgets)
        moved += [f"{name}: {each}" for each in now.moved_since(before)]
        before = now
    return moved


def standing(widgets: list[QtWidgets.QWidget]) -> Standing:
    """Where those of them are that are in view."""
    places: dict[QtWidgets.QWidget, QtCore.QRect] = {}
    scrolled: dict[QtWidgets.QScrollBar, int] = {}
    for widget in widgets:
        if not widget.isVisible():
            continue
        if isinstance(widget, QtWidgets.QScrollBar):
            scrolled[widget] = widget.value()
            continue
        seen = widget.visibleRegion().boundingRect()
        if not seen.isEmpty():
            places[widget] = QtCore.QRect(widget.mapToGlobal(seen.topLeft()), seen.size())
    return Standing(places, scrolled)


def _part(widget: QtWidgets.QWidget, other: QtWidgets.QWidget) -> bool:
    return bool(widget.isAncestorOf(other) or other.isAncestorOf(widget))


def _name(widget: QtWidgets.QWidget) -> str:
    text = widget.accessibleName() or str(getattr(widget, "text", str)())
    return f"{type(widget).__name__} {text!r}"


def _text(place: QtCore.QRect) -> str:
    return f"{place.x()}, {place.y()}, {place.width()} × {place.height()}"
