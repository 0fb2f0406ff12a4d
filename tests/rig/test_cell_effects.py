"""What virtual load cells have beside gain, zero, drift and noise: each by its physics, at the wires and offline."""

import math
from itertools import pairwise

import numpy as np
import pytest
from pydantic import ValidationError
from test_closed_loop import loop

from dynamics import Dynamics
from rig.config import VirtualCells, load_config
from rig.virtual import VirtualRig
from rig.virtual.port import Cell

RANGE = 800.0


def cell(leg: int = 0, seed: int = 1, **cells: object) -> Cell:
    return Cell(VirtualCells.model_validate(cells), leg, RANGE, seed)


def readings(one: Cell, forces: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
    """What the first leg's cell reads of its own forces."""
    at = np.zeros(len(forces)) if times is None else times
    return np.array(
        [one.reading([float(force), *[0.0] * 5], 0.0, float(t)) for force, t in zip(forces, at, strict=True)]
    )


def swept(*turns: float, step: float = 0.5) -> np.ndarray:
    parts = [np.arange(a, b, math.copysign(step, b - a)) for a, b in pairwise(turns)]
    return np.concatenate([*parts, [turns[-1]]])


def area(forces: np.ndarray, read: np.ndarray) -> float:
    """Enclosed by a loop of readings over forces, N², positive where the reading lags behind."""
    return float(np.sum(0.5 * (read[1:] + read[:-1]) * np.diff(-forces)))


def test_curvature_is_its_part_of_the_range_at_the_range() -> None:
    forces = np.array([-RANGE, -0.5 * RANGE, 0.0, 0.5 * RANGE, RANGE])
    off = readings(cell(curvature=0.01), forces) - forces
    assert off == pytest.approx(0.01 * RANGE * np.array([1.0, 0.25, 0.0, 0.25, 1.0]))


def test_hysteresis_has_its_width_and_its_loop_lags_behind() -> None:
    one, top = cell(hysteresis=0.002), 0.5 * RANGE
    readings(one, swept(0.0, top, -top))
    up, down = swept(-top, top), swept(top, -top)
    rising, falling = readings(one, up), readings(one, down)
    width = falling[::-1] - rising
    assert width[len(width) // 2] == pytest.approx(0.002 * RANGE, rel=1e-9)
    assert width.max() == pytest.approx(0.002 * RANGE, rel=1e-9) and width.min() >= -1e-12
    assert area(np.concatenate([up, down]), np.concatenate([rising, falling])) > 0.5 * 0.002 * RANGE * top


def test_hysteresis_knows_no_rate_and_closes_small_loops() -> None:
    coarse, fine = cell(hysteresis=0.01), cell(hysteresis=0.01)
    turns = (0.0, 300.0, -100.0, 200.0)
    end = readings(coarse, np.array(turns))[-1]
    assert readings(fine, swept(*turns, step=0.1))[-1] == pytest.approx(end, abs=1e-9)
    small = swept(200.0, 140.0, 200.0)
    read = readings(fine, small)
    assert read[-1] == pytest.approx(read[0], abs=1e-9)
    assert area(small, read) > 0.0
    tiny = swept(200.0, 198.0, 200.0, step=0.1)
    assert area(tiny, readings(fine, tiny)) == pytest.approx(0.0, abs=1e-9)


def test_each_neighbour_has_its_own_part() -> None:
    forces = [100.0, 20.0, 0.0, 0.0, 0.0, -50.0]
    pairs = [[0.01, -0.02], [0.03, 0.0], [0, 0], [0, 0], [0, 0], [0, 0.05]]
    read = [cell(leg, cross_talk=pairs).reading(forces, 0.0, 0.0) for leg in range(6)]
    assert read == pytest.approx([100.0 - 0.5 - 0.4, 20.0 + 3.0, 0.0, 0.0, 0.0, -50.0 + 5.0])
    assert VirtualCells.model_validate({"cross_talk": 0.01}).cross_talk == ((0.01, 0.01),) * 6
    assert VirtualCells.model_validate({"cross_talk": [0, 0, 0.01, 0, 0, 0]}).cross_talk[2] == (0.01, 0.01)
    for bad in ([0.01, 0.02], 0.3, [[0.01, 0.02, 0.03]] * 6):
        with pytest.raises(ValidationError):
            VirtualCells.model_validate({"cross_talk": bad})


def test_a_warm_cells_gain_is_greater() -> None:
    one = cell(gain=2.0, gain_warming=0.01, warming_time=50.0)
    read = readings(one, np.full(3, 100.0), np.array([0.0, 50.0, 5000.0]))
    assert read == pytest.approx([200.0, 200.0 * (1.0 + 0.01 * (1.0 - math.exp(-1.0))), 202.0])


def test_zeros_jump_at_the_configured_mean_rate() -> None:
    times = np.arange(0.0, 2e4, 0.5)
    zeros = readings(cell(jump=3.0, jump_rate=0.05), np.zeros(len(times)), times)
    assert np.unique(np.abs(np.diff(zeros)))[:2] == pytest.approx([0.0, 3.0])
    assert np.count_nonzero(np.diff(zeros)) == pytest.approx(1000, abs=4.0 * math.sqrt(1000.0))
    seldom = readings(cell(jump=3.0, jump_rate=0.05), np.zeros(200), times[::200])
    assert seldom == pytest.approx(zeros[::200])
    assert readings(cell(jump=3.0, jump_rate=0.05, seed=2), np.zeros(200), times[::200]) != pytest.approx(seldom)


def test_a_spike_is_in_one_reading_alone() -> None:
    times = np.arange(0.0, 5e3, 0.01)
    read = readings(cell(spike=20.0, spike_rate=0.2), np.zeros(len(times)), times)
    hit = np.flatnonzero(read)
    assert np.abs(read[hit]) == pytest.approx(20.0) and {1.0, -1.0} == set(np.sign(read[hit]))
    assert len(hit) == pytest.approx(1000, abs=4.0 * math.sqrt(1000.0))
    assert np.mean(np.diff(hit) == 1) < 0.01


def test_hum_has_its_amplitude_and_frequency() -> None:
    times = np.arange(0.0, 1.0, 1e-3)
    read = readings(cell(hum=0.7, hum_frequency=60.0), np.zeros(len(times)), times)
    spectrum = np.abs(np.fft.rfft(read)) * 2.0 / len(times)
    assert spectrum[60] == pytest.approx(0.7, rel=1e-6) and np.delete(spectrum, 60).max() < 1e-6


@pytest.mark.parametrize("name", ["jump", "spike"])
def test_a_size_without_a_rate_is_refused(name: str) -> None:
    for given in ({name: 2.0}, {f"{name}_rate": 2.0}):
        with pytest.raises(ValidationError, match=f"{name}_rate .* both are above 0, or none"):
            VirtualCells.model_validate(given)


def test_effects_leave_the_noise_as_it_was_and_a_fault_moves_the_zero() -> None:
    plain, strange = (
        VirtualRig(load_config("virtual").changed({"virtual": {"cells": cells}}))
        for cells in ({}, {"hum": 1.0, "jump": 2.0, "jump_rate": 0.01, "curvature": 0.01})
    )
    for rig in (plain, strange):
        rig.advance(0.05)
    # phase and jumps of the same seed, and a force that both have
    for leg, (port, other) in enumerate(zip(plain._ports, strange._ports, strict=True)):
        force = plain.plant.cells[leg]
        settings = VirtualCells.model_validate({"hum": 1.0, "jump": 2.0, "jump_rate": 0.01})
        stray = Cell(settings, leg, RANGE, 1).reading([0.0] * 6, 0.0, 0.05)
        assert other.cell - port.cell == pytest.approx(stray + 0.01 * force**2 / RANGE, abs=1e-9)
    before = np.array([port._cell.reading([0.0] * 6, 0.0, 0.05) for port in plain._ports])
    assert not before.any()
    quiet = VirtualRig(load_config("virtual").changed({"virtual": {"cells": {"noise": 0.0}}}))
    quiet.faults.inject("zero_jump", 3, -7.0)
    jumped = [port.cell for port in quiet._ports]
    assert np.array(jumped) - quiet.plant.cells == pytest.approx([0.0, 0.0, -7.0, 0.0, 0.0, 0.0], abs=1e-12)
    quiet.faults.clear("zero_jump")
    assert [port.cell for port in quiet._ports] == pytest.approx(quiet.plant.cells)


def test_offline_cells_have_the_same_effects() -> None:
    cells = {
        "noise": 0.0, "gain": 1.01, "bias": 2.0, "curvature": 0.02, "hysteresis": 0.01, "hum": 0.5,
        "gain_warming": 0.01, "warming": 1.0, "warming_time": 1.0, "cross_talk": [[0.01, 0.02]] * 6,
        "jump": 1.0, "jump_rate": 2.0,
    }  # fmt: skip
    run = loop("force", virtual={"cells": cells})
    true = Dynamics(run.plant, 1e-3).cells(run.motion)
    drives = [Cell(run.virtual.cells, leg, RANGE, run.virtual.seed) for leg in range(6)]
    for row, time, read in zip(true.tolist(), run.times.tolist(), run.cells(), strict=True):
        assert read == pytest.approx([one.reading(row, 0.0, time) for one in drives], abs=1e-9)
    lagging = loop("force", virtual={"cells": {"noise": 0.0, "lag": 4e-3, "resolution": 0.25}}).cells()
    late = np.column_stack([np.interp(run.times - 4e-3, run.times, column) for column in true.T])
    assert np.abs(lagging - late).max() < 0.126 and np.abs(np.rint(lagging / 0.25) - lagging / 0.25).max() < 1e-9
