"""Stacked pages and tabs."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr


class PageStack(QtWidgets.QStackedWidget):
    """As high as the current page and as wide as the widest: by default the highest would make all scroll."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(lambda _index: self.updateGeometry())

    def sizeHint(self) -> QtCore.QSize:
        """See the class."""
        page, size = self.currentWidget(), super().sizeHint()
        return size if page is None else QtCore.QSize(size.width(), page.sizeHint().height())

    def minimumSizeHint(self) -> QtCore.QSize:
        """See the class."""
        page, size = self.currentWidget(), super().minimumSizeHint()
        return size if page is None else QtCore.QSize(size.width(), page.minimumSizeHint().height())

    def heightForWidth(self, width: int) -> int:
        """The height of the current page, px."""
        page = self.currentWidget()
        return -1 if page is None else int(page.heightForWidth(width))


def put_tab(tabs: QtWidgets.QTabWidget, page: QtWidgets.QWidget, name: str, index: int = -1) -> None:
    """Add a page to tabs, by default at the end. Its name is untranslated, the tab's text translated."""
    place = tabs.insertTab(index, page, tr(name))
    tabs.tabBar().setTabData(place, name)


def tab_name(tabs: QtWidgets.QTabWidget, index: int) -> str:
    """Return the name of a page as given to `put_tab`; otherwise the text of its tab."""
    return str(tabs.tabBar().tabData(index) or tabs.tabText(index))


def plain_tabs(name: str) -> QtWidgets.QTabWidget:
    """Return tabs without a frame, with an accessible name."""
    tabs = QtWidgets.QTabWidget()
    tabs.setDocumentMode(True)
    tabs.tabBar().setDrawBase(False)
    tabs.setAccessibleName(name)
    return tabs
