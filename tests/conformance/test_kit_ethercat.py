"""The template for EtherCAT: the suite on its simulator, and its transport over a stand-in for pysoem."""

import math
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soft_pysoem
from own_packages import installed
from soft_pysoem import NETWORKS, Slave

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    Buses,
    Command,
    ConnectError,
    Drive,
    Feedback,
    Mode,
    ProtocolError,
    Status,
    create_drive,
)
from rig.cli import main
from rig.errors import ExitCode
from rig.testing import DRIVE_CHECKS, DriveBench, check_driver

ENTRY = "[stewart_rig.drivers]\nmine = mine:DRIVER\n"
PERIOD = 0.01  # s


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """The template, installed."""
    folder = tmp_path / "mine"
    assert main(["template", "driver", "mine", "--example", "ethercat", "-o", str(folder)]) == ExitCode.OK
    assert '"pysoem"' in (folder / "pyproject.toml").read_text(encoding="utf-8")
    with installed(folder, {"mine": (folder / "mine.py").read_text(encoding="utf-8")}, ENTRY):
        yield folder


class Rig:
    """Six drives on a network, exchanged with as in a cycle."""

    def __init__(self) -> None:
        buses, options = Buses(), {"device": "ethercat://eth7", "watchdog": 0.1}
        numbers = range(1, 7)
        self.drives: list[Drive] = [
            create_drive("mine", {"name": f"drive {n}", "unit": n, "buses": buses, **options}) for n in numbers
        ]
        self.slaves = NETWORKS["eth7"]
        self.time = 0.0

    def set_up(self) -> None:
        """Connect and configure all."""
        for drive in self.drives:
            drive.connect(1.0)
        for drive in self.drives:
            drive.configure()

    def cycle(self, command: Command, count: int = 1) -> list[Feedback]:
        """The feedback of the last of `count` cycles."""
        bus = self.drives[0].batch
        assert bus is not None
        found: list[Feedback] = []
        for _ in range(count):
            self.time += PERIOD
            for slave in self.slaves:
                slave.twin.tick(self.time)
            bus.begin_cycle(self.time)
            for drive in self.drives:
                drive.begin(command, self.time)
            bus.commit()
            bus.gather(-math.inf)
            found = [drive.finish(-math.inf) for drive in self.drives]
        return found


@pytest.fixture
def rig(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """Six drives of the template on a network of six slaves."""
    monkeypatch.setitem(sys.modules, "pysoem", soft_pysoem)
    monkeypatch.setitem(NETWORKS, "eth7", [Slave(place) for place in range(1, 7)])
    rig = Rig()
    yield rig
    for drive in rig.drives:
        drive.close()


def fresh(found: list[Feedback]) -> list[int]:
    """Which drives, from 1, have a fresh sample."""
    return [number for number, one in enumerate(found, start=1) if one.fresh]


def test_the_template_passes_the_suite(package: Path) -> None:
    space: dict[str, Any] = {}
    exec((package / "conftest.py").read_text(encoding="utf-8"), space)
    benches: dict[str, type[DriveBench]] = space["pytest_rig_drive_benches"]("mine")
    assert check_driver("mine", benches) == ()
    assert len(DRIVE_CHECKS) > 20


def test_six_drives_home_and_follow_and_stop_by_their_watchdogs(rig: Rig) -> None:
    rig.set_up()
    assert [drive.identify().serial for drive in rig.drives] == [str(1000 + n) for n in range(1, 7)]
    assert rig.drives[0].identify().product == "virtual CiA 402 drive"  # in several segments
    assert fresh(rig.cycle(COMMAND_OFF, 2)) == [1, 2, 3, 4, 5, 6]
    rig.cycle(COMMAND_HOME, 10)
    for slave in rig.slaves:
        slave.leg.settle()
    rig.cycle(COMMAND_HOME, 5)
    rig.cycle(COMMAND_OFF, 5)
    found = rig.cycle(Command(Mode.POSITION, 0.0, 0.61, enable=True), 10)
    assert all(one.status & Status.ENABLED and one.status & Status.HOMED for one in found)
    assert rig.slaves[3].leg.position == pytest.approx(0.61, abs=1e-6)
    rig.time += 0.2
    found = rig.cycle(Command(Mode.POSITION, 0.0, 0.61, enable=True), 2)
    assert all(one.status & Status.WATCHDOG and not one.status & Status.ENABLED for one in found)


def test_a_slave_that_starts_anew_is_named_and_the_others_go_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mine.LOOK_AGAIN", 0.0)
    rig.set_up()
    rig.cycle(COMMAND_OFF, 2)
    rig.slaves[2].reboot()
    assert fresh(rig.cycle(COMMAND_OFF)) == []  # the counter does not say whose inputs are missing
    assert fresh(rig.cycle(COMMAND_OFF, 3)) == [1, 2, 4, 5, 6]
    assert [drive.silence for drive in rig.drives].index("it has started anew, and is not operational") == 2
    rig.drives[2].configure()
    assert fresh(rig.cycle(COMMAND_OFF, 2)) == [1, 2, 3, 4, 5, 6]


def test_a_cut_cable_leaves_stale_samples_and_comes_back(rig: Rig) -> None:
    rig.set_up()
    rig.cycle(COMMAND_OFF, 2)
    master = rig.slaves[0].master
    assert master is not None
    master.cut = True
    found = rig.cycle(COMMAND_OFF, 5)
    assert fresh(found) == [] and found[0].age == pytest.approx(5 * PERIOD)
    assert rig.drives[0].counters.late == 5 and rig.drives[0].connected
    master.cut = False
    assert fresh(rig.cycle(COMMAND_OFF)) == [1, 2, 3, 4, 5, 6]


def test_mailbox_transfers_that_are_lost_are_repeated_and_then_named(rig: Rig) -> None:
    rig.set_up()
    rig.slaves[1].lose = 2
    assert rig.drives[1].verify(0.1).serial == "1002"
    rig.slaves[1].lose = 3
    with pytest.raises(ProtocolError, match=r"drive 2 .* abort 05040000h \(no answer in time\)"):
        rig.drives[1].verify(0.1)


@pytest.mark.parametrize("early", [False, True])
def test_an_emergency_is_in_the_text_of_the_error(rig: Rig, early: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    slave = rig.slaves[4]
    emergency = type("Emergency", (), {"error_code": 0x7305, "error_reg": 0x21, "b1": 1, "w1": 2, "w2": 3})

    def write(*arguments: Any) -> None:
        slave.emergency(emergency)
        Slave.sdo_write(slave, *arguments)

    if early:  # while its PDOs are mapped
        monkeypatch.setattr(slave, "sdo_write", write)
    rig.set_up()
    rig.cycle(COMMAND_OFF)
    if not early:
        slave.emergency(emergency)
    rig.cycle(COMMAND_OFF)
    text = rig.drives[4].error_text(0x7305)
    assert text.startswith("incremental sensor 1") and text.endswith(struct.pack("<BHH", 1, 2, 3).hex(" "))


@pytest.mark.parametrize("present", [False, True])
def test_a_network_that_does_not_come_up_is_named(rig: Rig, present: bool) -> None:
    if present:
        NETWORKS["eth7"] = []
    else:
        del NETWORKS["eth7"]
    reason = "no EtherCAT slave answers at network interface eth7" if present else "cannot open network interface eth7"
    with pytest.raises(ConnectError, match=f"drive 1: {reason}"):
        rig.drives[0].connect(0.1)


def test_without_pysoem_it_is_named(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysoem", None)
    drive = create_drive("mine", {"name": "drive 1", "device": "ethercat://eth7"})
    with pytest.raises(ConnectError, match="ethercat://eth7: pysoem is not installed"):
        drive.connect(0.1)
