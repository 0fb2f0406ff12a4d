"""Dashboards: user-defined plots of any telemetry signals, live and over a recording.

`DashboardPage` is a page for a live view, over the `Dashboards` saved in a file.
"""

from gui.dashboard.dashboard_page import DashboardPage
from gui.dashboard.dashboard_selector import Dashboards
from gui.dashboard.layout import Side

__all__ = ["DashboardPage", "Dashboards", "Side"]
