"""The page of dashboards on the screen, one for all tests of a module, and what is kept of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_rows import MECHANISM
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets

from gui.dashboard import DashboardPage, Dashboards
from gui.dashboard.layout import Dashboard
from gui.live import LiveView
from gui.models.timeline import History
from gui.widgets.theme import DARK


@pytest.fixture(scope="module")
def boards_view(qapp: QtWidgets.QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveView]:
    """The view of the dashboards, one for all tests of a module."""
    boards = DashboardPage(Dashboards(tmp_path_factory.mktemp("dashboards") / "dashboards.toml"), DARK)
    view = LiveView(DARK, alone=boards)
    view.set_mechanism(MECHANISM)
    view.resize(1000, 640)
    view.show()
    assert QtTest.QTest.qWaitForWindowExposed(view)
    yield view
    view.close()
    view.close_worker()
    view.deleteLater()
    QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


@pytest.fixture
def boards(boards_view: LiveView, tmp_path: Path) -> DashboardPage:
    """The page without a dashboard, on a file of the test's own."""
    boards = boards_view.pages["Dashboards"]
    assert isinstance(boards, DashboardPage)
    boards.choice._dashboards.file.path = tmp_path / "dashboards.toml"
    boards._display_state.clear()
    boards.choice.choose("")
    boards.tree.search.clear()
    boards.tree.choose([])
    assert boards.panels == [] and boards.choice.name == "Dashboard"
    return boards


@pytest.fixture
def boards_history(boards_view: LiveView, history: History) -> History:
    """Twelve seconds of telemetry, in view."""
    boards_view.refresh(history)
    return history


def file_of(boards: DashboardPage) -> Dashboards:
    """What the page shows, opened anew."""
    return Dashboards(boards.choice._dashboards.file.path)


def kept_dashboards(boards: DashboardPage) -> dict[str, Dashboard]:
    return file_of(boards).all()


def shape_of(boards: DashboardPage) -> list[list[str]]:
    """First signals of the plots, by rows; as they are kept and as they are shown."""
    rows = kept_dashboards(boards)[boards.choice.name].rows
    assert [plot.signals for plot in boards.board.plots] == [plot.signals for row in rows for plot in row.plots]
    return [[plot.signals[0] for plot in row.plots] for row in rows]
