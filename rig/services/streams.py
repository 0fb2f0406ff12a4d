"""A running rig's telemetry, live, to a tool that draws it."""

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
    """A tool, where it is, and the engine whose telemetry it gets."""

    tool: Literal["plotjuggler", "foxglove"]
    config: str = "virtual"
    """a configuration's file, or the name of a shipped one: the engine that commands its drives"""
    engine: int | None = None
    """process id of an engine, in place of the configuration's"""
    host: str = _LOOPBACK
    port: int | None = None
    """None: the tool's usual one"""
    rate: float = 100.0
    """cycles a second, at most"""


@dataclass(frozen=True, slots=True)
class StreamResult:
    """How many cycles were sent, and whether the engine has ended."""

    sent: int
    engine_ended: bool


def stream_telemetry(
    request: StreamRequest, progress: OnEvent = no_progress, *, ended: Callable[[], bool] = lambda: False
) -> StreamResult:
    """Send telemetry until the engine ends, or `ended` is true. It only looks.

    The event "streaming" comes once it begins. Its values: place, in words; address, what the tool opens; steps, what
    a person does there.

    Raises:
        InputError: the configuration, the rate, or an address that cannot be.
        HardwareError: no such engine, or an address that is taken.
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
