"""Reading a rig's configuration."""

import json
import math
import pickle
from importlib.resources import files
from pathlib import Path

import pytest
from configured import endpoints
from hypothesis import given
from hypothesis import strategies as st

from rig.commissioning import check_devices
from rig.config import RigConfig, load_config, relaxed_timing, shipped_configs
from rig.errors import ConfigError, ExitCode

VIRTUAL = (Path(load_config().path)).read_text(encoding="utf-8")


def _write(folder: Path, *changes: tuple[str, str]) -> Path:
    text = VIRTUAL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "rig.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _faults(path: Path) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.exit_code == ExitCode.INPUT
    return caught.value.faults


def test_the_shipped_configuration_is_the_default() -> None:
    config = load_config()
    assert config.resolved() == load_config("virtual").resolved()
    assert config.name == "virtual"
    assert config.machine.name == "lab-hexapod"
    assert config.rate == 500.0
    assert config.period == 0.002
    assert config.safety.following_error == pytest.approx(2e-3, rel=1e-15)
    assert len(set(endpoints(config))) == 6
    assert config.virtual is not None
    assert config.virtual.cells.noise == (0.5,) * 6
    assert "virtual" in shipped_configs()


def test_the_shipped_configuration_shows_the_defaults() -> None:
    config = load_config()
    short = RigConfig.model_validate(
        {
            "name": "virtual",
            "mechanism": "lab-hexapod",
            "drives": {
                "legs": [
                    {"host": host, "port": port, "serial": leg.serial}
                    for leg, (host, port) in zip(config.drives.legs, endpoints(config), strict=True)
                ]
            },
            "virtual": {},
        }
    )
    assert _rounded(short.resolved()) == _rounded(config.resolved())


def _rounded(value: object) -> object:
    """Without the last bits, in which "0.1 ms" and 1e-4 may differ."""
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.12g}"))


def test_the_lead_follows_from_rate_and_drives() -> None:
    config = load_config()
    assert config.command_lead == pytest.approx(1e-3 + 1e-4 + 1 / (2 * math.pi * 300), rel=1e-12)
    assert config.changed({"control": {"lead": 0.0}}).command_lead == 0.0


def test_resolved_is_json_and_reads_back() -> None:
    config = load_config()
    again = RigConfig.model_validate(json.loads(json.dumps(config.resolved())))
    assert again.resolved() == config.resolved()


def test_a_configuration_crosses_to_another_process() -> None:
    config = load_config()
    copy = pickle.loads(pickle.dumps(config))
    assert copy.resolved() == config.resolved()
    assert copy.path == config.path
    assert copy.machine.name == config.machine.name


def test_changed_leaves_the_rest() -> None:
    config = load_config()
    changed = config.changed({"rate": 1000, "virtual": {"seed": 7, "plant": {"payload": {"mass": "2 kg"}}}})
    assert (changed.rate, config.rate) == (1000.0, 500.0)
    assert changed.virtual is not None
    assert changed.virtual.seed == 7
    assert changed.virtual.plant.payload is not None
    assert changed.virtual.plant.payload.mass == 2.0
    assert changed.drives == config.drives
    assert changed.folder == config.folder


def test_changed_refuses_what_a_file_may_not_say() -> None:
    with pytest.raises(ConfigError, match=r"rate: 5000 Hz, must be 5 to 2000 Hz"):
        load_config().changed({"rate": 5000})


@pytest.mark.parametrize(
    ("watchdog", "rate", "stale", "overruns"),
    [(0.05, 500, 12, 200), (0.5, 500, 100, 200), (0.2, 2000, 100, 200), (0.004, 500, 3, 200)],
)
def test_patience_keeps_to_the_schema_and_lowers_nothing(
    watchdog: float, rate: float, stale: int, overruns: int
) -> None:
    config = load_config().changed(
        {"rate": rate, "drives": {"watchdog": watchdog}, "safety": {"overruns_in_a_row": overruns}}
    )
    bounds = relaxed_timing(config).safety
    assert (bounds.stale_cycles, bounds.overruns_in_a_row) == (stale, overruns)
    eager = config.changed({"safety": {"overruns_in_a_row": 1}})
    assert relaxed_timing(eager).safety.overruns_in_a_row == max(1, min(100, int(0.5 * watchdog * rate)))


def test_one_value_stands_for_six_legs(tmp_path: Path) -> None:
    config = load_config(
        _write(tmp_path, ("gain = 1.0", "gain = [1.0, 1.0, 1.1, 1.0, 1.0, 1.0]"), ("bias = 0.0", "bias = 2"))
    )
    assert config.virtual is not None
    assert config.virtual.cells.gain[2] == 1.1
    assert config.virtual.cells.bias == (2.0,) * 6


def test_all_faults_at_once_with_their_places(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        ('rate = "500 Hz"', 'rate = "5 m"\nbogus = 1'),
        ("stale_cycles = 3", "stale_cycles = 0"),
        ("port = 15023", "prot = 15023"),
        ("noise = 0.5", "noise = nan"),
        ("gain = 1.0", "gain = [1, 2, 3, 4, 5, 6, 7]"),
    )
    text = "\n".join(_faults(path))
    assert "rate: '5 m' has the wrong dimension" in text
    assert "bogus: unknown key" in text
    assert "safety.stale_cycles: must be at least 1, not 0" in text
    assert "drives.legs[3].prot: unknown key" in text
    assert "load_cells.noise: nan is not finite" in text
    assert "virtual.cells.gain: 7 entries, not 6" in text
    assert len(_faults(path)) == 6


def test_a_wrong_value_for_six_legs_is_one_fault(tmp_path: Path) -> None:
    assert _faults(_write(tmp_path, ("bias = 0.0 ", 'bias = "much" ')))[0].startswith("virtual.cells.bias: 'much'")
    assert len(_faults(_write(tmp_path, ("bias = 0.0 ", 'bias = "much" ')))) == 1


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("15022", "15021", "drives: legs 1 and 2 share 127.0.0.1:15021 unit 1"),
        (
            'host = "127.0.0.1", port = 15023',
            'device = "/dev/ttyS0", host = "127.0.0.1"',
            "drives.legs[3]: host (of a TCP port) or device (a serial port): one of the two, not both",
        ),
        (
            'host = "127.0.0.1", port = 15021, serial = "VIRTUAL-1" },\n    { host = "127.0.0.1", port = 15022',
            'device = "a" },\n    { device = "a", baud = 9600, unit = 2',
            "drives.legs[2]: a at 9600 baud 8E1, drives.legs[1] has it at 19200 baud 8E1",
        ),
        ('source = "drive"', 'source = "amplifier"', 'load_cells: source is "amplifier", but [load_cells.amplifier]'),
        ('watchdog = "50 ms"', 'watchdog = "3 ms"', "drives.watchdog: 0.003 s is less than two cycles (0.004 s)"),
        ('# calibration = "cells.toml"', 'calibration = "gone.toml"', "load_cells.calibration: no such file"),
        ('mechanism = "lab-hexapod"', 'mechanism = "gone.toml"', "mechanism: "),
        ('mechanism = "lab-hexapod"', 'mechanism = "dasgupta-1998"', "mechanism: "),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, old: str, new: str, fault: str) -> None:
    faults = _faults(_write(tmp_path, (old, new)))
    assert any(line.startswith(fault) for line in faults), faults


def test_the_mechanism_is_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(load_config().machine.source.replace("lab-hexapod", "mine"), encoding="utf-8")
    config = load_config(_write(tmp_path, ('mechanism = "lab-hexapod"', 'mechanism = "mine.toml"')))
    assert config.machine.name == "mine"


def test_profiles_are_found_beside_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for shipped, name in (("generic-servo", "mine"), ("generic-amplifier", "cells")):
        profile = (files("actuators.profiles") / f"{shipped}.toml").read_text(encoding="utf-8")
        (tmp_path / f"{name}.toml").write_text(profile, encoding="utf-8")
    amplifier = 'amplifier = { host = "127.0.0.1", port = 15030, profile = "./cells.toml" }'
    path = _write(
        tmp_path,
        ('profile = "generic-servo"', 'profile = "mine.toml"'),
        ('source = "drive" ', f'{amplifier}\nsource = "amplifier" '),
    )
    monkeypatch.chdir(tmp_path.parent)
    config = load_config(Path(tmp_path.name) / path.name)
    check_devices(config)  # from whatever folder that is done
    check_devices(config.changed({}).changed({"rate": 250.0}))
    assert config.drives.settings["profile"] == str(tmp_path / "mine.toml")
    assert config.changed({"rate": 250.0}).drives.settings["profile"] == str(tmp_path / "mine.toml")
    assert load_config().drives.settings["profile"] == "generic-servo"


def test_faults_of_the_mechanism_are_listed_with_the_others(tmp_path: Path) -> None:
    source = load_config().machine.source
    (tmp_path / "mine.toml").write_text(source.replace("mass = 18.0", "mass = nan"), encoding="utf-8")
    path = _write(tmp_path, ('mechanism = "lab-hexapod"', 'mechanism = "mine.toml"\nbogus = 1'))
    text = "\n".join(_faults(path))
    assert "bogus: unknown key" in text
    assert "platform.mass" in text


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no such configuration: .*gone.toml"):
        load_config(tmp_path / "gone.toml")


@pytest.mark.parametrize("content", [b"name = ", b'name = "a"\nname = "b"', b"\xff\xfe"])
def test_not_toml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rig.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"not valid TOML|is not UTF-8"):
        load_config(path)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_any_value_is_taken_or_refused_in_words(value: object) -> None:
    config = load_config()
    for changes in ({"rate": value}, {"drives": {"legs": value}}, {"virtual": {"cells": {"gain": value}}}):
        try:
            changed = config.changed(changes)
        except ConfigError as error:
            assert error.faults
        else:
            assert math.isfinite(changed.rate)
