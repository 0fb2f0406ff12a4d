"""`rig scan`: search for devices on a serial port, at a TCP port, in a network, or on a CAN bus."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from rig.errors import InputError

Parity = Literal["even", "none", "odd"]


def scan(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PORT|HOST|NETWORK|BUS",
            help="A serial port (/dev/serial/by-id/…), a host (192.168.10.11, or with its port 192.168.10.20:4001), "
            "the hosts of a network (192.168.10.0/24), or a CAN bus (can://socketcan/can0).",
        ),
    ],
    units: Annotated[
        str,
        typer.Option(
            "--units",
            metavar="LIST",
            help="Unit addresses to query, for example 1-16,20; left out: 1-16, on a CAN bus all nodes, 1-127.",
        ),
    ] = "",
    baud: Annotated[
        str,
        typer.Option(
            "--baud",
            metavar="LIST",
            help="Baud rates of a serial line; left out: the usual ones. Or the bit rate of a CAN bus; left out: "
            "1000000.",
        ),
    ] = "",
    parity: Annotated[
        str,
        typer.Option("--parity", metavar="LIST", help="Parity of a serial line: even, none, odd; left out: all three."),
    ] = "",
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Timeout per unit, s.", min=1e-3, max=10.0)
    ] = 0.1,
    rtu: Annotated[bool, typer.Option("--rtu", help="Frames of a serial line behind a TCP port.")] = False,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="FILE|FOLDER",
            help="A servo's register map to recognise, or a folder with some; may be repeated. Those that are shipped "
            "are always tried.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Find devices: Modbus on a serial port, at a TCP port or in a network, CANopen nodes on a CAN bus.

    Registers are only read, never written, and drives get no commands. Do not scan a drive in use, nor a line whose
    devices use another protocol, such as Jrk controllers: a request at another baud rate could be taken as a command. A
    serial port is scanned at one baud rate and parity after the other until a device answers. A CAN bus is scanned at
    one bit rate, which must be that of the bus: frames at another one destroy those of the nodes. Nodes are asked for
    their device type and identity (objects 1000h, 1018h, 1008h).
    """
    from rig.services import Event, NoAnswerError, Progress, ScanRequest
    from rig.services import scan as ask

    request = ScanRequest(
        target,
        _numbers(units, "--units", 0, 255) if units else None,
        _numbers(baud, "--baud", 300, 4_000_000) if baud else (),
        _parities(parity),
        timeout,
        rtu,
        tuple(profiles or ()),
    )

    def show(event: Event) -> None:
        if isinstance(event, Progress) and event.values["answers"] and not as_json:
            from rig.commissioning import answer_finding  # loads much, and only an answer needs it

            for answer in event.values["answers"]:
                typer.echo(f"{answer.place}: {answer_finding(answer)}")

    try:
        found = ask(request, show)
    except NoAnswerError:
        if as_json:
            typer.echo("[]")
        raise
    if as_json:
        typer.echo(json.dumps(found.as_list(), indent=2))


def _parities(text: str) -> tuple[Parity, ...]:
    known: dict[str, Parity] = {"even": "even", "none": "none", "odd": "odd"}
    names = text.split(",") if text else []
    for name in names:
        if name not in known:
            raise InputError(f"--parity {name!r}: one of {', '.join(known)}")
    return tuple(known[name] for name in names)


def _numbers(text: str, option: str, least: int, most: int) -> tuple[int, ...]:
    """Parse the whole numbers of a list like 1-16,20. Raises InputError."""
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isdecimal() for end in ends) or not least <= int(ends[0]) <= int(ends[1]) <= most:
            raise InputError(f"{option} {part!r}: numbers from {least} to {most}, for example {least + 1} or 1-16,20")
        found.update(dict.fromkeys(range(int(ends[0]), int(ends[1]) + 1)))
    return tuple(found)
