"""`rig stream`: a running rig's telemetry, live, to PlotJuggler or Foxglove."""

from enum import StrEnum
from typing import Annotated

import typer

from rig.cli.options import ConfigArgument, ProgressOption, address_of, print_warning

_LOOPBACK = "127.0.0.1"


class Tool(StrEnum):
    """Who can be sent telemetry."""

    PLOTJUGGLER = "plotjuggler"
    FOXGLOVE = "foxglove"


def stream(
    tool: Annotated[Tool, typer.Argument(help="plotjuggler (datagrams to it) or foxglove (it connects to here).")],
    config: ConfigArgument = "virtual",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="HOST:PORT",
            help="Left out: this machine alone, at the tool's usual port.",
        ),
    ] = "",
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Cycles a second, at most.")] = 100.0,
    process: Annotated[
        int | None,
        typer.Option(
            "--engine", metavar="PID", help="The engine that is this process, in place of CONFIG's: that of an app."
        ),
    ] = None,
    progress: ProgressOption = False,
) -> None:
    """Send a running rig's telemetry to a tool that plots it, until Ctrl-C or the rig's end. It only looks.

    PlotJuggler: start its UDP Server on the port that is said, with JSON. Foxglove: open a connection to the WebSocket
    that is said; it needs the extra `foxglove`. Messages are those of a recording.
    """
    from contextlib import closing

    from rig.cli.engine import engine_process, found_engine
    from rig.cli.progress import print_step
    from rig.client import (
        FOXGLOVE_PORT,
        PLOTJUGGLER_PORT,
        FoxgloveOutlet,
        Interruption,
        PlotJugglerOutlet,
    )
    from rig.client import stream as stream_rows
    from rig.config import load_config

    port = PLOTJUGGLER_PORT if tool is Tool.PLOTJUGGLER else FOXGLOVE_PORT
    place = address_of(at, "--at", least=int(tool is Tool.PLOTJUGGLER)) if at else (_LOOPBACK, port)
    engine = found_engine(load_config(config)) if process is None else engine_process(process)
    interruption = Interruption()
    with closing(PlotJugglerOutlet(*place) if tool is Tool.PLOTJUGGLER else FoxgloveOutlet(*place)) as outlet:
        if progress:
            print_step(outlet.place)
        else:
            typer.echo(f"{outlet.place}: {outlet.steps}; Ctrl-C ends it")
        with interruption.installed():
            sent = stream_rows(
                engine,
                outlet,
                rate,
                lambda: bool(interruption.count),
                lambda fault: print_warning(f"cycles are not sent: {fault}"),
            )
    typer.echo(f"{sent} cycles were sent" + ("" if interruption.count else "; the engine has ended"))
