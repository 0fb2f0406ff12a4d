"""`rig demo`, `rig run` and `rig virtual`: run a rig."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import ConfigArgument, JsonOption, UnprovenOption

if TYPE_CHECKING:
    from rig.client import RunResult

OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="DIR", help="Folder for recording and report; left out: the configuration's."
    ),
]
RateOption = Annotated[
    float | None, typer.Option("--rate", metavar="HZ", help="Cycles per second; left out: the configuration's.")
]
RealTimeOption = Annotated[
    bool,
    typer.Option(
        "--real-time",
        help="Run the virtual rig in real time, so that a busy computer may be late. Left out: it waits for the "
        "engine.",
    ),
]


ResetOption = Annotated[
    bool,
    typer.Option("--reset", help="Reset existing drive faults, such as after a crash of the engine, and continue."),
]
OperatorOption = Annotated[
    str | None, typer.Option("--operator", metavar="NAME", help="Operator of the rig; stored in the recording.")
]
NoteOption = Annotated[
    str | None, typer.Option("--note", metavar="TEXT", help="Purpose of the run; stored in the recording.")
]


class DemoDrives(StrEnum):
    """Kinds of drives of `rig demo`."""

    TCP = "tcp"
    SERVO = "servo"
    ORCA = "orca"
    IAI = "iai"
    JRK_G2 = "jrk-g2"
    CANOPEN = "canopen"
    MIXED = "mixed"


class DemoPlant(StrEnum):
    """Equations of motion of the plant of `rig demo`."""

    EXACT = "exact"
    MUJOCO = "mujoco"


def demo(
    duration: Annotated[
        float, typer.Option("--duration", metavar="S", help="Length of the motion, s.", min=4.0, max=3600.0)
    ] = 20.0,
    rate: RateOption = None,
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep", help="Rig and engine in one process on a manual clock: fast and deterministic."),
    ] = False,
    real_time: RealTimeOption = False,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of the load cells' noise.", min=0)
    ] = None,
    built: Annotated[
        int,
        typer.Option("--as-built", metavar="SEED", help="Seed of the as-built machine.", min=0),
    ] = 1,
    exact: Annotated[
        bool, typer.Option("--exact", help="The plant equals the model: the residual is the cells' noise.")
    ] = False,
    plant: Annotated[
        DemoPlant,
        typer.Option(
            help="Equations of motion of the plant: the model's, or independently those of MuJoCo: pip install "
            "'stewart-rig[mujoco]'."
        ),
    ] = DemoPlant.EXACT,
    identify: Annotated[
        bool,
        typer.Option(
            "--identify",
            help="Then run an exciting motion, identify the parameters, and repeat the first motion with them.",
        ),
    ] = False,
    drives: Annotated[
        DemoDrives,
        typer.Option(
            help="The drives: servos on Modbus TCP, servos on two serial lines, ORCA motors, CiA 402 drives on one CAN "
            "bus, or ROBO Cylinders of IAI, which accept positions only, on one port each; serial ports and the CAN "
            "bus are pseudo-terminals here.",
        ),
    ] = DemoDrives.TCP,
    operator: OperatorOption = None,
    note: NoteOption = None,
    output: OutputFolder = None,
    as_json: JsonOption = False,
) -> None:
    """Run the virtual rig from end to end: home, engage, a motion over all six axes, park, report.

    Six virtual drives in a process of their own speak Modbus on free ports of this machine; the engine computes the
    forces of the exact model in every cycle and compares them with the load cells. No hardware is needed. The machine
    is as built: its masses deviate by 10 to 20 %, its joints by hundredths of a millimetre, and it has unmodelled
    friction. The residual of the drawing's model is shown, and that expected after identification; --identify performs
    it. The true parameters are in NAME.truth.toml next to the recording. Below 50 Hz, where the host's loop is
    unstable, the drives close it. Ctrl-C stops the rig in a controlled way and closes the recording; a second one stops
    at once.
    """
    if exact and identify:
        raise typer.BadParameter("the plant equals the model: nothing to identify", param_hint="'--identify'")
    begin_server_unless(lockstep)
    from rig.cli.progress import service_events
    from rig.services import DemoRequest, Event, Progress
    from rig.services import demo as run_demo

    with service_events() as show:

        def report(event: Event) -> None:
            if not (isinstance(event, Progress) and event.stage == "fitted"):
                show(event)
            else:
                typer.echo(_fitted_text(event.values), err=True)

        request = DemoRequest(
            duration,
            rate,
            lockstep,
            real_time,
            seed,
            as_built=built,
            exact=exact,
            plant=plant.value,
            identify=identify,
            drives=drives.value,
            operator=operator,
            note=note,
            output=output,
        )
        result = run_demo(request, report)
    if identify:
        from rig.cli.demo_identify import print_demo_identify

        print_demo_identify(result, as_json)
        return
    finish(result.last, as_json)
    if not exact and not as_json:
        typer.echo("to identify: `rig demo --identify`, or `rig identify` with a recording")


def _fitted_text(values: Mapping[str, Any]) -> str:
    """Return the line that says in which size the demo's motion is run, and what is predicted of it."""

    def of(name: str, unit: str, scale: float = 1.0) -> str:
        bound = values[f"{name}_bound"]
        most = f" of {scale * bound:.3g}" if math.isfinite(bound) else ""
        return f"{scale * values[name]:.2g}{most} {unit}"

    limit = _LIMITS[values["limited_by"]]
    return (
        f"the motion is run at {100 * values['size']:.0f} % of its size{limit and f', for a margin to {limit}'}; "
        f"predicted: following error {of('following', 'mm', 1e3)}, force residual {of('residual', 'N')}, legs "
        f"{of('speed', 'm/s')}, {of('acceleration', 'm/s²')}"
    )


_LIMITS = {
    "": "",
    "following": "safety.following_error",
    "residual": "safety.force_residual",
    "speed": "the drives' speed",
    "acceleration": "the drives' acceleration",
}
"""What a larger motion comes too near to."""


def run(
    config: ConfigArgument,
    trajectory: Annotated[
        str,
        typer.Argument(
            metavar="TRAJECTORY",
            help='A trajectory file (TOML), a table or a recording of a motion, or the shipped "demo".',
        ),
    ],
    amplitude: Annotated[
        float,
        typer.Option(
            "--amplitude",
            metavar="SCALE",
            help="Size of the motion about its start pose, 0.001 to 1.",
            min=1e-3,
            max=1.0,
        ),
    ] = 1.0,
    speed: Annotated[
        float,
        typer.Option(
            "--speed",
            metavar="PERCENT",
            help="Percentage of full speed, 10 to 100, along the same path.",
            min=10,
            max=100,
        ),
    ] = 100.0,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="Number of repetitions.", min=1, max=1000)] = 1,
    rate: RateOption = None,
    reset: ResetOption = False,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="A virtual rig only: in one process on a manual clock.")
    ] = False,
    real_time: RealTimeOption = False,
    unproven: UnprovenOption = False,
    operator: OperatorOption = None,
    note: NoteOption = None,
    output: OutputFolder = None,
    as_json: JsonOption = False,
) -> None:
    """Run a trajectory on a rig: home, engage, move to its start, follow it, park, report.

    With --repeat it moves back to the start between repetitions. The whole trajectory is checked first, at its
    amplitude; nothing moves if any sample is outside the limits. A configuration with a [virtual] table starts its
    virtual rig along with it. Ctrl-C stops the rig in a controlled way and closes the recording; a second one stops at
    once.
    """
    begin_server_unless(lockstep)
    from rig.cli.progress import service_events
    from rig.services import RunRequest
    from rig.services import run as run_trajectory

    with service_events() as show:
        request = RunRequest(
            config,
            trajectory,
            amplitude,
            speed / 100.0,
            repeat,
            rate,
            reset=reset,
            lockstep=lockstep,
            real_time=real_time,
            unproven=unproven,
            operator=operator,
            note=note,
            output=output,
        )
        result = run_trajectory(request, show)
    finish(result, as_json)


def virtual(config: ConfigArgument = "virtual") -> None:
    """Serve a configuration's virtual rig on its addresses until Ctrl-C (exit code 0).

    Six drives (and the load-cell amplifier, if one is configured) on Modbus, with the exact plant: `rig run` with the
    same configuration but without its [virtual] table operates it, and so can any Modbus client.
    """
    from rig.cli.progress import compile_progress_lines
    from rig.client import serve_virtual
    from rig.config import load_config

    settings = load_config(config)
    serve_virtual(settings, typer.echo, compile_progress_lines())


def begin_server_unless(in_this_process: bool) -> None:
    """Start the server that forks the run's processes in parallel with this one's imports."""
    if not in_this_process:
        from rig.runtime import begin_server

        begin_server()


def finish(result: RunResult, as_json: bool) -> None:
    """Print the results, and how the run ended."""
    from rig.client import describe

    if as_json:
        typer.echo(json.dumps(result.summary, indent=2))
    elif result.summary:
        typer.echo(describe(result))
    if result.error is not None:
        raise result.error
