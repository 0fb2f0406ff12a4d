"""Looking for units where it is not known how they are set: at a line's speeds one by one, on a network's hosts."""

import ipaddress
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from actuators.endpoint import Endpoint, Parity, SerialEndpoint, TcpEndpoint
from actuators.errors import ConfigurationError, ConnectError
from actuators.scanning import Answer, never, scan

BAUDS = (1_000_000, 921_600, 460_800, 230_400, 115_200, 57_600, 38_400, 19_200, 9_600)
"""The usual ones."""
PARITIES: tuple[Parity, ...] = ("even", "none", "odd")
"""All that there are, the usual one of Modbus first."""

_PORT = 502
_MOST_HOSTS = 1024
_TOGETHER = 64  # hosts that are asked at the same time

Answers = tuple[Endpoint, list[Answer]]
"""An endpoint that was asked, and what answered there."""
_Found = tuple[list[Answer], ConnectError | None]
"""What answered, and why no more was asked."""


def search(
    target: str,
    units: Sequence[int],
    *,
    bauds: Sequence[int] = BAUDS,
    parities: Sequence[Parity] = PARITIES,
    timeout: float = 0.1,
    rtu: bool = False,
    stopped: Callable[[], bool] = never,
) -> Generator[Answers, None, None]:
    """Ask `units` wherever `target` may mean, one endpoint after the other; see `scan`.

    target: a serial port, whose path begins with /, asked at one speed and parity after the other until somebody
    answers; HOST or HOST:PORT; or a network as 192.168.10.0/24, whose hosts are asked at the same time, and said
    as each is done. stopped: looked at before each unit.

    Raises ConfigurationError: the target is none of these, or a unit cannot be asked there. ConnectError: it can be
    opened in no way.
    """

    def asked(endpoint: Endpoint) -> _Found:
        answers: list[Answer] = []
        try:
            for answer in scan(endpoint, units, timeout, rtu=rtu, stopped=stopped):
                answers.append(answer)
        except ConnectError as error:
            return answers, error
        return answers, None

    if target.startswith("/"):
        settings = [SerialEndpoint(target, baud, parity) for baud in bauds for parity in parities]
        yield from _line(settings, asked, stopped)
        return
    hosts = _hosts(target)
    if len(hosts) == 1:
        answers, failure = asked(hosts[0])
        if failure is not None and not answers:
            raise failure
        yield hosts[0], answers
        return
    pool = ThreadPoolExecutor(_TOGETHER)
    try:
        searches = {pool.submit(asked, host): host for host in hosts}
        for search_done in as_completed(searches):
            answers, _nobody = search_done.result()
            yield searches[search_done], answers
    finally:
        pool.shutdown(cancel_futures=True)


def _line(
    settings: Sequence[SerialEndpoint], asked: Callable[[Endpoint], _Found], stopped: Callable[[], bool]
) -> Generator[Answers, None, None]:
    refused, opened = None, False
    for endpoint in settings:
        if stopped():
            return
        answers, failure = asked(endpoint)
        if failure is not None and not answers:  # an adapter need not have every speed
            refused = refused or failure
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
