"""Ports of this machine for devices that are served on it."""

import contextlib
import socket
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from rig.config import RigConfig
from rig.sensing import twin_names

_LOCAL = "127.0.0.1"
_MOST = 70
"""ports that are held, for ten rigs that were not started yet"""
_held: deque[socket.socket] = deque()


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody uses, nor is given from now on by asking for any.

    Linux lets a server that sets SO_REUSEADDR, as those here do, listen on a port to which a socket is bound that does
    so and does not listen. So they stay bound here, the newest 70: another process that asks for a free port before
    these are listened on would get the same now and then. Elsewhere they are let go of at once.
    """
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((_LOCAL, 0))
        ports = [one.getsockname()[1] for one in sockets]
        _held.extend(sockets)
        stack.pop_all()
    while len(_held) > (_MOST if sys.platform == "linux" else 0):
        _held.popleft().close()
    return ports


def on_free_ports(config: RigConfig) -> RigConfig:
    """The configuration with every device moved to a free port of this machine; see `free_ports`."""
    return on_ports(config, free_ports(8 + len(config.sensors)))


def on_ports(config: RigConfig, ports: Sequence[int]) -> RigConfig:
    """The configuration with its drives on the first six of seven `ports` of this machine, an amplifier on the last.

    A serial port gets a name that is its own as well. Simulated sensors take the ports after these, and a block of
    inputs and outputs the next one, if there are some.
    """
    resolved = config.resolved()

    def on_own_line(place: dict[str, Any]) -> dict[str, Any]:
        return place | {"device": f"{place['device']}-{ports[0]}"} if place.get("device") is not None else place

    def moved(place: dict[str, Any], port: int) -> dict[str, Any]:
        own = on_own_line(place)
        return place | {"host": _LOCAL, "port": port} if own is place else own

    legs = [moved(leg, port) for leg, port in zip(resolved["drives"]["legs"], ports[:6], strict=True)]
    changes: dict[str, Any] = {"drives": {"legs": legs}}
    twins = twin_names(config)
    if twins and len(ports) >= 7 + len(config.sensors):
        changes["sensors"] = [
            sensor | {"source": f"udp://{_LOCAL}:{port}"} if sensor["name"] in twins else sensor
            for sensor, port in zip(resolved["sensors"], ports[7:], strict=False)
        ]
    if config.io is not None and config.io.block is not None:
        block, behind = resolved["io"]["block"], 7 + len(config.sensors)
        changes["io"] = {"block": moved(block, ports[behind]) if len(ports) > behind else on_own_line(block)}
    cells = resolved["load_cells"]
    if config.load_cells.amplifier is not None:
        changes["load_cells"] = {"amplifier": moved(cells["amplifier"], ports[6])}
    elif config.load_cells.devices is not None:
        changes["load_cells"] = {"devices": [on_own_line(place) for place in cells["devices"]]}
    return config.changed(changes)
