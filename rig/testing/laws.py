"""The conformance suite of a control law, offline on a virtual rig's model and plant."""

import math
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from actuators import Command, Mode
from dynamics import Dynamics
from kinematics import Array, MotionTable, leg_lengths, pose_to_coordinates, stepped_pose
from rig.config import LegFeedback, RigConfig, load_config
from rig.engine import ControlLaw, CycleData, Readings, Reference, make_law
from rig.testing.failure import Failure, run_checks
from rig.virtual import force_bounds, run_loop

_MOVED = np.array([2e-5, -1e-5, 1.5e-5, 1e-4, 5e-5, -8e-5])  # m, rad: off the reference
_LINEAR = 0.02  # relative, of the declared feedback
_MOST_KEPT = 100.0  # bytes a cycle
_MOST_HELD = 65536  # bytes within a cycle
_CYCLES = 30
_LIFT, _DURATION = 0.01, 1.0  # m, s


class _Bench:
    """A law on the data of its cycle, the platform held at home or `_MOVED` off it."""

    def __init__(self, config: RigConfig) -> None:
        self.config, self.data = config, CycleData(config)
        self.law: ControlLaw = make_law(config, self.data.model.dynamics)
        self.home = config.machine.geometry.home_pose
        self._reference = Reference(self.home)
        self._zeros = np.zeros(6)
        geometry, moved = config.machine.geometry, stepped_pose(self.home, _MOVED, "base", np.zeros(3))
        self._lengths = leg_lengths(geometry, self.home), leg_lengths(geometry, moved)

    def cycle(self, *, moved: bool = False, active: bool = True, again: bool = False) -> Array | None:
        """The forces (6,) N that the law computes in a cycle; None where it is not `active`. again: twice in one."""
        data, law, zeros = self.data, self.law, self._zeros
        data.measurement.take(Readings(self._lengths[moved], zeros, zeros, zeros, zeros), homed=True)
        data.reference.evaluate(self._reference, data.measurement)
        law.refer(data)
        if not active:
            return None
        for _ in range(1 + again):
            data.set_points.clear()
            data.reference.foresee(self._reference, 0.0)
            law.compute(data)
        self.commands: list[Command] = list(law.commands(data))
        forces: Array = data.set_points.force.copy()
        return forces

    @property
    def length_error(self) -> Array:
        """Errors (6,) m of the legs in the present cycle."""
        error: Array = self.data.reference.length_error
        return error


def _forces(bench: _Bench, *, moved: bool = False, again: bool = False) -> Array:
    forces = bench.cycle(moved=moved, again=again)
    assert forces is not None
    return forces


def _lift(config: RigConfig) -> MotionTable:
    samples = np.zeros((2, 18))
    samples[:, :6] = pose_to_coordinates(config.machine.geometry.home_pose)
    samples[1, 2] += _LIFT
    return MotionTable(_DURATION, samples)


def _deterministic(config: RigConfig) -> Iterator[str]:
    runs = [run_loop(config, _lift(config), config.mode) for _ in range(2)]
    if not np.array_equal(runs[0].signals, runs[1].signals):
        yield "two runs of the same motion have different commands"
    benches = [_Bench(config), _Bench(config)]
    if any(
        not np.array_equal(_forces(benches[0], moved=True), _forces(benches[1], moved=True)) for _ in range(_CYCLES)
    ):
        yield "two laws of one configuration, asked the same, command different forces"


def _bounded(config: RigConfig) -> Iterator[str]:
    run = run_loop(config, _lift(config), config.mode)
    if run.end:
        yield run.end
    if not np.isfinite(run.commands).all():
        yield "a commanded force is not finite"
    over = run.saturated > 0.0
    if over.any():
        legs = ", ".join(str(leg + 1) for leg in np.flatnonzero(over))
        bounds = force_bounds(config).tolist()
        yield f"in a lift of 10 mm in 1 s it asks leg {legs} for more than its limit, {bounds} N"


def _follows(config: RigConfig) -> Iterator[str]:
    run = run_loop(config, _lift(config), config.mode)
    worst = float(np.abs(run.error[:, :3]).max())
    if run.end or worst > 0.1 * _LIFT:
        yield f"a lift of 10 mm in 1 s is followed with an error of {1e3 * worst:.3g} mm {run.end}"


def _at_rest(config: RigConfig) -> Iterator[str]:
    bench = _Bench(config)
    needed = bench.data.model.dynamics.forces(np.concatenate([bench.home, np.zeros(12)]))
    for cycle in range(_CYCLES):
        forces = _forces(bench)
        if not np.allclose(forces, needed, atol=1e-3 * float(np.abs(needed).max())):
            yield f"at rest without an error, in cycle {cycle + 1}, it commands {forces} N; the model needs {needed} N"
            return


def _commands(config: RigConfig) -> Iterator[str]:
    bench = _Bench(config)
    _forces(bench)
    mode = Mode.POSITION if config.law.own_loops else Mode.FORCE
    if len(bench.commands) != 6:
        yield f"it gives {len(bench.commands)} commands, not six"
    for leg, command in enumerate(bench.commands, start=1):
        if command.mode is not mode or not command.enable:
            yield f"leg {leg}: the declared drives are in mode {mode.name} with torque, the command is {command}"
        if mode is Mode.POSITION and not np.isfinite(command.position + command.velocity):
            yield f"leg {leg}: length {command.position} m or speed {command.velocity} m/s is not finite"
    if any(own != config.law.own_loops for own in bench.law.own_loops):
        yield f"own_loops is {bench.law.own_loops}, drives {config.law.drives!r} are declared"


def _begins_anew(config: RigConfig) -> Iterator[str]:
    fresh, used = _Bench(config), _Bench(config)
    for _ in range(_CYCLES):
        used.cycle(moved=True)
    for _ in range(3):
        used.cycle(active=False)
    for cycle in range(3):
        first, later = _forces(fresh), _forces(used)
        if not np.allclose(first, later, rtol=1e-9, atol=1e-9 * float(np.abs(first).max())):
            apart = float(np.abs(later - first).max())
            yield f"cycle {cycle + 1} after a time without command differs by {apart:.3g} N from that of a new law"


def _computed_twice(config: RigConfig) -> Iterator[str]:
    once, twice = _Bench(config), _Bench(config)
    for cycle in range(5):
        apart = float(np.abs(_forces(once, moved=True) - _forces(twice, moved=True, again=True)).max())
        if apart > 1e-9:
            yield f"a cycle that is computed twice has other forces, by {apart:.3g} N in cycle {cycle + 1}"


def _feedback(config: RigConfig) -> Iterator[str]:
    if all(config.own_loops):
        return
    declared = config.law.feedback_of(config)
    still, moved = _Bench(config), _Bench(config)
    kept = np.zeros((len(declared.C), 6)) if isinstance(declared, LegFeedback) else np.zeros((0, 6))
    observes = isinstance(declared, LegFeedback) and declared.observer_bandwidth is not None
    for cycle in range(1 if observes else 5):
        found = _forces(moved, moved=True) - _forces(still)
        if isinstance(declared, LegFeedback):
            error = moved.length_error
            kept = declared.A @ kept + declared.B[:, :1] * error
            wanted = declared.stiffness * error + declared.C @ kept
        else:
            motion = np.concatenate([still.home, np.zeros(12)])
            pushed = motion.copy()
            pushed[13:] = -declared.gains.stiffness @ _MOVED
            model = Dynamics(config.machine, config.control.coulomb_speed)
            wanted = model.forces(pushed) - model.forces(motion)
        if np.abs(found - wanted).max() > _LINEAR * np.abs(wanted).max():
            yield f"in cycle {cycle + 1} after a small error it adds {found} N, by the declared feedback {wanted} N"
            return


def _memory(config: RigConfig) -> Iterator[str]:
    bench = _Bench(config)
    tracemalloc.start()
    kept = held = math.inf
    try:
        for _ in range(4):  # what is kept once, as by a cache, is not kept each time
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            for _ in range(_CYCLES):
                bench.cycle(moved=True)
            after, peak = tracemalloc.get_traced_memory()
            kept, held = min(kept, (after - before) / _CYCLES), min(held, peak - max(before, after))
    finally:
        tracemalloc.stop()
    if kept > _MOST_KEPT:
        yield f"{kept:.0f} bytes are kept of every cycle, at most {_MOST_KEPT:.0f}"
    if held > _MOST_HELD:
        yield f"a cycle takes {held:.0f} bytes, at most {_MOST_HELD}"


LAW_CHECKS: Mapping[str, Callable[[RigConfig], Iterator[str]]] = {
    "deterministic": _deterministic,
    "bounded": _bounded,
    "follows": _follows,
    "at rest": _at_rest,
    "commands": _commands,
    "begins anew": _begins_anew,
    "computed twice": _computed_twice,
    "declared feedback": _feedback,
    "memory": _memory,
}
"""The checks of a law by name.

The same commands for the same cycles; finite, and within the limits in a gentle motion; the motion is followed; at rest
the model's forces; commands of the declared mode; nothing remembered of before it commanded; a cycle may be computed
twice; the declared feedback is the law's; memory taken and kept in a cycle.
"""


def check_law(name: str, config: RigConfig | None = None) -> tuple[Failure, ...]:
    """Check the control law called `name` on a virtual rig, `config` or the shipped one; none failed: an empty tuple.

    Raises:
        ConfigError: no such law, or it does not go with the configuration.
    """
    changed = (load_config("virtual") if config is None else config).changed({"mode": name})
    return run_checks({check: partial(run, changed) for check, run in LAW_CHECKS.items()})
