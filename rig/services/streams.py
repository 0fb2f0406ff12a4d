"""Live telemetry of a running rig for a plotting tool."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

_LOOPBACK = "127.0.0.1"


@request
class StreamRequest:
    """A tool, its address, and the engine whose telemetry it receives."""

    tool: Literal["plotjuggler", "foxglove"]
    config: str = "virtual"
    """a configuration's file, or the name of a shipped one: the engine that commands its drives"""
    engine: int | None = None
    """process id of an engine, instead of the configuration's"""
    host: str = _LOOPBACK
    port: int | None = None
    """port; None: the tool's usual one"""
    rate: float = 100.0
    """cycles per second, maximum"""


@dataclass(frozen=True, slots=True)
class StreamResult:
    """Number of cycles sent, and whether the engine has ended."""

    sent: int
    engine_ended: bool


def stream_telemetry(
    request: StreamRequest, progress: OnEvent = no_progress, *, ended: Callable[[], bool] = lambda: False
) -> StreamResult:
    """Send telemetry until the engine ends, or `ended` is true. It commands nothing.

    The event "streaming" reports the start. Its values: place, as text; address, for the tool to open; steps, the
    user's steps there.

    Raises:
        InputError: the configuration, the rate, or an invalid address.
        HardwareError: no such engine, or an address in use.
    """
    from rig.client import FOXGLOVE_PORT, PLOTJUGGLER_PORT, FoxgloveOutlet, PlotJugglerOutlet, stream
    from rig.config import load_config
    from rig.services.engines import engine_process, found_engine

    juggler = request.tool == "plotjuggler"
    port = request.port
    if port is None:
        port = PLOTJUGGLER_PORT if juggler else FOXGLOVE_PORT
    pid = request.engine
    engine = found_engine(load_config(request.config)) if pid is None else engine_process(pid)
    notices = Notices(progress)
    outlet = PlotJugglerOutlet(request.host, port) if juggler else FoxgloveOutlet(request.host, port)
    stopped = False

    def asked() -> bool:
        nonlocal stopped
        stopped = ended()
        return stopped

    with closing(outlet):
        values = {"place": outlet.place, "address": outlet.address, "steps": outlet.steps}
        progress(Progress("streaming", values=values))
        sent = stream(
            engine,
            outlet,
            request.rate,
            asked,
            lambda fault: notices.add("not-sent", f"cycles are not sent: {fault}"),
        )
    return StreamResult(sent, not stopped)
