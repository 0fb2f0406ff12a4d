"""Drivers of load cells that others bring: configured by models of their own, read, and served by their twins."""

import pickle
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support import CONFIG, bench, smooth_table

from actuators import TcpEndpoint, declarations, registry
from rig.config import RigConfig, load_config
from rig.engine import make_drive_group
from rig.errors import ConfigError, InputError
from rig.states import State
from rig.virtual import VirtualRig


@pytest.fixture(autouse=True)
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [("box", "tests.actuators.foreign:BOX"), ("blind", "tests.actuators.foreign:BLIND")]
    monkeypatch.setattr(
        declarations, "installed", lambda: [EntryPoint(*entry, registry.CELL_GROUP) for entry in entries]
    )


def boxes(driver: str = "box", **changes: Any) -> dict[str, Any]:
    slots = [{"gateway": "127.0.0.1", "slot": slot} for slot in range(1, 7)]
    return {"load_cells": {"source": "devices", "driver": driver, "devices": slots, **changes}}


def test_a_driver_has_an_address_of_its_own(tmp_path: Path) -> None:
    config = CONFIG.changed(boxes())
    assert list(config.load_cells.places) == [f"devices[{leg}]" for leg in range(1, 7)]
    assert [place.label for place in config.load_cells.places.values()] == [
        f"127.0.0.1:slot {slot}" for slot in range(1, 7)
    ]
    assert config.resolved()["load_cells"]["devices"][2] == {"unit": 1, "gateway": "127.0.0.1", "slot": 3, "cells": 1}
    assert RigConfig.model_validate(config.resolved()).load_cells == config.load_cells
    again: RigConfig = pickle.loads(pickle.dumps(config))
    assert again.load_cells == config.load_cells and again.resolved() == config.resolved()
    assert CONFIG.load_cells.driver == "modbus" and CONFIG.load_cells.places == {}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            boxes(devices=[{"gateway": "x", "slot": 9}] * 6),
            r"load_cells\.devices\[1\]\.slot: must be .* 6, not 9",
        ),
        (boxes(devices=[{"host": "x", "slot": 1}] * 6), r"load_cells\.devices\[1\]\.host: unknown key"),
        (
            boxes("steam"),
            r"load_cells\.driver: no cell driver 'steam'; known cell drivers: blind, box, loadstar, mantra",
        ),
        (boxes("servo"), r"load_cells\.driver: no cell driver 'servo'"),
        ({"load_cells": {"driver": "box"}}, 'driver box is of devices, but source is "drive": see drives.driver'),
    ],
)
def test_faults_name_device_option_value_and_bound(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        CONFIG.changed(changes)


def test_the_engine_reads_it_and_the_virtual_rig_asks_the_driver_for_its_twin(tmp_path: Path) -> None:
    config = CONFIG.changed(boxes() | {"virtual": {"cells": {"noise": 0.0}}})
    ports = [endpoint.port for endpoint, _ in VirtualRig(config).endpoints if isinstance(endpoint, TcpEndpoint)]
    assert ports[6:] == [48000 + slot for slot in range(1, 7)]
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.follow(smooth_table(1.0))
        rig.run(0.5)
        assert rig.state is State.RUNNING and rig.engine.machine.cause is None
        measured = rig.tap.take()["force_measured"][-200:]
        assert np.ptp(measured, axis=0).min() > 0.1
    with pytest.raises(ConfigError, match=r"devices\[1\]: cell driver 'blind' has no virtual twin"):
        VirtualRig(CONFIG.changed(boxes("blind")))
    make_drive_group(CONFIG.changed(boxes("blind")), lambda: []).close()  # as real hardware it will do


def test_a_twin_is_only_asked_for_faults_that_it_can_have() -> None:
    """This one knows those of its wire: no amplifier's conversion that could stand."""
    six = {"source": "amplifier", "driver": "box", "amplifier": {"gateway": "127.0.0.1", "slot": 1}}
    rig = VirtualRig(CONFIG.changed({"load_cells": six}))
    rig.faults.inject("amplifier_drop_all")
    assert [fault.name for fault in rig.faults.active] == ["amplifier_drop_all"]
    for name in ("amplifier_standing", "amplifier_invalid"):
        with pytest.raises(InputError, match=f"fault {name}: this rig's virtual devices cannot have it"):
            rig.faults.inject(name)
    assert len(rig.faults.active) == 1
    one = {"source": "amplifier", "driver": "box", "amplifier": {"gateway": "127.0.0.1", "slot": 1, "cells": 1}}
    with pytest.raises(ConfigError, match="amplifier: an amplifier by generic-cell has 1 cells, not 6"):
        VirtualRig(CONFIG.changed({"load_cells": one}))


def test_files_that_a_driver_names_are_found_beside_the_configuration(tmp_path: Path) -> None:
    place = {"host": "127.0.0.1", "port": 15030, "profile": "./mine.toml"}
    config = load_config().changed({"load_cells": {"source": "amplifier", "amplifier": place}})
    assert config.load_cells.amplifier is not None
    assert Path(config.resolved()["load_cells"]["amplifier"]["profile"]).is_absolute()
