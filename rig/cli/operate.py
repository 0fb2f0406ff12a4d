"""`rig operate`: step-by-step operation from a terminal or a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.live import OutputFolder, RateOption, RealTimeOption, begin_server_unless, finish
from rig.cli.options import ConfigArgument, warn_of_checks_off

if TYPE_CHECKING:
    from rig.client import LiveRig, LockstepRig


def operate(
    config: ConfigArgument = "virtual",
    rate: RateOption = None,
    lockstep: Annotated[
        bool,
        typer.Option(
            "--lockstep", help="A virtual rig only: in one process on a manual clock, which stops between commands."
        ),
    ] = False,
    real_time: RealTimeOption = False,
    attach: Annotated[
        bool,
        typer.Option("--attach", help="Take over a running engine in any state, for example after a crash of its app."),
    ] = False,
    output: OutputFolder = None,
) -> None:
    """Operate a rig step by step: one command per line, typed at the prompt or piped in as a script.

    `help` lists the commands: connect, home, engage, jog, go, run, pause, stop, park and more. A script ends at its
    first error, with that error's exit code. In any case the rig is brought to rest and a report is written. Ctrl-C
    stops the rig in a controlled way; a second one while it stops takes the torque off at once and ends.
    """
    import sys

    begin_server_unless(lockstep or attach)
    from rig.cli.console import Console
    from rig.cli.progress import compile_progress_lines
    from rig.client import Interruption, conduct
    from rig.errors import InputError
    from rig.services import found_engine, run_config

    if sys.stdin is None:
        raise InputError("there is no standard input to read commands from")
    settings = run_config(config, rate, lockstep, real_time)
    warn_of_checks_off(settings)
    if attach and (rate is not None or lockstep or real_time or output is not None):
        raise InputError("--attach: the engine already has its rate, clock and recording")
    engine = found_engine(settings) if attach else None
    interruption = Interruption()

    def body(rig: LockstepRig | LiveRig) -> None:
        Console(rig, interruption, terminal=sys.stdin.isatty()).serve()

    result = conduct(
        settings,
        body,
        "operate",
        output,
        interruption,
        lockstep=lockstep,
        report=lambda _progress: None,
        report_compiling=compile_progress_lines(),
        engine=engine,
    )
    finish(result, as_json=False)
