"""Offline comparison of controllers on the virtual rig's plant along a trajectory."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from dynamics import load_mechanism, mechanism_names
from kinematics import Array, InputFileError, parse_toml, read_text
from rig.config import RigConfig, load_config, shipped_configs
from rig.csvio import MOTION, WRENCH, check_output, per_leg, read_table, write_table
from rig.errors import RefusedError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from dynamics import Mechanism
    from rig.report import LoopTrace
    from rig.safety import LawBandwidth
    from rig.virtual import LoopRun, Merit, Truth

_TASK = "computed-torque"

Six = Annotated[tuple[float, ...], Field(min_length=6, max_length=6)]


@request
class LoopsRequest:
    """Controllers, the trajectory and the plants to test them on."""

    machine: str
    """file of a configuration or a mechanism, or the name of a shipped one"""
    trajectory: str
    """trajectory file, or the name of a shipped one"""
    controllers: tuple[str, ...]
    """names as `rig.virtual.controllers` has them"""
    plant: str | None = None
    """mechanism of the plant; None: the configuration's"""
    built: int | None = None
    """seed of an as-built machine"""
    mass_error: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """relative error of masses and inertias: adds a heavier and a lighter plant; 0 for none"""
    bandwidth: Annotated[float, Field(gt=0.0)] | None = None
    """Hz: natural frequency that the fastest direction of every controller gets; None: the configuration's gains"""
    mujoco: bool = False
    """whether each plant is also moved by MuJoCo"""
    twist: Six | None = None
    """m/s, rad/s: initial twist of the platform relative to the reference"""
    wrench: Six | None = None
    """N, N m: constant external wrench, in platform axes"""
    wrench_file: Path | None = None
    """CSV file of the external wrench over time"""
    output: Path | None = None
    """CSV file to write the motion of a single controller to"""
    plot: Path | None = None
    """SVG, PDF or PNG file to plot tracking and forces over time to"""
    page: Path | None = None
    """HTML page on the comparison to write; with a bandwidth, `force` and `computed-torque` it adds `EqualLoop`s"""


@dataclass(frozen=True, slots=True, eq=False)
class EqualLoop:
    """Computed torque with another bandwidth that `force` has, too, on the plants without those of `mujoco`.

    equal: what both have alike, "slowest" (natural frequency of the slowest direction) or "margin" (gain margin).
    """

    equal: str
    bandwidth: "LawBandwidth"
    runs: "tuple[Merit, ...]"

    def as_dict(self) -> dict[str, Any]:
        """Return the loop as a JSON object."""
        return {
            "equal": self.equal,
            "bandwidth": self.bandwidth.as_dict(),
            "runs": [one.as_dict() for one in self.runs],
        }


@dataclass(frozen=True, slots=True, eq=False)
class LoopsResult:
    """Result: `runs`, one for each controller and plant. duration: s. rate: cycles per second.

    bandwidth: Hz, asked for all controllers, or None. bandwidths: of each controller that closes a loop.
    equal_loops: see `LoopsRequest.page`.
    """

    config: str
    mechanism: str
    trajectory: str
    duration: float
    rate: float
    runs: "tuple[Merit, ...]"
    bandwidth: float | None
    bandwidths: "tuple[LawBandwidth, ...]"
    equal_loops: tuple[EqualLoop, ...]
    paths: dict[str, str]
    notices: tuple[Notice, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "config": self.config,
            "mechanism": self.mechanism,
            "trajectory": self.trajectory,
            "duration_s": self.duration,
            "rate_hz": self.rate,
            "runs": [one.as_dict() for one in self.runs],
            "bandwidth_hz": self.bandwidth,
            "bandwidths": [one.as_dict() for one in self.bandwidths],
            "equal_loops": [one.as_dict() for one in self.equal_loops],
            "paths": self.paths,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Plant:
    """A plant, and the configuration that moves it; with `mujoco` by MuJoCo beside the same one without."""

    name: str
    mechanism: "Mechanism"
    config: RigConfig
    mujoco: bool

    @property
    def label(self) -> str:
        return f"{self.name}, MuJoCo" if self.mujoco else self.name


def compare_loops(request: LoopsRequest, progress: OnEvent = no_progress) -> LoopsResult:
    """Run and compare the controllers, and write the requested files.

    Raises:
        InputError, KinematicsError, DynamicsError: an invalid file, a bandwidth whose gains are out of their range, or
            MuJoCo is not installed.
    """
    from rig.client import checked_motion
    from rig.motions import read_trajectory
    from rig.safety import law_bandwidth, with_bandwidth, with_task_bandwidth
    from rig.virtual import cycle_times, force_bounds, merit, on_reference, run_loop

    for path in filter(None, (request.output, request.plot, request.page)):
        check_output(path)
    notices = Notices(progress)
    config = _config(request.machine)
    if request.bandwidth is not None:
        config = with_bandwidth(config, request.bandwidth)
    table, verdict = checked_motion(config, read_trajectory(request.trajectory, config.machine.geometry))
    wrenches = _wrenches(request, cycle_times(config, table))
    twist = None if request.twist is None else np.array(request.twist)
    start, bounds = on_reference(config, table, twist), force_bounds(config)
    found: list[Merit] = []
    traces: list[LoopTrace] = []
    plants, truth = _plants(config, request)
    nominal, exact = plants[0], [plant for plant in plants if not plant.mujoco]
    bandwidths = tuple(law_bandwidth(config, name) for name in request.controllers if name != "none")
    others = _equals(config, request, bandwidths)
    total = len(request.controllers) * len(plants) + len(others) * len(exact)
    done = 0

    def follow(name: str, plant: _Plant) -> "LoopRun":
        nonlocal done
        progress(Progress("closed-loop", done, total, {"controller": name, "plant": plant.label}))
        done += 1
        return run_loop(
            plant.config, table, name, plant=plant.mechanism, friction=truth.friction, hose=truth.hose,
            start=start, wrenches=wrenches,
        )  # fmt: skip

    for name in request.controllers:
        for plant in plants:
            run = follow(name, plant)
            found.append(merit(run, plant.label, bounds))
            traces.append(_trace(run, plant))
            if plant is nominal and request.output is not None:
                _write_motion(request.output, run)
    equal_loops = []
    for equal, bandwidth in others:
        changed = [replace(plant, config=with_task_bandwidth(plant.config, bandwidth.fastest)) for plant in exact]
        runs = tuple(merit(follow(_TASK, plant), plant.label, bounds) for plant in changed)
        equal_loops.append(EqualLoop(equal, bandwidth, runs))
    if request.plot is not None:
        from rig.report import write_loop_figure

        write_loop_figure(request.plot, [trace for trace in traces if trace.plant == nominal.name and not trace.mujoco])
    if not verdict.passed:
        notices.add("motion-refused", f"a rig would not run it: {verdict.message}")
    written = (("motion", request.output), ("plot", request.plot), ("page", request.page))
    result = LoopsResult(
        config=str(config.path),
        mechanism=config.machine.name,
        trajectory=request.trajectory,
        duration=table.duration,
        rate=1.0 / config.exchange_period,
        runs=tuple(found),
        bandwidth=request.bandwidth,
        bandwidths=bandwidths,
        equal_loops=tuple(equal_loops),
        paths={name: str(path) for name, path in written if path is not None},
        notices=notices.found,
    )
    if request.page is not None:
        from rig.report import write_loops_page

        write_loops_page(result.as_dict(), traces, request.page)
    return result


def _equals(
    config: RigConfig, request: LoopsRequest, bandwidths: "tuple[LawBandwidth, ...]"
) -> "list[tuple[str, LawBandwidth]]":
    """Return what else computed torque can have alike with `force`, and its bandwidth then; none but for a page."""
    from rig.safety import law_bandwidth, task_bandwidth_of_margin, with_task_bandwidth

    of = {one.law: one for one in bandwidths}
    if request.page is None or request.bandwidth is None or not {"force", _TASK} <= of.keys():
        return []
    force = of["force"]
    same_margin = None if force.margin is None else task_bandwidth_of_margin(config, force.margin)
    wanted = {"slowest": force.slowest, "margin": same_margin}
    return [
        (equal, law_bandwidth(with_task_bandwidth(config, value), _TASK))
        for equal, value in wanted.items()
        if value is not None
    ]


def _config(name: str) -> RigConfig:
    """Return the configuration of that name, or `virtual` with the mechanism of that name."""
    path = Path(name)
    if name in shipped_configs():
        return load_config(name)
    mechanism = name in mechanism_names()
    if not mechanism:
        try:
            data = parse_toml(read_text(path))
        except InputFileError:
            return load_config(name)  # raises the error
        mechanism = "platform" in data and "drives" not in data
    if not mechanism:
        return load_config(name)
    return load_config("virtual").changed({"mechanism": name if name in mechanism_names() else str(path.absolute())})


def _plants(config: "RigConfig", request: LoopsRequest) -> "tuple[list[_Plant], Truth]":
    """Return the plants, the one without changed masses first, and the deviations that no model includes."""
    from rig.virtual import scaled_mechanism, truth_of

    if config.virtual is not None and config.virtual.plant.payload_fmu is not None:
        raise RefusedError(
            "virtual.plant.payload_fmu: the closed loop is simulated without foreign units; leave it out, or run the "
            "motion in lockstep: rig run --lockstep"
        )
    if request.built is not None:
        config = config.changed({"virtual": {"plant": {"as_built": request.built}}})
    truth = truth_of(config)
    name, machine = "as modelled" if request.built is None else "as built", truth.mechanism
    if request.plant is not None:
        name, machine = "as given", load_mechanism(request.plant)
    plants = [(name, machine)]
    for factor in (1.0 + request.mass_error, 1.0 - request.mass_error) if request.mass_error else ():
        plants.append((f"masses {100.0 * (factor - 1.0):+.3g} %", scaled_mechanism(machine, factor)))
    engines = [(False, config)]
    if request.mujoco:
        exact, mujoco = (config.changed({"virtual": {"plant": {"engine": name}}}) for name in ("exact", "mujoco"))
        engines = [(False, exact), (True, mujoco)]
    return [_Plant(name, machine, moving, mark) for mark, moving in engines for name, machine in plants], truth


def _wrenches(request: LoopsRequest, times: Array) -> Array | None:
    """Return the external wrench of each cycle (n, 6), at its middle."""
    if request.wrench is not None:
        return np.tile(np.array(request.wrench), (len(times), 1))
    if request.wrench_file is None:
        return None
    table = read_table(request.wrench_file, WRENCH, increasing=True)
    middles = times + 0.5 * (times[1] - times[0] if len(times) > 1 else 0.0)
    return np.column_stack(
        [np.interp(middles, table.times, column, left=0.0, right=0.0) for column in table.columns(WRENCH).T]
    )


def _trace(run: "LoopRun", plant: _Plant) -> "LoopTrace":
    from rig.report import LoopTrace

    size = np.linalg.norm
    return LoopTrace(
        run.controller, run.times, size(run.error[:, :3], axis=1), size(run.error[:, 3:], axis=1), run.motors,
        plant.name, plant.mujoco,
    )  # fmt: skip


def _write_motion(path: Path, run: "LoopRun") -> None:
    names = ("t", *MOTION, *WRENCH, *(name for prefix in "fclv" for name in per_leg(prefix)))
    columns = [run.times[:, np.newaxis], run.motion, run.wrenches, run.motors, run.cells(), *run.encoders()]
    write_table(path, names, np.hstack(columns))
