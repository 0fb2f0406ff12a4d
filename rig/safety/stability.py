"""Stability of the control loop for this machine, and sag by errors of the masses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, DynamicsError, Mechanism
from kinematics import leg_matrix
from rig.config import LegFeedback, RigConfig, TaskFeedback, find_law, leg_gains, usable_laws
from rig.errors import ConfigError

Array = npt.NDArray[np.float64]

WANTED_MARGIN = 1.5
"""Required gain margin: factor on both gains."""
_EDGE = 0.95  # nearer to 1 than this, model and friction decide: not refused, but warned of
_STABLE = 1.0 + 1e-6  # an integrator without feedback stands exactly at 1
_FINE = 1e-3  # of a margin or bandwidth
_ALIKE = 1.02  # of margins: the masses make no difference
_STRIDE, _FARTHEST = 1.25, 1e3  # in the search for the gain margin
_MASS_ERRORS = np.array([0.8, 1.0, 1.2])  # of the machine, in the model's masses: what a rig is demonstrated with
_RATES = (50, 2000)  # Hz, searched for the lowest rate
_TASK_BANDWIDTHS = (0.01, 1000.0)  # Hz, the range of control.task_bandwidth


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """How the loop stands."""

    mode: str
    rate: float
    """Hz, rate of exchanges with the drives"""
    stiffness: float
    """N/m a leg, or 1/s² of the task space, the largest eigenvalue of a matrix; here and below, 0 and an infinite
    margin where the drives close the loop"""
    damping: float
    """N s/m, or 1/s, likewise"""
    radius: float
    """spectral radius of the sampled loop: how much a disturbance grows in a cycle; stable below 1"""
    gain_margin: float
    """factor on both gains at which the loop becomes unstable; 0 if no smaller gain is stable either

    For the worst of the masses considered, as are the radius and the lowest rate."""
    search: Callable[[], int | None] = field(repr=False, compare=False)
    """computes `lowest_rate`, which takes longest"""
    wanted: float = WANTED_MARGIN
    """the required gain margin"""
    model_margin: float = math.inf
    """gain margin with the masses of the model"""
    least: tuple[float, float] | None = None
    """least eigenvalues of the stiffness and the damping where these are matrices"""
    bandwidth: float | None = None
    """Hz, where it is what gives the gains of computed torque"""
    at_host: bool = True
    """Whether the host closes the loop; else all six drives do, and are responsible for its stability"""
    at_legs: bool = True
    """whether the gains are those of each leg; else those of the platform's task space"""
    remembers: bool = False
    """whether the law declares a memory of past errors"""

    @property
    def lowest_rate(self) -> int | None:
        """Hz, lowest whole rate at which these gains have the required margin; None: none has, or drives are slow."""
        return self.search()

    @property
    def passed(self) -> bool:
        """Whether the loop may be closed: it is stable, or unstable only within the model's uncertainty."""
        return self.gain_margin >= _EDGE

    @property
    def _where(self) -> str:
        if self.model_margin <= self.gain_margin * _ALIKE:
            return ""
        return f" where masses are {100.0 * (1.0 - _MASS_ERRORS.min()):.0f} % off the model's"

    @property
    def message(self) -> str:
        """Text of the loop's fault and a remedy; empty if it has the required margin."""
        if self.gain_margin >= self.wanted * (1.0 - 2.0 * _FINE):
            return ""
        units = ("N/m", "N s/m") if self.at_legs else ("1/s²", "1/s")
        low = ("", "") if self.least is None else tuple(f"{one:g} to " for one in self.least)
        gains = f"stiffness {low[0]}{self.stiffness:g} {units[0]} and damping {low[1]}{self.damping:g} {units[1]}"
        gains += f"{', and what it remembers,' * self.remembers} at {self.rate:g} Hz"
        if not self.passed:
            found = f"is unstable{self._where}: a disturbance grows {self.radius:.3f} times in a cycle"
        elif self.gain_margin < 1.0:
            found = f"is at the edge of instability{self._where}"
        else:
            found = f"has a gain margin of {self.gain_margin:.2f}{self._where}, must be at least {self.wanted:g}"
        lowest = self.lowest_rate
        helps = lowest is not None and lowest > self.rate  # else its gains are too low for what it remembers
        remedies = [] if not helps else [f"run it at {lowest} Hz or more"]
        if self.gain_margin > 0.0 and self.bandwidth is not None:
            # stiffness falls by its square, so that this is at least as stable as both gains times the factor
            remedies.append(f"a control.task_bandwidth of {self.bandwidth * self.gain_margin / self.wanted:.2g} Hz")
        elif self.gain_margin > 0.0:
            gains_named = "all gains of the law" if self.remembers else "both gains"
            remedies.append(f"multiply {gains_named} by {self.gain_margin / self.wanted:.2g}")
        elif self.bandwidth is not None:
            remedies.append("a lower control.task_bandwidth")
        elif self.remembers:
            remedies.append(f"weaken what the law adds of the past ([laws.{self.mode}])")
        else:
            remedies.append("increase the damping or reduce the stiffness")
        return f"the control loop (mode {self.mode}, {gains}) {found}; {', or '.join(remedies)}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        numbers = asdict(self)
        del numbers["search"], numbers["at_legs"], numbers["remembers"]
        if not numbers.pop("at_host"):
            numbers |= dict.fromkeys(("stiffness", "damping", "radius", "gain_margin", "model_margin"))
        return numbers | {
            "lowest_rate": self.lowest_rate,
            "closed_by": "host" if self.at_host else "drives",
            "passed": self.passed,
            "message": self.message,
        }


def check_loop(config: RigConfig) -> LoopVerdict:
    """Judge the loop of a configuration at the mechanism's home, by the feedback that its law declares.

    Raises:
        DynamicsError: home is singular, or the mechanism has no inertia in some direction.
    """
    if all(config.own_loops):
        return LoopVerdict(config.mode, config.rate, 0.0, 0.0, 0.0, math.inf, lambda: None, at_host=False)
    exchanges = 1.0 / config.exchange_period
    feedback = config.law.feedback_of(config)
    least: tuple[float, float] | None = None
    matrices: tuple[Array, Array] | None = None
    if isinstance(feedback, LegFeedback):
        stiffness, damping = feedback.stiffness, feedback.damping
        masses = leg_masses(config.machine, config.own_loops)
        friction = min(leg.viscous for leg in config.machine.legs)
    else:
        task, masses, friction = feedback.gains, np.ones(1), 0.0
        stiffness, damping = task.numbers or (0.0, 0.0)
        if task.numbers is None:
            matrices = task.stiffness, task.damping
            (lowest_k, stiffness), (lowest_d, damping) = (np.linalg.eigvalsh(one)[[0, -1]].tolist() for one in matrices)
            least = lowest_k, lowest_d
    gains = np.array([stiffness, damping, 0.0])

    wanted = WANTED_MARGIN * float(_MASS_ERRORS.min())  # a mass smaller than the model's takes of it, and is judged

    def radius_of(judged: _Loops, factor: float) -> float:
        if matrices is None:
            return judged.radius(factor * gains, factor)
        return judged.coupled_radius(factor * matrices[0], factor * matrices[1])

    def radius(rate: float, factor: float) -> float:
        # what a law declares is sampled at its rate
        changed = feedback if rate == exchanges else _at_rate(config, rate)
        return radius_of(_loops(config, changed, masses, friction, rate), factor)

    loops = _loops(config, feedback, masses, friction, exchanges)
    remembers = isinstance(feedback, LegFeedback) and bool(feedback.C.any())
    # unstable at every gain, though at small ones by so little that it looks stable
    undamped = stiffness > 0.0 and damping + friction == 0.0 and not remembers

    helps = not undamped and exchanges >= config.rate  # a higher rate, where drives are not slower than that

    def margin(judged: _Loops) -> float:
        return 0.0 if undamped else _gain_margin(lambda factor: radius_of(judged, factor) < _STABLE)

    return LoopVerdict(
        mode=config.mode,
        rate=exchanges,
        stiffness=stiffness,
        damping=damping,
        radius=radius_of(loops, 1.0),
        gain_margin=margin(loops),
        search=lambda: _lowest_rate(lambda rate: radius(rate, wanted) < _STABLE) if helps else None,
        wanted=wanted,
        model_margin=margin(_loops(config, feedback, masses, friction, exchanges, np.ones(1))),
        least=least,
        bandwidth=feedback.bandwidth if isinstance(feedback, TaskFeedback) else None,
        at_legs=isinstance(feedback, LegFeedback),
        remembers=remembers,
    )


def _at_rate(config: RigConfig, rate: float) -> LegFeedback | TaskFeedback:
    """The feedback of the law at another rate, with the gains of `config`."""
    if config.law.feedback is leg_gains or config.law.compiled:
        return config.law.feedback_of(config)  # which does not depend on it
    return config.law.feedback_of(config.model_copy(update={"rate": rate}))


def leg_masses(mechanism: Mechanism, held: Sequence[bool] = (False,) * 6) -> Array:
    """Masses (n,) kg, ascending, that forces along the legs accelerate at home, each in one direction of leg space.

    Only for legs that are not `held` at their lengths, usually all six: their block of M_L.

    Raises:
        DynamicsError: home is singular, or the mechanism has no inertia in some direction.
    """
    home = mechanism.geometry.home_pose
    try:
        inverse = np.linalg.inv(leg_matrix(mechanism.geometry, home))
    except np.linalg.LinAlgError as error:
        raise DynamicsError("the platform is singular at home") from error
    free = np.flatnonzero(np.logical_not(held))
    felt = inverse @ Dynamics(mechanism).mass_matrix(home) @ inverse.T
    masses: Array = np.linalg.eigvalsh(felt[np.ix_(free, free)])
    if masses[0] <= 0.0:
        raise DynamicsError(f"the mechanism has no inertia in some direction at home: {masses[0]:g} kg")
    return masses


class _Loops:
    """The sampled loops of all directions; the state of each is [q, v, f] and the delayed commands, the newest first.

    Args:
        masses: (n,) kg, one of each direction.
        friction: N s/m.
        period, delay, lag: s; the delay is that from a measurement to the force's rise.
        observer: mass, kg, of each direction that the observer does not model, and its share s; its estimate is then
            the last entry of the state.
        kept: the law, whose memory z is then the last entries of the state.
    """

    def __init__(
        self, masses: Array, friction: float, period: float, delay: float, lag: float,
        observer: tuple[Array, float] | None = None, kept: LegFeedback | None = None,
    ) -> None:  # fmt: skip
        from scipy.linalg import expm  # takes long to import, and few need it

        system = np.zeros((len(masses), 4, 4))  # the plant and its input, which is held
        system[:, 0, 1] = 1.0
        system[:, 1, 1], system[:, 1, 2] = -friction / masses, 1.0 / masses
        system[:, 2, 2], system[:, 2, 3] = -1.0 / lag, 1.0 / lag
        whole = int(delay / period * (1.0 + 1e-12))
        before = max(delay - whole * period, 0.0)  # of a period, under the command before
        early, late = expm(system * before)[:, :3], expm(system * (period - before))[:, :3]
        size, before_estimate = 4 + whole + (observer is not None), 3 + whole
        self._matrices = np.zeros((len(masses), size, size))
        self._matrices[:, :3, :3] = late[:, :, :3] @ early[:, :, :3]
        self._matrices[:, :3, 3 + whole] = (late[:, :, :3] @ early[:, :, 3:])[:, :, 0]
        self._matrices[:, :3, 2 + whole] += late[:, :, 3]  # whole is at least 1: a command goes out a cycle later
        self._matrices[:, range(4, before_estimate + 1), range(3, before_estimate)] = 1.0
        if observer is not None:
            unknown, share = observer
            gained = self._matrices[:, 1].copy()
            gained[:, 1] -= 1.0
            self._matrices[:, -1] = (share / period * unknown)[:, np.newaxis] * gained
            self._matrices[:, -1, -1] = 1.0 - share
            self._matrices[:, 3, -1] = 1.0
        self._kept = kept if kept is not None and kept.C.any() else None
        if self._kept is not None:
            count = len(self._kept.C)
            self._matrices = np.pad(self._matrices, ((0, 0), (0, count), (0, count)))
            self._matrices[:, -count:, -count:], self._matrices[:, -count:, :2] = self._kept.A, self._kept.B

    def closed(self, gains: Array, factor: float = 1.0) -> Array:
        """State transitions (n, m, m) of a cycle with the gains (3,) on q, v and f, and `factor` times the law's C."""
        self._matrices[:, 3, :3] = -gains
        if self._kept is not None:
            A, B, C = self._kept.A, self._kept.B, factor * self._kept.C
            self._matrices[:, 3, :2] -= C @ B
            self._matrices[:, 3, -len(C) :] = -C @ A
        return self._matrices

    def radius(self, gains: Array, factor: float = 1.0) -> float:
        """The largest spectral radius with the gains (3,) and `factor` times the law's C."""
        return float(np.abs(np.linalg.eigvals(self.closed(gains, factor))).max())

    def coupled_radius(self, stiffness: Array, damping: Array) -> float:
        """The same with gains (m, m) that couple m such directions, which are alike but for them."""
        size, place = len(stiffness), 3 * len(stiffness)  # rows of the command
        closed = np.kron(self.closed(np.zeros(3)), np.eye(size))
        closed[:, place : place + size, :size] = -stiffness
        closed[:, place : place + size, size : 2 * size] = -damping
        return float(np.abs(np.linalg.eigvals(closed)).max())


def _loops(
    config: RigConfig, feedback: LegFeedback | TaskFeedback, masses: Array, friction: float, rate: float,
    errors: Array | None = None,
) -> _Loops:  # fmt: skip
    errors = _MASS_ERRORS if errors is None else errors
    period, drives = 1.0 / rate, config.drives
    lag = 1.0 / (2.0 * math.pi * drives.force_bandwidth)
    true, known = np.outer(errors, masses).ravel(), np.tile(masses, len(errors))
    if isinstance(feedback, TaskFeedback):
        return _Loops(true, friction, period, period + drives.delay, lag)
    if feedback.observer_bandwidth is None:
        return _Loops(true, friction, period, period + drives.delay, lag, kept=feedback)
    share = -math.expm1(-2.0 * math.pi * feedback.observer_bandwidth * period)
    return _Loops(true, friction, period, period + drives.delay, lag, (true - known, share), feedback)


def _gain_margin(stable: Callable[[float], bool]) -> float:
    """Factor at which stability ends, to a thousandth; 0 if no smaller one is stable, the largest if all are."""
    passing, failing = 1.0, 1.0
    if stable(1.0):
        while stable(failing):
            passing, failing = failing, failing * _STRIDE
            if passing > _FARTHEST:
                return passing
    else:
        while not stable(passing):
            failing, passing = passing, passing / _STRIDE
            if failing < 1.0 / _FARTHEST:
                return 0.0
    return _bisected(stable, passing, failing)


def _bisected(enough: Callable[[float], bool], passing: float, failing: float) -> float:
    """Last number from `passing` to the larger `failing` that is enough, to a thousandth of itself."""
    while failing - passing > _FINE * passing:
        middle = math.sqrt(passing * failing)
        if enough(middle):
            passing = middle
        else:
            failing = middle
    return passing


def _lowest_rate(enough: Callable[[float], bool]) -> int | None:
    """Lowest whole rate, Hz, with the required margin; None if the highest rate does not have it."""
    failing, passing = _RATES
    if enough(failing):
        return failing
    if not enough(passing):
        return None
    while passing - failing > 1:
        middle = (passing + failing) // 2
        if enough(middle):
            passing = middle
        else:
            failing = middle
    return passing


@dataclass(frozen=True, slots=True)
class LawBandwidth:
    """Natural frequencies of a law's loop at home, Hz, and its gain margin with masses off the model's.

    slowest, fastest: of the undamped error's six directions, with the model's masses. margin: see `check_loop`; None
    where the drives close the loop. stiffness, damping: the gains, N/m and N s/m `at_legs`; else 1/s² and 1/s, numbers
    or six rows of six. damping_ratio: of the fastest direction; None with matrices, and where the law remembers, as its
    damping may be in its memory.
    """

    law: str
    slowest: float
    fastest: float
    margin: float | None
    stiffness: float | list[list[float]]
    damping: float | list[list[float]]
    damping_ratio: float | None
    at_legs: bool = True

    @property
    def span(self) -> str:
        """Both frequencies as text, or one if they are the same."""
        slowest, fastest = f"{self.slowest:.3g}", f"{self.fastest:.3g}"
        return fastest if slowest == fastest else f"{slowest} to {fastest}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        stiffness, damping = ("n_per_m", "n_s_per_m") if self.at_legs else ("per_s2", "per_s")
        return {
            "controller": self.law,
            "slowest_hz": self.slowest,
            "fastest_hz": self.fastest,
            "gain_margin": self.margin,
            f"stiffness_{stiffness}": self.stiffness,
            f"damping_{damping}": self.damping,
            "damping_ratio": self.damping_ratio,
        }


def law_bandwidth(config: RigConfig, law: str) -> LawBandwidth:
    """Return the bandwidth of a law with a configuration's gains, for a rig or its simulation.

    law: "pd", or the name of a control law; one that commands lengths has the gains of the virtual drives, else those
    of [drives].
    Raises DynamicsError as `check_loop`, ConfigError for real drives whose own gains are not given.
    """
    drives = law != "pd" and find_law(law).own_loops
    closed = config.model_copy(update={"mode": "force" if law == "pd" or drives else law})
    feedback = closed.law.feedback_of(closed)
    gains: tuple[Any, Any]
    if isinstance(feedback, TaskFeedback):
        task = feedback.gains
        squares = np.linalg.eigvalsh(task.stiffness)[[0, -1]].tolist()
        gains, speed = task.numbers or (task.stiffness.tolist(), task.damping.tolist()), task.numbers
    else:
        held = (False,) * 6 if drives or all(closed.own_loops) else closed.own_loops
        masses = leg_masses(config.machine, held)[[-1, 0]]
        gains = _position_gains(config) if drives else (feedback.stiffness, feedback.damping)
        squares = (gains[0] / masses).tolist()
        speed = gains[0] / masses[-1], gains[1] / masses[-1]
    slowest, fastest = (math.sqrt(square) / (2.0 * math.pi) for square in squares)
    remembers = not drives and isinstance(feedback, LegFeedback) and bool(feedback.C.any())
    known = speed is not None and speed[0] > 0.0 and not remembers
    ratio = float(speed[1] / (2.0 * math.sqrt(speed[0]))) if speed and known else None
    verdict = None if drives else check_loop(closed)
    margin = verdict.gain_margin if verdict is not None and verdict.at_host else None
    at_legs = isinstance(feedback, LegFeedback)
    return LawBandwidth(law, slowest, fastest, margin, gains[0], gains[1], ratio, at_legs)


def with_bandwidth(config: RigConfig, bandwidth: float) -> RigConfig:
    """Return the configuration with gains of one bandwidth, Hz, for all laws: that of the fastest direction at home.

    Of the laws at the legs the stiffness changes, and the damping so that the damping ratios remain; of computed torque
    all directions get the bandwidth, with its damping ratio. The virtual drives' own loops change likewise.

    Raises:
        ConfigError: gains out of their range. DynamicsError: as `leg_masses`.
    """
    lightest = float(leg_masses(config.machine)[0])
    wanted = lightest * (2.0 * math.pi * bandwidth) ** 2

    def scaled(gains: tuple[float, float], names: tuple[str, str]) -> dict[str, float]:
        stiffness, damping = gains
        if stiffness > 0.0:
            return dict(zip(names, (wanted, damping * math.sqrt(wanted / stiffness)), strict=True))
        return dict(zip(names, (wanted, 2.0 * math.sqrt(wanted * lightest)), strict=True))

    changes: dict[str, Any] = {"control": scaled(_leg_gains(config), ("stiffness", "damping"))}
    if config.control.stiffness > 0.0:
        changes["laws"] = _scaled_settings(config, math.sqrt(wanted / config.control.stiffness))
    if config.virtual is not None:
        own = scaled(_position_gains(config), ("position_stiffness", "position_damping"))
        changes["virtual"] = {"drive": own}
    return with_task_bandwidth(config.changed(changes), bandwidth)


def _scaled_settings(config: RigConfig, factor: float) -> dict[str, Any]:
    """Settings of the laws of other distributions, for a bandwidth higher by `factor` than that of [control]."""
    settings = {law: config.law_settings(law.name) for law in usable_laws() if law.settings.model_fields}
    return {law.name: own.model_dump(mode="json") | dict(law.scaled(own, factor)) for law, own in settings.items()}


def with_task_bandwidth(config: RigConfig, bandwidth: float) -> RigConfig:
    """Return the configuration with computed torque at a bandwidth, Hz; its damping ratio remains.

    Raises ConfigError if it is out of range.
    """
    gains = {"task_bandwidth": bandwidth, "task_stiffness": None, "task_damping": None}
    return config.changed({"control": gains})


def task_bandwidth_of_margin(config: RigConfig, margin: float) -> float | None:
    """Return the greatest bandwidth, Hz, at which computed torque has a gain margin; None if none in its range does.

    By bisection, to 0.1 %: the margin falls as the bandwidth rises.
    """

    def enough(bandwidth: float) -> bool:
        return (law_bandwidth(with_task_bandwidth(config, bandwidth), "computed-torque").margin or 0.0) >= margin

    passing, failing = _TASK_BANDWIDTHS
    if not enough(passing) or enough(failing):
        return None
    return _bisected(enough, passing, failing)


def _leg_gains(config: RigConfig) -> tuple[float, float]:
    return config.control.stiffness, config.control.damping


def _position_gains(config: RigConfig) -> tuple[float, float]:
    if config.virtual is not None:
        return config.virtual.drive.position_stiffness, config.virtual.drive.position_damping
    if config.position_loop is None:
        raise ConfigError(
            f"configuration {config.path}: drives.position_stiffness and position_damping are not given: the bandwidth "
            "of the drives' own loops is not known"
        )
    return config.position_loop


_VIRTUAL_INTEGRAL = 8.0
"""1/s, integral of virtual drives without inertia, of their loops' stiffness"""


def virtual_integral(machine: Mechanism) -> float:
    """Return the rate of the integral of a virtual drive's own position loop, 1/s of its stiffness.

    A rate r makes a leg unstable that feels a mass above damping/r. So the rate falls as the drives' inertia makes the
    heaviest direction heavier, as that of a drive which is tuned for its rotor.

    Raises:
        DynamicsError: as `leg_masses`.
    """
    if not any(leg.drive.mass for leg in machine.legs):
        return _VIRTUAL_INTEGRAL
    bare = replace(machine, legs=tuple(replace(leg, drive=leg.drive.with_mass(0.0)) for leg in machine.legs))
    return _VIRTUAL_INTEGRAL * float(leg_masses(bare)[-1] / leg_masses(machine)[-1])


def position_integral(config: RigConfig) -> float:
    """Return the rate of the integral of the drives' own position loops, 1/s of their stiffness; 0 for none.

    It is 1/T_i with T_i = `drives.position_integral_time`; without that, the one of a virtual rig's drives.

    Raises:
        ConfigError: with T_i the loops are unstable: m s³ + D s² + K s + K/T_i has a root in the right half plane
            unless T_i > m/D (Hurwitz), m the largest mass that a leg feels at home.
        DynamicsError: as `leg_masses`.
    """
    time, loop = config.drives.position_integral_time, config.position_loop
    if time is None or loop is None:
        return 0.0 if config.virtual is None else virtual_integral(config.machine)
    heaviest, damping = float(leg_masses(config.machine)[-1]), loop[1]
    if time * damping <= heaviest:
        bound = f"must be above {heaviest / damping:.3g} s" if damping > 0.0 else "must be left out"
        raise ConfigError(
            f"configuration {config.path}: drives.position_integral_time: {time:g} s makes the drives' own loops "
            f"unstable, where a leg feels {heaviest:.3g} kg and position_damping is {damping:g} N s/m: {bound}"
        )
    return 1.0 / time


MASS_ERROR = 0.2
"""relative error of the model's masses assumed by `check_loop`"""


@dataclass(frozen=True, slots=True)
class SagVerdict:
    """Greatest error of a leg at home, m, with an error `MASS_ERROR` of all masses; None if nothing sags.

    bound: m, `safety.following_error`. stiffness: that at which the sag is half the bound, N/m, or 1/s² in
    all directions. bandwidth: Hz, of mode computed-torque with that stiffness, else 0.
    """

    mode: str
    sag: float | None
    bound: float
    stiffness: float
    bandwidth: float = 0.0

    @property
    def message(self) -> str:
        """Text of the expected sag and a remedy; empty if it is within the bound."""
        if self.sag is None or self.sag <= self.bound:
            return ""
        stiffer = f"control.stiffness of {self.stiffness:.3g} N/m"
        if self.bandwidth:
            stiffer = f"control.task_bandwidth of {self.bandwidth:.3g} Hz"
        return (
            f"with masses {100.0 * MASS_ERROR:.0f} % off the model's a leg hangs {1e3 * self.sag:.1f} mm off its "
            f"reference at home (safety.following_error {1e3 * self.bound:g} mm): identify the masses (rig identify), "
            f"take mode observer, or {stiffer}"
        )


def judge_sag(config: RigConfig) -> SagVerdict:
    """The sag of a configuration at the mechanism's home. Raises DynamicsError where home is singular."""
    bound = config.safety.following_error
    if all(config.own_loops):
        return SagVerdict(config.mode, None, bound, 0.0)
    feedback = config.law.feedback_of(config)
    if isinstance(feedback, LegFeedback) and feedback.holds_weight:
        return SagVerdict(config.mode, None, bound, 0.0)
    machine = config.machine
    home = np.zeros(19)
    home[:7] = machine.geometry.home_pose
    model = Dynamics(machine)
    unknown = MASS_ERROR * model.forces(home)
    if isinstance(feedback, LegFeedback):
        worst = float(np.abs(unknown[~np.array(config.own_loops)]).max())
        sag = worst / feedback.stiffness if feedback.stiffness > 0.0 else np.inf
        return SagVerdict(config.mode, sag, bound, 2.0 * worst / bound)
    moved = model.response(home[np.newaxis, :13], unknown[np.newaxis])[0]
    along = leg_matrix(machine.geometry, home[:7]).T
    sag = float(np.abs(along @ np.linalg.solve(feedback.gains.stiffness, moved)).max())
    enough = 2.0 * float(np.abs(along @ moved).max()) / bound
    return SagVerdict(config.mode, sag, bound, enough, math.sqrt(enough) / (2.0 * math.pi))
