"""The simulator of a servo whose profile is not plain: where it stands, and what it refuses."""

import pytest
from drive_support import Bench, ask
from servo_profiles import SHIPPED

from rig.testing.drivers import power

HELD = {"lexium-32": "10 1b06 0002 04 0000 0000", "delta-asda-a2": "10 040e 0002 04 0001 0000"}
"""What a master writes to end the following of set-points, torque on: mode 0; control word without POS0."""


@pytest.mark.parametrize("cycles", [40, 400], ids=["under way", "there"])
@pytest.mark.parametrize("name", HELD)
def test_a_drive_that_follows_no_more_holds_where_it_stands(name: str, cycles: int) -> None:
    bench = Bench(SHIPPED[name])
    command = power(bench)
    start = bench.leg.position
    for _ in range(cycles):
        bench.do(command._replace(position=start + 5e-3))
    reached = bench.leg.position
    assert reached > start + 5e-4
    for _ in range(3):
        assert ask(bench.servo, HELD[name]) == HELD[name][:12].replace(" ", "")
        bench.pass_time(0.002)
        assert bench.leg.enabled and bench.leg.position == pytest.approx(reached, abs=1e-4)
    bench.do(command._replace(position=start + 5e-3))
    assert bench.leg.position == pytest.approx(reached, abs=1e-4)
