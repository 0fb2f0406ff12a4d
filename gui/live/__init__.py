"""Live views: plots of telemetry, the platform, and recordings replayed through the same views.

The frame clock calls `refresh(history)` of the visible `LiveView`, `PlatformView` and `RecordingsView`. Each has
`set_theme(theme)` and `set_mechanism(mechanism)`; `close_worker()` ends their threads. All read a
`gui.models.Timeline`.
"""

from gui.live.builtin_pages import DerivedPlots, Sources
from gui.live.live_view import LiveView
from gui.live.platform_view import PlatformView
from gui.live.plot import Plot, header_label, swatch
from gui.live.plot_page import Plots
from gui.live.plot_panel import PlotPanel, last_of
from gui.live.recordings_view import RecordingsView
from gui.live.replay import ReplayBar

__all__ = [
    "DerivedPlots",
    "LiveView",
    "PlatformView",
    "Plot",
    "PlotPanel",
    "Plots",
    "RecordingsView",
    "ReplayBar",
    "Sources",
    "header_label",
    "last_of",
    "swatch",
]
