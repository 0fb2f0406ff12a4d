"""`rig scan`: what answers on a serial port, at a TCP port, or in a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.errors import HardwareError, InputError

if TYPE_CHECKING:
    from actuators import Answer, Endpoint


def scan(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PORT|HOST|NETWORK",
            help="A serial port (/dev/serial/by-id/…), a host (192.168.10.11, or with its port 192.168.10.20:4001), or "
            "the hosts of a network (192.168.10.0/24).",
        ),
    ],
    units: Annotated[
        str, typer.Option("--units", metavar="LIST", help="Units that are asked, for example 1-16,20.")
    ] = "1-16",
    baud: Annotated[
        str,
        typer.Option("--baud", metavar="LIST", help="Speeds of a serial line; left out: the usual ones."),
    ] = "",
    parity: Annotated[
        str, typer.Option("--parity", metavar="LIST", help="Of a serial line: even, none, odd; left out: all three.")
    ] = "",
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="For each unit to answer, s.", min=1e-3, max=10.0)
    ] = 0.1,
    rtu: Annotated[bool, typer.Option("--rtu", help="Frames of a serial line behind a TCP port.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs to read.")] = False,
) -> None:
    """Say what answers on a serial port, at a TCP port or in a network: which unit, at which speed, and what it is.

    What is asked is Modbus. Registers are only read, never written, and no drive is given a command; a drive that is in
    use all the same should not be asked by others, nor a line whose devices speak something else, as Jrk controllers
    do: at another speed than theirs a question could pass for a command. A serial port is asked at one speed and
    parity after the other until somebody answers.
    """
    wanted = _numbers(units, "--units", 0, 255)
    found: list[Answer] = []
    asked = 0
    for _endpoint, answers in _asked(target, baud, parity, wanted, timeout, rtu=rtu):
        asked += 1
        for answer in answers:
            found.append(answer)
            if not as_json:
                typer.echo(f"{answer.place}: {answer.described}")
    if as_json:
        typer.echo(json.dumps([_as_dict(answer) for answer in found], indent=2))
    if not found:
        kind = "line setting" if target.startswith("/") else "host"
        raise HardwareError(
            f"nothing answers at {target}: {asked} {kind}{'' if asked == 1 else 's'} asked for {len(wanted)} "
            f"unit{'' if len(wanted) == 1 else 's'}"
        )


def _asked(
    target: str, baud: str, parity: str, units: list[int], timeout: float, *, rtu: bool
) -> Iterator[tuple[Endpoint, list[Answer]]]:
    """Endpoints that were asked, each with what answered there."""
    from actuators import BAUDS, PARITIES, ConfigurationError, search

    if (baud or parity) and not target.startswith("/"):
        raise InputError("--baud, --parity: of a serial port, whose name begins with /")
    parities: Any = parity.split(",") if parity else PARITIES
    for name in parities:
        if name not in PARITIES:
            raise InputError(f"--parity {name!r}: one of {', '.join(PARITIES)}")
    bauds = _numbers(baud, "--baud", 300, 4_000_000) if baud else BAUDS
    try:
        yield from search(target, units, bauds=bauds, parities=parities, timeout=timeout, rtu=rtu)
    except ConfigurationError as error:
        raise InputError(str(error)) from None


def _numbers(text: str, option: str, least: int, most: int) -> list[int]:
    """The whole numbers of a list like 1-16,20. Raises InputError."""
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isdecimal() for end in ends) or not least <= int(ends[0]) <= int(ends[1]) <= most:
            raise InputError(f"{option} {part!r}: numbers from {least} to {most}, for example {least + 1} or 1-16,20")
        found.update(dict.fromkeys(range(int(ends[0]), int(ends[1]) + 1)))
    return list(found)


def _as_dict(answer: Answer) -> dict[str, Any]:
    from dataclasses import asdict

    from actuators import SerialEndpoint

    endpoint = answer.endpoint
    if isinstance(endpoint, SerialEndpoint):
        place: dict[str, Any] = {"device": endpoint.device, "baud": endpoint.baud, "parity": endpoint.parity}
    else:
        place = {"host": endpoint.host, "port": endpoint.port}
    identity = None if answer.identity is None else asdict(answer.identity)
    return {**place, "unit": answer.unit, "driver": answer.driver, "identity": identity, "said": answer.said}
