"""The six legs of the plant read and commanded as one: the same as through each leg's own port."""

import numpy as np
import pytest
from configured import VIRTUAL

from actuators import Mode
from rig.virtual import VirtualRig
from rig.virtual.port import LegPort, LegPorts, Noise
from rig.virtual.truth import truth_of

CELLS = {
    "plain": {},
    "scaled": {"gain": [1.01, 0.98, 1.0, 1.0, 1.02, 1.0], "bias": [1.0, -2.0, 0.0, 0.5, 0.0, 3.0], "drift": [0.1] * 6},
    "rounded": {"resolution": 0.25, "noise": [1.0, 2.0, 0.0, 0.5, 0.5, 0.5]},
    "bent": {"hysteresis": [1e-3] * 6, "curvature": [1e-3] * 6, "jump": [2.0] * 6, "jump_rate": 5.0},
    "late": {"lag": 3e-3},
    "mixed": {"cross_talk": [[0.01, 0.02]] * 6},
}


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_all_legs_read_what_each_leg_reads(cells: dict[str, object]) -> None:
    config = VIRTUAL.changed({"virtual": {"cells": cells, "seed": 5}})
    settings = config.virtual
    assert settings is not None
    truth, limit = truth_of(config), config.load_cells.range
    plant = VirtualRig(config).plant
    noises = (Noise(settings.seed), Noise(settings.seed))
    alone, together = (
        [LegPort(plant, leg, settings, truth.cells, limit, noise) for leg in range(6)] for noise in noises
    )
    ports = LegPorts(plant, settings, truth.cells, together, noises[1])
    out, draw = np.zeros((3, 6)), np.random.default_rng(4)
    for cycle in range(599):
        plant.advance(plant.time + 2e-3)
        if cycle == 200:
            alone[2].test_load = together[2].test_load = 50.0
            alone[4].zero_jump = together[4].zero_jump = -5.0
        for leg in (cycle % 6, cycle % 4) if cycle % 50 == 0 else ():  # somebody else reads one of them
            assert alone[leg].cell == together[leg].cell
        legs = 63 if cycle % 3 else int(draw.integers(64))
        out[:] = np.nan
        ports.sense(out, legs)
        for leg, port in enumerate(alone):
            if legs >> leg & 1:
                assert out[:, leg].tolist() == [port.length, port.velocity, port.cell], cycle
    assert len(set(out[2])) == 6


def test_all_legs_are_commanded_as_each_leg_is() -> None:
    rigs = [VirtualRig(VIRTUAL), VirtualRig(VIRTUAL)]
    settings = VIRTUAL.virtual
    assert settings is not None
    noise = Noise(settings.seed)
    ports = [LegPort(rigs[0].plant, leg, settings, settings.cells, 800.0, noise) for leg in range(6)]
    together = LegPorts(rigs[0].plant, settings, settings.cells, ports, noise)
    commands = np.zeros((6, 7))
    draw = np.random.default_rng(3)
    for cycle in range(400):
        for leg in range(6):
            mode = Mode.HOMING if cycle < 200 else Mode.FORCE
            commands[leg] = mode, *(300.0 * draw.random(3) - 100.0), 1.0, float(draw.random() < 0.01), 0.0
        legs = int(draw.integers(64))
        together.command(commands, legs)
        for leg in range(6):
            if legs >> leg & 1:
                mode_code, force, position, velocity, *flags = commands[leg].tolist()
                rigs[1].plant.command(leg, Mode(int(mode_code)), force, position, velocity, *map(bool, flags))
        for rig in rigs:
            rig.advance(rig.time + 2e-3)
        assert (rigs[0].plant.outputs == rigs[1].plant.outputs).all(), cycle
        assert [rigs[0].plant.homed(leg) for leg in range(6)] == [rigs[1].plant.homed(leg) for leg in range(6)]


def test_a_leg_that_homes_again_is_not_at_its_mark_until_it_has_searched() -> None:
    rig = VirtualRig(VIRTUAL)
    homing, off = (Mode.HOMING, 0.0, 0.0, 0.0, True, False, False), (Mode.OFF, 0.0, 0.0, 0.0, False, False, True)
    for _ in range(2):
        for leg in range(6):
            rig.plant.command(leg, *homing)
        assert not any(rig.plant.homed(leg) for leg in range(6))
        rig.advance(rig.time + 8.0)
        assert all(rig.plant.homed(leg) for leg in range(6))
        for leg in range(6):
            rig.plant.command(leg, *off)
        rig.advance(rig.time + 0.5)
        assert not any(rig.plant.homed(leg) for leg in range(6))
