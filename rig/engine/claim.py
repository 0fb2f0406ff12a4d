"""One commander to a drive: a second one is refused before it talks to any."""

import contextlib
import errno
import hashlib
import ipaddress
import socket
import struct
import threading
import time
from collections.abc import Iterable, Mapping

from rig.config import RigConfig
from rig.errors import HardwareError
from rig.schema import LegDrive

_PEER = struct.Struct("3i")  # pid, uid, gid
_ANSWER = 1.0  # s
_RESOLUTION = 1.0  # s for all host names together; one that takes longer is claimed by its name alone


def claim_drives(config: RigConfig) -> contextlib.ExitStack:
    """Claim a configuration's six drives; see `claim_addresses`."""
    return claim_addresses(dict(enumerate(config.drives.legs, start=1)))


def claim_addresses(drives: Mapping[int, LegDrive]) -> contextlib.ExitStack:
    """Claim drives for this process, until what is returned is closed or the process ends.

    A claim is a bound socket in Linux' abstract namespace, which the kernel gives back whatever becomes of the process:
    no file is left that would have to be judged stale. It holds on this machine; another one is the drives' to refuse.
    A drive is known by the numeric addresses of its host, so that it does not matter how the host is spelt.

    Args:
        drives: their addresses, by leg 1 to 6.

    Raises:
        HardwareError: somebody commands one of the drives already, or two legs have the same one.
    """
    hosts = _identities({drive.host for drive in drives.values()})
    taken: dict[str, int] = {}
    with contextlib.ExitStack() as claims:
        for leg, drive in drives.items():
            for host in hosts[drive.host]:
                name = _name(host, drive)
                if name in taken:
                    raise HardwareError(f"legs {taken[name]} and {leg} have the same drive at {_address(drive)}")
                taken[name] = leg
                claim = claims.enter_context(socket.socket(socket.AF_UNIX))
                try:
                    claim.bind(name)
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        reason = error.strerror or error
                        raise HardwareError(f"leg {leg}: the drive cannot be claimed: {reason}") from error
                    raise HardwareError(
                        f"leg {leg}: another engine{_holder(name)} commands the drive at {_address(drive)}. "
                        "If its app is gone it holds the platform for its safety.unattended_hold, then ends by itself"
                    ) from error
                claim.listen()
        return claims.pop_all()


def _address(drive: LegDrive) -> str:
    return f"{drive.host}:{drive.port}"


def _name(host: str, drive: LegDrive) -> str:
    """A socket's name, which may have 107 bytes: less than a host's may."""
    address = f"{host} {drive.port} unit {drive.unit}"
    return f"\0stewart-rig drive {hashlib.sha256(address.encode()).hexdigest()[:32]}"


def _identities(hosts: Iterable[str]) -> dict[str, set[str]]:
    """What each host is known by: its numeric addresses; that of a name also, should it be resolved at times only."""
    found: dict[str, set[str]] = {}
    resolved: dict[str, set[str]] = {}
    resolving = []
    for host in hosts:
        text = host.strip().removeprefix("[").removesuffix("]").lower().rstrip(".")
        found[host] = _addresses(text, socket.AI_NUMERICHOST)
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


def _holder(name: str) -> str:
    """Which process holds a claim, as far as it can be found out."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_ANSWER)
        asking.connect(name)
        pid, _uid, _gid = _PEER.unpack(asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        return f" (process {pid})"
    return ""
