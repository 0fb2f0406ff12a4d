"""`rig follow`: a rig that follows set-points streamed in, from the network or of an FMU."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.live import (
    NoteOption,
    OperatorOption,
    OutputFolder,
    RateOption,
    RealTimeOption,
    ResetOption,
    begin_server_unless,
)
from rig.cli.options import ConfigArgument, JsonOption, UnprovenOption, named_by_option


class Frame(StrEnum):
    """Frames of a stream's poses."""

    BASE = "base"
    HOME = "home"
    PLATFORM = "platform"


def follow(
    config: ConfigArgument = "virtual",
    frame: Annotated[
        Frame | None,
        typer.Option("--frame", help="Frame of the poses, see stream.frame; left out: the configuration's."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            help="Port to listen on, 0: a free one; left out: the configuration's.",
            min=0,
            max=65535,
        ),
    ] = None,
    cue: Annotated[
        str | None,
        typer.Option(
            "--cue",
            metavar="TUNING",
            help="The stream is a vehicle's motion: send it through the washout of this tuning, a .toml file, which is "
            "read again when it changes, or the name of a shipped one.",
        ),
    ] = None,
    track: Annotated[
        Path | None,
        typer.Option(
            "--track",
            metavar="FILE",
            help="With --cue: play this vehicle's motion instead of waiting for a sender; CSV as for rig cue.",
        ),
    ] = None,
    fmu: Annotated[
        Path | None,
        typer.Option(
            "--fmu",
            metavar="FILE",
            help="Follow this FMU instead of a sender, its outputs by the names of the motion's quantities; left out: "
            "that of [reference], if the configuration has one.",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="S",
            help="End after so many s of the FMU's time; left out: when it ends itself.",
            min=1e-3,
            max=86400.0,
        ),
    ] = None,
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep", help="FMU or track in step with the rig on a manual clock: fast and deterministic."),
    ] = False,
    rate: RateOption = None,
    reset: ResetOption = False,
    real_time: RealTimeOption = False,
    unproven: UnprovenOption = False,
    operator: OperatorOption = None,
    note: NoteOption = None,
    output: OutputFolder = None,
    as_json: JsonOption = False,
) -> None:
    """Follow poses that another program sends, or an FMU gives: home, engage, follow them to their end, park, report.

    [stream] of the configuration says how they become the platform's motion, and [stream.receiver] where they come in:
    by UDP or as lines over TCP, from this machine alone unless it says otherwise, and then with a key. Packets, and
    senders in four languages, are in docs/streaming.md. In every cycle the sender is sent the state of the platform.
    With --cue the stream is a vehicle's specific force and angular rate, which a washout turns into poses, see
    docs/cueing.md. A simulator's model that is a functional mock-up unit is followed with --fmu or [reference], see
    docs/fmi.md. Ctrl-C brings the platform to rest, parks it and ends; a second one stops at once.
    """
    begin_server_unless(lockstep)
    from rig.cli.progress import service_events
    from rig.client import describe
    from rig.services import Event, FollowRequest, Progress, follow_stream

    texts = {"listening": "listening at {place}; Ctrl-C ends it", "following": "{what}", "tuned": "tuning: {what}"}
    with named_by_option(), service_events() as show:

        def report(event: Event) -> None:
            if isinstance(event, Progress) and event.stage in texts:
                typer.echo(texts[event.stage].format(**event.values), err=True)
            else:
                show(event)

        request = FollowRequest(
            config, None if frame is None else frame.value, port, cue, track, fmu, duration, lockstep, rate,
            reset=reset, real_time=real_time, unproven=unproven, operator=operator, note=note, output=output,
        )  # fmt: skip
        result = follow_stream(request, report)
    if as_json:
        typer.echo(json.dumps(result.summary, indent=2))
    elif result.run.summary:
        typer.echo(describe(result.run))
        if result.unit is not None:
            typer.echo(f"FMU        {result.unit.text}")
        elif track is None:
            typer.echo(f"stream     {result.stream.text}")
        if result.cueing is not None:
            typer.echo(f"cueing     {result.cueing.text}")
        if result.delay is not None:
            typer.echo(f"delay      {result.delay.text}")
    if result.run.error is not None:
        raise result.run.error
