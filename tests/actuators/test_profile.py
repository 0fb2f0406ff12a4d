import pytest
from drive_support import Bench
from pydantic import ValidationError

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    AmplifierProfile,
    Command,
    CommandError,
    ConfigurationError,
    Mode,
    ServoProfile,
    load_profile,
)
from actuators.profile import Register

SHIPPED = load_profile("generic-servo", ServoProfile)


def changed(**changes):
    """The shipped profile's content with some nested entries replaced: a__b=value."""
    content = SHIPPED.model_dump()
    for path, value in changes.items():
        *tables, key = path.split("__")
        table = content
        for name in tables:
            table = table[name]
        table[key] = value
    return content


def test_shipped_profiles_load():
    assert SHIPPED.name == "generic-servo"
    assert SHIPPED.feedback.position.scale == 1e-7
    assert load_profile("generic-amplifier", AmplifierProfile).reading.forces[5].address == 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feedback__error": {"address": 0}}, "registers at 0 and 0 overlap"),
        ({"feedback__position": {"address": 200, "type": "i32"}}, "takes 202 registers, one exchange takes 125"),
        (
            {"command__velocity": {"address": 108, "type": "i32"}},
            "command.position and command.velocity: registers 107..107 lie between them",
        ),
        ({"command__force": {"address": 103, "type": "u32"}}, "force: a set-point has a sign"),
        ({"command__control": {"address": 100, "type": "i16"}}, "control: must be a u16 without scale"),
        ({"control__clear": 0}, "control: enable and clear have the same value"),
        ({"status__fault": 0}, "status: ready and fault have the same value"),
        ({"modes__force": 0}, "modes: off and force have the same value"),
        ({"parameters__watchdog": {"address": 200, "type": "f32"}}, "watchdog: must be a u16 or u32"),
        ({"feedback__position": {"address": 65535, "type": "i32"}}, "ends beyond register 65535"),
        ({"feedback__force": {"address": 7, "type": "i32", "invalid": 2**31}}, "invalid = 2147483648 is not a value"),
        ({"feedback__force": {"address": 7, "type": "i32", "scale": float("nan")}}, "finite"),
        (
            {"feedback__force": {"address": 7, "type": "i32", "scale": 0.0}},
            "must be at least 1e-15 in magnitude, not 0",
        ),
        ({"feedback__force": {"address": 7, "type": "i33"}}, "'f32'"),
        ({"identity__serial": {"address": 300, "length": 8}}, "overlap"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_bad_profiles_are_refused(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        ServoProfile.model_validate(changed(**changes))


def test_all_faults_of_a_file_are_listed_with_their_path(tmp_path):
    path = tmp_path / "drive.toml"
    path.write_text('name = 3\nword_order = "middle"\n[feedback]\nstatus = { address = -1, sort = "u16" }\n')
    with pytest.raises(ConfigurationError) as caught:
        load_profile(path, ServoProfile)
    for part in (
        "name:",
        "word_order:",
        "feedback.status.address:",
        "feedback.status.sort: unknown key",
        "command: missing",
    ):
        assert part in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(
        ConfigurationError,
        match=r"no profile 'akd'; shipped profiles: delta-asda-a2, generic-amplifier, generic-cell, generic-servo, "
        "laumas, lexium-32, oriental-az",
    ):
        load_profile("akd", ServoProfile)
    with pytest.raises(ConfigurationError, match=r"no profile .*missing\.toml"):
        load_profile(tmp_path / "missing.toml", ServoProfile)
    broken = tmp_path / "broken.toml"
    broken.write_text("a = = 1")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        load_profile(broken, ServoProfile)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="cannot read profile"):
        load_profile(broken, ServoProfile)
    with pytest.raises(ConfigurationError, match="cannot read profile"):
        load_profile(str(tmp_path) + "/", ServoProfile)


def test_register_takes_one_or_two_words():
    assert [Register(address=0, type=t).words for t in ("u16", "i16", "u32", "i32", "f32")] == [1, 1, 2, 2, 2]


@pytest.mark.parametrize(("mode", "lacking"), [(Mode.FORCE, ("position", "velocity")), (Mode.POSITION, ("force",))])
def test_a_drive_has_the_set_points_that_its_modes_need(mode, lacking):
    content = load_profile("generic-servo", ServoProfile).model_dump()
    address = 103
    for name in ("force", "position", "velocity"):
        if name in lacking:
            content["command"][name] = None
        else:
            content["command"][name]["address"] = address
            address += 2
    with pytest.raises(ValidationError, match=rf"command\.{lacking[0]}: missing, but there is a mode {lacking[0]}"):
        ServoProfile.model_validate(content)
    content["modes"][lacking[0]] = None
    bench = Bench(ServoProfile.model_validate(content))
    assert set(bench.drive.capabilities.modes) == {Mode.OFF, Mode.HOMING, mode}
    bench.do(COMMAND_OFF)
    bench.do(COMMAND_HOME)
    bench.leg.settle()
    bench.do(COMMAND_HOME)
    bench.do(Command(mode, -77.5, 0.61, 0.02, enable=True))
    said = {"force": -77.5, "position": 0.61, "velocity": 0.02}
    assert bench.leg.mode is mode
    told = (bench.leg.force, bench.leg.position, bench.leg.feedforward)
    assert told == pytest.approx([0.0 if name in lacking else value for name, value in said.items()])
    assert len(bench.sent[-1]) == 23 + 2 * (address - 103)
    other = Mode.POSITION if mode is Mode.FORCE else Mode.FORCE
    with pytest.raises(CommandError, match="is not one of the drive's modes"):
        bench.drive.begin(Command(other), 0.0)


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"invalid": [[0]]}, "invalid: bits of a status word, which is not given"),
        ({"status": {"address": 0}, "invalid": [[0], [1]]}, "invalid: 2 entries, not 1, one for each channel"),
        ({"status": {"address": 0}, "negative": [7]}, "registers that hold a magnitude have a type without a sign"),
        ({"status": {"address": 0}, "negative": [16]}, "less than or equal to 15"),
        ({"status": {"address": 0, "type": "u32"}}, "status: must be a u16 without scale"),
    ],
)
def test_bad_maps_of_readings_are_refused(reading, message):
    with pytest.raises(ValueError, match=message):
        AmplifierProfile.model_validate(
            {"name": "x", "reading": {"forces": [{"address": 2, "type": "i32"}], **reading}}
        )


def test_a_reading_may_be_nothing_but_forces():
    profile = AmplifierProfile.model_validate({"name": "x", "reading": {"forces": [{"address": 2, "type": "f32"}]}})
    assert (profile.reading.invalid_masks(), profile.reading.negative_masks()) == ([0], [0])
    laumas = load_profile("laumas", AmplifierProfile)
    assert (laumas.reading.invalid_masks(), laumas.reading.negative_masks()) == ([0b11111], [0x80])
