"""What a driver lets be set of its own, as drafts, forms and commands see it; one drive of an unfinished draft."""

from dataclasses import replace
from pathlib import Path

import pytest

from actuators import Mode, drive_names, find_driver
from dynamics import load_mechanism
from rig.commissioning import Draft, DriveAddress, drafted_drive, has_profile, own_settings, setting_value
from rig.errors import ConfigError

ELSEWHERE = (DriveAddress("10.0.0.1"),) * 5


def test_one_drive_of_a_draft_that_is_not_valid_yet() -> None:
    drives = (DriveAddress(unit=3, device="/dev/line", baud=19_200), *ELSEWHERE)
    draft = Draft(driver="iai", mode="position", watchdog=0.2, settings={"speed": 0.2}, drives=drives)
    address, kind = drafted_drive(draft, 1, Path("rig.toml"))
    assert (address.place, address.unit) == ("/dev/line", 3)
    assert (kind.driver, kind.settings, kind.watchdog, kind.mode) == ("iai", {"speed": 0.2}, 0.2, Mode.POSITION)
    _, kind = drafted_drive(replace(draft, driver="servo", mode="force", settings={}), 2, Path("/etc/rig.toml"))
    assert (kind.settings, kind.mode) == ({"profile": "generic-servo"}, Mode.FORCE)
    limits = load_mechanism("lab-hexapod").legs[1].limits
    assert limits is not None and kind.lengths == limits.length
    assert drafted_drive(replace(draft, mechanism="none.toml"), 1, Path("rig.toml"))[1].lengths is None
    with pytest.raises(ConfigError, match=r"leg 1:\n +unit: 17 is outside 1\.\.16"):
        drafted_drive(replace(draft, drives=(replace(drives[0], unit=17), *drives[1:])), 1, Path("rig.toml"))


@pytest.mark.parametrize("driver", drive_names())
def test_own_settings_are_told_with_what_they_are_as_usual(driver: str) -> None:
    model = find_driver(driver).settings
    told = own_settings(driver)
    assert {setting.name for setting in told} == model.model_fields.keys() - {"profile"}
    assert has_profile(driver) == ("profile" in model.model_fields)
    assert all(setting.about for setting in told)
    usual = {setting.name: setting_value(setting.usual) for setting in told if setting.usual}
    assert model.model_validate(usual) == model()  # what is shown as usual is so


def test_nothing_is_told_of_a_driver_that_there_is_none_of() -> None:
    assert own_settings("nobody") == () and not has_profile("nobody")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" 0.2 ", 0.2), ("true", True), ("{ a = 1 }", {"a": 1}), ('"x"', "x"), ("300 mm", "300 mm"),
        ("9" * 5000, "9" * 5000),
        ("[" * 3000, "[" * 3000),
        ("mine.toml", "mine.toml"), ("1\nb = 2", "1\nb = 2"),
    ],
)  # fmt: skip
def test_a_setting_as_a_person_writes_it(text: str, value: object) -> None:
    assert setting_value(text) == value
