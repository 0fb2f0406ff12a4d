"""What it costs a cycle that the engine gives the virtual rig its time, beside a plant on the wall clock."""

import time

import numpy as np

from actuators import COMMAND_OFF
from rig.client import on_free_ports
from rig.config import RigConfig, in_real_time, load_config
from rig.engine.devices import make_drive_group
from rig.engine.paced_ticker import make_ticker
from rig.engine.pacer import Pacer, pace_path
from rig.virtual import VirtualRigProcess

CYCLES, FIRST = 2000, 200
MOST = 3.0  # the plant is integrated within the exchange, and no more between two cycles


def _exchanges(config: RigConfig) -> np.ndarray:
    """Durations of the exchanges with six drives, s, and of giving the time for them, at the configuration's rate."""
    with VirtualRigProcess(config):
        pacer = None if config.virtual is None or config.virtual.real_time else Pacer(pace_path(config))
        drives, ticker = make_drive_group(config, pacer=pacer), make_ticker(config, pacer)
        drives.connect(2.0)
        ticker.begin()
        taken = []
        for _ in range(CYCLES):
            ticker.next()
            begun = time.perf_counter()
            drives.exchange([COMMAND_OFF] * 6, ticker.now(), 0.6 * config.period)
            taken.append(time.perf_counter() - begun)
        drives.close()
        if pacer is not None:
            pacer.close()
    return np.array(taken[FIRST:])


def test_a_paced_exchange_beside_one_on_the_wall_clock() -> None:
    config = on_free_ports(load_config("virtual"))
    paced, wall = _exchanges(config), _exchanges(in_real_time(config))
    ratio = float(np.median(paced) / np.median(wall))
    print(f"\nexchange of six drives, {config.rate:g} Hz, median (99 %)")
    for name, taken in (("paced", paced), ("wall clock", wall)):
        print(f"  {name:12} {np.median(taken) * 1e6:6.0f} µs ({np.percentile(taken, 99) * 1e6:.0f} µs)")
    print(f"  ratio {ratio:.2f}")
    assert ratio < MOST
