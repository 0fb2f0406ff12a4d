"""A scan of a CAN bus: which nodes answer, who they are, and that it disturbs none of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from drive_support import serving_at

from actuators import BAUDS, ConfigurationError, ConnectError, create_twin, open_wire, search
from actuators.canopen import CanEndpoint, scanning
from actuators.canopen.frames import Object
from actuators.virtual.server import DeviceLine
from rig.cli import main
from rig.testing import BenchLeg

BUS = "can://socketcan/can0"


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Nodes 3 and 90 on an adapter, in place of the interface."""
    port = CanEndpoint(str(tmp_path / "adapter"), 1_000_000, "none")
    twins = [create_twin("canopen", {"device": BUS, "unit": unit, "serial": str(unit)}, BenchLeg()) for unit in (3, 90)]
    with serving_at([(port, DeviceLine(twins))], tick=1e-3):
        opened: list[object] = []

        def opening(endpoint: CanEndpoint, timeout: float) -> object:
            opened.append(endpoint)
            return open_wire(port, timeout)

        monkeypatch.setattr(scanning, "open_can", opening)
        yield opened


def test_every_node_that_answers_is_found_by_its_identity(bus: list[object]) -> None:
    ((endpoint, answers),) = search(BUS, range(1, 128), timeout=0.02)
    assert endpoint == CanEndpoint(BUS, 1_000_000, "none") and bus == [endpoint]
    assert [(answer.unit, answer.driver) for answer in answers] == [(3, "canopen"), (90, "canopen")]
    assert [answer.identity and answer.identity.serial for answer in answers] == ["3", "90"]
    assert answers[0].reply == "device type 00020192h"
    assert answers[0].place == f"{BUS}, 1000000 bit/s, unit 3"
    assert answers[0].identity is not None and "virtual CiA 402 drive" in answers[0].identity.described


def test_a_bus_is_asked_at_one_bit_rate_only(bus: list[object]) -> None:
    with pytest.raises(ConfigurationError, match="give one bit rate"):
        list(search(BUS, [3], bauds=(500_000, 250_000)))
    assert bus == []
    ((endpoint, answers),) = search(BUS, [3], bauds=(500_000,), timeout=0.5)
    assert endpoint == CanEndpoint(BUS, 500_000, "none") and len(answers) == 1


def test_a_node_that_refuses_is_found_without_identity(monkeypatch: pytest.MonkeyPatch, bus: list[object]) -> None:
    monkeypatch.setattr(scanning, "DEVICE_TYPE", Object(0x5FFF, 0, "I"))
    ((_endpoint, answers),) = search(BUS, [3, 90], timeout=0.5)
    assert [(answer.unit, answer.driver, answer.identity) for answer in answers] == [(3, "", None), (90, "", None)]
    assert "abort 06020000h" in answers[0].reply and len(bus) == 1


def test_what_is_no_node_is_refused(bus: list[object]) -> None:
    for unit in (0, 128):
        with pytest.raises(ConfigurationError, match=rf"unit {unit}: nodes of a CAN bus are 1 to 127"):
            list(search(BUS, [unit], bauds=BAUDS))
    assert bus == []


def test_an_interface_that_cannot_be_opened_is_named() -> None:
    with pytest.raises(ConnectError, match="cannot open can://nothing/can0"):
        list(search("can://nothing/can0", [1]))


@pytest.mark.usefixtures("bus")
def test_the_command_asks_all_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", BUS, "--timeout", "0.02", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["unit"], each["device"], each["bitrate"]) for each in found] == [
        (3, BUS, 1_000_000),
        (90, BUS, 1_000_000),
    ]
    assert main(["scan", BUS, "--units", "4-6", "--timeout", "0.02"]) == 3
    assert "1 bus asked for 3 units" in capsys.readouterr().err
