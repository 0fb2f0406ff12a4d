"""Dashboards: plots that a person puts together of any signals of telemetry, live and over a recording.

`DashboardPage` is a page for a live view, over the `Dashboards` kept in a file.
"""

from gui.dashboard.dashboard_page import DashboardPage
from gui.dashboard.dashboard_selector import Dashboards
from gui.dashboard.layout import Side

__all__ = ["DashboardPage", "Dashboards", "Side"]
