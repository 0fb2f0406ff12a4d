"""Serial adapters that are pulled out and plugged in again, or come up under each other's names; each driver."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from drive_support import serving_at

from actuators import (
    COMMAND_OFF,
    Buses,
    Command,
    ConnectError,
    DeviceLine,
    Drive,
    FaultyDevice,
    Feedback,
    IdentityError,
    Mode,
    SerialEndpoint,
    Status,
    exchange_all,
)
from rig.config import RigConfig, load_config
from rig.engine.devices import make_drive
from rig.virtual import VirtualRig

TIMEOUT = 5.0
KINDS = ("virtual-servo", "virtual-orca", "virtual-iai", "virtual-jrk-g2")


@contextmanager
def plugged(port: Path, devices: Sequence[FaultyDevice]) -> Iterator[None]:
    """An adapter with devices on its line, at a port of this machine; pulled out at the end of the block."""
    with serving_at([(SerialEndpoint(str(port), 1_000_000), DeviceLine(devices))], tick=2e-4):
        yield


class Ports:
    """The drives of a rig on serial ports, and the twins there: `lines` by port, in the order of the legs."""

    def __init__(self, name: str, folder: Path) -> None:
        config = load_config(name)
        legs = [leg.model_dump(exclude_unset=True) for leg in config.drives.legs]
        for leg in legs:
            leg["device"] = str(folder / leg["device"])
        self.config: RigConfig = config.changed({"drives": {"legs": legs, "reply_timeout": 1.0}})
        self.lines: dict[Path, list[FaultyDevice]] = {}
        for leg, device in zip(legs, VirtualRig(self.config).drives, strict=True):
            self.lines.setdefault(Path(leg["device"]), []).append(device)
        real = self.config.changed({"virtual": None})
        buses = Buses()
        self.drives: list[Drive] = [make_drive(real, leg, buses=buses) for leg in range(6)]

    def connect(self) -> None:
        for drive in self.drives:
            drive.connect(TIMEOUT)
            drive.identify()
            drive.configure()

    def exchange(self, command: Command = COMMAND_OFF) -> list[Feedback]:
        return exchange_all(self.drives, [command] * 6, time.monotonic(), TIMEOUT)

    def close(self) -> None:
        for drive in self.drives:
            drive.close()


@pytest.fixture
def owner() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("name", KINDS)
def test_an_adapter_is_pulled_out_and_plugged_in_again(name: str, tmp_path: Path, owner: ExitStack) -> None:
    rig = Ports(name, tmp_path)
    owner.callback(rig.close)
    *others, (port, devices) = rig.lines.items()
    for where, there in others:
        owner.enter_context(plugged(where, there))
    lost = range(6 - len(devices), 6)
    mode = Mode.POSITION if Mode.FORCE not in rig.drives[0].capabilities.modes else Mode.FORCE
    with plugged(port, devices):
        rig.connect()
        before = [rig.exchange() for _ in range(3)][-1]
        assert all(sample.fresh for sample in before)

    for _ in range(3):
        gone = rig.exchange(COMMAND_OFF._replace(mode=mode))  # raises nothing
        assert [leg for leg in range(6) if not gone[leg].fresh] == list(lost)
        assert all(gone[leg].position == before[leg].position for leg in lost)
    assert [rig.drives[leg].connected for leg in range(6)] == [leg not in lost for leg in range(6)]
    with pytest.raises(ConnectError, match=f"{port}.*No such file"):
        rig.drives[lost[0]].connect(TIMEOUT)

    with plugged(port, devices):
        back = rig.exchange()
        assert not any(back[leg].fresh for leg in lost)  # nobody takes a line again by himself
        rig.connect()
        again = [rig.exchange() for _ in range(3)][-1]
        assert all(sample.fresh for sample in again)
        assert not any(sample.status & Status.ENABLED for sample in again)
        assert [sample.position for sample in again] == pytest.approx([sample.position for sample in before], abs=1e-3)


@pytest.mark.parametrize("name", ["virtual-servo", "virtual-orca"])
def test_ports_that_have_changed_their_names_are_told_by_their_drives(
    name: str, tmp_path: Path, owner: ExitStack
) -> None:
    rig = Ports(name, tmp_path)
    owner.callback(rig.close)
    ports, lines = list(rig.lines), list(rig.lines.values())
    for port, devices in zip(ports, [lines[-1], *lines[1:-1], lines[0]], strict=True):
        owner.enter_context(plugged(port, devices))
    for leg in (0, 5):
        rig.drives[leg].connect(TIMEOUT)
        wanted = rig.config.drives.legs[leg].serial
        with pytest.raises(IdentityError, match=f"drive {leg + 1} at {ports[0 if leg == 0 else -1]}.*{wanted}"):
            rig.drives[leg].identify()
