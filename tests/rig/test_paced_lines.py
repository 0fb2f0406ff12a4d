"""Serial lines of a virtual rig in paced time: pseudo-terminals whose bytes take the plant's time."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from paced_plant import Plant

from actuators import ConnectError, SerialEndpoint, SerialWire, open_wire
from actuators.framing import crc16
from rig.engine import virtual_port
from rig.engine.pacer import PacedWire

BYTE = 11 / 1_000_000  # s, 8E1 at 1 Mbaud
TURNAROUND = 1e-4
REQUEST, REPLY = 11 + 18 + 2, 3 + 22 + 2  # bytes of FC23 with the generic servo's blocks, and of its reply


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    made = Plant(tmp_path / "pace", "virtual-servo")
    try:
        yield made
    finally:
        made.close()


def test_three_drives_of_a_line_have_their_turns_and_both_lines_at_the_same_time(plant: Plant) -> None:
    seen: dict[int, float] = {}
    plant.before_reply = lambda leg: seen.update({leg: plant.rig.time})
    for _ in range(3):
        t = plant.cycle()
        assert plant.drives.fresh.all()
        turn = (REQUEST + REPLY) * BYTE + 2 * TURNAROUND  # one before the reply, and one after it
        offsets = [REQUEST * BYTE + place * turn for place in (0, 1, 2)]
        assert plant.drives.offset == pytest.approx(offsets * 2, abs=2e-6)  # the twin waits for the byte to be over
        assert [seen[leg] - t for leg in range(1, 7)] == pytest.approx(offsets * 2, abs=2e-6)
        assert plant.drives.cells_offset.tolist() == plant.drives.offset.tolist()


@pytest.mark.parametrize("device", ["line-c", "line-b"])
def test_load_cells_on_a_line_are_read_along_and_say_when(tmp_path: Path, device: str) -> None:
    place = {"device": device, "baud": 1_000_000, "unit": 9, "turnaround": TURNAROUND}
    cells = {"source": "amplifier", "amplifier": place}
    changes = {"rate": 150.0, "load_cells": cells, "virtual": {"cells": {"noise": 0.0}}}
    plant = Plant(tmp_path / "pace", "virtual-servo", changes)
    try:
        for _ in range(3):
            plant.cycle()
            assert plant.drives.fresh.all() and plant.drives.cells_fresh
            assert plant.drives.cells_offset == pytest.approx([8 * BYTE] * 6, abs=2e-6)  # it is asked first
            assert plant.drives.force == pytest.approx(plant.rig.plant.cells, abs=2e-3)
        plant.rig.cells[0].inject("drop_all")
        plant.cycle()
        plant.cycle()
        assert not plant.drives.cells_fresh and plant.drives.fresh[:3].all()
    finally:
        plant.close()


def test_six_cells_on_a_line_of_their_own_have_their_turns_while_the_drives_have_theirs(tmp_path: Path) -> None:
    """One line after the other they would not be done in time."""
    places = [{"device": "line-c", "baud": 1_000_000, "unit": leg, "turnaround": TURNAROUND} for leg in range(1, 7)]
    plant = Plant(tmp_path / "pace", "virtual-servo", {"load_cells": {"source": "devices", "devices": places}})
    try:
        for _ in range(3):
            begun = plant.cycle()
            assert plant.drives.fresh.all() and plant.drives.cells_fresh
            turn = (8 + 13) * BYTE + 2 * TURNAROUND
            offsets = [8 * BYTE + place * turn for place in range(6)]
            assert plant.drives.cells_offset == pytest.approx(offsets, abs=2e-6)
            assert plant.ticker.now() - begun < 2.7e-3
    finally:
        plant.close()


def test_a_silent_unit_costs_the_others_nothing_but_its_time_once(plant: Plant) -> None:
    plant.cycle()
    plant.rig.drives[1].inject("drop_all")
    fresh = np.array([(plant.cycle(), plant.drives.fresh.tolist())[1] for _ in range(4)])
    assert not fresh[:, 1].any() and fresh[:, 3:].all()
    assert fresh[1:, [0, 2]].all()
    plant.rig.drives[1].clear("drop_all")
    plant.cycle()
    plant.cycle()
    assert plant.drives.fresh.all()


def test_whoever_opens_a_line_anew_finds_nothing_of_what_was_said_before(plant: Plant) -> None:
    endpoint = plant.config.drives.legs[0].endpoint
    assert isinstance(endpoint, SerialEndpoint)
    served = virtual_port(endpoint)
    read = bytes.fromhex("01 03 0000 0001")
    for drive in plant.drives._drives:
        drive.close()
    first = PacedWire(served, 1.0, plant.pacer)
    first.send((read + crc16(read))[:5])  # and no more
    first.close()
    second = PacedWire(served, 1.0, plant.pacer)
    second.send(read + crc16(read))
    begun = second.now()
    reply = second.receive(begun + 0.1)
    assert reply[:3] == b"\x01\x03\x02" and second.now() - begun == pytest.approx(15 * BYTE + TURNAROUND, abs=2e-6)
    assert second.receive(second.now() + 0.01) == b""
    second.close()


def test_a_line_is_its_engines_alone(plant: Plant) -> None:
    endpoint = plant.config.drives.legs[0].endpoint
    assert isinstance(endpoint, SerialEndpoint)
    with pytest.raises(ConnectError, match=rf"tty-line-a-.* at 1000000 baud: process {os.getpid()} \(.*\) has it$"):
        open_wire(virtual_port(endpoint), 1.0)
    plant.drives.close()
    wire = open_wire(virtual_port(endpoint), 1.0)
    assert isinstance(wire, SerialWire)
    wire.close()


def test_its_ports_are_gone_with_the_rig(tmp_path: Path) -> None:
    plant = Plant(tmp_path / "pace", "virtual-servo")
    links = {Path(endpoint.device) for endpoint, _ in plant.rig.endpoints if isinstance(endpoint, SerialEndpoint)}
    assert len(links) == 2 and all(link.is_symlink() for link in links)
    plant.cycle()
    plant.close()
    assert not any(link.is_symlink() for link in links)


@pytest.mark.parametrize("crc", [True, False], ids=["checksums", "without"])
def test_controllers_of_one_line_are_addressed_by_their_device_numbers(tmp_path: Path, crc: bool) -> None:
    """Two Jrk G2 on each of three lines, as the guide has them."""
    legs = [
        {"device": f"line-{'abc'[leg // 2]}", "baud": 115_200, "unit": 11 + leg % 2, "position_offset": 0.36418}
        for leg in range(6)
    ]
    plant = Plant(tmp_path / "pace", "virtual-jrk-g2", {"rate": 50.0, "drives": {"crc": crc, "legs": legs}})
    try:
        for _ in range(3):
            plant.cycle()
            assert plant.drives.fresh.all() and plant.drives.cells_fresh
            assert plant.drives.length == pytest.approx(plant.rig.plant.lengths, abs=1e-4)
            first, second = plant.drives.offset.reshape(3, 2).T
            assert (second - first > 3e-3).all(), "one after the other"
        plant.rig.drives[3].inject("drop_all")
        plant.cycle()
        plant.cycle()
        assert plant.drives.fresh.tolist() == [True, True, False, False, True, True], "its line waits, the others go on"
    finally:
        plant.close()


def test_modules_in_ascii_share_a_line_of_the_virtual_rig(tmp_path: Path) -> None:
    """Two of Mantracourt on each of three lines, by their station numbers."""
    modules = [{"device": f"cells-{'abc'[leg // 2]}", "unit": 1 + leg % 2} for leg in range(6)]
    plant = Plant(tmp_path / "pace", "virtual-mixed", {"load_cells": {"devices": modules}})
    try:
        for _ in range(3):
            plant.cycle()
            assert plant.drives.cells_fresh
            assert plant.drives.force == pytest.approx(plant.rig.plant.cells, abs=5.0)
            first, second = plant.drives.cells_offset.reshape(3, 2).T
            assert (second - first > 1e-3).all(), "one after the other"
    finally:
        plant.close()
