"""What every registered driver of load cells must do: the suite of `rig.testing` at each place of ours.

A driver that is registered but has no place here fails the first test: add one to `PLACES`.
"""

from functools import partial
from typing import Any

import pytest

from actuators import cell_driver_names
from rig.testing import CELL_CHECKS, CellBench

_CELL = {"profile": "generic-cell"}
_LINE = {"device": "twin", "unit": 9}
PLACES: dict[str, list[dict[str, Any]]] = {
    "loadstar": [
        {"device": "twin", "stream": False},
        {"device": "twin", "polarity": -1},
        {"host": "twin"},
        {"device": "twin", "series": "di-1000", "serial": "W1234-5678", "baud": 230_400},
        {"device": "twin", "series": "di-1000", "stream": False, "polarity": -1},
    ],
    "mantracourt": [
        {"device": "twin", "unit": 9},
        {"device": "twin", "unit": 200, "scale": -9.80665},
        {"device": "twin", "unit": 9, "modbus_number": 28, "scale": -9.80665},
        {"host": "twin", "unit": 247, "modbus_number": 0},
    ],
    "modbus": [{"host": "twin"}, {"host": "twin", **_CELL}, _LINE, _LINE | _CELL, _LINE | {"profile": "laumas"}],
}
"""Driver → options of its devices, of each number of cells and each kind of wire."""
STEPS = {"laumas": 0.05}
"""What a device resolves, N, by its profile; else 0.01."""
LACKS = {
    "laumas": {"identity", "sample"},
    "mantracourt": {"identity", "sample"},
    "loadstar": {"sample", "validity"},
}
"""What it does not say, by its profile or else its driver: who it is, whether it has converted, that there is none."""


class Bench(CellBench):
    """A device at one of the places."""

    def __init__(self, driver: str, place: dict[str, Any], **options: Any) -> None:
        self.step = STEPS.get(place.get("profile", ""), CellBench.step)
        self.lacks = LACKS.get(place.get("profile", driver), set())
        super().__init__(driver, place | options)


BENCHES = {f"{name} {place}": partial(Bench, name, place) for name, found in PLACES.items() for place in found}


def test_every_registered_driver_is_enrolled() -> None:
    missing = set(cell_driver_names()) - set(PLACES)
    assert not missing, f"cell drivers without a place in PLACES: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("check", CELL_CHECKS)
@pytest.mark.parametrize("name", BENCHES)
def test_a_driver_passes(name: str, check: str) -> None:
    assert next(CELL_CHECKS[check](BENCHES[name]), None) is None
