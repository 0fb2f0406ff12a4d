"""One engine to a drive: a second one is refused before it talks to any."""

import contextlib
import errno
import socket
import struct

from rig.config import RigConfig
from rig.errors import HardwareError

_PEER = struct.Struct("3i")  # pid, uid, gid
_ANSWER = 1.0  # s


def claim_drives(config: RigConfig) -> contextlib.ExitStack:
    """Claim the configuration's drives for this process, until what is returned is closed or the process ends.

    A claim is a bound socket in Linux' abstract namespace, which the kernel gives back whatever becomes of the process:
    no file is left that would have to be judged stale. It holds on this machine; another one is the drives' to refuse.

    Raises:
        HardwareError: an engine commands one of the drives already.
    """
    with contextlib.ExitStack() as claims:
        for leg, address in enumerate(config.drives.legs, start=1):
            name = f"\0stewart-rig drive {address.host}:{address.port} unit {address.unit}"
            claim = claims.enter_context(socket.socket(socket.AF_UNIX))
            try:
                claim.bind(name)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise HardwareError(f"leg {leg}: the drive cannot be claimed: {error.strerror}") from error
                raise HardwareError(
                    f"leg {leg}: another engine{_holder(name)} commands the drive at {address.host}:{address.port}. "
                    "If its app is gone it holds the platform for its safety.unattended_hold, then ends by itself"
                ) from error
            claim.listen()
        return claims.pop_all()


def _holder(name: str) -> str:
    """Which process holds a claim, as far as it can be found out."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_ANSWER)
        asking.connect(name)
        pid, _uid, _gid = _PEER.unpack(asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        return f" (process {pid})"
    return ""
