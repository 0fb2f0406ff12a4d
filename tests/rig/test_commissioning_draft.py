"""The draft of a configuration: its text, its faults, and a file that is valid or not written."""

import math
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from configured import endpoints
from hypothesis import given
from hypothesis import strategies as st

from actuators import SerialEndpoint
from calibration import LoadCellCalibration, Provenance, identity, load_cell_calibration, shift_offsets
from rig.commissioning import (
    CellAmplifier,
    Draft,
    DriveAddress,
    check_naming,
    draft_config,
    draft_faults,
    draft_text,
    name_calibration,
    placed_mechanism,
    placed_profile,
    save_draft,
    save_rig,
    with_serials,
)
from rig.commissioning import draft as draft_module
from rig.config.rig_config import RigConfig, load_config
from rig.errors import ConfigError, InputError

DRIVES = tuple(DriveAddress("10.0.0.1", 500 + leg, leg, f"S{leg}") for leg in range(1, 7))
GOOD = Draft(name="bench", drives=DRIVES)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(allow_nan=False)
addresses = st.builds(
    DriveAddress,
    host=texts,
    port=st.integers(),
    unit=st.integers(),
    serial=texts,
    device=texts,
    baud=st.integers(),
    parity=texts,
    stop_bits=st.integers(),
    position_offset=numbers,
)
own = st.sampled_from(["stroke", "crc", "home", "turnaround"])
amplifiers = st.builds(
    CellAmplifier,
    host=texts,
    port=st.integers(),
    unit=st.integers(),
    profile=texts,
    device=texts,
    baud=st.integers(),
    parity=texts,
    stop_bits=st.integers(),
)
sensors = st.fixed_dictionaries({"name": texts, "kind": texts | st.just("imu"), "source": texts | st.just("udp://a:1")})
drafts = st.builds(
    Draft,
    name=texts,
    mechanism=texts,
    mode=texts,
    rate=numbers,
    task_bandwidth=st.none() | numbers,
    driver=texts | st.just("servo"),
    profile=texts,
    watchdog=numbers,
    settings=st.dictionaries(own, texts | numbers | st.booleans(), max_size=3),
    drives=st.tuples(*[addresses] * 6),
    amplifier=st.none() | amplifiers,
    noise=numbers,
    range=numbers,
    calibration=texts,
    recording=texts,
    sensors=st.lists(sensors, max_size=2).map(tuple),
    virtual=st.booleans(),
)


def _place(device: DriveAddress | CellAmplifier) -> dict[str, Any]:
    """A serial port with its baud, or a host with its port."""
    if not device.device:
        return {"host": device.host, "port": device.port, "unit": device.unit}
    line = {"baud": device.baud, "parity": device.parity, "stop_bits": device.stop_bits}
    return {"device": device.device, "unit": device.unit} | {key: value for key, value in line.items() if value}


def _leg(drive: DriveAddress) -> dict[str, Any]:
    further = {"serial": drive.serial, "position_offset": drive.position_offset}
    return _place(drive) | {key: value for key, value in further.items() if value}


def _amplifier(device: CellAmplifier) -> dict[str, Any]:
    return _place(device) | ({"profile": device.profile} if device.profile else {})


@given(drafts)
def test_whatever_is_drafted_reads_back_as_it_was_meant(draft: Draft) -> None:
    data = tomllib.loads(draft_text(draft))
    for key in ("name", "mechanism", "mode", "rate"):
        assert data[key] == getattr(draft, key)
    described = {"profile": draft.profile} if draft.driver == "servo" else {}
    assert data["drives"] == {**draft.settings} | described | {
        "driver": draft.driver,
        "watchdog": draft.watchdog,
        "legs": [_leg(drive) for drive in draft.drives],
    }
    cells = data["load_cells"]
    assert (cells["noise"], cells["range"], cells.get("calibration", "")) == (
        draft.noise,
        draft.range,
        draft.calibration,
    )
    assert cells["source"] == ("drive" if draft.amplifier is None else "amplifier")
    assert cells.get("amplifier") == (None if draft.amplifier is None else _amplifier(draft.amplifier))
    assert data["recording"] == {"directory": draft.recording}
    assert data.get("sensors", []) == list(draft.sensors)
    assert ("virtual" in data) == draft.virtual


def test_a_rehearsal_simulates_the_imus_and_trackers() -> None:
    sensors = (
        {"name": "imu", "kind": "imu", "source": "udp://127.0.0.1:9873"},
        {"name": "tracker", "kind": "pose", "source": "serial:///dev/ttyS9"},
        {
            "name": "gauge",
            "kind": "scalar",
            "source": "udp://127.0.0.1:9874",
            "channels": [{"name": "t", "unit": "°C"}],
        },
    )
    config = draft_config(replace(GOOD, sensors=sensors, virtual=True), Path("rig.toml"))
    assert [sensor.name for sensor in config.sensors] == ["imu", "tracker", "gauge"]
    assert config.virtual is not None and [twin.name for twin in config.virtual.sensors] == ["imu"]


@given(drafts)
def test_a_draft_is_valid_or_its_faults_are_listed(draft: Draft) -> None:
    faults = draft_faults(draft, Path("rig.toml"))
    assert faults and all(faults)


def test_what_was_written_is_the_rig_that_was_meant(tmp_path: Path) -> None:
    draft = replace(GOOD, rate=1000.0, amplifier=CellAmplifier("10.0.0.9", 502, 3), recording='C:\\"data"')
    config = save_draft(draft, tmp_path / "rig.toml")
    assert config.resolved() == load_config(tmp_path / "rig.toml").resolved()
    assert (config.name, config.rate, config.recording.directory) == ("bench", 1000.0, 'C:\\"data"')
    assert endpoints(config) == [(drive.host, drive.port) for drive in DRIVES]
    assert [(leg.unit, leg.serial) for leg in config.drives.legs] == [(drive.unit, drive.serial) for drive in DRIVES]
    assert config.load_cells.amplifier is not None and config.load_cells.amplifier.unit == 3
    assert config.virtual is None
    assert [path.name for path in tmp_path.iterdir()] == ["rig.toml"]


def test_drives_on_serial_ports_of_any_driver(tmp_path: Path) -> None:
    motors = tuple(DriveAddress(serial=str(leg), device=f"/dev/motor-{leg}", baud=1_000_000) for leg in range(1, 7))
    good = replace(GOOD, amplifier=CellAmplifier("10.0.0.9", 502, 3))
    refused = r"^configuration \S+ cannot be used:\n  leg 1: the drive reads no load cell: name the cells' devices"
    with pytest.raises(ConfigError, match=refused):
        save_draft(replace(GOOD, driver="orca", drives=motors), tmp_path / "bare.toml")
    config = save_draft(replace(good, driver="orca", drives=motors), tmp_path / "orca.toml")
    drives = (tmp_path / "orca.toml").read_text(encoding="utf-8").partition("[load_cells]")[0]
    assert config.drives.driver == "orca" and "profile" not in drives
    assert [leg.place for leg in config.drives.legs] == [drive.device for drive in motors]
    sliders = tuple(DriveAddress(unit=leg, device="/dev/line") for leg in range(1, 7))
    config = save_draft(replace(good, driver="iai", mode="position", drives=sliders), tmp_path / "iai.toml")
    assert [leg.unit for leg in config.drives.legs] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ConfigError, match=r"leg 1: .*the drive has no mode FORCE"):
        save_draft(replace(GOOD, driver="iai", drives=sliders), tmp_path / "force.toml")
    with pytest.raises(ConfigError, match=r"drives\.legs\[1\]\.baud"):
        save_draft(replace(GOOD, driver="orca", drives=(replace(motors[0], baud=3), *motors[1:])), tmp_path / "x.toml")


def test_what_a_driver_has_of_its_own(tmp_path: Path) -> None:
    legs = tuple(DriveAddress(unit=leg, device="/dev/line", baud=19_200, parity="odd") for leg in range(1, 7))
    cells = CellAmplifier("10.0.0.9", 502, 3)
    own: dict[str, Any] = {"driver": "iai", "mode": "position", "rate": 50.0, "amplifier": cells}
    draft = replace(GOOD, **own, drives=legs, settings={"speed": 0.2})
    config = save_draft(draft, tmp_path / "iai.toml")
    assert config.drives.settings_of(3)["speed"] == 0.2
    assert {leg.endpoint for leg in config.drives.legs} == {SerialEndpoint("/dev/line", 19_200, "odd", 1)}
    faults = draft_faults(replace(draft, settings={"speed": 40.0, "stroke": 1.0}), tmp_path / "x.toml")
    assert [fault.key for fault in faults] == [("drives", "speed"), ("drives", "stroke")]


def test_a_rehearsal_has_a_virtual_rig_and_its_patience(tmp_path: Path) -> None:
    config = save_draft(replace(GOOD, virtual=True), tmp_path / "rig.toml")
    assert config.virtual is not None
    assert config.safety.stale_cycles == config.safety.overruns_in_a_row == 12  # half a watchdog
    slow = save_draft(replace(GOOD, virtual=True, watchdog=0.5), tmp_path / "slow.toml")
    assert slow.safety.stale_cycles == 100  # no more is allowed


@pytest.mark.parametrize("virtual", [True, False])
def test_what_is_written_is_not_wider_than_it_is_shown(virtual: bool) -> None:
    lines = draft_text(replace(GOOD, virtual=virtual, amplifier=CellAmplifier("192.168.10.17", 502, 1))).splitlines()
    assert max(map(len, lines)) <= 95


def test_every_fault_is_listed_and_nothing_is_written(tmp_path: Path) -> None:
    drives = (DRIVES[0], DRIVES[0], replace(DRIVES[2], host=""), replace(DRIVES[3], port=70000), *DRIVES[4:])
    bad = replace(GOOD, name="", mode="x", rate=math.nan, drives=drives, noise=-1.0, mechanism="nothing.toml")
    with pytest.raises(ConfigError) as caught:
        save_draft(bad, tmp_path / "rig.toml")
    places = [fault.split(":")[0] for fault in caught.value.faults]
    for place in (
        "name",
        "mode",
        "rate",
        "drives.legs[3].host",
        "drives.legs[4].port",
        "load_cells.noise",
        "mechanism",
    ):
        assert place in places
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"driver": "nothing"}, "no driver 'nothing'"),
        ({"profile": "nothing"}, "no profile 'nothing'"),
        ({"name": "\ud800"}, "cannot be written"),
        ({"drives": (DRIVES[0],) * 6}, "share 10.0.0.1:501 unit 1"),
        ({"watchdog": 0.003}, "less than two cycles"),
        ({"calibration": "none.toml"}, "no such file"),
    ],
)
def test_what_only_the_whole_shows_is_refused_as_well(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    draft = replace(GOOD, **change)
    for attempt in (
        lambda: draft_config(draft, tmp_path / "rig.toml"),
        lambda: save_draft(draft, tmp_path / "rig.toml"),
    ):
        with pytest.raises(ConfigError, match=words):
            attempt()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        save_draft(GOOD, path)
    assert path.read_text() == "mine"
    with pytest.raises(ConfigError):
        save_draft(replace(GOOD, name=""), path, overwrite=True)
    assert path.read_text() == "mine"
    save_draft(GOOD, path, overwrite=True)
    assert load_config(path).name == "bench"
    with pytest.raises(InputError, match="there is no folder"):
        save_draft(GOOD, tmp_path / "nowhere" / "rig.toml")


def test_paths_start_at_the_file_wherever_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rigs"
    (folder / "parts").mkdir(parents=True)
    source = Path(load_config("virtual").path).parents[3] / "dynamics" / "mechanisms" / "lab-hexapod.toml"
    mine = folder / "parts" / "mine.toml"
    mine.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    assert placed_mechanism("lab-hexapod", folder) == "lab-hexapod"
    assert placed_mechanism(str(mine), folder) == "parts/mine.toml"
    assert placed_mechanism(str(source), folder) == str(source)
    monkeypatch.chdir(tmp_path)
    assert placed_mechanism("rigs/parts/mine.toml", Path("rigs")) == "parts/mine.toml"
    profile = folder / "drive.toml"
    profile.write_bytes((source.parents[2] / "actuators" / "profiles" / "generic-servo.toml").read_bytes())
    assert placed_profile("rigs/drive.toml", Path("rigs")) == "drive.toml"
    assert placed_profile("generic-servo", folder) == "generic-servo"
    draft = replace(GOOD, mechanism="parts/mine.toml", profile="drive.toml")
    config = save_rig(draft, Path("rigs/rig.toml"), _zero())
    assert config.machine.name == "lab-hexapod"
    assert config.calibration_path == Path("rigs") / "cells-2026-11-21.toml"
    monkeypatch.chdir("/")
    assert load_config(folder / "rig.toml").calibration_path == folder / "cells-2026-11-21.toml"


def test_serial_numbers_found_are_taken_over() -> None:
    taken = with_serials(replace(GOOD, drives=(DriveAddress("a"),) * 6), {2: "X", 6: "Y"})
    assert [drive.serial for drive in taken.drives] == ["", "X", "", "", "", "Y"]


def _zero() -> LoadCellCalibration:
    random = np.random.default_rng(1)
    load = np.full((100, 6), 30.0)
    forces = load + np.arange(6.0) + 0.1 * random.standard_normal((100, 6))
    return shift_offsets(identity(), forces, load, date(2026, 11, 21), provenance=Provenance())


def test_a_zero_goes_into_a_new_file_beside_it_or_nowhere(tmp_path: Path) -> None:
    first = save_rig(GOOD, tmp_path / "a.toml", _zero())
    second = save_rig(GOOD, tmp_path / "b.toml", _zero())
    assert first.load_cells.calibration == "cells-2026-11-21.toml"
    assert second.load_cells.calibration == "cells-2026-11-21-2.toml"
    assert second.calibration_path is not None
    assert load_cell_calibration(second.calibration_path).offset == pytest.approx(np.arange(6.0), abs=0.05)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ConfigError):
        save_rig(replace(GOOD, name=""), tmp_path / "c.toml", _zero())
    assert sorted(tmp_path.iterdir()) == before


def test_a_zero_that_the_written_file_names_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rig.toml"

    def interrupted(read: Path) -> RigConfig:
        if read == path:
            raise KeyboardInterrupt
        return load_config(read)

    monkeypatch.setattr(draft_module, "load_config", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_rig(GOOD, path, _zero())
    assert load_config(path).calibration_path == tmp_path / "cells-2026-11-21.toml"


@pytest.mark.parametrize(
    "table",
    [
        "",
        "[load_cells]\nnoise = 0.7 # mine\n",
        '[load_cells] # all of them\ncalibration = "old.toml"\nnoise = 0.7\n[recording]\ndirectory = "x"\n',
    ],
)
def test_naming_a_calibration_changes_nothing_else(tmp_path: Path, table: str) -> None:
    path = tmp_path / "rig.toml"
    (tmp_path / "old.toml").touch()
    (tmp_path / "new.toml").touch()
    path.write_text(draft_text(GOOD).split("[load_cells]")[0] + table)
    before = tomllib.loads(path.read_text())
    name_calibration(path, "new.toml")
    after = tomllib.loads(path.read_text())
    assert after["load_cells"].pop("calibration") == "new.toml"
    before.get("load_cells", {}).pop("calibration", None)
    assert after == before | {"load_cells": before.get("load_cells", {})}
    assert ("# mine" in path.read_text()) == ("# mine" in table)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("load_cells = {{ noise = 0.7 }} # mine\n{head}", "load_cells = {{ noise = 0.7, {entry}}} # mine\n{head}"),
        ("load_cells.noise = 0.7\n{head}", "load_cells.noise = 0.7\nload_cells.{entry}\n{head}"),
        (
            "{head}[ 'load_cells' ] # six\nnoise = 0.7\n\n# where it goes\n[recording]\ndirectory = 'x'\n",
            "{head}[ 'load_cells' ] # six\n{entry}\nnoise = 0.7\n\n# where it goes\n[recording]\ndirectory = 'x'\n",
        ),
        (
            '{head}[load_cells]\nnoise = 0.7\ncalibration = """\\\n  old.toml""" # of May\n',
            "{head}[load_cells]\nnoise = 0.7\n{entry} # of May\n",
        ),
    ],
)
def test_however_the_table_is_written_the_rest_of_it_stays(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "rig.toml"
    (tmp_path / "new.toml").touch()
    head = draft_text(GOOD).split("[load_cells]")[0]
    path.write_text(before.format(head=head))
    name_calibration(path, "new.toml")
    assert path.read_text() == after.format(head=head, entry='calibration = "new.toml"')


def test_an_edit_that_would_lose_anything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(draft_text(GOOD))
    dumps = tomlkit.dumps
    monkeypatch.setattr(tomlkit, "dumps", lambda document: dumps(document).replace("noise", "# noise"))
    with pytest.raises(InputError, match=r"left as it is; write into its \[load_cells\] table"):
        name_calibration(path, "new.toml")


def test_a_calibration_that_is_not_there_is_not_named(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(draft_text(GOOD))
    with pytest.raises(ConfigError, match="left as it is"):
        name_calibration(path, "nothing.toml")
    assert path.read_text() == draft_text(GOOD)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_naming_a_calibration_keeps_line_ends_comments_and_mode(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "rig.toml"
    (tmp_path / "new.toml").touch()
    head = draft_text(GOOD).split("[load_cells]")[0]
    text = f"{head}[load_cells]\nnoise = 0.7\n  calibration='old#1.toml'  # of May\n".replace("\n", newline)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    check_naming(path, "new.toml")
    assert path.read_bytes() == text.encode()
    name_calibration(path, "new.toml")
    assert path.read_bytes() == text.replace("'old#1.toml'", '"new.toml"').encode()
    assert path.stat().st_mode & 0o777 == 0o640
    path.write_bytes((head + "[load_cells]").replace("\n", newline).encode())
    name_calibration(path, "new.toml")
    assert path.read_bytes() == f'{head}[load_cells]\ncalibration = "new.toml"\n'.replace("\n", newline).encode()


@pytest.mark.parametrize("text", ["name = [", "load_cells = 3"])
def test_a_file_that_was_broken_meanwhile_is_said_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(text)
    for attempt in (check_naming, name_calibration):
        with pytest.raises(InputError, match="left as it is"):
            attempt(path, "new.toml")
    assert path.read_text() == text
    path.unlink()
    with pytest.raises(InputError, match="cannot read"):
        check_naming(path, "new.toml")
