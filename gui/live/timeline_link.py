"""The timeline and the curves of a recording show the same: cursors, and the times that somebody chose."""

from pyqtgraph.Qt import QtCore

from gui.live.live_view import LiveView
from gui.live.plot_page import Plots
from gui.live.timeline_bar import TimelineBar


class TimelineLink(QtCore.QObject):
    """Carries what is moved on either to the other.

    Args:
        timeline: whose cursors are always there.
        live: whose cursors come and go by clicks.
    """

    def __init__(self, timeline: TimelineBar, live: LiveView) -> None:
        super().__init__(live)
        self._timeline, self._live = timeline, live
        timeline.zoomed.connect(live.show_span)
        timeline.measured.connect(live.set_cursors)
        for page in live.pages.values():
            if isinstance(page, Plots):
                page.moved.connect(timeline.show_span)
                page.pinned.connect(self._pinned)

    def begin(self) -> None:
        """Another recording is shown: what was measured in the one before is gone."""
        self._live.set_cursors(None, None)

    def _pinned(self, _t: float) -> None:
        cursors = self._live.cursors
        a, b = self._timeline.cursors or (None, None)
        if cursors.a is not None:  # B may follow the mouse still, which it does in the curves alone
            a, b = cursors.a, cursors.b if cursors.held else b
        if a is not None and b is not None:
            self._timeline.show_cursors(a, b)
