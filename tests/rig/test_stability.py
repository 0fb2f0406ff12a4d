"""The sampled control loop: its eigenvalues against a loop followed step by step, and against the lockstep rig."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynamics import Dynamics
from kinematics import Array, coordinates_to_pose, leg_lengths, pose_to_coordinates
from rig.cli import main
from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.client.runs import demo_trajectory
from rig.config import Control, RigConfig, load_config
from rig.errors import ExitCode, RunFaultError
from rig.safety import stability
from rig.safety.stability import WANTED_MARGIN, _Loops, check_loop, leg_masses
from rig.virtual import scaled_mechanism
from rig.virtual.closed_loop import run_loop

RIG = load_config("virtual")


def changed(rate: float = 500.0, factor: float = 1.0, mode: str = "force", **more: Any) -> RigConfig:
    """The shipped rig with all gains times `factor`."""
    control = {name: factor * getattr(RIG.control, name) for name in ("stiffness", "damping")}
    control |= {"task_stiffness": factor * 100.0, "task_damping": factor * 20.0}
    return RIG.changed({"rate": rate, "mode": mode, "control": control, **more})


# -- the loop ----------------------------------------------------------------------------------------------------------


def followed(gains: Array, period: float, delay: float, cycles: int) -> Array:
    """q at the beginning of every cycle, from 1 at rest: the loop in small steps, commands waiting in a list."""
    mass, friction, lag = 4.0, 35.0, 5e-4
    steps = 400
    h = period / steps
    q, v, f, held = 1.0, 0.0, 0.0, 0.0
    waiting: list[tuple[int, float]] = []
    sampled = []
    for step in range(cycles * steps):
        if step % steps == 0:
            sampled.append(q)
            waiting.append((step + round(delay / h), -gains[0] * q - gains[1] * v))
        if waiting[0][0] == step:
            held = waiting.pop(0)[1]
        vm = v + 0.5 * h * (f - friction * v) / mass
        fm = f + 0.5 * h * (held - f) / lag
        q, v, f = q + h * vm, v + h * (fm - friction * vm) / mass, f + h * (held - fm) / lag
    return np.array(sampled)


@pytest.mark.parametrize(("period", "delay"), [(2e-3, 2.1e-3), (5e-3, 5.1e-3), (4e-3, 4e-3), (2e-3, 4.6e-3)])
def test_the_loop_is_the_one_followed_step_by_step(period: float, delay: float) -> None:
    gains = np.array([2e4, 900.0, 0.0])
    loops = _Loops(np.array([4.0]), 35.0, period, delay, 5e-4)
    (matrix,) = loops.closed(gains)
    states = [np.eye(len(matrix))[0]]
    for _ in range(59):
        states.append(matrix @ states[-1])
    expected = followed(gains, period, delay, 60)
    assert np.array(states)[:, 0] == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.abs(expected).max())
    assert loops.radius(gains) == pytest.approx(np.abs(np.linalg.eigvals(matrix)).max())


def test_the_masses_that_the_legs_feel_have_the_kinetic_energy_of_the_platform() -> None:
    masses = leg_masses(RIG.machine)
    assert (np.diff(masses) >= 0.0).all() and masses[0] > 0.0
    whole = Dynamics(RIG.machine).mass_matrix(RIG.machine.geometry.home_pose)
    speeds = np.random.default_rng(1).normal(size=(200, 6))  # of the legs
    inverse = np.linalg.inv(_leg_speeds_of_twist())
    energies = np.einsum("ni,ij,nj->n", speeds @ inverse.T, whole, speeds @ inverse.T)
    ratios = energies / (speeds**2).sum(axis=1)
    assert masses[0] <= ratios.min() and ratios.max() <= masses[-1]


def _leg_speeds_of_twist() -> Array:
    """(6, 6) by finite differences of the leg lengths."""
    geometry = RIG.machine.geometry
    home, h = pose_to_coordinates(geometry.home_pose), 1e-6  # without rotation angle rates are angular velocities
    columns = [
        leg_lengths(geometry, coordinates_to_pose(home + step))
        - leg_lengths(geometry, coordinates_to_pose(home - step))
        for step in h * np.eye(6)
    ]
    return np.stack(columns, axis=1) / (2.0 * h)


# -- the verdict -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["force", "computed-torque"])
def test_the_margin_is_where_stability_ends(mode: str) -> None:
    verdict = check_loop(changed(mode=mode))
    assert verdict.passed and verdict.message == "" and verdict.gain_margin > verdict.wanted
    assert check_loop(changed(factor=0.99 * verdict.gain_margin, mode=mode)).radius < 1.0
    beyond = check_loop(changed(factor=1.1 * verdict.gain_margin, mode=mode))
    assert beyond.radius > 1.0 and not beyond.passed
    assert beyond.gain_margin == pytest.approx(1.0 / 1.1, rel=5e-3)


def test_the_lowest_rate_is_the_first_with_the_wanted_margin() -> None:
    lowest = check_loop(changed(200.0)).lowest_rate
    assert lowest is not None
    assert check_loop(changed(lowest)).message == ""
    message = check_loop(changed(lowest - 1)).message
    assert (
        "where masses are 20 % off the model's, must be at least 1.2" in message
        and f"run it at {lowest} Hz or more" in message
    )


def test_what_no_rate_helps_says_what_does() -> None:
    undamped = RIG.changed({"control": {"damping": 0.0}, "drives": {"delay": "5 ms"}})
    verdict = check_loop(undamped)
    assert verdict.lowest_rate is None and not verdict.passed
    assert "Hz or more" not in verdict.message and "is unstable" in verdict.message
    assert check_loop(RIG.changed({"control": {"stiffness": 0.0, "damping": 0.0}})).passed


def test_without_any_damping_there_is_no_rate_and_no_gain_to_advise() -> None:
    # not as from a file, which is refused: by condition (c) every direction is damped
    undamped = {"mode": "computed-torque", "control": Control(task_stiffness=100.0, task_damping=0.0)}
    verdict = check_loop(RIG.model_copy(update=undamped))
    assert verdict.gain_margin == 0.0 and verdict.lowest_rate is None and not verdict.passed
    assert verdict.radius > 1.0 and verdict.message.endswith("; increase the damping or reduce the stiffness")
    changes = {"mode": "computed-torque", "control": {"task_stiffness": 100.0, "task_damping": 0.01}}
    assert "multiply both gains by 0.0019" in check_loop(RIG.changed(changes)).message


def test_a_loop_that_the_drives_close_is_theirs_to_judge(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verdict = check_loop(changed(50.0, 100.0, mode="position"))
    assert verdict.passed and verdict.message == "" and not verdict.at_host
    told = json.loads(json.dumps(verdict.as_dict(), allow_nan=False))
    assert told["closed_by"] == "drives" and told["gain_margin"] is None and told["passed"] is True
    assert check_loop(RIG).as_dict()["closed_by"] == "host"
    text = Path(RIG.path).read_text(encoding="utf-8").replace('mode = "force"', 'mode = "position"')
    (tmp_path / "rig.toml").write_text(text, encoding="utf-8")
    assert main(["check", str(tmp_path / "rig.toml")]) == 0
    assert "control loop: mode position: the drives close the loop by their own gains" in capsys.readouterr().out


# -- against the rig ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "factor", "mode", "stable"),
    [
        (200, 1.0, "force", False),
        (250, 1.0, "force", True),
        (500, 1.75, "force", True),
        (500, 2.2, "force", False),
        (150, 0.52, "force", True),
        (150, 0.68, "force", False),
        (500, 1.0, "observer", True),
        (500, 2.2, "observer", False),
        (500, 18.0, "computed-torque", True),
        (500, 28.0, "computed-torque", False),
    ],
)
def test_prediction_and_rig_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate: int, factor: float, mode: str, stable: bool
) -> None:
    monkeypatch.setattr(stability, "_MASS_ERRORS", np.ones(1))
    config = changed(rate, factor, mode, virtual={"drive": {"start_spread": 1e-3}})
    assert check_loop(config).passed == stable
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 1.5))
    with LockstepRig(config, tmp_path / "run.mcap", Interruption()) as rig:
        rig.engine.runtime_info.loop = ""  # the guard would have nothing unstable engaged
        if stable:
            run_motion(rig, table, "demo", lambda _progress: None)
        else:
            with pytest.raises(RunFaultError):
                run_motion(rig, table, "demo", lambda _progress: None)


@pytest.mark.parametrize(("rate", "stable"), [(250, False), (380, True)])
def test_a_machine_lighter_than_its_model_is_judged_in_every_mode(tmp_path: Path, rate: int, stable: bool) -> None:
    """At 250 Hz the model's own masses would be borne, just so."""
    light = {"drive": {"start_spread": 1e-3}, "plant": {"mass_scale": 0.8}}
    config = changed(rate, virtual=light, safety={"tare_shift": 30.0, "force_residual": 90.0})
    assert check_loop(config).passed == stable and check_loop(config).model_margin > 0.95
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 4.0))
    with LockstepRig(config, tmp_path / "run.mcap", Interruption()) as rig:
        rig.engine.runtime_info.loop = ""
        if stable:
            run_motion(rig, table, "demo", lambda _progress: None)
        else:
            with pytest.raises(RunFaultError):
                run_motion(rig, table, "demo", lambda _progress: None)


@pytest.mark.parametrize(("mass", "bandwidth"), [(0.5, 60.0), (0.5, 0.01), (0.8, 15.0)])
def test_prediction_and_closed_loop_agree_on_an_observer_that_knows_another_mass(
    monkeypatch: pytest.MonkeyPatch, mass: float, bandwidth: float
) -> None:
    monkeypatch.setattr(stability, "_MASS_ERRORS", np.array([mass]))
    table = prepare_motion(RIG, demo_trajectory(RIG.machine.geometry.home_pose, 2.0))

    def observed(factor: float) -> RigConfig:
        gains = {"stiffness": factor * RIG.control.stiffness, "damping": factor * RIG.control.damping}
        return RIG.changed({"mode": "observer", "control": gains | {"observer_bandwidth": bandwidth}})

    def trembling(factor: float) -> float:
        config = observed(factor)
        run = run_loop(config, table, "observer", plant=scaled_mechanism(config.machine, mass))
        return float(np.abs(np.diff(run.commands[-200:], axis=0)).max())

    margin = check_loop(observed(1.0)).gain_margin
    assert trembling(0.9 * margin) < 20.0 < 200.0 < trembling(1.1 * margin)


def test_an_observer_of_a_right_model_takes_nothing_of_the_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "_MASS_ERRORS", np.ones(1))
    assert check_loop(changed(mode="observer")).gain_margin == pytest.approx(check_loop(RIG).gain_margin, rel=2e-3)


def test_an_observer_is_judged_with_masses_that_the_model_does_not_have() -> None:
    right, observed = check_loop(RIG), check_loop(changed(mode="observer"))
    assert 0.9 * right.gain_margin < observed.gain_margin < 0.98 * right.gain_margin and observed.message == ""
    assert observed.wanted == right.wanted == pytest.approx(0.8 * WANTED_MARGIN)
    lowest = check_loop(changed(250.0, mode="observer")).lowest_rate
    assert lowest is not None and 250 < lowest < 500
    assert check_loop(changed(lowest, mode="observer")).message == ""


# -- the commands ------------------------------------------------------------------------------------------------------


def config_file(folder: Path, rate: int) -> str:
    text = RIG.path.read_text(encoding="utf-8")
    changed_text = text.replace('rate = "500 Hz"', f"rate = {rate}")
    assert changed_text != text
    path = folder / "slow.toml"
    path.write_text(changed_text, encoding="utf-8")
    return str(path)


def test_check_refuses_an_unstable_loop_and_warns_of_a_narrow_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", config_file(tmp_path, 200), "demo"]) == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert "stiffness 20000 N/m and damping 900 N s/m at 200 Hz) is unstable where masses" in printed.err
    assert "Hz or more, or multiply both gains" in printed.err
    assert main(["check", config_file(tmp_path, 200), "--json"]) == ExitCode.REFUSED
    assert json.loads(capsys.readouterr().out)["control_loop"]["passed"] is False
    assert main(["check", config_file(tmp_path, 340), "demo"]) == ExitCode.OK
    printed = capsys.readouterr()
    assert "1.08 times its gains at 340 Hz" in printed.out
    assert "warning: the control loop" in printed.out and printed.err == ""


@pytest.mark.parametrize("more", [[], ["--lockstep"]])
@pytest.mark.parametrize("command", ["demo", "run"])
def test_an_unstable_loop_is_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, more: list[str]
) -> None:
    arguments = ["demo", "--rate", "200"] if command == "demo" else ["run", config_file(tmp_path, 200), "demo"]
    assert main([*arguments, *more, "-o", str(tmp_path / "out")]) == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert printed.err.startswith("error: the control loop (mode force, stiffness 20000 N/m")
    assert printed.err.count("the control loop") == 1 and printed.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("undrawn_reports")
def test_a_run_warns_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["demo", "--exact", "--lockstep", "--duration", "4", "--rate", "340", "-o", str(tmp_path / "out")]
    assert main(arguments) == ExitCode.OK
    assert "\nwarning: the control loop (mode force, stiffness 20000 N/m" in capsys.readouterr().err
