"""Every setting has a physical range, and what the legs' limits imply for it: refused with value, unit and bound."""

import math
import re
import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from rig.commissioning import check_devices
from rig.config.rig_config import RigConfig, load_config
from rig.config.sections import MOST_STALE_CYCLES, Safety
from rig.errors import ConfigError

CONFIG = load_config()


def members(annotation: Any) -> Iterator[Any]:
    """The types that a field's annotation is made of, without markers."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from members(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for argument in get_args(annotation):
            yield from members(argument)
    else:
        yield annotation


def numbers(model: type[BaseModel], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], type]]:
    """Every setting that is a number, by its place; of one in a list the first."""
    for name, field in model.model_fields.items():
        for kind in members(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from numbers(kind, (*place, name))
            elif kind in (float, int):
                yield (*place, name), kind
            elif get_origin(kind) is tuple:
                (item,) = set(members(get_args(kind)[0]))
                if item in (float, int):
                    yield (*place, name), item


SETTINGS = dict(numbers(RigConfig))


def nested(place: tuple[str, ...], value: object) -> dict[str, Any]:
    for name in reversed(place):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def faults(changes: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        CONFIG.changed(changes)
    return caught.value.faults


def test_the_settings_are_found() -> None:
    found = {".".join(place) for place in SETTINGS}
    assert {"rate", "safety.following_error", "drives.watchdog", "load_cells.range", "virtual.drive.delay"} <= found
    assert {f"safety.{name}" for name, field in Safety.model_fields.items() if name != "off"} <= found


@pytest.mark.parametrize("place", SETTINGS, ids=".".join)
def test_every_setting_has_a_range_at_both_ends(place: tuple[str, ...]) -> None:
    for value in (10**30, -(10**30)) if SETTINGS[place] is int else (1e308, -1e308, float("inf"), float("nan")):
        extra = {"host": "x", "port": 1} if "amplifier" in place else {"mass": 1.0} if "payload" in place else {}
        (name,) = place[-1:]
        found = faults(nested(place[:-1], extra | {name: value}))
        assert any(fault.startswith(".".join(place)) for fault in found), found


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        ("safety.following_error", 1e308, "1e+308 m, must be 1e-06 to 0.1 m"),
        ("safety.force_residual", "1 MN", "1e+06 N, must be 0.001 to 100000 N"),
        ("safety.heartbeat", 1e9, "1e+09 s, must be 0.1 to 10 s"),
        ("safety.stop_time", "1 ms", "0.001 s, must be 0.02 to 10 s"),
        ("motion.approach_speed", "1 um/s", "1e-06 m/s, must be 0.0001 to 10 m/s"),
        ("control.stiffness", -1, "-1 N/m, must be 0 to 1e+08 N/m"),
        ("drives.delay", 1.0, "1 s, must be 0 to 0.5 s"),
        ("drives.delay", 0.3, "0.3 s, must be at most 60 cycles, 0.12 s"),
        ("virtual.drive.delay", 0.3, "0.3 s, must be at most 60 cycles, 0.12 s"),
    ],
)
def test_what_is_out_of_range_is_refused_with_value_unit_and_bound(place: str, value: object, fault: str) -> None:
    assert faults(nested(tuple(place.split(".")), value)) == (f"{place}: {fault}",)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"motion": {"approach_speed": 5.0}},
            "motion.approach_speed: 5 m/s, must be at most 0.8 m/s by the legs' limits of 0.8 m/s and 12 m/s^2",
        ),
        ({"motion": {"approach_rotation": 8.0}}, "motion.approach_rotation: 8 rad/s, must be at most 3.64 rad/s"),
        (
            {"safety": {"stop_time": 0.1}},
            "safety.stop_time: 0.1 s, must be at least 0.125 s to brake from the legs' 0.8 m/s with their 12 m/s^2",
        ),
        (
            {"safety": {"following_error": 0.05}},
            "safety.following_error: 0.05 m, must be at most 0.022 m, a tenth of the shortest stroke",
        ),
        ({"safety": {"position_jump": 0.05}}, "safety.position_jump: 0.05 m, must be at most 0.022 m"),
        ({"safety": {"force_residual": 900.0}}, "safety.force_residual: 900 N, must be at most 400 N, the least of"),
        ({"safety": {"tare_shift": 900.0}}, "safety.tare_shift: 900 N, must be at most 400 N"),
        ({"safety": {"condition": 2.0}}, "safety.condition: 2, but at home it is 3.38: no pose would be permitted"),
        ({"load_cells": {"noise": 40.0}}, "load_cells.noise: 40 N, must be at most 10 N: beyond safety.force_residual"),
        ({"load_cells": {"range": 33.5}}, "load_cells.range: 33.5 N, but leg 1 carries 33.7 N of the platform's"),
        ({"drives": {"watchdog": 3e-3}}, "drives.watchdog: 0.003 s is less than two cycles"),
    ],
)
def test_what_the_mechanism_cannot_do_is_refused(changes: dict[str, Any], fault: str) -> None:
    assert any(found.startswith(fault) for found in faults(changes)), faults(changes)


def test_a_leg_too_weak_for_its_platform_is_found(here: Any) -> None:
    source = CONFIG.machine.source
    (here / "weak.toml").write_text(re.sub(r"force = 400.0 .*", "force = 30.0", source))
    text = CONFIG.path.read_text().replace('"lab-hexapod"', '"weak.toml"')
    (here / "rig.toml").write_text(text.replace("force_residual = 30.0", "force_residual = 20.0"))
    with pytest.raises(ConfigError) as caught:
        load_config(here / "rig.toml")
    assert len(caught.value.faults) == 6
    assert caught.value.faults[0] == (
        "mechanism: force limit of leg 1: 30 N, but it carries 33.7 N of the platform's weight at home"
    )


def test_faults_of_sections_and_between_them_come_at_once() -> None:
    found = faults({"motion": {"approach_speed": 5.0}, "safety": {"stop_time": 0.1}, "load_cells": {"range": 20.0}})
    assert {fault.partition(":")[0] for fault in found} == {
        "motion.approach_speed",
        "safety.stop_time",
        "load_cells.range",
    }


def test_a_check_that_is_off_sets_no_bound_on_the_noise() -> None:
    assert CONFIG.changed({"load_cells": {"noise": 40.0}, "safety": {"off": ["force_residual"]}}).load_cells.noise == 40


def test_the_bounds_of_patience_are_within_the_range() -> None:
    assert CONFIG.changed({"safety": {"overruns_in_a_row": MOST_STALE_CYCLES}})


@pytest.mark.parametrize("spread", [0.2, "100 mm"])
def test_a_start_that_is_no_pose_is_refused(spread: object) -> None:
    config = CONFIG.changed({"virtual": {"drive": {"start_spread": spread}}})
    said = r"virtual\.drive\.start_spread: 0\.\d m off home, .* is no pose of lab-hexapod"
    with pytest.raises(ConfigError, match=said):
        check_devices(config)


def test_minus_zero_is_zero() -> None:
    config = CONFIG.changed({"virtual": {"drive": {"start_spread": "-0.0 mm"}}})
    assert config.virtual is not None and math.copysign(1.0, config.virtual.drive.start_spread) == 1.0
    check_devices(config)
