"""`rig drive`: manual motion of one leg."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.help import command_group
from rig.cli.live import OutputFolder, begin_server_unless, finish
from rig.cli.options import ConfigArgument, parse_quantity, warn_of_checks_off

if TYPE_CHECKING:
    from rig.client import LiveRig, LockstepRig, Rig
    from rig.commissioning import LegMove


def drive(
    config: ConfigArgument,
    number: Annotated[int, typer.Argument(metavar="LEG", min=1, max=6, help="Leg 1 to 6.")],
    speed: Annotated[str, typer.Option(metavar="SPEED", help='Peak speed, m/s or "5 mm/s".')] = "5 mm/s",
    home: Annotated[bool, typer.Option("--home", help="Home this leg first if its drive has no reference.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Clear latched drive faults.")] = False,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="A virtual rig only: in one process on a manual clock.")
    ] = False,
    output: OutputFolder = None,
) -> None:
    """Move ONE leg by hand: a line like "by 2mm" or "by -0.5mm" moves it by that distance; it stays there.

    The other five are held by their brakes, torque off, and so is the leg between moves. Moves have the bounds on
    stroke and speed and the supervision of a leg test. `help` lists the commands. Lines are typed or piped in; a script
    ends at its first error, with that error's exit code. Ctrl-C stops the leg by its drive's quick stop.
    """
    import sys

    begin_server_unless(lockstep)
    from kinematics import Quantity
    from rig.cli.console import Console
    from rig.cli.progress import compile_progress_lines
    from rig.client import Interruption, conduct
    from rig.commissioning import LegMove, check_devices
    from rig.errors import InputError
    from rig.services import run_config

    if sys.stdin is None:
        raise InputError("there is no standard input to read commands from")
    settings = run_config(config, None, lockstep, real_time=False)
    check_devices(settings)
    warn_of_checks_off(settings)
    peak = parse_quantity(speed, Quantity("speed", "m/s"), "--speed")
    move = LegMove(number, 0.0, peak, home, clear, stay=True)
    interruption = Interruption()

    def body(rig: LockstepRig | LiveRig) -> None:
        Console(rig, interruption, terminal=sys.stdin.isatty(), commands=_words(rig, move)).serve()

    result = conduct(
        settings,
        body,
        f"leg-{number}",
        output,
        interruption,
        lockstep=lockstep,
        report=lambda _progress: None,
        report_compiling=compile_progress_lines(),
    )
    finish(result, as_json=False)


def _words(rig: Rig, first: LegMove) -> typer.Typer:
    """Return the commands for one leg of a rig."""
    app = command_group(help="One command per line; empty lines and those that begin with # are skipped.")

    @app.command(context_settings={"ignore_unknown_options": True})
    def by(
        travel: Annotated[str, typer.Argument(metavar="LENGTH", help='How far, such as "2mm"; -2mm retracts.')],
        speed: Annotated[
            str | None, typer.Option("--speed", metavar="SPEED", help="Peak speed, such as 5mm/s.")
        ] = None,
    ) -> None:
        """Move so far, and stay there, torque off."""
        from kinematics import Quantity
        from rig.commissioning import LatchedFaultError, NotHomedError, check_move, move_leg
        from rig.errors import RefusedError, RunFaultError

        move = replace(first, travel=parse_quantity(travel, Quantity("length", "m"), "LENGTH"))
        if speed is not None:
            move = replace(move, speed=parse_quantity(speed, Quantity("speed", "m/s"), "--speed"))
        check_move(rig.config, move)
        try:
            result = move_leg(rig, move, lambda _test: None)
        except NotHomedError as error:
            raise RefusedError(f"{error} (begin with --home)") from None
        except LatchedFaultError as error:
            raise RefusedError(f"{error} (begin with --clear)") from None
        if not result.passed:
            raise RunFaultError("\n  ".join([f"leg {move.leg} did not follow its command:", *map(str, result.faults)]))
        test = rig.status().leg_test
        length = "" if test is None else f", the leg is {test.length * 1e3:.3f} mm long"
        typer.echo(f"moved by {result.reached * 1e3:+.3f} mm{length}, its cell reads {result.force_after:.1f} N")

    @app.command()
    def reset() -> None:
        """Forget a fault whose cause is gone."""
        from rig.client import clear

        clear(rig)

    @app.command("quit")
    def leave() -> None:
        """End the session."""
        raise EOFError

    return app
