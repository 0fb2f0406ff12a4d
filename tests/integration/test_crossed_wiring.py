"""Motors, encoders, drives or load cells of two legs exchanged: found before the first motion, or stopped and named.

In `make explore` each of the 15 pairs is exchanged in each way, on two mechanisms, in two motions, with and without
serial numbers, under each law. A rig is homed on the operator's word near home, where forces at rest tell the least.
"""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import tomlkit
from exploration import LONG
from lockstep_bench import bench_config
from servo_profiles import profile

from dynamics import format_mechanism, load_mechanism
from kinematics import Geometry, Trajectory, TrajectorySpec, build_trajectory
from rig.client import demo_trajectory, execute
from rig.commissioning import put_on_record
from rig.config import RigConfig, load_config
from rig.engine import LegResult
from rig.engine.wiring import unproven
from rig.errors import HardwareError, RefusedError, RunFaultError

pytestmark = pytest.mark.usefixtures("undrawn_reports")

PAIRS = list(itertools.combinations(range(1, 7), 2))
Kind = Literal["motor", "encoder", "drives", "cell"]
ALL: list[tuple[Kind, tuple[int, int], str, str, bool, str]] = list(
    itertools.product(
        ("motor", "encoder", "drives", "cell"),
        PAIRS,
        ("even", "uneven"),
        ("demo", "swell"),
        (False, True),
        ("force", "computed-torque", "observer", "position"),
    )
)
SOME: list[tuple[Kind, tuple[int, int], str, str, bool, str]] = [
    ("motor", (2, 5), "even", "swell", False, "force"),
    ("encoder", (2, 5), "even", "swell", False, "force"),
    ("drives", (1, 2), "even", "swell", False, "force"),
    ("drives", (3, 6), "uneven", "swell", False, "force"),
    ("drives", (1, 4), "even", "swell", True, "force"),
    ("cell", (3, 6), "even", "swell", True, "force"),
    ("cell", (1, 5), "uneven", "swell", False, "force"),
    ("drives", (1, 5), "even", "swell", False, "computed-torque"),
    ("drives", (3, 4), "even", "swell", False, "computed-torque"),
    ("drives", (4, 5), "even", "demo", False, "computed-torque"),
    ("drives", (5, 6), "even", "demo", False, "computed-torque"),
    ("drives", (1, 2), "even", "swell", False, "observer"),
    ("drives", (4, 6), "even", "swell", False, "observer"),
    ("drives", (2, 3), "even", "swell", False, "position"),
    ("cell", (2, 4), "even", "swell", False, "computed-torque"),
    ("cell", (3, 6), "even", "swell", False, "position"),
]


def mechanism(name: str, folder: Path) -> str:
    """The lab-hexapod, or one whose joints are off by up to 3 cm each and whose mass is off its axis."""
    if name == "even":
        return "lab-hexapod"
    even, random = load_mechanism("lab-hexapod"), np.random.default_rng(2)
    geometry = even.geometry
    base, platform = (
        points + random.uniform(-0.03, 0.03, (6, 3)) for points in (geometry.base_points, geometry.platform_points)
    )
    moved = Geometry(base, geometry.universal_axes, platform, geometry.home_pose)
    legs = []
    for leg, length in zip(even.legs, moved.home_lengths, strict=True):
        assert leg.limits is not None
        legs.append(replace(leg, limits=replace(leg.limits, length=(float(length) - 0.08, float(length) + 0.08))))
    center = even.center_of_mass + np.array([0.03, -0.02, 0.0])
    path = folder / "uneven.toml"
    path.write_text(format_mechanism(replace(even, geometry=moved, legs=tuple(legs), center_of_mass=center)))
    return str(path)


def crossed(
    folder: Path, kind: Kind, pair: tuple[int, int], made: str = "even", *, serials: bool = False, mode: str = "force"
) -> RigConfig:
    """A rig with two legs exchanged; with the drives' serial numbers, or of drives that have none."""
    ways = [pair, pair[::-1]] if kind == "drives" else [pair]
    fault = {"drives": "swap_unit"}.get(kind, f"{kind}_exchanged")
    faults = [{"fault": fault, "leg": leg, "value": float(value), "at": 0.0} for leg, value in ways]
    legs: list[dict[str, Any]] = [{"host": "127.0.0.1", "port": 15021 + leg} for leg in range(6)]
    drives: dict[str, Any] = {"legs": legs}
    if serials:
        drives["legs"] = [leg | {"serial": f"VIRTUAL-{number}"} for number, leg in enumerate(legs, start=1)]
    else:
        drives["profile"] = str(folder / "anonymous.toml")
        nameless = profile(identity=None).model_dump(exclude_none=True)
        Path(drives["profile"]).write_text(tomlkit.dumps(nameless), encoding="utf-8")
    virtual = {"drive": {"start_spread": 2e-4}, "faults": faults}
    return bench_config(
        mode=mode,
        drives=drives,
        mechanism=mechanism(made, folder),
        recording={"directory": str(folder)},
        virtual=virtual,
    )


def motion(config: RigConfig, name: str) -> Trajectory:
    """The demonstration, or a shorter and smaller motion over all six axes."""
    home = config.machine.geometry.home_pose
    if name == "demo":
        return demo_trajectory(home, 6.0)
    waves = (
        ("z", 0.012, 0.9),
        ("x", 0.01, 0.7),
        ("y", 0.01, 0.6),
        ("rx", 0.03, 0.8),
        ("ry", 0.025, 1.0),
        ("rz", 0.04, 0.75),
    )
    terms = [
        {"dof": dof, "amplitude": size, "frequency": rate, "phase": 0.5 * number}
        for number, (dof, size, rate) in enumerate(waves)
    ]
    part = {"type": "harmonic", "duration": 3.0, "fade": 0.5, "terms": terms}
    return build_trajectory(TrajectorySpec.model_validate({"frame": "home", "parts": [part]}), home)


def run(config: RigConfig, folder: Path, name: str) -> Exception | None:
    """Run a motion on the operator's word; why it ended early."""
    trajectory = motion(config, name)
    return execute(config, trajectory, name, folder, unproven=True, lockstep=True, report=lambda _progress: None).error


def test_the_rigs_are_right_but_for_the_exchange(tmp_path: Path) -> None:
    for made in ("even", "uneven"):
        folder = tmp_path / made
        folder.mkdir()
        config = crossed(folder, "cell", (1, 1), made)
        assert run(config, folder, "swell") is None


@pytest.mark.parametrize(("kind", "pair", "made", "name", "serials", "mode"), ALL if LONG else SOME)
def test_two_legs_exchanged_are_found_before_the_first_motion_or_named(
    tmp_path: Path, kind: Kind, pair: tuple[int, int], made: str, name: str, serials: bool, mode: str
) -> None:
    """Under a law that commands forces by the platform's error the loop of exchanged drives is unstable at once."""
    error = run(crossed(tmp_path, kind, pair, made, serials=serials, mode=mode), tmp_path, name)
    one, other = pair
    if kind == "drives" and serials:
        assert isinstance(error, HardwareError) and f"has serial number 'VIRTUAL-{other}'" in str(error)
    elif kind in ("motor", "encoder"):
        assert isinstance(error, RunFaultError)
        assert f"motors or encoders of legs {one} and {other} are wired to each other's drive" in str(error)
    else:
        named, earlier = {
            "drives": (f"the drives of legs {one} and {other}", "homed at each other's length"),
            "cell": (f"the load cells of legs {one} and {other}", "read each other's force at rest"),
        }[kind]
        assert isinstance(error, RunFaultError | RefusedError)
        assert named in str(error) or f"legs {one} and {other} {earlier}" in str(error)
        assert str(error).count(named) <= 1


LOOPS = ("virtual-jrk-g2", "virtual-iai")
ALL_LOOPS = list(itertools.product(LOOPS, ("motor", "encoder", "drives", "cell"), PAIRS))
SOME_LOOPS = [
    ("virtual-jrk-g2", "motor", (1, 2)),
    ("virtual-jrk-g2", "motor", (4, 5)),
    ("virtual-jrk-g2", "encoder", (2, 4)),
    ("virtual-jrk-g2", "drives", (1, 2)),
    ("virtual-jrk-g2", "drives", (1, 4)),
    ("virtual-jrk-g2", "cell", (2, 5)),
    ("virtual-jrk-g2", "cell", (3, 6)),
    ("virtual-iai", "cell", (1, 3)),
]


@pytest.mark.parametrize(("rig", "kind", "pair"), ALL_LOOPS if LONG else SOME_LOOPS)
def test_two_legs_of_drives_with_loops_of_their_own_exchanged_are_named(
    tmp_path: Path, rig: str, kind: Kind, pair: tuple[int, int]
) -> None:
    """A Jrk G2 near home is found without a move, and its positions come in steps of 0.06 mm."""
    fault = {"drives": "swap_unit"}.get(kind, f"{kind}_exchanged")
    ways = [pair, pair[::-1]] if kind == "drives" else [pair]
    faults = [{"fault": fault, "leg": leg, "value": float(value), "at": 0.0} for leg, value in ways]
    virtual = {"drive": {"start_spread": 2e-4}, "faults": faults}
    error = run(
        load_config(rig).changed({"recording": {"directory": str(tmp_path)}, "virtual": virtual}), tmp_path, "swell"
    )
    assert isinstance(error, RunFaultError)
    legs = f"legs {pair[0]} and {pair[1]}"
    named = {"drives": f"the drives of {legs}", "cell": f"the load cells of {legs}"}.get(
        kind, f"motors or encoders of {legs}"
    )
    assert named in str(error)


@pytest.mark.parametrize("fault", [("jam", 300.0), ("weak", 0.3), ("zero_jump", 40.0)])
def test_no_pair_of_such_drives_is_named_for_another_fault(tmp_path: Path, fault: tuple[str, float]) -> None:
    name, value = fault
    faults = [
        {"fault": "cell_exchanged", "leg": 1, "value": 1.0, "at": 0.0},  # with itself: nothing proves the wiring
        {"fault": name, "leg": 4, "value": value, "at": 3.4},
    ]
    virtual = {"drive": {"start_spread": 2e-4}, "faults": faults}
    config = load_config("virtual-jrk-g2").changed({"recording": {"directory": str(tmp_path)}, "virtual": virtual})
    assert "another wiring" not in str(run(config, tmp_path, "swell"))


def test_tests_of_before_an_exchange_are_taken_off_the_record(tmp_path: Path) -> None:
    """Drives without serial numbers answer as they were tested: they may move until forces name two of them."""
    config = crossed(tmp_path, "drives", (1, 2))
    for leg in range(1, 7):
        put_on_record(config, LegResult(leg, 2e-3, (), False, None, 2e-3, 0.0, 0.0, 0.0, 0.0, {}))
    assert unproven(config, [""] * 6) is None
    for proven in (True, False):
        trajectory = motion(config, "swell")
        error = execute(config, trajectory, "swell", tmp_path, lockstep=True, report=lambda _progress: None).error
        if proven:
            assert isinstance(error, RunFaultError) and "the drives of legs 1 and 2" in str(error)
        else:
            assert isinstance(error, RefusedError) and "legs 1, 2: no test is on record" in str(error)
    lacking = unproven(config, [""] * 6)
    assert lacking is not None and lacking.legs == (1, 2)
