"""A cycle's exchange with several drives, whatever wires they share."""

from collections.abc import Sequence

from actuators.drive import Drive
from actuators.half_duplex import HalfDuplexBus, advance_all
from actuators.interface import Command, Feedback


def exchange_all(
    drives: Sequence[Drive],
    commands: Sequence[Command],
    now: float,
    timeout: float,
    lines: Sequence[HalfDuplexBus] = (),
) -> list[Feedback]:
    """Start all exchanges at `now` (s, on the wires' clock), then collect all replies within `timeout` s.

    Drives on shared lines have their turns, the lines at the same time; `lines` are others that something was begun on.
    Every command is checked before any is sent. Raises CommandError as `Drive.begin`, with nothing sent.
    """
    for drive, command in zip(drives, commands, strict=True):
        drive.check(command)
    for drive, command in zip(drives, commands, strict=True):
        drive.start(command, now)
    deadline = now + timeout
    shared = [drive.line for drive in drives if drive.line is not None]
    if shared or lines:
        advance_all([*{*shared, *lines}], deadline)
    return [drive.finish(deadline) for drive in drives]
