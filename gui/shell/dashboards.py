"""The dashboards of the window: over the live telemetry, and over an opened recording."""

from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.dashboard import DashboardPage, Dashboards
from gui.live import LiveView
from gui.widgets import Theme

_FILE = "dashboards.toml"
_LIVE, _RECORDED = "dashboards", "recordings/dashboards"


class DashboardViews:
    """Both, of the same file, which lies beside the settings.

    Args:
        settings: what was kept of them.
        theme: colours.
    """

    def __init__(self, settings: QtCore.QSettings, theme: Theme) -> None:
        self.kept = Dashboards(Path(settings.fileName()).with_name(_FILE))
        self.page = DashboardPage(self.kept, theme)
        self.view = LiveView(theme, alone=self.page)
        self.view.restore(settings, _LIVE)
        self.page.restore(settings, _LIVE)
        self.recorded: DashboardPage | None = None

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
