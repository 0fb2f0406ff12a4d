"""Unique names of drives on this machine, independent of the spelling of addresses."""

import hashlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterable, Mapping

from actuators import DriveAddress

_RESOLUTION = 1.0  # s for all host names together; one that takes longer is known by its name alone


def drive_names(drives: Mapping[int, DriveAddress]) -> dict[int, list[str]]:
    """Names in Linux' abstract socket namespace for each leg's drive, one for each numeric address of its host.

    Host names are resolved, within a second at most.
    """
    hosts = _identities({drive.identity[0] for drive in drives.values()})
    return {leg: [_name(host, drive) for host in sorted(hosts[drive.identity[0]])] for leg, drive in drives.items()}


def _name(host: str, drive: DriveAddress) -> str:
    """A socket's name, which may have 107 bytes: less than a host's may."""
    address = f"{host} {drive.identity[1]}"
    return f"\0stewart-rig drive {hashlib.sha256(address.encode()).hexdigest()[:32]}"


def _identities(hosts: Iterable[str]) -> dict[str, set[str]]:
    """Identities of each host: its numeric addresses, and its name in case it does not always resolve."""
    found: dict[str, set[str]] = {}
    resolved: dict[str, set[str]] = {}
    resolving = []
    for host in hosts:
        text = host.strip().removeprefix("[").removesuffix("]").lower().rstrip(".")
        found[host] = _addresses(text, socket.AI_NUMERICHOST) if text else {""}
        if not found[host]:
            found[host] = {text}

            def resolve(host: str = host, text: str = text) -> None:
                resolved[host] = _addresses(text, 0)

            # a daemon: the system's resolver cannot be interrupted, and has an end of its own
            resolving.append(threading.Thread(target=resolve, name=f"resolving {text}", daemon=True))
            resolving[-1].start()
    deadline = time.monotonic() + _RESOLUTION
    for thread in resolving:
        thread.join(max(deadline - time.monotonic(), 0.0))
    return {host: names | resolved.get(host, set()) for host, names in found.items()}


def _addresses(host: str, flags: int) -> set[str]:
    """The host's numeric addresses, those of this machine's loopback as one; none where it does not resolve."""
    try:
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError):  # a label of a name has 63 characters at most
        return set()
    return {_canonical(str(answer[4][0])) for answer in answers}


def _canonical(number: str) -> str:
    address = ipaddress.ip_address(number)
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_unspecified or address == ipaddress.IPv6Address("::1"):
        return "127.0.0.1"  # where a connection to either gets to
    return str(address)
