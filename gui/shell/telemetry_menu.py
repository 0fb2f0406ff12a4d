"""The menu that sends telemetry to tools which draw it: off until it is chosen, and to this machine alone."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import JobRunner, Phase, RigSession
from gui.texts import tr
from rig.services import Event, Progress, StreamRequest, stream_telemetry


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool: its key in a `StreamRequest`, its name, and what a person has to do in it.

    `page` opens it, given the `address`, or says how it is installed; `program` is started in place of that where there
    is one of that name.
    """

    key: Literal["plotjuggler", "foxglove"]
    name: str
    how: str
    page: str
    program: str = ""


_TOOLS = (
    _Tool(
        "plotjuggler",
        "PlotJuggler",
        tr("In PlotJuggler (plotjuggler.io) start Streaming → UDP Server with that port and JSON."),
        "https://plotjuggler.io",
        "plotjuggler",
    ),
    _Tool(
        "foxglove",
        "Foxglove",
        tr(
            "In Foxglove (foxglove.dev/download, or in a browser) open a connection, Foxglove WebSocket, to that "
            "address."
        ),
        "https://app.foxglove.dev/~/view?ds=foxglove-websocket&ds.url={address}&openIn=desktop",
    ),
)
_OPENS = tr("Send to it, and bring it up: what is installed, or the page that has it")
_OFF = tr("connect first: there is no telemetry without an engine")


class TelemetryMenu(QtWidgets.QMenu):
    """Two entries for each tool: one sends to it and is ticked meanwhile, the other brings it up as well.

    `rig.services.stream_telemetry` sends, in a process of its own.

    Args:
        session: the rig that the app operates.
        remark: told where the telemetry goes, and what to do there.
        refuse: told what did not work, and why.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        remark: Callable[[str], None],
        refuse: Callable[[str, str], None],
        parent: QtWidgets.QWidget,
    ) -> None:
        super().__init__(tr("Send &telemetry to"), parent)
        self.setToolTipsVisible(True)
        self._session, self._remark, self._refuse = session, remark, refuse
        self.entries = {tool.key: self._add(tool) for tool in _TOOLS}
        self.addSeparator()
        self.openers = {tool.key: self._add_opener(tool) for tool in _TOOLS}
        self._jobs: dict[str, JobRunner] = {}
        self._places: dict[str, tuple[str, str]] = {}
        """where it is sent to, in words and as an address, once that is told"""
        self._to_open: set[str] = set()
        """tools that are brought up once they are sent to"""
        session.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Enable the entries, or say why they are not."""
        up = self._session.phase is Phase.UP and self._session.engine_pid is not None
        for tool in _TOOLS:
            action = self.entries[tool.key]
            running = tool.key in self._jobs
            action.setEnabled(up or running)
            action.setChecked(running)
            action.setToolTip(self._said(tool) if up or running else _OFF)
            action.setStatusTip("" if up or running else _OFF)
            opener = self.openers[tool.key]
            opener.setEnabled(up or running)
            opener.setToolTip(_OPENS if up or running else _OFF)
            opener.setStatusTip("" if up or running else _OFF)

    def _said(self, tool: _Tool) -> str:
        place = self._places.get(tool.key)
        return tool.how if place is None else tr("Telemetry goes {place}. {how}").format(place=place[0], how=tool.how)

    def close_streams(self) -> None:
        """Send to nobody any more. May be called again."""
        for key in list(self._jobs):
            self._end(key)

    def _add(self, tool: _Tool) -> QtGui.QAction:
        action = self.addAction(f"&{tool.name}")
        action.setCheckable(True)
        action.triggered.connect(lambda wanted: self._choose(tool, wanted))
        return action

    def _add_opener(self, tool: _Tool) -> QtGui.QAction:
        action = self.addAction(tr("Open in {name} …").format(name=tool.name))
        action.triggered.connect(lambda _checked=False: self._open(tool))
        return action

    def _open(self, tool: _Tool) -> None:
        if tool.key in self._places:
            self._bring_up(tool)
            return
        self._to_open.add(tool.key)
        if tool.key not in self._jobs:
            self._choose(tool, True)

    def _bring_up(self, tool: _Tool) -> None:
        program = shutil.which(tool.program) if tool.program else None
        if program is not None and QtCore.QProcess.startDetached(program, []):
            return
        page = tool.page.format(address=self._places[tool.key][1])
        opened = QtGui.QDesktopServices.openUrl(QtCore.QUrl(page))
        lacks = tr("{name} is not installed here. ").format(name=tool.name) if tool.program else ""
        shown = tr("Its page: {page}") if opened else tr("No browser came up; the page is {page}")
        self._remark(f"{self._said(tool)} {lacks}{shown.format(page=page)}")

    def _choose(self, tool: _Tool, wanted: bool) -> None:
        engine = self._session.engine_pid
        if not wanted or tool.key in self._jobs or engine is None:
            self._end(tool.key)
            self.refresh()
            return
        job = JobRunner(self)
        job.reported.connect(lambda event: self._take(tool, event))
        job.ended.connect(lambda _result, error: self._ended(tool, error))
        self._jobs[tool.key] = job
        job.start(stream_telemetry, StreamRequest(tool.key, engine=engine))
        self.refresh()

    def _take(self, tool: _Tool, event: Event) -> None:
        if isinstance(event, Progress):
            place = event.values["place"]
            self._session.log("info", "telemetry", place)
            self._places[tool.key] = place, event.values["address"]
            self._remark(self._said(tool))
            self.refresh()
            if tool.key in self._to_open:
                self._to_open.discard(tool.key)
                self._bring_up(tool)

    def _ended(self, tool: _Tool, error: Exception | None) -> None:
        self._end(tool.key)
        if error is not None:
            self._session.log("warning", "telemetry", str(error))
            self._refuse(tr("telemetry to {name}").format(name=tool.name), str(error))
        self.refresh()

    def _end(self, key: str) -> None:
        self._places.pop(key, None)
        self._to_open.discard(key)
        job = self._jobs.pop(key, None)
        if job is not None:
            job.close()
            job.deleteLater()
