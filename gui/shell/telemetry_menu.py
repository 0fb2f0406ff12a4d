"""The menu that sends telemetry to tools which draw it: off until it is chosen, and to this machine alone."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import STEP, Phase, RigCommand, RigSession, errors_and_warnings
from gui.texts import tr
from rig.errors import ExitCode


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool: how `rig stream` calls it, its name, and what a person has to do in it.

    `page` opens it, given the `address`, or says how it is installed; `program` is started in place of that where there
    is one of that name.
    """

    key: str
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

    It is `rig stream` that sends, in a process of its own.

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
        self._commands: dict[str, RigCommand] = {}
        self._places: dict[str, str] = {}
        """where it is sent to, once that is told"""
        self._to_open: set[str] = set()
        """tools that are brought up once they are sent to"""
        session.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Enable the entries, or say why they are not."""
        up = self._session.phase is Phase.UP and self._session.engine_pid is not None
        for tool in _TOOLS:
            action = self.entries[tool.key]
            running = tool.key in self._commands
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
        return tool.how if place is None else tr("Telemetry goes {place}. {how}").format(place=place, how=tool.how)

    def close_streams(self) -> None:
        """Send to nobody any more. May be called again."""
        for key in list(self._commands):
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
        if tool.key not in self._commands:
            self._choose(tool, True)

    def _bring_up(self, tool: _Tool) -> None:
        program = shutil.which(tool.program) if tool.program else None
        if program is not None and QtCore.QProcess.startDetached(program, []):
            return
        page = tool.page.format(address=self._places[tool.key].rpartition(" ")[2])
        opened = QtGui.QDesktopServices.openUrl(QtCore.QUrl(page))
        lacks = tr("{name} is not installed here. ").format(name=tool.name) if tool.program else ""
        shown = tr("Its page: {page}") if opened else tr("No browser came up; the page is {page}")
        self._remark(f"{self._said(tool)} {lacks}{shown.format(page=page)}")

    def _choose(self, tool: _Tool, wanted: bool) -> None:
        engine = self._session.engine_pid
        if not wanted or tool.key in self._commands or engine is None:
            self._end(tool.key)
            self.refresh()
            return
        command = RigCommand(self)
        command.told.connect(lambda line: self._told(tool, line))
        command.ended.connect(lambda code, _output, stream: self._ended(tool, code, stream))
        self._commands[tool.key] = command
        command.start(["stream", tool.key, "--engine", str(engine), "--progress"])
        self.refresh()

    def _told(self, tool: _Tool, line: str) -> None:
        if line.startswith(STEP):
            place = line.removeprefix(STEP)
            self._session.log("info", "telemetry", place)
            self._places[tool.key] = place
            self._remark(self._said(tool))
            self.refresh()
            if tool.key in self._to_open:
                self._to_open.discard(tool.key)
                self._bring_up(tool)

    def _ended(self, tool: _Tool, code: int, stream: str) -> None:
        self._end(tool.key)
        if code != ExitCode.OK:
            errors, _warnings = errors_and_warnings(stream)
            reason = "\n".join(errors) or stream.strip() or tr("the command ended with {code}").format(code=code)
            self._session.log("warning", "telemetry", reason)
            self._refuse(tr("telemetry to {name}").format(name=tool.name), reason)
        self.refresh()

    def _end(self, key: str) -> None:
        self._places.pop(key, None)
        self._to_open.discard(key)
        command = self._commands.pop(key, None)
        if command is not None:
            command.close()
            command.deleteLater()
