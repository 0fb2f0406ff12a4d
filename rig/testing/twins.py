"""Checks of any twin, of a drive or of a device that reads load cells."""

import math
import random
from collections.abc import Callable, Iterator, Sequence

from actuators import FaultyDevice, LinkClosedError, ModbusDevice
from rig.testing.benches import BenchLeg

_STRINGS = 200
_LONGEST = 300  # bytes
_BEYOND = (math.nan, math.inf, -math.inf, 1e300)

_MODBUS = {
    "03 0000 0000": "8303",
    "03 0000 007e": "8303",
    "04 0000 007e": "8403",
    "03 0000": "8303",
    "10 0000 007c f8" + "0000" * 124: "9003",
    "10 0000 0001 04 0001": "9003",
    "17 0000 007e 0000 0001 02 0001": "9703",
    "17 0000 0001 0000 007a f4" + "0000" * 122: "9703",
    "63": "e301",
}
"""Requests that the specification of Modbus excludes, and the exceptions to them, both from the function code on."""
_ILLEGAL_FUNCTION = "01"


def survives_any_bytes(twin: FaultyDevice) -> Iterator[str]:
    """Yield what a twin raises for bytes that are no requests; a server gives it whatever a framing lets through."""
    draw = random.Random(0)
    for _ in range(_STRINGS):
        data = draw.randbytes(draw.randint(1, _LONGEST))
        try:
            length = twin.framing.length(data)
            if not -1 <= length <= len(data):
                yield f"framing.length says {length} of {len(data)} bytes {data[:16].hex(' ')}…"
            twin.respond(data)
            twin.due()
        except LinkClosedError:
            continue
        except Exception as error:  # of whatever kind, where the twin is somebody else's
            yield f"{type(error).__name__} on {len(data)} bytes {data[:16].hex(' ')}…: {error}"


def survives_no_numbers(legs: Sequence[BenchLeg], ask: Callable[[], object]) -> Iterator[str]:
    """Yield what is raised where a twin's legs have no numbers, or too large ones; ask: lets time pass, and asks it."""
    for value in _BEYOND:
        for leg in legs:
            leg.cell = leg.length = leg.velocity = value
        try:
            ask()
        except Exception as error:  # of whatever kind, where the twin is somebody else's
            yield f"{type(error).__name__} where length, speed and force are {value}: {error}"


def within_modbus_bounds(device: object) -> Iterator[str]:
    """Yield the requests that a device on Modbus does not answer by the specification; nothing for other devices."""
    if not isinstance(device, ModbusDevice):
        return
    for request, wanted in _MODBUS.items():
        function = int(request[:2], 16)
        if function not in device.functions:
            wanted = f"{function | 0x80:02x}{_ILLEGAL_FUNCTION}"
        found = device.answer(bytes((device.unit,)) + bytes.fromhex(request))[1:].hex()
        if found != wanted:
            yield f"request {request[:16]} is answered {found or 'not at all'}, must be {wanted}"
