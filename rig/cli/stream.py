"""`rig stream`: live telemetry of a running rig to PlotJuggler or Foxglove."""

from enum import StrEnum
from typing import Annotated

import typer

from rig.cli.options import ConfigArgument, ProgressOption, address_of

_LOOPBACK = "127.0.0.1"


class Tool(StrEnum):
    """Tools that can receive telemetry."""

    PLOTJUGGLER = "plotjuggler"
    FOXGLOVE = "foxglove"


def stream(
    tool: Annotated[Tool, typer.Argument(help="plotjuggler (receives datagrams) or foxglove (connects here).")],
    config: ConfigArgument = "virtual",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="HOST:PORT",
            help="Left out: this machine only, the tool's usual port.",
        ),
    ] = "",
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Maximum cycles per second.")] = 100.0,
    process: Annotated[
        int | None,
        typer.Option(
            "--engine", metavar="PID", help="Process id of an engine, instead of CONFIG's, for example an app's."
        ),
    ] = None,
    progress: ProgressOption = False,
) -> None:
    """Send a running rig's telemetry to a plotting tool, until Ctrl-C or the rig's end. Read-only.

    PlotJuggler: start its UDP Server on the printed port, with JSON. Foxglove: open a connection to the printed
    WebSocket address; it needs the extra `foxglove`. Messages are those of a recording.
    """
    from rig.cli.progress import print_notice, print_step
    from rig.client import Interruption
    from rig.services import Event, Notice, StreamRequest, stream_telemetry

    host, port = address_of(at, "--at", least=int(tool is Tool.PLOTJUGGLER)) if at else (_LOOPBACK, None)
    request = StreamRequest(tool.value, config, process, host, port, rate)
    interruption = Interruption()

    def report(event: Event) -> None:
        if isinstance(event, Notice):
            print_notice(event)
        elif progress:
            print_step(event.values["place"])
        else:
            typer.echo(f"{event.values['place']}: {event.values['steps']}; Ctrl-C ends it")

    with interruption.installed():
        result = stream_telemetry(request, report, ended=lambda: bool(interruption.count))
    typer.echo(f"{result.sent} cycles were sent" + ("" if interruption.count else "; the engine has ended"))
