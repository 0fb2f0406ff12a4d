"""What every registered driver must do, whatever its protocol: the suite of `rig.testing` on each bench of ours.

A driver that is registered but has no bench here fails the first test: add one to `BENCHES`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from canopen_bench import CanopenBench
from drive_support import Bench
from iai_bench import IaiBench
from jrk_bench import JrkBench
from orca_bench import OrcaBench
from servo_profiles import BARE, COILS, GUIDE, POINTS, SEPARATE, SHIPPED, SINGLE, SWAPPED, UGLY, UGLY_GUIDE
from virtual_line import LineBench

from actuators import drive_names
from rig.testing import DRIVE_CHECKS

BENCHES: dict[str, Callable[..., Any]] = {
    "servo": Bench,
    "servo on a line": LineBench,
    "servo, function after function": partial(Bench, SEPARATE),
    "servo on a line, function after function": partial(LineBench, SEPARATE),
    "servo, word after word": partial(Bench, SINGLE),
    "servo, bytes in every order": partial(Bench, SWAPPED),
    "servo for positions": partial(Bench, BARE),
    "servo for positions on a line": partial(LineBench, BARE),
    "servo of the guide": partial(LineBench, GUIDE),
    "ugly servo of the guide": partial(Bench, UGLY_GUIDE),
    "servo with an ugly map": partial(Bench, UGLY),
    "servo with an ugly map on a line": partial(LineBench, UGLY),
    "servo with coils": partial(Bench, COILS),
    "servo with coils on a line": partial(LineBench, COILS),
    "lexium-32": partial(Bench, SHIPPED["lexium-32"]),
    "oriental-az": partial(LineBench, SHIPPED["oriental-az"]),
    "delta-asda-a2": partial(LineBench, SHIPPED["delta-asda-a2"]),
    "servo with inputs and outputs": partial(Bench, POINTS),
    "servo with inputs and outputs on a line": partial(LineBench, POINTS),
    "canopen": CanopenBench,
    "canopen, with inputs and outputs": partial(
        CanopenBench, inputs={"interlock": 3, "chain": 16, "sto": 31}, outputs={"lamp": 16, "brake": 31}
    ),
    "canopen, with outputs": partial(CanopenBench, outputs={"lamp": 20}),
    "iai": IaiBench,
    "iai, with inputs": partial(IaiBench, inputs={"chain": 0, "sto": 15}),
    "jrk-g2": JrkBench,
    "jrk-g2, with inputs": partial(JrkBench, inputs={"chain": "rc", "sto": "fbt"}),
    "jrk-g2, with inputs and checksums": partial(JrkBench, inputs={"chain": "scl"}, crc=True),
    "jrk-g2, with checksums": partial(JrkBench, crc=True),
    "orca": OrcaBench,
}
"""Name → what makes a `DriveBench`."""


def test_every_registered_driver_is_enrolled():
    missing = set(drive_names()) - set(BENCHES)
    assert not missing, f"drivers without a bench in BENCHES: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("check", DRIVE_CHECKS)
@pytest.mark.parametrize("name", BENCHES)
def test_a_driver_passes(name: str, check: str) -> None:
    assert next(DRIVE_CHECKS[check](BENCHES[name]), None) is None
