"""The demo's motion fits the machine that runs it: what its legs would be off their reference decides its size."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kinematics import leg_kinematics, report_compilation
from rig.client import (
    Interruption,
    LockstepRig,
    as_built,
    at_rate,
    demo_trajectory,
    execute,
    expecting,
    expecting_own_loops,
    fitted_demo,
    prepare_motion,
    with_demo_thresholds,
)
from rig.client.fitting import Prediction
from rig.client.lifecycle import run_motion
from rig.client.motions import checked_motion
from rig.config import RigConfig, load_config
from rig.errors import RefusedError
from rig.recording import open_recording
from rig.states import State


def of_demo(drives: str, built: int | None) -> RigConfig:
    config = load_config(drives)
    return config if built is None else as_built(config, built)


@pytest.mark.parametrize(
    "drives", ["virtual", "virtual-servo", "virtual-orca", "virtual-iai", "virtual-canopen", "virtual-mixed"]
)
def test_the_demo_is_whole_where_the_machine_follows_it(drives: str) -> None:
    """The drawing's machine always does; one as built where the loop is stiff, or the drives' own."""
    assert fitted_demo(of_demo(drives, None), 4.0).size == 1.0
    if drives in ("virtual", "virtual-orca"):
        assert all(fitted_demo(of_demo(drives, built), 20.0).size == 1.0 for built in (1, 2, 3))
    if drives in ("virtual-iai", "virtual-canopen"):
        assert fitted_demo(of_demo(drives, 1), 4.0).size == 1.0


@pytest.mark.parametrize("drives", ["virtual", "virtual-canopen"])
def test_the_first_prediction_on_a_machine_reports_what_it_compiles(
    drives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str] = []
    reported: list[tuple[int, int]] = []

    @contextmanager
    def first_start(roots: Iterable[str], report: Callable[[int, int], None]) -> Iterator[None]:
        named.extend(roots)
        report(0, len(named))
        with report_compilation(named, report):  # raises for a kernel that there is not
            yield

    monkeypatch.setattr("rig.client.fitting.report_compilation", first_start)
    fitted_demo(of_demo(drives, None), 4.0, lambda done, total: reported.append((done, total)))
    assert reported[0] == (0, len(named))
    assert ("rig.engine.cycle_data.measure_kernel" in named) == (drives == "virtual-canopen")


@pytest.mark.usefixtures("undrawn_reports")
def test_a_machine_as_built_is_within_what_its_demo_is_judged_by(tmp_path: Path) -> None:
    config = with_demo_thresholds(of_demo("virtual-mixed", 1), timing=False)  # whose softest legs are 6 mm off at most
    fitted = fitted_demo(config, 4.0)
    trajectory, size = fitted.trajectory, fitted.size
    result = execute(expecting(config, trajectory), trajectory, "demo", tmp_path, lockstep=True, report=lambda _: None)
    assert result.error is None and size < 1.0
    assert result.summary["validation"]["verdict"] == "expected"


def test_the_demo_is_as_large_as_the_machine_follows(tmp_path: Path) -> None:
    config = of_demo("virtual-servo", 2)
    fitted = fitted_demo(config, 4.0)
    trajectory, size = fitted.trajectory, fitted.size
    assert 0.1 <= size < 0.6 and fitted.limited_by == "following"
    with LockstepRig(config, tmp_path / "demo.mcap", Interruption()) as rig:
        run_motion(rig, prepare_motion(config, trajectory), "demo", lambda _progress: None)
    rows = open_recording(tmp_path / "demo.mcap").rows
    running = rows[rows["state"] == State.RUNNING]
    following = np.abs(running["length"] - running["length_reference"]).max()
    assert 0.6 * config.safety.following_error < following < config.safety.following_error


def test_a_machine_that_hangs_too_far_off_is_told_so() -> None:
    soft = of_demo("virtual-servo", 2).changed({"control": {"stiffness": 2e3, "damping": 180.0}})
    with pytest.raises(RefusedError, match=r"hangs more than 1.6 mm off its reference"):
        fitted_demo(soft, 4.0)


def test_a_motion_is_as_small_as_a_residual_of_the_drives_own_loops_asks_for() -> None:
    config = load_config("virtual-jrk-g2").changed({"safety": {"force_residual": 15.0}})
    fitted = fitted_demo(config, 4.0)
    assert 0.2 < fitted.size < 1.0 and fitted.limited_by == "residual"
    assert 0.3 * 15.0 < fitted.predicted.residual <= 0.6 * 15.0


def test_a_rate_at_which_not_even_a_small_motion_fits_is_refused_by_the_bound() -> None:
    orca = at_rate(load_config("virtual-orca"), 5.0)  # it waits 0.2 s at a length
    with pytest.raises(RefusedError, match=r"at a 20th of its size .* 1\d\d % of the bound on safety.following_error"):
        fitted_demo(orca, 20.0)


def test_a_motion_is_as_slow_as_the_drives_go_by_themselves() -> None:
    config = load_config("virtual-iai").changed({"drives": {"speed": 0.2}})
    fitted = fitted_demo(config, 4.0)
    assert fitted.size < 0.8 and fitted.predicted.speed_limit == 0.2
    assert 0.6 * 0.2 < fitted.predicted.speed <= 0.9 * 0.2


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize("drives", ["virtual-iai", "virtual-mixed"])
def test_a_residual_of_the_drives_own_loops_is_expected_by_its_number(drives: str, tmp_path: Path) -> None:
    config = with_demo_thresholds(load_config(drives), timing=False, exact=True)
    fitted = fitted_demo(config, 4.0)
    config = expecting_own_loops(config, fitted.predicted)
    result = execute(config, fitted.trajectory, "demo", tmp_path, lockstep=True, report=lambda _: None)
    validation = result.summary["validation"]
    worst = max(leg["rms_n"] for leg in validation["legs"])
    assert validation["verdict"] == "expected" and validation["expected_by"] == "own_loops"
    assert 0.9 * fitted.predicted.residual_rms < worst < validation["expected_n"] < 5.0
    assert any(f"{worst:.2f} N RMS" in reason and "by a simulation" in reason for reason in validation["reasons"])


def test_a_machine_as_built_is_expected_to_leave_what_drives_without_force_leave_in_its_simulation() -> None:
    def expected(config: RigConfig, simulated: float | None) -> float:
        predicted = None if simulated is None else Prediction(1e-3, 40.0, simulated, 0.1, 1.0)
        home = config.machine.geometry.home_pose
        virtual = expecting(config, demo_trajectory(home, 4.0), predicted).virtual
        assert virtual is not None and virtual.plant.expected_residual is not None
        return virtual.plant.expected_residual

    for drives, without_force in (("virtual-iai", True), ("virtual", False)):
        config = at_rate(of_demo(drives, 1), 5.0)
        by_design = expected(config, None)
        assert expected(config, 1.0) == by_design
        assert expected(config, 20.0) == pytest.approx(24.0 if without_force else by_design)


def test_what_is_predicted_is_what_is_measured(tmp_path: Path) -> None:
    config = load_config("virtual-canopen")
    fitted = fitted_demo(config, 4.0)
    with LockstepRig(config, tmp_path / "demo.mcap", Interruption()) as rig:
        run_motion(rig, prepare_motion(config, fitted.trajectory), "demo", lambda _progress: None)
    rows = open_recording(tmp_path / "demo.mcap").rows
    running = rows[(rows["state"] == State.RUNNING) & (rows["path_time"] > 0.0)]
    assert np.abs(running["force_residual"]).max() == pytest.approx(fitted.predicted.residual, rel=0.02)
    following = np.abs(running["length"] - running["length_reference"]).max()
    assert following == pytest.approx(fitted.predicted.following, rel=0.02)
    assert following < 1e-3, "the set-points are as early as the drives take to reach them"


def test_a_motion_beyond_the_drives_own_ramps_is_refused_before_it_starts(tmp_path: Path) -> None:
    config = load_config("virtual-iai")
    slow, soft = (config.changed({"drives": {name: 0.2}}) for name in ("speed", "acceleration"))
    trajectory = demo_trajectory(config.machine.geometry.home_pose, 4.0)
    for one, quantity in ((slow, "speed"), (soft, "acceleration")):
        with pytest.raises(RefusedError, match=f"{quantity} by the drive's ramp of leg"):
            execute(one, trajectory, "demo", tmp_path, lockstep=True, report=lambda _: None)
        scale = checked_motion(one, trajectory)[1].scale
        smaller = prepare_motion(one, trajectory, scale)  # what is said to pass passes
        legs = leg_kinematics(one.machine.geometry, smaller.motion(np.linspace(0.0, smaller.duration, 1000)))
        assert 0.1 < scale < 1.0
        assert (np.abs(legs.velocity) <= one.drive_ramps.speed).all()
        assert (np.abs(legs.acceleration) <= one.drive_ramps.acceleration).all()
    assert not list(tmp_path.iterdir())
