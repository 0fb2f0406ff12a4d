"""Drivers that other distributions bring: configured by models of their own, claimed, and served by their own twins."""

import pickle
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from actuators import create_twin, declarations, find_driver, registry
from actuators import drive_names as drivers_of_drives
from actuators.errors import ConfigurationError
from rig.client import at_rate
from rig.commissioning import check_devices
from rig.config import RigConfig, leg_section, load_config
from rig.engine import claim_addresses, claim_drives, make_drive_group
from rig.engine.drive_names import drive_names
from rig.errors import ConfigError, HardwareError
from rig.testing import BenchLeg as Leg
from rig.virtual import VirtualRig


@pytest.fixture(autouse=True)
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [("gateway", "tests.actuators.foreign:GATEWAY"), ("line", "tests.actuators.foreign:LINE")]
    monkeypatch.setattr(declarations, "installed", lambda: [EntryPoint(*entry, registry.GROUP) for entry in entries])


def written(tmp_path: Path, driver: str, legs: list[str], more: str = "") -> Path:
    head, rest = load_config().path.read_text(encoding="utf-8").split("[drives]")
    rest = rest[rest.index("[load_cells]") :]
    table = f'[drives]\ndriver = "{driver}"\n{more}legs = [\n{",".join(f"{{ {leg} }}" for leg in legs)}\n]\n'
    path = tmp_path / "rig.toml"
    path.write_text(head + table + rest, encoding="utf-8")
    return path


SLOTS = [f'gateway = "127.0.0.1", slot = {slot}' for slot in range(1, 7)]
LINES = [f'device = "/dev/ttyUSB{leg % 2}", unit = {leg}' for leg in range(1, 7)]


def test_a_driver_has_an_address_and_settings_of_its_own(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, "gateway", SLOTS, "gain = 2.5\n"))
    assert config.drives.settings == {"gain": 2.5}
    assert [leg.place for leg in config.drives.legs] == [f"slot {slot} of 127.0.0.1" for slot in range(1, 7)]
    assert config.drives.described(0) == "driver gateway, gain 2.5"
    assert RigConfig.model_validate(config.resolved()).drives == config.drives
    again: RigConfig = pickle.loads(pickle.dumps(config))
    assert again.drives == config.drives and again.drives.settings == {"gain": 2.5}
    assert config.changed({"drives": {"gain": 3.0}}).drives.settings == {"gain": 3.0}


def test_faults_name_leg_option_value_and_bound(tmp_path: Path) -> None:
    legs = [*SLOTS[:3], 'gateway = "127.0.0.1", slot = 9', 'host = "x", port = 1', SLOTS[5]]
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, "gateway", legs, 'gain = 11.0\nprofile = "generic-servo"\n'))
    text = str(caught.value)
    for line in (
        "drives.legs[4].slot: must be at most 6, not 9",
        "drives.legs[5].slot: missing",
        "drives.legs[5].host: unknown key",
        "drives.gain: must be at most 10, not 11.0",
        "drives.profile: unknown key",
    ):
        assert line in text
    with pytest.raises(
        ConfigError,
        match=r"drives\.driver: no driver 'steam'; known drivers: canopen, gateway, iai, jrk-g2, line, orca, servo",
    ):
        load_config(written(tmp_path, "steam", SLOTS))
    with pytest.raises(ConfigError, match=r"drives: legs 1 and 2 share 127\.0\.0\.1:slot 1"):
        load_config(written(tmp_path, "gateway", [SLOTS[0], *SLOTS[:5]]))


def test_a_drive_is_claimed_by_what_identifies_it(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, "line", LINES))
    names = drive_names(dict(enumerate(config.drives.legs, start=1)))
    assert len({name for found in names.values() for name in found}) == 6
    start = time.monotonic()
    with claim_drives(config):
        assert time.monotonic() - start < 5.0
        same = leg_section("line").model_validate({"device": "/dev/ttyUSB1", "unit": 3})
        with pytest.raises(HardwareError, match=r"leg 2: another program .* commands the drive at /dev/ttyUSB1"):
            claim_addresses({2: same})
        other = leg_section("line").model_validate({"device": "/dev/ttyUSB1", "unit": 4})
        claim_addresses({2: other}).close()


def test_the_virtual_rig_asks_the_driver_for_its_twin(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, "gateway", SLOTS))
    rig = VirtualRig(config)
    assert [place for place, _ in rig.endpoints] == [("127.0.0.1", 47000 + slot) for slot in range(1, 7)]
    drives = make_drive_group(config, rig.wires)
    identities = drives.connect(1.0)
    assert [found.text.split(", ")[1] for found in identities] == [f"serial VIRTUAL-{leg}" for leg in range(1, 7)]
    drives.close()
    line = load_config(written(tmp_path, "line", LINES))
    with pytest.raises(ConfigError, match="drive 1: driver 'line' has no virtual twin"):
        VirtualRig(line)
    with pytest.raises(ConfigurationError, match="no virtual twin"):
        create_twin("line", {"device": "/dev/ttyUSB0"}, Leg())


def test_a_motor_that_is_alone_on_its_port_shares_it_with_nobody(tmp_path: Path) -> None:
    motors = [f'device = "motor-{leg}"' for leg in range(1, 7)]
    assert load_config(written(tmp_path, "orca", motors)).drives.driver == "orca"
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, "orca", [*motors[:5], 'device = "motor-2", unit = 2']))
    assert "drives.legs[6]: motor-2 is drives.legs[2]'s, whose driver has no other device there" in str(caught.value)


def test_a_leg_may_have_a_driver_settings_and_a_mode_of_its_own(tmp_path: Path) -> None:
    other = (
        'driver = "servo", mode = "position", host = "127.0.0.1", port = 15026, settings = { profile = "./mine.toml" }'
    )
    legs = [*SLOTS[:4], f"{SLOTS[4]}, settings = {{ gain = 4.0 }}", other]
    config = load_config(written(tmp_path, "gateway", legs, "gain = 2.5\n"))
    drives = config.drives
    assert [drives.driver_of(leg) for leg in (0, 4, 5)] == ["gateway", "gateway", "servo"]
    assert [drives.settings_of(leg)["gain"] for leg in (0, 4)] == [2.5, 4.0]
    assert drives.settings_of(5)["profile"] == str(tmp_path / "mine.toml")
    assert drives.described(5) == f"driver servo, profile {tmp_path / 'mine.toml'}"
    assert config.own_loops == (False,) * 5 + (True,)
    again: RigConfig = pickle.loads(pickle.dumps(config))
    assert again.drives == drives and RigConfig.model_validate(config.resolved()).drives == drives
    assert config.changed({"drives": {"gain": 3.0}}).drives.settings_of(4) == {"gain": 4.0}
    position = config.changed({"mode": "position"})
    assert all(position.own_loops) and position.command_lead == position.length_lead


@pytest.mark.parametrize(
    ("leg", "said"),
    [
        (
            'driver = "steam", host = "x", port = 1',
            "drives.legs[6].driver: no driver 'steam'; known drivers: canopen, gateway, iai, jrk-g2, line, orca, servo",
        ),
        ('driver = "servo", gateway = "x", slot = 6', "drives.legs[6].gateway: unknown key"),
        ('driver = "line", device = "/dev/ttyUSB1", settings = { gain = 1 }', "drives.legs[6].settings.gain: unknown"),
        (
            f"{SLOTS[5]}, settings = {{ gain = 11.0 }}",
            "legs[6].settings.gain: must be at most 10, not 11",
        ),
        (f'{SLOTS[5]}, mode = "force"', "drives.legs[6].mode: must be 'position', not 'force'"),
        ("driver = 3", "drives.legs[6].driver: "),
    ],
)
def test_what_is_wrong_with_a_leg_of_its_own_kind_is_said_with_its_place(leg: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, "gateway", [*SLOTS[:5], leg]))
    assert said in str(caught.value)


def test_modes_of_legs_that_cannot_be_had() -> None:
    legs = [leg | {"mode": "position"} for leg in load_config().resolved()["drives"]["legs"]]
    with pytest.raises(ConfigError, match='mode: force, but every leg has mode = "position": set it here, once'):
        load_config().changed({"drives": {"legs": legs}})
    some = [{**leg, "mode": "position" if number in (2, 5) else None} for number, leg in enumerate(legs, start=1)]
    torque = {"mode": "computed-torque", "drives": {"legs": some}}
    with pytest.raises(ConfigError, match=r'forces of all six legs, but leg 2, 5 has mode = "position"'):
        load_config().changed(torque)
    with pytest.raises(ConfigError, match=r"mode: observer has the forces of all six legs, but leg 2, 5 has"):
        load_config().changed(torque | {"mode": "observer"})
    assert load_config().changed({"mode": "position", "drives": {"legs": some}}).gains_unused
    assert not load_config().changed({"drives": {"legs": some}}).gains_unused


def test_an_observer_needs_drives_that_answer_and_follow_within_a_cycle() -> None:
    slow = {"mode": "observer", "drives": {"sample_period": "4 ms"}}
    with pytest.raises(ConfigError, match=r"drives answer every 0.004 s: rate must be 250 Hz at most, or mode force"):
        load_config().changed(slow)
    assert load_config().changed(slow | {"rate": 250.0}).mode == "observer"
    late = {"mode": "observer", "drives": {"delay": "2.5 ms"}}
    with pytest.raises(ConfigError, match=r"within a cycle, 0.002 s, but drives.delay is 0.0025 s"):
        load_config().changed(late)
    assert load_config().changed(late | {"mode": "force"}).mode == "force"


@pytest.mark.parametrize("driver", drivers_of_drives())
def test_a_legs_address_is_the_drivers_own(driver: str) -> None:
    """Defaults and bounds as well: a leg's table must not lose what the driver says of its address."""
    own, leg = find_driver(driver).address.model_fields, leg_section(driver).model_fields
    for name, field in own.items():
        assert (leg[name].default, leg[name].metadata) == (field.default, field.metadata), name


def test_drives_of_one_line_agree_on_it() -> None:
    config = load_config("virtual-servo")
    legs = config.resolved()["drives"]["legs"]
    legs[1] |= {"settings": config.drives.settings_of(1) | {"turnaround": 0.01}}
    with pytest.raises(
        ConfigError, match=r"drives\.legs\[2\]: turnaround 0\.01, but leg 1 on the same line, line-a, has 0\.0001"
    ):
        config.changed({"drives": {"legs": legs}})
    config = load_config("virtual-jrk-g2")
    legs = config.resolved()["drives"]["legs"]
    settings = {"turnaround": 0.0, "reply_timeout": 0.01}
    legs[1] = {"driver": "iai", "device": "jrk-1", "baud": 115_200, "unit": 2, "settings": settings}
    with pytest.raises(ConfigError, match="devices that speak Pololu's protocol with checksums and Modbus RTU cannot"):
        check_devices(config.changed({"drives": {"legs": legs}}))


def test_the_interpolation_period_is_the_rigs_cycle() -> None:
    config = load_config("virtual-canopen")
    for change in ({"rate": 100.0}, {"drives": {"sync_period": 2e-3}}, {"drives": {"sample_period": 0.01}}):
        with pytest.raises(ConfigError, match=r"drives\.sync_period: 0\.00[25] s, must be 0\.(01|005) s, .*, or 0"):
            config.changed(change)
    assert config.changed({"rate": 100.0, "drives": {"sync_period": 0.0}}).rate == 100.0
    slower = at_rate(config, 100.0)
    assert slower.drives.settings["sync_period"] == 0.01 and slower.drives.delay == pytest.approx(0.018)
    with pytest.raises(ConfigError, match=r"sync_period.*object 60C2h has"):
        at_rate(config, 300.0)


def test_a_drive_that_cannot_be_told_every_length_is_refused() -> None:
    config = load_config("virtual-jrk-g2")
    check_devices(config)
    with pytest.raises(ConfigError, match=r"leg 6: .* 0\.3642 to 0\.5642 m"):
        check_devices(config.changed({"drives": {"stroke": 0.2}}))
