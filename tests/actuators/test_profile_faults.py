"""What a wrong profile says: each fault on a line of its own, by its key, with the value and what it must be."""

from importlib import resources
from pathlib import Path

import pytest
from servo_profiles import COILS_TOML, UGLY_TOML

from actuators import AmplifierProfile, ConfigurationError, ServoProfile, load_profile


def shipped(name: str) -> str:
    return (resources.files("actuators.profiles") / f"{name}.toml").read_text(encoding="utf-8")


TEXTS = {name: shipped(name) for name in ("generic-servo", "lexium-32", "oriental-az", "delta-asda-a2", "laumas")}
TEXTS |= {"ugly": UGLY_TOML, "coils": COILS_TOML}
POSITION = 'position = { address = 3, type = "i32", scale = 1e-7, invalid = -2147483648 }'
VELOCITY = 'velocity = { address = 107, type = "i32", scale = 1e-6 }'
WATCHDOG = 'watchdog = { address = 200, type = "u16", scale = 1e-3 }'
RAMP = "[ramp]\nspeed = 0.1\nacceleration = 1.0\n\n[modes]"
NOT_PLAIN = "is not of a plain profile: give functions.gap, which is missing (0 reads no register between)"
GAP = 'wrong_unit = "silent"\nfunctions = { gap = 0 }'


def refusal(path: Path, text: str, *changes: tuple[str, str]) -> list[str]:
    """The lines by which a profile's text with some changes is refused."""
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    kind = ServoProfile if "[feedback]" in text else AmplifierProfile
    with pytest.raises(ConfigurationError) as caught:
        load_profile(path, kind)
    head, *lines = str(caught.value).splitlines()
    assert head == f"profile {path}:"
    return [line.removeprefix("  ") for line in lines]


@pytest.mark.parametrize(
    ("base", "old", "new", "line"),
    [
        ("generic-servo", "address = 3,", "address = 400004,",
         "feedback.position.address: must be at most 65535, not 400004: addresses count from 0, holding register "
         "400004 is address 3, coil 1 is address 0"),
        ("generic-servo", "address = 3,", "address = 70000,",
         "feedback.position.address: must be at most 65535, not 70000: addresses count from 0, holding register "
         "40001 is address 0, coil 1 is address 0"),
        ("generic-servo", "address = 3,", "address = -3,", "feedback.position.address: must be at least 0, not -3"),
        ("generic-servo", "address = 3,", 'address = "3",', "feedback.position.address: must be an integer, not '3'"),
        ("generic-servo", "address = 3,", "address = true,", "feedback.position.address: must be an integer, not true"),
        ("generic-servo", "scale = 1e-7", "scale = true", "feedback.position.scale: must be a number, not true"),
        ("generic-servo", "scale = 1e-7", "scale = inf", "feedback.position.scale: must be a finite number, not inf"),
        ("generic-servo", 'type = "i32"', 'type = "i33"',
         "feedback.position.type: must be 'u16', 'i16', 'u32', 'i32', 'f32', 'u64', 'i64' or 'f64', not 'i33'"),
        ("generic-servo", POSITION, "position = 3", "feedback.position: must be a table, not 3"),
        ("generic-servo", "scale = 1e-7", "scale = 0",
         "feedback.position.scale: must be at least 1e-15 in magnitude, not 0"),
        ("generic-servo", "vendor = { address = 300, length = 8 }", "vendor = 7",
         "identity.vendor: must be text, not 7"),
        ("generic-servo", "enable = 0", "enable = true", "control.enable: must be a bit's number or a table, not true"),
        ("generic-servo", "enable = 0", 'enable = "x"', "control.enable: must be a bit's number or a table, not 'x'"),
        ("generic-servo", "homed = 3", "homed = 16", "status.homed: must be at most 15, not 16"),
        ("generic-servo", "force = 1", "force = false",
         "modes.force: must be a value of the mode register or a table, not false"),
        ("generic-servo", "force = 1", "force = 70000", "modes.force: must be at most 65535, not 70000"),
        ("generic-servo", "code = 1,", "code = 0,", "errors.watchdog.code: must be at least 1, not 0"),
        ("generic-servo", "serial = { address = 316, length = 8 }", "serial = { address = 316, expect = -1 }",
         "identity.serial.expect: must be at least 0, not -1"),
        ("generic-servo", "serial = { address = 316, length = 8 }", "serial = { expect = 1 }",
         "identity.serial.address: missing"),
        ("generic-servo", 'name = "generic-servo"', 'name = "x"\nhoming_ends_off = 1',
         "homing_ends_off: must be true or false, not 1"),
        ("oriental-az", "pairs = true", "pairs = 1", 'functions.pairs: must be true, false or "whole", not 1'),
        ("oriental-az", "value = 20000", "value = inf", "command.constants[4].value: must be a finite number, not inf"),
        ("oriental-az", "value = 20000", "value = true",
         "command.constants[4].value: must be a finite number, not true"),
        ("oriental-az", "rated_force = 500.0", "rated_force = -5",
         "simulator.rated_force: must be greater than 0 N, not -5 N"),
        ("delta-asda-a2", "speed = 0.05 ", "speed = -1 ", "ramp.speed: must be at least 1e-06 m/s, not -1 m/s"),
        ("delta-asda-a2", "speed = 0.05 ", 'speed = "1" ', "ramp.speed: must be a number, not '1'"),
        ("delta-asda-a2", "speed = 0.05 ", "speed = { address = 94 } ", "ramp.speed.scale: missing"),
        ("lexium-32", "timeout = 2.0", "timeout = 100.0", "power.timeout: must be at most 60 s, not 100.0 s"),
        ("laumas", "negative = [7]", "negative = [16]", "reading.negative[1]: must be at most 15, not 16"),
        ("laumas", "address = 7,", "address = 7, sort = 3,", "reading.forces[1].sort: unknown key"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_said_with_its_bound(base: str, old: str, new: str, line: str, tmp_path: Path) -> None:
    assert refusal(tmp_path / "drive.toml", TEXTS[base], (old, new)) == [line]


@pytest.mark.parametrize(
    ("base", "changes", "line"),
    [
        ("generic-servo", [(WATCHDOG, "watchdog = { address = 100 }")],
         "parameters.watchdog: register 100 is written every cycle, by command.control"),
        ("generic-servo", [(WATCHDOG, 'watchdog = { address = 108, type = "u32" }')],
         "parameters.watchdog: register 108 is written every cycle, by command.velocity"),
        ("oriental-az", [("[control]", "[parameters]\nwatchdog = { address = 0x66 }\n\n[control]")],
         "parameters.watchdog: register 102 is written every cycle, by command.handover.trigger"),
        ("generic-servo", [("vendor = { address = 300, length = 8 }", "vendor = { address = 98, length = 3 }"),
                           ("product = { address = 308", "product = { address = 120"),
                           ("serial = { address = 316", "serial = { address = 130"),
                           ("firmware = { address = 324", "firmware = { address = 140")],
         "identity.vendor: register 100 is written every cycle, by command.control"),
        ("coils", [("[modes]", "[inputs]\nchain = { coil = 7 }\n\n[modes]")],
         "inputs.chain: coil 7 is written by control.clear"),
        ("coils", [("enabled = { discrete = 3 }", "enabled = { coil = 0 }")],
         "status.enabled: coil 0 is written by control.enable"),
        ("coils", [("[modes]", "[inputs]\nchain = { coil = 9 }\n\n[outputs]\nlamp = { coil = 9 }\n\n[modes]")],
         "inputs.chain: coil 9 is written by outputs.lamp"),
        ("generic-servo", [("[modes]", RAMP), (VELOCITY, "")],
         f"ramp: {NOT_PLAIN}"),
        ("generic-servo", [("[modes]", RAMP), ('wrong_unit = "silent"', GAP)],
         "ramp: command.velocity is given; a drive with a ramp of its own takes no speed"),
        ("delta-asda-a2", [('position = { address = 0x0606, type = "i32", scale = 1e-8 }', ""),
                           ("handover = { rising = 2 }", ""), ("position = { control = 0x08 }", "")],
         "ramp: needs command.position, which is missing"),
        ("generic-servo", [("[modes]", "[simulator]\nrated_force = 3.0\n\n[modes]")],
         f"simulator.rated_force: {NOT_PLAIN}"),
        ("generic-servo", [('wrong_unit = "silent"', 'wrong_unit = "silent"\nstop_keeps_torque = true')],
         f"stop_keeps_torque: {NOT_PLAIN}"),
        ("delta-asda-a2", [("standstill = 2", "")], "stop_keeps_torque: needs status.standstill, which is missing"),
        ("oriental-az", [("position = { address = 0x00CC", "position = { address = 0x00CD")],
         "feedback.position: an i32 at address 205, with functions.pairs it must be even"),
        ("delta-asda-a2", [("ram_only = { address = 0x023C", "ram_only = { address = 0x023B")],
         "parameters.startup.ram_only: a u32 at address 571, with functions.pairs it must be even"),
        ("oriental-az", [("value = 1, idle = 0", "value = 1, idle = 1")],
         "command.handover.trigger: value and idle are the same, 1: the drive would see no new set-point"),
        ("generic-servo", [("not_homed = {", "not_homd = {")],
         "errors.not_homd: is it not_homed? Names are watchdog, not_homed, sensor and force_sensor; one of your own "
         "must be less like these"),
        ("oriental-az", [("also = [8, 23]", "also = [8, 23, 8]")], "functions: also: 8 is there twice"),
        ("coils", [("gap = 0", "gap = 0, also = [23]")],
         'functions: also: 23 is used by the driver, with exchange = "together"; leave it out'),
        ("generic-servo", [('sequence = { address = 102, type = "u16" }',
                            "constants = [{ address = 102, value = 0 }]")],
         "command.sequence: missing, but there is feedback.sequence: an echo takes both"),
        ("lexium-32", [("[ramp]", "[control]\nenable = 0\nquick_stop = 1\nclear = 2\n\n[ramp]")],
         "control, power: both are given, give one of these tables"),
    ],
)  # fmt: skip
def test_what_is_wrong_between_tables_is_said(
    base: str, changes: list[tuple[str, str]], line: str, tmp_path: Path
) -> None:
    assert refusal(tmp_path / "drive.toml", TEXTS[base], *changes) == [line]


def test_each_fault_between_tables_has_a_line_of_its_own(tmp_path: Path) -> None:
    changes = [(WATCHDOG, "watchdog = { address = 101 }"), ("\nforce = 1\n", "\nforce = 0\n"), ("[modes]", RAMP)]
    assert refusal(tmp_path / "drive.toml", TEXTS["generic-servo"], *changes) == [
        "modes: off and force have the same value",
        "parameters.watchdog: register 101 is written every cycle, by command.mode",
        f"ramp: {NOT_PLAIN}",
        "ramp: command.velocity is given; a drive with a ramp of its own takes no speed",
    ]


def test_faults_of_a_table_of_states_have_a_line_each(tmp_path: Path) -> None:
    changes = [('flags = ["fault"]', "flags = []"), ("disable = { word = 0x00,", "disable = { word = 0x80,")]
    assert refusal(tmp_path / "drive.toml", TEXTS["ugly"], *changes) == [
        "power: states: none has a fault without torque",
        "power: disable: word 0x0080 has bits of reset 0x0080",
    ]


def test_a_name_of_its_own_gives_the_text_of_a_code(tmp_path: Path) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(TEXTS["generic-servo"] + 'sensor_2 = { code = 40, text = "second encoder" }\n', encoding="utf-8")
    assert load_profile(path, ServoProfile).errors["sensor_2"].code == 40


def test_a_ramp_is_of_a_profile_that_is_not_plain(tmp_path: Path) -> None:
    """A constant makes it one, without `functions.gap`."""
    text = TEXTS["generic-servo"].replace("[modes]", RAMP)
    text = text.replace(VELOCITY, "constants = [{ address = 107, value = 0 }]")
    (tmp_path / "drive.toml").write_text(text, encoding="utf-8")
    assert load_profile(tmp_path / "drive.toml", ServoProfile).ramp_limits == (0.1, 1.0)
