"""Pages of which one is in front."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr


class PageStack(QtWidgets.QStackedWidget):
    """As high as the page in front and as wide as the widest: Qt would have the highest make all of them scroll."""

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
        """That of the page in front, px."""
        page = self.currentWidget()
        return -1 if page is None else int(page.heightForWidth(width))


def put_tab(tabs: QtWidgets.QTabWidget, page: QtWidgets.QWidget, name: str, index: int = -1) -> None:
    """Put a page among the tabs, left out where: behind them. Its name stays what it is, the tab is in any language."""
    place = tabs.insertTab(index, page, tr(name))
    tabs.tabBar().setTabData(place, name)


def tab_name(tabs: QtWidgets.QTabWidget, index: int) -> str:
    """The name of a page, as `put_tab` was given it; of one that came otherwise the text of its tab."""
    return str(tabs.tabBar().tabData(index) or tabs.tabText(index))


def plain_tabs(name: str) -> QtWidgets.QTabWidget:
    """Tabs without a frame about their pages, with an accessible name."""
    tabs = QtWidgets.QTabWidget()
    tabs.setDocumentMode(True)
    tabs.tabBar().setDrawBase(False)
    tabs.setAccessibleName(name)
    return tabs
