"""Live views on the screen, and what of them tests look at."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from live_rows import MECHANISM, live_rows
from pyqtgraph.Qt import QtCore
from pytestqt.qtbot import QtBot

from gui.live import LiveView, PlatformView
from gui.live.platform_flat import PlatformFlat
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.models.timeline import Floats, History
from gui.widgets.theme import DARK


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


def out_of_picture(view: PlatformView) -> Floats:
    """By how many px each joint and mark is out of the 3-D picture, at most 0 for one within."""
    picture, scene = view.picture, view.picture.scene
    assert scene is not None and not isinstance(picture, PlatformFlat)
    marks = [mark.place for mark in picture.view.content.marks]
    places = np.array([*scene.base, *scene.platform, *marks])
    seen = np.array([xy_of(point) for point in picture.view.place_of(places)])
    size = np.array([picture.view.width(), picture.view.height()])
    amounts: Floats = np.maximum(-seen, seen - size).max(axis=1)
    return amounts


def xy_of(point: QtCore.QPointF) -> Floats:
    """Both coordinates, px."""
    return np.array([point.x(), point.y()])
