"""Looking for units where it is not known how they are set: at a line's speeds one by one, on a network's hosts."""

import ipaddress
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

from actuators.endpoint import Endpoint, Parity, SerialEndpoint, TcpEndpoint
from actuators.errors import ActuatorError, ConfigurationError, ConnectError
from actuators.scanning import Answer, scan

BAUDS = (1_000_000, 921_600, 460_800, 230_400, 115_200, 57_600, 38_400, 19_200, 9_600)
"""The usual ones."""
PARITIES: tuple[Parity, ...] = ("even", "none", "odd")
assert set(PARITIES) == set(get_args(Parity))

_PORT = 502
_MOST_HOSTS = 1024
_TOGETHER = 64  # hosts that are asked at the same time

Asked = tuple[Endpoint, list[Answer]]
"""An endpoint that was asked, and what answered there."""


def search(
    target: str,
    units: Sequence[int],
    *,
    bauds: Sequence[int] = BAUDS,
    parities: Sequence[Parity] = PARITIES,
    timeout: float = 0.1,
    rtu: bool = False,
) -> Generator[Asked, None, None]:
    """Ask `units` wherever `target` may mean, one endpoint after the other; see `scan`.

    target: a serial port, whose path begins with /, asked at one speed and parity after the other until somebody
    answers; HOST or HOST:PORT; or a network as 192.168.10.0/24, whose hosts are asked at the same time.

    Raises ConfigurationError: the target is none of these. ConnectError: it can be opened in no way.
    """
    if target.startswith("/"):
        settings = [SerialEndpoint(target, baud, parity) for baud in bauds for parity in parities]
        yield from _line(settings, units, timeout)
        return
    hosts = _hosts(target)
    if len(hosts) == 1:
        yield hosts[0], list(scan(hosts[0], units, timeout, rtu=rtu))
        return

    def asked(endpoint: TcpEndpoint) -> list[Answer]:
        try:
            return list(scan(endpoint, units, timeout, rtu=rtu))
        except ActuatorError:
            return []  # nobody is there

    pool = ThreadPoolExecutor(_TOGETHER)
    try:
        yield from zip(hosts, pool.map(asked, hosts), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _line(settings: Sequence[SerialEndpoint], units: Sequence[int], timeout: float) -> Generator[Asked, None, None]:
    refused, opened = None, False
    for endpoint in settings:
        try:
            answers = list(scan(endpoint, units, timeout, rtu=True))
        except ConnectError as error:  # an adapter need not have every speed
            refused = refused or error
            continue
        opened = True
        yield endpoint, answers
        if answers:
            return
    if refused is not None and not opened:
        raise refused


def _hosts(target: str) -> list[TcpEndpoint]:
    if "/" in target:
        try:
            network = ipaddress.ip_network(target, strict=False)
        except ValueError as error:
            raise ConfigurationError(f"{target!r} is no network: {error}") from error
        if network.num_addresses > _MOST_HOSTS:
            raise ConfigurationError(f"{target}: {network.num_addresses} addresses, at most {_MOST_HOSTS}")
        return [TcpEndpoint(str(host), _PORT) for host in network.hosts()]
    host, colon, port = target.rpartition(":")
    if target and not colon:
        return [TcpEndpoint(target, _PORT)]
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise ConfigurationError(
            f"{target!r}: give HOST, HOST:PORT, a network as 192.168.10.0/24, or a serial port's path"
        )
    return [TcpEndpoint(host, int(port))]
