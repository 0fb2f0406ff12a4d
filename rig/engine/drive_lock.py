"""Exclusive command of drives: a second process is refused before it talks to any, with the first one's name."""

import contextlib
import errno
import os
import pwd
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

from actuators import DriveAddress
from rig.config import RigConfig
from rig.engine.drive_names import drive_names
from rig.engine.engine_discovery import running_engines
from rig.errors import HardwareError
from rig.findings import Code, Finding, Value

_PEER = struct.Struct("3i")  # pid, uid, gid
_ANSWER = 1.0  # s
_SHOWN = 80  # characters of a command line


def claim_drives(config: RigConfig) -> contextlib.ExitStack:
    """Claim a configuration's six drives; see `claim_addresses`."""
    return claim_addresses(dict(enumerate(config.drives.legs, start=1)))


def claim_addresses(drives: Mapping[int, DriveAddress]) -> contextlib.ExitStack:
    """Claim drives for this process until the returned object is closed or the process ends.

    A claim is a bound socket in Linux' abstract namespace, which the kernel releases with the process, so that
    no stale file remains. It is valid for all users of this machine; against other machines the drives protect
    themselves. Any user can take such a name and so prevent a start; the refusal names the process and its user. A
    drive is known by the numeric addresses of its host, so that it does not matter how the host is spelt.

    Args:
        drives: their addresses, by leg 1 to 6.

    Raises:
        HardwareError: somebody commands one of the drives already, or two legs have the same one.
    """
    names = drive_names(drives)
    taken: dict[str, int] = {}
    with contextlib.ExitStack() as claims:
        for leg, drive in drives.items():
            for name in names[leg]:
                if name in taken:
                    details: dict[str, Value] = {"one": taken[name], "other": leg, "place": drive.place}
                    raise HardwareError(Finding(Code.SAME_DRIVE, details=details))
                taken[name] = leg
                claim = claims.enter_context(socket.socket(socket.AF_UNIX))
                try:
                    claim.bind(name)
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        reason = str(error.strerror or error)
                        raise HardwareError(Finding(Code.DRIVE_UNCLAIMED, leg, details={"text": reason})) from error
                    holder = _refusal(name, drive.place)
                    raise HardwareError(Finding(Code.DRIVE_CLAIMED, leg, details={"text": holder})) from error
                claim.listen()
        return claims.pop_all()


def _refusal(name: str, address: str) -> str:
    """Text of who holds the claim of that name, and the remedy."""
    commands = f"commands the drive at {address}"
    with contextlib.suppress(HardwareError):
        for engine in running_engines():
            if name in engine.claims:
                way_out = "`rig engine stop` stops it, `rig engine end` ends it, `rig operate --attach` takes it over"
                return f"another engine (process {engine.pid}) {commands}: {engine.describe()}. {way_out}"
    try:
        pid, uid = _peer(name)
    except OSError:
        return f"another program {commands} and does not say who it is: `sudo ss -xp` lists it as 'stewart-rig drive'"
    if uid == os.getuid():
        return f"another program (process {pid}{_command(pid)}) {commands}: wait for its end, or end it"
    return (
        f"user {_user(uid)} (process {pid}{_command(pid)}) {commands}: only that user or the administrator can end it"
    )


def _peer(name: str) -> tuple[int, int]:
    """Process and user that listen on a socket, as the kernel knows them."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_ANSWER)
        asking.connect(name)
        pid, uid, _gid = _PEER.unpack(asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return pid, uid


def _command(pid: int) -> str:
    """The command line of a process, if readable."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ").split()
    except OSError:
        return ""
    text = "".join(letter if letter.isprintable() else "?" for letter in " ".join(words))
    return f", `{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}`" if text else ""


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
