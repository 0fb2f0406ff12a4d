"""Motions from templates: in a size that passes, begun and ended at rest, and `rig motion`, as a user meets it."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED, VIRTUAL

from kinematics import TrajectorySpec, build_trajectory, load_trajectory
from rig.cli import main
from rig.client import TEMPLATES, checked_motion, fitted, template_motion
from rig.config import RigConfig
from rig.errors import ExitCode, InputError, RefusedError

HOME = VIRTUAL.machine.geometry.home_pose
MADE = [name for name in TEMPLATES if name != "csv"]
ALL_AXES = {"axes": ("x", "y", "z", "rx", "ry", "rz")}
SHORT: dict[str, dict[str, Any]] = {
    "sine": ALL_AXES | {"cycles": 1, "frequency": 1.0},
    "sweep": {"axes": ("z", "ry"), "duration": 4.0, "end": 2.0},
    "circle": {"plane": "yz", "cycles": 1, "period": 2.0},
    "step": {"hold": 0.5},
    "random": ALL_AXES | {"duration": 4.0},
    "multisine": ALL_AXES | {"period": 1.0, "cycles": 2, "start": 1.0, "end": 3.0},
    "sea": {"axes": ("x", "y", "z", "rx", "ry"), "period": 2.0, "duration": 8.0},
    "road": {"duration": 4.0, "end": 4.0},
    "seismic": {"high_pass": 1.0, "low_pass": 2.0},
}


def _small(config: RigConfig) -> RigConfig:
    """A rig whose legs may hardly move and are slow."""
    legs = tuple(
        replace(
            leg,
            limits=replace(leg.limits, length=(length - 2e-3, length + 2e-3), velocity=5e-3),  # type: ignore[type-var]
        )
        for leg, length in zip(config.machine.legs, [0.494211] * 6, strict=True)
    )
    made = config.changed({})
    made._machine = replace(config.machine, legs=legs)
    return made


def _made(name: str, **numbers: Any) -> Any:
    return TEMPLATES[name].model_validate(numbers)


@pytest.mark.parametrize("rig", [VIRTUAL, _small(VIRTUAL)], ids=["virtual", "small"])
@pytest.mark.parametrize("name", MADE)
def test_defaults_pass_on_the_rig_and_rest_at_both_ends(name: str, rig: RigConfig) -> None:
    made = fitted(rig, TEMPLATES[name].model_validate(SHORT[name]))
    sizes = np.concatenate([np.atleast_1d(getattr(made, size)) for size in made.sizes])
    assert sizes.any()
    motion = build_trajectory(template_motion(made), HOME)
    assert checked_motion(rig, motion)[1].passed
    ends, rates, accelerations = motion.coordinates([0.0, motion.duration])
    for values in (ends, rates, accelerations):
        np.testing.assert_allclose(values, 0.0, atol=1e-12)
    moved = np.abs(motion.coordinates(np.linspace(0.0, motion.duration, 401))[0]).max(axis=0)
    assert moved.max() > 1e-4 and moved.max() < 0.3


@pytest.mark.parametrize("name", MADE)
def test_position_speed_and_acceleration_have_no_jump(name: str) -> None:
    made = fitted(VIRTUAL, TEMPLATES[name].model_validate(SHORT[name]))
    motion = build_trajectory(template_motion(made), HOME)
    assert not motion.breakpoints
    times = np.linspace(0.0, motion.duration, 20_001)
    step = times[1]
    q, qd, qdd = motion.coordinates(times)
    for value, rate in ((q, qd), (qd, qdd)):
        middle = 0.5 * (rate[1:] + rate[:-1]) * step
        np.testing.assert_allclose(np.diff(value, axis=0), middle, atol=1e-5 * np.abs(rate).max())
    assert np.abs(np.diff(qdd, axis=0)).max() < 0.02 * np.abs(qdd).max()


def test_a_circle_is_one_in_its_plane() -> None:
    made = _made("circle", plane="yz", radius=0.02, period=2.0, cycles=2)
    motion = build_trajectory(template_motion(made), HOME)
    q = motion.coordinates(np.linspace(2.0, motion.duration - 2.0, 101))[0]
    np.testing.assert_allclose(np.hypot(q[:, 1], q[:, 2]), 0.02, rtol=1e-12)
    assert not q[:, [0, 3, 4, 5]].any()


def test_what_was_given_stays_and_only_what_matters_is_chosen() -> None:
    given = _made("sine", axes=("z", "rx"), amplitude=0.003)
    made = fitted(VIRTUAL, given, ("amplitude",))
    assert made.amplitude == 0.003 and made.angle > 0.0
    alone = fitted(VIRTUAL, _made("sine"))
    assert alone.amplitude == pytest.approx(0.05) and alone.angle == 0.0
    with pytest.raises(RefusedError, match="no passing size was found"):
        fitted(VIRTUAL, _made("sine", axes=("z", "rx"), amplitude=3.0, frequency=2.0, cycles=1), ("amplitude",))


def _record(folder: Path, size: float) -> str:
    """A file of a sine of 2 Hz along y for 4 s."""
    path = folder / "a.csv"
    rows = "".join(f"{0.02 * k:.2f},{size * math.sin(0.25 * k)}\n" for k in range(201))
    path.write_text("t,ay\n" + rows)
    return str(path)


def test_a_seismic_record_is_run_as_it_is_or_as_large_as_passes(tmp_path: Path) -> None:
    assert fitted(VIRTUAL, _made("seismic", file=_record(tmp_path, 1.0), high_pass=1.0)).scale == 1.0
    asked = _made("seismic", file=_record(tmp_path, 30.0), high_pass=1.0)
    made = fitted(VIRTUAL, asked)
    assert 0.1 < made.scale < 1.0
    larger = build_trajectory(template_motion(made.model_copy(update={"scale": 1.1 * made.scale})), HOME)
    assert not checked_motion(VIRTUAL, larger)[1].passed
    assert fitted(VIRTUAL, asked.model_copy(update={"scale": 0.3}), ("scale",)).scale == 0.3


def test_the_command_shows_what_a_platform_makes_of_a_record(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _record(here, 1.0)
    filters = ("--high-pass", "1 Hz", "--low-pass", "10", "--fade", "0.5", "--scale", "0.5")
    asked = ("--file", "a.csv", *filters, "-o", "a.toml")
    assert main(["motion", "virtual", "seismic", *asked]) == 0
    told = capfd.readouterr().out
    assert "high-pass 1 Hz, low-pass 10 Hz, fade 0.5 s, scale 0.5" in told
    assert "response spectrum at 5 % damping" in told and "drift removed at the ends" in told
    assert main(["motion", "virtual", "seismic", *asked[:-1], "b.toml", "--json"]) == 0
    spectra = json.loads(capfd.readouterr().out)["spectra"]
    assert spectra["axes"] == ["y"] and len(spectra["period_s"]) == len(spectra["record_m_s2"][0])
    ratio = np.array(spectra["motion_m_s2"][0]) / np.array(spectra["record_m_s2"][0])
    place = int(np.argmin(np.abs(np.array(spectra["period_s"]) - 2.0 * math.pi / 12.5)))  # the sine's, 2 Hz
    assert ratio[place] == pytest.approx(0.5 / (1.0 + 0.503**4) / (1.0 + 0.2**4), rel=0.08)
    assert ratio[-1] < 0.3 * ratio[place]  # slow oscillators miss what the high-pass took


def test_numbers_that_make_no_motion_are_refused() -> None:
    with pytest.raises(InputError, match="longer period"):
        fitted(VIRTUAL, _made("multisine", start=0.6, end=0.7, period=1.0))
    with pytest.raises(InputError, match=r"duration: .* at most 3600 s"):
        template_motion(_made("sine", cycles=10_000))


def test_the_command_writes_what_runs(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ("--axis", "z", "--axis", "rx", "--amplitude", "5 mm", "--angle", "1 deg", "--cycles", "1")
    assert main(["motion", "virtual", "sine", *asked, "--frequency", "1 Hz", "-o", "sine.toml"]) == 0
    assert "axis z rx, amplitude 5 mm, angle 1 °, frequency 1 Hz, cycles 1\n3 s, passes" in capfd.readouterr().out
    made = load_trajectory("sine.toml", HOME)
    assert made.thresholds.named == {}
    q = made.coordinates([1.25])[0][0]
    np.testing.assert_allclose(q, [0.0, 0.0, 0.005, math.radians(1.0), 0.0, 0.0], atol=1e-12)
    step = ("--pose", "10 mm,0,0,0,0,0.01", "--threshold", "bias=200 mN")
    assert main(["motion", "virtual", "step", *step, "-o", "step.toml", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert load_trajectory("step.toml", HOME).thresholds.named == told["validation"] == {"bias": 0.2}
    assert told["numbers"]["pose"] == [0.01, 0.0, 0.0, 0.0, 0.0, 0.01] and told["duration_s"] == 4.0
    assert checked_motion(SHIPPED, load_trajectory("step.toml", HOME))[1].passed
    (here / "poses.csv").write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    (here / "below").mkdir()
    assert main(["motion", "virtual", "csv", "--file", "poses.csv", "-o", "below/poses.toml"]) == 0
    assert load_trajectory("below/poses.toml", HOME).duration == 2.0


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("circle", "--amplitude", "3 mm"), ExitCode.INPUT, "circle: has no --amplitude; it has --plane, --radius"),
        (("circle", "--radius", "3 Hz"), ExitCode.INPUT, "--radius: '3 Hz' has the wrong dimension"),
        (("circle", "--plane", "xx"), ExitCode.INPUT, "--plane: must be 'xy', 'xz' or 'yz'"),
        (("sine", "--axis", "w"), ExitCode.INPUT, "--axis: must be 'x'"),
        (("sine", "--frequency", "0"), ExitCode.INPUT, "--frequency: must be greater than 0"),
        (("sine", "--amplitude", "nan"), ExitCode.INPUT, "--amplitude: nan is not finite"),
        (("sine", "--amplitude", "1"), ExitCode.REFUSED, "it would pass if scaled by"),
        (("csv",), ExitCode.INPUT, "--file: missing"),
        (("seismic", "--file", "no.csv"), ExitCode.INPUT, "no.csv: no such file"),
        (("seismic", "--unit", "mm"), ExitCode.INPUT, "--unit: must be 'file', 'm/s^2', 'g' or 'cm/s^2'"),
        (("seismic", "--high-pass", "60"), ExitCode.INPUT, "high_pass: 60 Hz, must be above 0 and below 50 Hz"),
        (("sine", "--high-pass", "1"), ExitCode.INPUT, "sine: has no --high-pass"),
        (("sine", "--threshold", "bias=-1"), ExitCode.INPUT, "bias: -1 N, must be 1e-06 to 100000 N"),
        (("sine", "--threshold", "bias"), ExitCode.INPUT, "--threshold bias: must be NAME=VALUE"),
        (("square",), ExitCode.INPUT, "'square' must be one of sine, sweep"),
    ],
)
def test_the_command_says_what_is_wrong(
    here: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: ExitCode, why: str
) -> None:
    assert main(["motion", "virtual", *arguments, "-o", "out.toml"]) == code
    assert why in capfd.readouterr().err
    assert not (here / "out.toml").exists()


def test_every_template_names_its_numbers_for_a_person() -> None:
    for template in TEMPLATES.values():
        assert template.__doc__ and all(field.title for field in template.model_fields.values())
        assert set(template.sizes) <= set(template.model_fields)
    assert TrajectorySpec.model_validate(_made("csv", file="a.csv").motion()).frame == "base"
