"""The acceptance test on the virtual rig: its numbers by a known transfer function, and the faults each test finds."""

import json
import math
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import slower_file
from exploration import LONG
from lockstep_bench import bench_config, shipped_config
from scipy.linalg import expm
from typer.testing import CliRunner

import rig
from dynamics import Dynamics
from kinematics import COORDINATES, Placement, leg_matrix
from rig.acceptance import Acceptance, AcceptanceTest, Kind, TestStoppedError, Trial, Verdict, perform, planned
from rig.analysis import Response
from rig.cli.application import app
from rig.client import RigClient
from rig.config import RigConfig
from rig.errors import ExitCode, HardwareError, InputError
from rig.findings import Code
from rig.recording import open_recording
from rig.services import AcceptRequest, CancelledError, Event, Progress, accept
from rig.states import State

Complex = npt.NDArray[np.complex128]
RUNNER = CliRunner()
MECHANISM = (Path(rig.__file__).parent.parent / "dynamics/mechanisms/lab-hexapod.toml").read_text()
SHORT = {"pose_cycles": 3, "path_cycles": 3}


def performed(config: RigConfig, tests: tuple[AcceptanceTest, ...], axes: tuple[str, ...] = ("z",)) -> Acceptance:
    """The tests on a rig in lockstep."""
    return perform_trials(config, planned(config, axes, tests), tests)


def perform_trials(config: RigConfig, trials: list[Trial], tests: tuple[AcceptanceTest, ...]) -> Acceptance:
    with rig.open(config, lockstep=True, record=False, keep=60.0) as robot:
        robot.home()
        robot.engage()
        return perform(robot, trials, tests)


# -- a known transfer function ---------------------------------------------------------------------------------------


def known_response(config: RigConfig, frequency: npt.NDArray[np.float64], axis: int) -> Complex:
    """The sampled loop linearised at home: plant, first-order drives with dead time, held commands, law and lead."""
    assert config.virtual is not None
    home, model = config.machine.geometry.home_pose, Dynamics(config.machine)
    zero, unit, step = np.zeros(6), np.eye(6), 1e-5

    def forces(q: npt.NDArray[Any], v: npt.NDArray[Any], a: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        row = Placement("home", home=home).to_motion(q[np.newaxis], v[np.newaxis], a[np.newaxis])[0]
        return model.forces(row)

    def slope(place: int) -> npt.NDArray[np.float64]:
        columns = []
        for one in step * unit:
            ahead, behind = ([zero] * 3 for _ in range(2))
            ahead[place], behind[place] = one, -one
            columns.append((forces(*ahead) - forces(*behind)) / (2.0 * step))
        return np.array(columns).T

    stiffness, damping, mass = (slope(place) for place in range(3))  # of leg forces by coordinates
    legs = leg_matrix(config.machine.geometry, home).T
    period, lead = config.period, config.force_lead
    lag, delay = 1.0 / (2.0 * math.pi * config.virtual.drive.force_bandwidth), config.virtual.drive.delay
    system = np.zeros((24, 24))  # coordinates, rates, forces, held commands
    system[:6, 6:12] = unit
    system[6:12] = np.linalg.solve(mass, np.hstack([-stiffness, -damping, unit, np.zeros((6, 6))]))
    system[12:18, 12:] = np.hstack([-unit, unit]) / lag
    early, late = expm(system * delay), expm(system * (period - delay))
    held = late[:18, :18] @ early[:18, :18]
    before, now = late[:18, :18] @ early[:18, 18:], late[:18, 18:]
    control = config.control
    law = np.hstack([control.stiffness * legs, control.damping * legs, np.zeros((6, 6))])
    found = []
    for each in frequency:
        s = 2j * math.pi * each
        z = np.exp(s * period)
        asked = (mass * s**2 + damping * s + stiffness)[:, axis] * np.exp(s * (period + lead))
        asked = asked + (control.stiffness + control.damping * s) * legs[:, axis]
        through = before / z**2 + now / z
        found.append(np.linalg.solve(z * np.eye(18) - held + through @ law, through @ asked)[axis])
    return np.array(found)


@pytest.mark.parametrize(("axis", "bandwidth"), [("z", 25.0), ("x", 40.0), ("ry", 60.0)] if LONG else [("z", 25.0)])
def test_gain_and_phase_are_those_of_the_known_loop_within_their_sigma(
    tmp_path: Path, axis: str, bandwidth: float
) -> None:
    # A drive ten times slower than the law takes it for, so that the response is far from 1.
    smooth = tmp_path / "smooth.toml"
    smooth.write_text(MECHANISM.replace("coulomb = 4.0", "coulomb = 0.0"))  # whose response is linear
    drive = {"force_bandwidth": bandwidth, "position_resolution": 1e-6}
    config = (shipped_config if LONG else bench_config)(
        mechanism=str(smooth), virtual={"drive": drive}, acceptance={"small_part": 0.05}
    )
    trial = next(one for one in planned(config, (axis,), (AcceptanceTest.RESPONSE,)) if one.part < 1.0)
    result = perform_trials(config, [trial], (AcceptanceTest.RESPONSE,))
    response = result.curves.responses[axis][0][1]
    known = known_response(config, response.frequency, COORDINATES.index(axis))
    assert np.abs(known - 1.0).max() > 0.1
    agrees(response, known)
    shifted = known * np.exp(-2j * math.pi * response.frequency * 5e-3)  # 5 ms later
    with pytest.raises(AssertionError):
        agrees(response, shifted)


def test_an_amplitude_that_was_reached_is_that_of_the_known_loop(tmp_path: Path) -> None:
    """At a small size within its σ; at the largest the machine is not the linear one, which is far beyond σ."""
    smooth = tmp_path / "smooth.toml"
    smooth.write_text(MECHANISM.replace("coulomb = 4.0", "coulomb = 0.0"))
    drive = {"force_bandwidth": 25.0, "position_resolution": 1e-6}
    scores = []
    for share in (0.05, 0.9):
        config = bench_config(mechanism=str(smooth), virtual={"drive": drive}, acceptance={"share": share})
        (trial,) = planned(config, ("z",), (T.SPEED,))
        (number,) = perform_trials(config, [trial], (T.SPEED,)).numbers
        gain = abs(known_response(config, np.array([1.0 / trial.period]), COORDINATES.index("z"))[0])
        assert abs(gain - 1.0) > 2e-3 and number.value is not None and number.sigma is not None
        commanded = 2.0 * math.pi / trial.period * trial.size
        scores.append(abs(number.value - gain * commanded) / number.sigma)
    small, large = scores
    assert small < 3.0
    assert large > 100.0


def agrees(response: Response, known: Complex) -> None:
    """The squared deviations are as large as the uncertainties say, or smaller, as those of a bias may be."""
    score = np.abs(response.gain - known) ** 2 / (response.sigma**2 + response.bias**2)
    assert np.mean(score) < 2.0 and score.max() < 12.0, (response.gain, known)


# -- faults ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """What is wrong with the virtual rig, the test that finds it, and those that may: they measure what it changes.

    virtual: of the configuration's section. acceptance: bounds that are not the default. push: N, downwards at the
    platform during the motion for which the test is.
    """

    test: AcceptanceTest
    virtual: dict[str, Any]
    related: tuple[AcceptanceTest, ...] = ()
    acceptance: dict[str, Any] = field(default_factory=dict)
    axis: str = "z"
    push: float = 0.0
    short: bool = False


def friction(**changes: Any) -> dict[str, Any]:
    return {"plant": {"friction": changes}}


def one_leg(force: float) -> dict[str, Any]:
    """Viscous friction of the third leg alone, N at 0.1 m/s; it grows little with the speed."""
    return friction(viscous=[0.0, 0.0, force, 0.0, 0.0, 0.0], viscous_speed=0.1, viscous_exponent=0.3)


T = AcceptanceTest
_BENT = (T.RESPONSE, T.LINEARITY)  # friction bends the describing function, and widens its uncertainty
FAULTS = {
    "an end stop in the range": Fault(T.EXCURSION, {"plant": {"mechanism": "short"}}, short=True),
    "drives that are weak at speed": Fault(
        T.SPEED, friction(viscous=60.0, viscous_speed=0.8, viscous_exponent=2.0), (T.ACCELERATION, *_BENT)
    ),
    "motors too small": Fault(
        T.ACCELERATION, {"drive": {"force_limit": 92.0}}, (T.SPEED, T.REPEATABILITY, T.PATH, *_BENT, T.RESIDUAL)
    ),
    "slow drives": Fault(
        T.RESPONSE,
        {"drive": {"force_bandwidth": 40.0}},
        (T.LINEARITY, T.CROSSTALK, T.RESIDUAL, T.LEG_BALANCE),
        axis="x",
    ),
    "dry friction": Fault(
        T.LINEARITY, friction(extending=6.0, retracting=6.0), (T.RESPONSE, T.HYSTERESIS, T.PATH, T.RESIDUAL)
    ),
    "a little dry friction": Fault(T.HYSTERESIS, friction(extending=1.5, retracting=1.5), (*_BENT, T.RESIDUAL)),
    "rough screws": Fault(T.NOISE, friction(ripple=1.2, ripple_length=5e-3), (*_BENT, T.RESIDUAL)),
    "finely rough screws": Fault(T.SMOOTHNESS, friction(ripple=2.0, ripple_length=1e-3), (T.NOISE, *_BENT, T.RESIDUAL)),
    "drives with a lag": Fault(
        T.THRESHOLD, {"drive": {"force_bandwidth": 25.0}}, (*_BENT, T.RESIDUAL), {"dynamic_threshold": 0.004}
    ),
    "a tight leg": Fault(T.CROSSTALK, one_leg(12.0), (T.LEG_BALANCE, *_BENT, T.HYSTERESIS, T.PATH, T.RESIDUAL)),
    "a very tight leg": Fault(
        T.LEG_BALANCE,
        one_leg(20.0),
        (T.SPEED, T.ACCELERATION, T.REPEATABILITY, T.CROSSTALK, *_BENT, T.HYSTERESIS, T.PATH, T.RESIDUAL),
        short=True,
    ),
    "stiction": Fault(
        T.TURN_AROUND,
        friction(breakaway_extending=6.0, breakaway_retracting=6.0, speed=3e-3),
        (*_BENT, T.NOISE, T.RESIDUAL),
    ),
    "a push in one of the cycles": Fault(T.REPEATABILITY, {}, push=60.0),
    "a load that nobody told of": Fault(
        T.POSE, {"plant": {"payload": {"mass": 4.0}}}, (T.PATH, T.SETTLING, T.RESIDUAL, T.LINEARITY)
    ),
    "a load that keeps the platform from settling": Fault(
        T.SETTLING,
        {"plant": {"payload": {"mass": 3.0}}},
        (T.POSE, T.PATH, T.RESIDUAL, T.LINEARITY),
        {"settling": 0.05},
    ),
    "play": Fault(T.PATH, {"plant": {"backlash": 1e-3}}, (T.LINEARITY, T.RESIDUAL)),
    "mains hum at the cells": Fault(T.RESIDUAL, {"cells": {"hum": 2.0}}),
}
"""For each test a fault that it finds."""
_BESIDE = T.THRESHOLD
"""A test done beside in the short profile, which is not to fail."""
_config = shipped_config if LONG else bench_config  # the shipped rate, or one that costs little
_LEFT_OFF = {"safety": {"force_residual": 300.0, "tare_shift": 30.0}}  # which would end the runs of most faults


def test_there_is_a_fault_for_every_test() -> None:
    assert sorted(fault.test for fault in FAULTS.values()) == sorted(AcceptanceTest)


def failing(result: Acceptance) -> set[AcceptanceTest]:
    """Tests with a number that did not pass."""
    fine = (Verdict.PASS, Verdict.STATED)
    return {one.test for one in result.numbers if one.verdict(result.confidence) not in fine}


def performed_with(fault: Fault, folder: Path, tests: tuple[AcceptanceTest, ...]) -> Acceptance:
    virtual = json.loads(json.dumps(fault.virtual))
    if virtual.get("plant", {}).get("mechanism") == "short":
        short = folder / "short.toml"
        short.write_text(MECHANISM.replace("length = [0.40, 0.62]", "length = [0.42, 0.57]"))
        virtual["plant"]["mechanism"] = str(short)
    config = _config(virtual=virtual, acceptance=SHORT | fault.acceptance, **_LEFT_OFF)
    trials = planned(config, (fault.axis,), tests)
    pushed: set[str] = set()
    with rig.open(config, lockstep=True, record=False, keep=60.0) as robot:
        robot.home()
        robot.engage()

        def push(trial: Trial, part: float) -> None:
            if fault.push and trial.kind is Kind.HARD and trial.name not in pushed:
                pushed.add(trial.name)
                assert robot.faults is not None
                robot.faults.inject("force_step", None, fault.push, 2.5)  # ends in the third cycle

        return perform(robot, trials, tests, push)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if LONG or fault.short])
def test_a_fault_fails_its_test_and_no_unrelated_one(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    every = tuple(test for test in AcceptanceTest if fault.axis == "z" or test is not T.LEG_BALANCE)
    tests = every if LONG else (fault.test, _BESIDE)
    found = failing(performed_with(fault, tmp_path, tests))
    assert fault.test in found
    assert found <= {fault.test, *fault.related}


@pytest.mark.parametrize("axis", COORDINATES if LONG else ("rx",))
def test_without_a_fault_every_test_passes(axis: str) -> None:
    config = _config(acceptance=SHORT)
    every = tuple(test for test in AcceptanceTest if axis == "z" or test is not T.LEG_BALANCE)
    tests = every if LONG else (T.SPEED, T.ACCELERATION, T.REPEATABILITY)
    assert failing(performed(config, tests, (axis,))) == set()


def test_numbers_beyond_the_rig_are_not_measured_with_the_reason(tmp_path: Path) -> None:
    tests = (T.SPEED, T.THRESHOLD)
    config = _config(virtual={"drive": {"force_limit": 70.0}}, **_LEFT_OFF)
    trials = planned(config, ("z",), tests)
    trials = [replace(one, size=0.0) if one.kind is Kind.STEPS else one for one in trials]
    ended, missing = perform_trials(config, trials, tests).numbers
    assert ended.value is None and ended.verdict(0.95) is Verdict.FAIL and "following error" in ended.reason
    assert missing.verdict(0.95) is Verdict.NOT_MEASURED and "no size" in missing.reason


# -- a test that ends early ------------------------------------------------------------------------------------------


def interrupt(_robot: RigClient) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def give_up(_robot: RigClient) -> None:
    raise TestStoppedError


def fall_silent(_robot: RigClient) -> None:
    raise HardwareError("the engine does not answer")


@pytest.mark.parametrize(
    ("event", "code", "state"),
    [
        (lambda robot: robot.rig.raise_stop_flag(1), Code.ACCEPT_STOPPED, State.STOPPING),
        (interrupt, Code.ACCEPT_STOPPED, State.ENGAGED),  # held, and left as it is
        (give_up, Code.ACCEPT_STOPPED, State.PARKED),
        (fall_silent, Code.ACCEPT_AFTER_FAULT, State.RUNNING),
    ],
)
def test_what_was_measured_before_the_end_is_the_result(
    event: Callable[[RigClient], None], code: Code, state: State
) -> None:
    tests = (T.SPEED, T.ACCELERATION)
    config = _config()
    trials = planned(config, ("z",), tests)
    with rig.open(config, lockstep=True, record=False, keep=60.0) as robot:
        robot.home()
        robot.engage()

        def happen(trial: Trial, part: float) -> None:
            if trial.kind is Kind.HARD and part > 0.7 and robot.state is State.RUNNING:
                event(robot)

        result = perform(robot, trials, tests, happen)
        assert robot.state is state  # nobody resets what the operator stopped
    speed, acceleration = result.numbers
    assert speed.verdict(0.95) is Verdict.PASS
    assert result.ended is not None and result.ended.code is code and acceleration.finding == result.ended
    stopped = code is Code.ACCEPT_STOPPED
    assert acceleration.verdict(0.95) is (Verdict.NOT_MEASURED if stopped else Verdict.FAIL)


def test_a_cancelled_service_reports_what_it_has(tmp_path: Path) -> None:
    page = tmp_path / "accepted.html"
    request = AcceptRequest(
        slower_file(tmp_path / "rig.toml"),
        page,
        ("z",),
        ("speed", "acceleration"),
        lockstep=True,
        folder=tmp_path,
    )
    seen: list[Progress] = []

    def show(event: Event) -> None:
        assert isinstance(event, Progress)
        seen.append(event)
        if event.values.get("kind") == Kind.HARD:
            raise CancelledError("cancelled")

    result = accept(request, show)
    assert result.exit_code == ExitCode.INTERRUPTED and result.verdict == "not measured"
    assert [number.value is not None for number in result.found.numbers] == [True, False]
    assert "The test was stopped at &#39;hard sine z&#39;" in page.read_text()
    assert [event.stage for event in seen].index("rig") > 0 and seen[-1].values["axis"] == "z"
    told = json.loads(page.with_suffix(".json").read_text())
    assert told["ended"]["code"] == "accept_stopped" and told["numbers"][1]["finding"]["code"] == "accept_stopped"
    again = accept(replace(request, recording=result.recording, lockstep=False, folder=None, output=None))
    assert [number.value is not None for number in again.found.numbers] == [True, False]


# -- the command -----------------------------------------------------------------------------------------------------


def tracker_log(recording: Path, path: Path, offset: float) -> Path:
    """The recorded poses as a tracker would log them, by a clock of its own."""
    rows = open_recording(recording).rows
    rows = rows[np.isfinite(rows["pose"]).all(axis=1)]
    table = np.column_stack([rows["t"] + offset, rows["pose"]])
    np.savetxt(path, table, fmt="%.12g", delimiter=",", header="t,x,y,z,qw,qx,qy,qz", comments="")
    return path


def test_the_command_writes_page_and_numbers_and_a_recording_gives_the_same_again(tmp_path: Path) -> None:
    config = slower_file(tmp_path / "rig.toml")
    page = tmp_path / "accepted.html"
    only = ["--axis", "z", "--test", "leg-balance", "--test", "acceleration-noise", "--json"]
    told = RUNNER.invoke(app, ["accept", config, "--lockstep", *only, "-o", str(page), "--folder", str(tmp_path)])
    assert told.exit_code == 0, told.output
    first = json.loads(told.stdout)
    assert first["verdict"] == "pass" and len(first["numbers"]) == 4
    assert json.loads(page.with_suffix(".json").read_text())["numbers"] == first["numbers"]
    text = page.read_text()
    assert "Leg balance" in text and "Signature" in text and "14 CFR Part 60" in text
    assert "not an accelerometer&#39;s" in text and "encoders" in text
    recording = next(tmp_path.glob("*.mcap"))
    again = RUNNER.invoke(app, ["accept", config, *only, "--recording", str(recording)])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["numbers"] == first["numbers"]
    wider = tmp_path / "wider.toml"
    wider.write_text(MECHANISM.replace("0.342352", "0.392352").replace('"lab-hexapod"', '"wider"'))
    other = tmp_path / "other.toml"
    other.write_text(Path(config).read_text().replace('mechanism = "lab-hexapod"', f'mechanism = "{wider}"'))
    refused = RUNNER.invoke(app, ["accept", str(other), *only, "--recording", str(recording)])
    assert isinstance(refused.exception, InputError)
    assert "whose joints are up to 50 mm from those of 'wider'" in str(refused.exception)
    tracked = tracker_log(recording, tmp_path / "tracker.csv", offset=5.0)
    again = RUNNER.invoke(app, ["accept", config, *only, "--recording", str(recording), "--tracker", str(tracked)])
    assert again.exit_code == 0, again.output
    by_tracker = json.loads(again.stdout)
    assert by_tracker["sensors"]["tracker"]["offset_s"] == pytest.approx(5.0, abs=1e-4)
    assert {one["basis"] for one in by_tracker["numbers"]} == {"encoders", "tracker"}  # legs have no tracker
    looked = RUNNER.invoke(app, ["accept", config, "--look", "--axis", "z", "--test", "speed"])
    assert "fast sine z" in looked.stdout and "\n1 motion, " in looked.stdout


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--axis", "w"], "'w' is none of x, y, z"),
        (["--test", "speeds"], "'speeds' is none of"),
        (["--tracker", "t.csv"], "is of a recording"),
    ],
)
def test_a_wrong_option_is_refused(options: list[str], match: str) -> None:
    refused = RUNNER.invoke(app, ["accept", "virtual", *options])
    assert refused.exit_code == 2
    assert match in " ".join(refused.output.replace("│", " ").split())
