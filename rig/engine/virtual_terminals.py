"""Where a virtual rig serves a serial port: the one that its configuration names may be a real one of this machine."""

import hashlib
import re
from dataclasses import replace

from actuators import SerialEndpoint
from rig.runtime import runtime_root


def virtual_port(endpoint: SerialEndpoint, *, make: bool = False) -> SerialEndpoint:
    """The port in the user's runtime folder that stands for a serial port.

    Args:
        endpoint: as the configuration says it.
        make: whether the folder is to be made.

    Raises:
        HardwareError: as `runtime_root`.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", endpoint.device).strip("-")[-40:]
    digest = hashlib.sha256(endpoint.device.encode()).hexdigest()[:8]
    return replace(endpoint, device=str(runtime_root(make=make) / f"tty-{name}-{digest}"))
