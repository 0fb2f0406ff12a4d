"""What every registered driver of inputs and outputs must do: the suite of `rig.testing` at each place of ours.

A driver that is registered but has no place here fails the first test: add one to `PLACES`.
"""

from functools import partial
from typing import Any

import pytest

from actuators import io_driver_names
from rig.testing import IO_CHECKS, IoBench

_WATCHED = {"watchdog": 0.5, "watchdog_register": 4096}
PLACES: dict[str, list[dict[str, Any]]] = {
    "modbus-io": [
        {"host": "twin"},
        {"host": "twin", "write": 5, **_WATCHED},
        {"host": "twin", "read": "coils", "inputs": (20, 21, 40), **_WATCHED},
        {"device": "twin", "unit": 9, **_WATCHED},
    ],
}
"""Driver → options of its devices on each kind of wire."""


class Bench(IoBench):
    """A device at one of the places."""

    def __init__(self, driver: str, place: dict[str, Any], **options: Any) -> None:
        self.inputs = place.get("inputs", IoBench.inputs)
        super().__init__(driver, place | options)


BENCHES = {f"{name} {place}": partial(Bench, name, place) for name, found in PLACES.items() for place in found}


def test_every_registered_driver_is_enrolled() -> None:
    missing = set(io_driver_names()) - set(PLACES)
    assert not missing, f"I/O drivers without a place in PLACES: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("check", IO_CHECKS)
@pytest.mark.parametrize("name", BENCHES)
def test_a_driver_passes(name: str, check: str) -> None:
    assert next(IO_CHECKS[check](BENCHES[name]), None) is None
