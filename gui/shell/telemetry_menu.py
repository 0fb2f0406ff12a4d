"""The menu that sends telemetry to tools which draw it: off until it is chosen, and to this machine alone."""

from collections.abc import Callable
from dataclasses import dataclass

from pyqtgraph.Qt import QtGui, QtWidgets

from gui.session import STEP, Phase, RigCommand, RigSession, errors_and_warnings
from gui.texts import tr
from rig.errors import ExitCode


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool: how `rig stream` calls it, its name, and what a person has to do in it."""

    key: str
    name: str
    how: str


_TOOLS = (
    _Tool(
        "plotjuggler",
        "PlotJuggler",
        tr("In PlotJuggler (plotjuggler.io) start Streaming → UDP Server with that port and JSON."),
    ),
    _Tool(
        "foxglove",
        "Foxglove",
        tr(
            "In Foxglove (foxglove.dev/download, or in a browser) open a connection, Foxglove WebSocket, to that "
            "address."
        ),
    ),
)
_OFF = tr("connect first: there is no telemetry without an engine")


class TelemetryMenu(QtWidgets.QMenu):
    """One entry for each tool, ticked while it is sent to; by `rig stream`, in a process of its own.

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
        self._commands: dict[str, RigCommand] = {}
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
            action.setToolTip(tool.how if up or running else _OFF)
            action.setStatusTip("" if up or running else _OFF)

    def close_streams(self) -> None:
        """Send to nobody any more. May be called again."""
        for key in list(self._commands):
            self._end(key)

    def _add(self, tool: _Tool) -> QtGui.QAction:
        action = self.addAction(f"&{tool.name}")
        action.setCheckable(True)
        action.triggered.connect(lambda wanted: self._choose(tool, wanted))
        return action

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
            self._remark(tr("Telemetry goes {place}. {how}").format(place=place, how=tool.how))

    def _ended(self, tool: _Tool, code: int, stream: str) -> None:
        self._end(tool.key)
        if code != ExitCode.OK:
            errors, _warnings = errors_and_warnings(stream)
            reason = "\n".join(errors) or stream.strip() or tr("the command ended with {code}").format(code=code)
            self._session.log("warning", "telemetry", reason)
            self._refuse(tr("telemetry to {name}").format(name=tool.name), reason)
        self.refresh()

    def _end(self, key: str) -> None:
        command = self._commands.pop(key, None)
        if command is not None:
            command.close()
            command.deleteLater()
