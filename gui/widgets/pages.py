"""Pages of which one is in front."""

from pyqtgraph.Qt import QtCore, QtWidgets


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


def plain_tabs(name: str) -> QtWidgets.QTabWidget:
    """Tabs without a frame about their pages, with an accessible name."""
    tabs = QtWidgets.QTabWidget()
    tabs.setDocumentMode(True)
    tabs.tabBar().setDrawBase(False)
    tabs.setAccessibleName(name)
    return tabs
