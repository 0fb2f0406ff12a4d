"""`rig scan`: what answers on a serial port, at a TCP port, or in a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.errors import HardwareError, InputError

if TYPE_CHECKING:
    from actuators import Answer, Endpoint

_BAUDS = (1_000_000, 921_600, 460_800, 230_400, 115_200, 57_600, 38_400, 19_200, 9_600)
_PARITIES = ("even", "none", "odd")
_PORT = 502
_MOST_HOSTS = 1024
_TOGETHER = 64
"""Hosts that are asked at the same time."""


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

    Registers are only read, never written, and no drive is given a command; a drive that is in use all the same should
    not be asked by others. A serial port is asked at one speed and parity after the other until somebody answers.
    """
    wanted = _numbers(units, "--units", 0, 255)
    found: list[Answer] = []
    asked = 0
    for endpoint, answers in _places(target, baud, parity, wanted, timeout, rtu=rtu):
        asked += 1
        for answer in answers:
            found.append(answer)
            if not as_json:
                typer.echo(f"{endpoint}{_settings(endpoint)}, unit {answer.unit}: {_said(answer)}")
    if as_json:
        typer.echo(json.dumps([_as_dict(answer) for answer in found], indent=2))
    if not found:
        kind = "line setting" if target.startswith("/") else "host"
        raise HardwareError(
            f"nothing answers at {target}: {asked} {kind}{'' if asked == 1 else 's'} asked for {len(wanted)} "
            f"unit{'' if len(wanted) == 1 else 's'}"
        )


def _places(
    target: str, baud: str, parity: str, units: list[int], timeout: float, *, rtu: bool
) -> Iterator[tuple[Endpoint, list[Answer]]]:
    """Endpoints that were asked, each with what answered there."""
    from actuators import ConnectError, SerialEndpoint, TcpEndpoint
    from actuators import scan as ask

    if target.startswith("/"):
        bauds = _numbers(baud, "--baud", 300, 4_000_000) if baud else _BAUDS
        parities: Any = parity.split(",") if parity else _PARITIES
        for name in parities:
            if name not in _PARITIES:
                raise InputError(f"--parity {name!r}: one of {', '.join(_PARITIES)}")
        refused, opened = None, False
        for endpoint in (SerialEndpoint(target, speed, name) for speed in bauds for name in parities):
            try:
                answers = list(ask(endpoint, units, timeout, rtu=True))
            except ConnectError as error:  # an adapter need not have every speed
                refused = refused or error
                continue
            opened = True
            yield endpoint, answers
            if answers:
                return
        if refused is not None and not opened:
            raise refused
        return
    if baud or parity:
        raise InputError("--baud, --parity: of a serial port, whose name begins with /")
    hosts = _hosts(target)
    if len(hosts) == 1:
        yield hosts[0], list(ask(hosts[0], units, timeout, rtu=rtu))
        return

    def asked(endpoint: TcpEndpoint) -> list[Answer]:
        from actuators import ActuatorError

        try:
            return list(ask(endpoint, units, timeout, rtu=rtu))
        except ActuatorError:
            return []  # nobody is there

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_TOGETHER) as pool:
        yield from zip(hosts, pool.map(asked, hosts), strict=True)


def _hosts(target: str) -> list[Any]:
    """The TCP ports that are meant. Raises InputError."""
    import ipaddress

    from actuators import TcpEndpoint

    if "/" in target:
        try:
            network = ipaddress.ip_network(target, strict=False)
        except ValueError as error:
            raise InputError(f"{target!r} is no network: {error}") from error
        if network.num_addresses > _MOST_HOSTS:
            raise InputError(f"{target}: {network.num_addresses} addresses, at most {_MOST_HOSTS}")
        return [TcpEndpoint(str(host), _PORT) for host in network.hosts()]
    host, colon, port = target.rpartition(":")
    if not colon:
        return [TcpEndpoint(target, _PORT)]
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise InputError(f"{target!r}: give HOST, HOST:PORT, a network as 192.168.10.0/24, or a serial port's path")
    return [TcpEndpoint(host, int(port))]


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


def _settings(endpoint: Endpoint) -> str:
    from actuators import SerialEndpoint

    return f", {endpoint.settings}" if isinstance(endpoint, SerialEndpoint) else ""


def _said(answer: Answer) -> str:
    if answer.identity is None:
        return f"answers ({answer.said}); no driver knows it by its registers"
    return f"driver {answer.driver}: {answer.identity.described}"


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
