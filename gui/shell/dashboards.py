"""The dashboards of the window: over the live telemetry, and over an opened recording."""

from collections.abc import Iterator
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.dashboard import DashboardPage, Dashboards
from gui.live import LiveView
from gui.widgets import Theme

_FILE = "dashboards.toml"
_LIVE, _RECORDED = "dashboards", "recordings/dashboards"


class DashboardViews:
    """Both, of the same file, which lies beside the settings; `build` makes what is over the live telemetry.

    Args:
        settings: what was kept of them.
        theme: colours.
    """

    def __init__(self, settings: QtCore.QSettings, theme: Theme) -> None:
        self.kept = Dashboards(Path(settings.fileName()).with_name(_FILE))
        self._settings, self._theme = settings, theme
        self.recorded: DashboardPage | None = None

    def build(self) -> Iterator[None]:
        """Make page and view."""
        self.page = DashboardPage(self.kept, self._theme)
        yield
        self.view = LiveView(self._theme, alone=self.page)
        yield
        self.view.restore(self._settings, _LIVE)
        self.page.restore(self._settings, _LIVE)
        yield

    def add_to(self, recordings: LiveView, settings: QtCore.QSettings, theme: Theme) -> None:
        """Put a page of dashboards to those of a recording."""
        self.recorded = DashboardPage(self.kept, theme)
        self.recorded.restore(settings, _RECORDED)
        recordings.add_page(self.recorded.accessibleName(), self.recorded)

    def close(self, settings: QtCore.QSettings) -> None:
        """Keep what is shown how, and end the threads of exports. May be called again."""
        self.view.close_worker()
        self.view.save(settings, _LIVE)
        self.page.save(settings, _LIVE)
        if self.recorded is not None:
            self.recorded.save(settings, _RECORDED)
