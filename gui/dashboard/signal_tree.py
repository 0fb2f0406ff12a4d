"""The tree of all signals: search, selection and drag, by mouse and keyboard."""

from collections.abc import Sequence

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.dragging import Dragging
from gui.dashboard.signals import QUANTITIES, SENSOR_GROUP, Quantity, and_more, sensor_quantities, signal_of
from gui.texts import tr
from gui.widgets import GuardedButton, set_icon
from rig.telemetry import SensorChannels

_KEYS = QtCore.Qt.ItemDataRole.UserRole
_NOT_CHOSEN = tr("choose signals in the tree")
_ICON = 10  # px


class _Tree(QtWidgets.QTreeWidget):
    """Return adds the selection, with Ctrl in a plot of its own; Space does not expand items."""

    add_requested = QtCore.Signal(bool)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() in (QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter):
            self.add_requested.emit(bool(event.modifiers() & QtCore.Qt.KeyboardModifier.ControlModifier))
        else:
            super().keyPressEvent(event)


class SignalTree(QtWidgets.QWidget):
    """Signals grouped as in the recording.

    Signals: `add_requested(keys, own)`: plot these signals, in their own plot or the selected one; `changed`: the
    selection changed.
    """

    add_requested = QtCore.Signal(tuple, bool)
    changed = QtCore.Signal()

    def __init__(self) -> None:
        super().__init__()
        self.search = QtWidgets.QLineEdit()
        self.search.setPlaceholderText(tr("Search: leg 3 force"))
        self.search.setAccessibleName(tr("Search the signals"))
        self.tree = _Tree()
        self.tree.setAccessibleName(tr("Signals"))
        self.tree.setAccessibleDescription(tr("Return: add to the plot chosen; Ctrl+Return: a plot of its own"))
        self.tree.setHeaderLabels([tr("Signal"), tr("Unit")])
        self.tree.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setUniformRowHeights(True)
        self.tree.setExpandsOnDoubleClick(False)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        self.add = GuardedButton(tr("Add to plot"), tr("Add them to the plot that is chosen (Return)"))
        self.own = GuardedButton(tr("New plot"), tr("Plot them separately (Ctrl+Return)"))
        set_icon(self.add, "add")
        set_icon(self.own, "new")
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.own)
        buttons.addWidget(self.add)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 0, 0, 4)
        layout.addWidget(self.search)
        layout.addWidget(self.tree, 1)
        layout.addLayout(buttons)
        self._sensors: tuple[SensorChannels, ...] = ()
        self._sensor_group: QtWidgets.QTreeWidgetItem | None = None
        self._fill()
        self.dragging = Dragging(self.tree.viewport(), self._words)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._into_tree)
        self.tree.itemSelectionChanged.connect(self.changed)
        self.tree.itemDoubleClicked.connect(self._activated)
        self.tree.add_requested.connect(self._ask)
        self.add.clicked.connect(lambda: self._ask(False))
        self.own.clicked.connect(lambda: self._ask(True))
        self.guard("")

    def _fill(self) -> None:
        groups: dict[str, QtWidgets.QTreeWidgetItem] = {}
        for quantity in QUANTITIES:
            if quantity.group not in groups:
                groups[quantity.group] = _item(self.tree, tr(quantity.group), "", ())
            self._fill_quantity(groups[quantity.group], quantity)
        self.tree.topLevelItem(0).setExpanded(True)

    def offer_sensors(self, sensors: Sequence[SensorChannels]) -> None:
        """Show the signals of these external sensors in a group of their own, in place of those before."""
        if tuple(sensors) == self._sensors:
            return
        self._sensors = tuple(sensors)
        if self._sensor_group is not None:
            self.tree.takeTopLevelItem(self.tree.indexOfTopLevelItem(self._sensor_group))
            self._sensor_group = None
        if sensors:
            self._sensor_group = _item(self.tree, tr(SENSOR_GROUP), "", ())
            for quantity in (each for sensor in sensors for each in sensor_quantities(sensor)):
                self._fill_quantity(self._sensor_group, quantity)
        if self.search.text():
            self._filter(self.search.text())

    def _fill_quantity(self, group: QtWidgets.QTreeWidgetItem, quantity: Quantity) -> None:
        item = _item(group, tr(quantity.title), tr(quantity.unit), quantity.keys)
        item.setToolTip(0, f"{tr(quantity.title)}\n{quantity.meaning}")
        if len(quantity.keys) > 1:
            self._fill_columns(item, quantity)

    def _fill_columns(self, parent: QtWidgets.QTreeWidgetItem, quantity: Quantity) -> None:
        for key, column, colour in zip(quantity.keys, quantity.columns, quantity.colours, strict=True):
            text = tr("leg {leg}").format(leg=column) if quantity.per_leg else column
            item = _item(parent, text, tr(quantity.unit), (key,))
            item.setToolTip(0, key)
            if colour.startswith("#"):
                picture = QtGui.QPixmap(_ICON, _ICON)
                picture.fill(QtGui.QColor(colour))
                item.setIcon(0, QtGui.QIcon(picture))

    @property
    def chosen(self) -> tuple[str, ...]:
        """Return the keys of the selected signals, including those of selected quantities."""
        items = [item for item in self._items() if item.isSelected() and not item.isHidden()]
        return tuple(dict.fromkeys(key for item in items for key in item.data(0, _KEYS)))

    def choose(self, keys: Sequence[str]) -> None:
        """Select exactly these signals, by key."""
        self.tree.clearSelection()
        for item in self._items():
            if item.childCount() == 0 and item.data(0, _KEYS)[0] in keys:
                item.setSelected(True)
                self.tree.scrollToItem(item)

    def guard(self, unfit: str, closed: str = "") -> None:
        """Show why the selection cannot be added to the selected plot, and why nothing can be; empty if allowed."""
        none = closed or ("" if self.chosen else _NOT_CHOSEN)
        self.own.set_obstacle(none)
        self.add.set_obstacle(none or unfit)

    def _items(self) -> list[QtWidgets.QTreeWidgetItem]:
        found: list[QtWidgets.QTreeWidgetItem] = []
        ahead = [self.tree.topLevelItem(number) for number in range(self.tree.topLevelItemCount())]
        while ahead:
            item = ahead.pop(0)
            found.append(item)
            ahead = [item.child(number) for number in range(item.childCount())] + ahead
        return found

    def _words(self, place: QtCore.QPoint) -> str:
        item = self.tree.itemAt(place)
        if item is None or not item.data(0, _KEYS) or not item.isSelected():
            return ""
        first, *others = self.chosen
        return and_more(signal_of(first).label, len(others))

    def _ask(self, own: bool) -> None:
        if self.chosen:
            self.add_requested.emit(self.chosen, own)
        elif (item := self.tree.currentItem()) is not None:
            item.setExpanded(not item.isExpanded())

    def _activated(self, item: QtWidgets.QTreeWidgetItem) -> None:
        if item.data(0, _KEYS):
            self._ask(False)
        else:
            item.setExpanded(not item.isExpanded())

    def _into_tree(self) -> None:
        """Move the focus into the tree, to the first match."""
        for item in self._items():
            if item.childCount() == 0 and not item.isHidden():
                self.tree.setCurrentItem(item)
                self.tree.setFocus()
                return

    def _filter(self, text: str) -> None:
        """Show the signals whose names contain all words, and their parents."""
        words = text.lower().split()
        self.tree.clearSelection()
        for item in reversed(self._items()):  # children come after their parent
            path = _path(item)
            fits = all(word in path for word in words)
            inside = any(not item.child(number).isHidden() for number in range(item.childCount()))
            item.setHidden(not (fits if item.childCount() == 0 else inside))
            item.setExpanded(bool(words) and inside)
        if not words:
            self.tree.topLevelItem(0).setExpanded(True)


def _item(
    parent: QtWidgets.QTreeWidget | QtWidgets.QTreeWidgetItem, text: str, unit: str, keys: tuple[str, ...]
) -> QtWidgets.QTreeWidgetItem:
    item = QtWidgets.QTreeWidgetItem(parent, [text, unit])
    item.setData(0, _KEYS, keys)
    return item


def _path(item: QtWidgets.QTreeWidgetItem) -> str:
    texts = [*item.data(0, _KEYS)]
    above: QtWidgets.QTreeWidgetItem | None = item
    while above is not None:
        texts += [above.text(0), above.text(1)]
        above = above.parent()
    return " ".join(texts).lower()
