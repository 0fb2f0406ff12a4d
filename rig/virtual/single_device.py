"""One virtual device by itself, for anybody's own client: a drive on its leg of the plant, or what reads the cells."""

import time
from collections.abc import Callable

from actuators import DeviceLine, Endpoint, Responder, SerialEndpoint, StopEvent, TwinServer
from rig.config import RigConfig
from rig.engine import virtual_port
from rig.virtual.virtual_rig import VirtualRig

_TICK = 2e-3  # s
_LONGEST_GAP = 0.5  # s; of a longer time in which the process did not run only this much is integrated


def serve_device(config: RigConfig, device: int, stop: StopEvent, ready: Callable[[Endpoint], None]) -> None:
    """Serve one device of a virtual rig on the machine's clock until told to stop; the others' brakes stay closed.

    Args:
        config: where it is found, and what it is.
        device: its place among the six drives and, after them, the cells' own devices.
        stop: set to end.
        ready: given where it is served once it is.

    Raises:
        ConfigError: it has no virtual twin, or its address names no port.
        HardwareError, ActuatorError: the port is taken.
    """
    VirtualRig(config).advance(1e-3)  # compiles the kernels
    rig = VirtualRig(config, time.monotonic(), _LONGEST_GAP)
    twin = [*rig.drives, *rig.cells][device]
    endpoint = rig.address(device)
    serial = isinstance(endpoint, SerialEndpoint)
    responder: Responder = DeviceLine([twin], endpoint.byte_time) if isinstance(endpoint, SerialEndpoint) else twin

    def advance(now: float) -> None:
        rig.advance(now)
        if serial:
            responder.tick(rig.time)

    served = virtual_port(endpoint, make=True) if isinstance(endpoint, SerialEndpoint) else endpoint
    server = TwinServer([(served, responder)], advance=advance, tick=_TICK)
    server.serve(stop, lambda found: ready(found[0]))
