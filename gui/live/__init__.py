"""Live views: plots of telemetry, the platform, recordings replayed through the same.

`LiveView(theme)`, `PlatformView(theme)` and `RecordingsView(theme)` each have `refresh(history)`, called by the clock
of frames while they are visible, `set_theme(theme)` and `set_mechanism(mechanism)`; `close_worker()` ends the threads
of the first and the last. All read a `gui.history.Timeline`.
"""

from gui.live.builtin_pages import DerivedPlots, Sources
from gui.live.decimation import decimate
from gui.live.live_view import LiveView
from gui.live.numbers import number_text
from gui.live.platform_view import PlatformView
from gui.live.plot import Plot, header_label, swatch
from gui.live.plot_page import Plots
from gui.live.plot_panel import PlotPanel, last_of
from gui.live.recording_list import Found, recordings_counted, recordings_in
from gui.live.recordings_view import RecordingsView
from gui.live.replay import Replay, ReplayBar
from gui.live.series import EXACT, MODEL_NAMES, Differences, Panel, Series, length_error, wrench_of

__all__ = [
    "EXACT",
    "MODEL_NAMES",
    "DerivedPlots",
    "Differences",
    "Found",
    "LiveView",
    "Panel",
    "PlatformView",
    "Plot",
    "PlotPanel",
    "Plots",
    "RecordingsView",
    "Replay",
    "ReplayBar",
    "Series",
    "Sources",
    "decimate",
    "header_label",
    "last_of",
    "length_error",
    "number_text",
    "recordings_counted",
    "recordings_in",
    "swatch",
    "wrench_of",
]
