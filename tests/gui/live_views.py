"""Live views on the screen, and what of them tests look at."""

from collections.abc import Callable, Iterator

import pytest
from live_rows import MECHANISM, live_rows
from pytestqt.qtbot import QtBot

from gui.history import History
from gui.live import LiveView
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.theme import DARK


@pytest.fixture
def live_view(qtbot: QtBot) -> Iterator[Callable[[int, int], LiveView]]:
    """Makes live views of a width and height, px, on the screen."""
    made: list[LiveView] = []

    def show(width: int, height: int) -> LiveView:
        view = LiveView(DARK)
        made.append(view)
        qtbot.addWidget(view)
        view.set_mechanism(MECHANISM)
        view.resize(width, height)
        with qtbot.waitExposed(view):
            view.show()
        return view

    yield show
    for view in made:
        view.close()
        view.close_worker()


@pytest.fixture
def view(live_view: Callable[[int, int], LiveView]) -> LiveView:
    """A live view as large as the main window leaves it."""
    return live_view(1080, 640)


@pytest.fixture
def history() -> History:
    """Twelve seconds of telemetry."""
    filled = History(30_000)
    filled.append(live_rows(6000, offset=0.25))
    return filled


def panel_of(view: LiveView, page: str, number: int = 0) -> PlotPanel:
    """A panel of a page, which is brought to the front."""
    plots = view.pages[page]
    assert isinstance(plots, PlotPage)
    view.tabs.setCurrentWidget(plots)
    return plots.panels[number]


def value_of(name: str, *numbers: str) -> str:
    """How a header has the numbers of a column."""
    return f"▮</span><b>{name}</b>&nbsp;" + "/\u2060".join(numbers)
