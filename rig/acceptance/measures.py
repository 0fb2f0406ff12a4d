"""The numbers of an acceptance test from the signals of its motions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kinematics import COORDINATES
from rig.acceptance.numbers import AcceptanceTest, Basis, Number
from rig.acceptance.plan import HEAVE, Kind, Trial, pose_offsets, rest_of_visit
from rig.acceptance.signals import Complex, Floats, Signals, accelerations_of, lines_of, whole_periods
from rig.analysis import Response, frequency_response, steady_stretches, well_excited
from rig.config import RigConfig
from rig.errors import InputError

_REQUIRED = {
    Kind.WIDE: (AcceptanceTest.EXCURSION, "excursion", "rotation", ("m", "rad")),
    Kind.FAST: (AcceptanceTest.SPEED, "speed", "rotation_speed", ("m/s", "rad/s")),
    Kind.HARD: (AcceptanceTest.ACCELERATION, "acceleration", "rotation_acceleration", ("m/s^2", "rad/s^2")),
}
_LOW_HARMONICS = (2, 3)
_BINS = 16  # along the stroke, of the hysteresis
_INNER = 0.9  # of the stroke, in which it is looked for
_NEAR_TURN = 0.05  # of a period to either side of a turn
_TRAVEL = 0.5  # of the largest speed, above which the platform travels
_STEP_PART = 0.63
_SETTLING_CYCLES = 3  # of the poses, for settling and overshoot
_OCTAVE = 2.0


@dataclass(slots=True)
class Curves:
    """Curves for the page, by axis: frequency responses by amplitude, residuals by octave, loops and steps."""

    responses: dict[str, list[tuple[float, Response]]] = field(default_factory=dict)
    residuals: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    """by axis: (Hz, Hz, RMS over that of the cells' noise) of each octave"""
    loops: dict[str, tuple[Floats, Floats, Floats]] = field(default_factory=dict)
    """by axis: place, deviation forth and back, m"""
    steps: dict[str, tuple[Floats, Floats, Floats]] = field(default_factory=dict)
    """by axis: s, acceleration commanded and measured, m/s²"""


class Measurer:
    """Turns the signals of motions into numbers; `curves` grow with them."""

    def __init__(self, config: RigConfig) -> None:
        self._config = config
        self._settings = config.acceptance
        self.curves = Curves()

    def measure(self, trial: Trial, signals: Signals) -> list[Number]:
        """Return the numbers of a motion; the second amplitude of a describing function adds those of both.

        Raises InputError for signals that cannot be used.
        """
        match trial.kind:
            case Kind.SLOW:
                return list(self._slow(trial, signals))
            case Kind.WIDE | Kind.FAST:
                return list(self._size(trial, signals))
            case Kind.HARD:
                return [*self._size(trial, signals), self._repeatability(trial, signals)]
            case Kind.SINE:
                return list(self._sine(trial, signals))
            case Kind.MULTISINE:
                return list(self._response(trial, signals))
            case Kind.STEPS:
                return [self._step(trial, signals)]
            case Kind.POSES:
                return list(self._poses(trial, signals))
            case Kind.CIRCLE:
                return list(self._path(trial, signals))

    # -- sizes -------------------------------------------------------------------------------------------------------

    def _size(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        test, linear, angular, units = _REQUIRED[trial.kind]
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        order = {AcceptanceTest.EXCURSION: 0, AcceptanceTest.SPEED: 1, AcceptanceTest.ACCELERATION: 2}[test]
        factor = (2.0 * math.pi / trial.period) ** order
        basis = signals.poses
        commanded, measured = (
            lines_of(each[part][:, [axis]], signals.rate, trial.cycles)
            for each in (signals.commanded, signals.measured)
        )
        if (
            test is AcceptanceTest.ACCELERATION
            and signals.sensed is not None
            and np.isfinite(signals.sensed[part][:, axis]).all()
        ):
            measured = lines_of(signals.sensed[part][:, [axis]], signals.rate, trial.cycles)
            value, sigma, basis = measured.harmonic(1), measured.sigma(1), Basis.ACCELEROMETER
        else:
            value, sigma = measured.harmonic(1) * factor, measured.sigma(1) * factor
        wanted = factor * abs(commanded.harmonic(1)[0])
        required = getattr(self._settings, angular if trial.axis.startswith("r") else linear)
        bound = (1.0 - self._settings.size_error) * wanted if required is None else required[axis % 3]
        yield Number(
            test,
            "required" if required else "of what was commanded",
            trial.axis,
            float(abs(value[0])),
            float(sigma[0]),
            units[axis // 3],
            bound,
            at_least=True,
            basis=basis,
            at=f"{1.0 / trial.period:.3g} Hz",
        )

    # -- slow sine ---------------------------------------------------------------------------------------------------

    def _slow(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        scale = signals.scale[axis]
        place = scale * (signals.commanded[part, axis] - signals.commanded[part, axis].mean())
        off = scale * (signals.measured - signals.commanded)[part, axis]
        speed = np.gradient(place, 1.0 / signals.rate)
        yield self._hysteresis(trial, signals, place, off, speed)
        found = accelerations_of(signals, part, trial.cycles, self._band(signals))
        error = found.errors[:, axis]
        turns = np.flatnonzero(np.diff(np.sign(speed)) != 0)
        near = round(_NEAR_TURN * trial.period * signals.rate)
        turns = turns[(turns >= near) & (turns < len(error) - near)]
        bumps = np.array([np.abs(error[turn - near : turn + near]).max() for turn in turns])
        yield Number(
            AcceptanceTest.TURN_AROUND,
            "largest bump",
            trial.axis,
            float(bumps.max()),
            _spread(bumps),
            "m/s^2",
            self._settings.turn_around,
            basis=found.basis[axis],
        )
        travel = np.abs(speed) > _TRAVEL * np.abs(speed).max()
        rms = math.sqrt(float((error[travel] ** 2).mean()))
        free = max(1.0, 2.0 * self._band(signals) * travel.sum() / signals.rate)
        yield Number(
            AcceptanceTest.SMOOTHNESS,
            "deviation between the turns, RMS",
            trial.axis,
            rms,
            rms / math.sqrt(2.0 * free),
            "m/s^2",
            self._settings.smoothness,
            basis=found.basis[axis],
        )

    def _hysteresis(self, trial: Trial, signals: Signals, place: Floats, off: Floats, speed: Floats) -> Number:
        edges = np.linspace(-_INNER, _INNER, _BINS + 1) * np.abs(place).max()
        bins = np.digitize(place, edges) - 1
        cycle = np.arange(len(place)) * trial.cycles // len(place)
        means = np.full((2, trial.cycles, _BINS), np.nan)
        for way, moving in enumerate((speed > 0.0, speed < 0.0)):
            for number in range(trial.cycles):
                for one in range(_BINS):
                    here = off[moving & (cycle == number) & (bins == one)]
                    if len(here):
                        means[way, number, one] = here.mean()
        width = means[0] - means[1]  # (cycles, bins)
        across = width.mean(axis=0)
        worst = int(np.nanargmax(np.abs(across)))
        scatter = math.sqrt(float(np.nanmean(width.var(axis=0, ddof=1)))) / math.sqrt(trial.cycles)
        middles = 0.5 * (edges[1:] + edges[:-1])
        self.curves.loops[trial.axis] = (middles, means[0].mean(axis=0), means[1].mean(axis=0))
        return Number(
            AcceptanceTest.HYSTERESIS,
            "width of the loop",
            trial.axis,
            float(abs(across[worst])),
            scatter,
            "m",
            self._settings.hysteresis,
            basis=signals.poses,
        )

    # -- sine --------------------------------------------------------------------------------------------------------

    def _sine(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        settings, band = self._settings, self._band(signals)
        found = accelerations_of(signals, part, trial.cycles, band)
        lines = lines_of(found.measured, signals.rate, trial.cycles)
        main = abs(lines.harmonic(1)[axis])
        low = np.array([abs(lines.harmonic(number)[axis]) for number in _LOW_HARMONICS])
        noises = np.array([lines.sigma(number)[axis] for number in _LOW_HARMONICS])
        ratio = float(np.linalg.norm(low)) / main
        sigma = float(np.linalg.norm(noises)) / main
        yield Number(
            AcceptanceTest.LINEARITY,
            "second and third harmonic of the acceleration",
            trial.axis,
            ratio,
            sigma,
            "",
            settings.linearity,
            basis=found.basis[axis],
            at=f"{1.0 / trial.period:.3g} Hz",
        )
        rest = lines.within(band, without=(1, *_LOW_HARMONICS))
        rms = float(rest.rms()[axis])
        count = max(1, int(np.count_nonzero(rest.amplitudes[:, axis])))
        yield Number(
            AcceptanceTest.NOISE,
            "acceleration noise, RMS",
            trial.axis,
            rms,
            rms / math.sqrt(2.0 * count),
            "m/s^2",
            settings.noise,
            basis=found.basis[axis],
            at=f"up to {band:g} Hz",
        )
        peak = float(np.abs(rest.signal()[:, axis]).max())
        yield Number(
            AcceptanceTest.NOISE,
            "acceleration noise, peak",
            trial.axis,
            peak,
            rms,
            "m/s^2",
            basis=found.basis[axis],
            at=f"up to {band:g} Hz",
        )
        driven = float(lines.within(band).rms()[axis])
        others = lines.within(band).rms() / driven
        others[axis] = 0.0
        worst = int(others.argmax())
        yield Number(
            AcceptanceTest.CROSSTALK,
            f"acceleration of {COORDINATES[worst]}",
            trial.axis,
            float(others[worst]),
            float(others[worst]) / math.sqrt(2.0 * count),
            "",
            settings.crosstalk,
            basis=found.basis[worst],
        )
        if trial.axis == HEAVE:
            yield from self._leg_balance(trial, signals, part)

    def _leg_balance(self, trial: Trial, signals: Signals, part: slice) -> Iterator[Number]:
        lines = [lines_of(signals.lengths[part, which], signals.rate, trial.cycles) for which in (0, 1)]
        gains: Complex = lines[1].harmonic(1) / lines[0].harmonic(1)
        sigmas = lines[1].sigma(1) / np.abs(lines[0].harmonic(1))
        for name, values, unit, bound in (
            ("difference of gains", np.abs(gains), "", self._settings.leg_balance_gain),
            ("difference of phases", np.angle(gains), "rad", self._settings.leg_balance_phase),
        ):
            high, low = int(values.argmax()), int(values.argmin())
            yield Number(
                AcceptanceTest.LEG_BALANCE,
                name,
                f"legs {high + 1}, {low + 1}",
                float(values[high] - values[low]),
                float(math.hypot(sigmas[high], sigmas[low])),
                unit,
                bound,
                at=f"{1.0 / trial.period:.3g} Hz",
            )

    # -- hard sine ---------------------------------------------------------------------------------------------------

    def _repeatability(self, trial: Trial, signals: Signals) -> Number:
        part = whole_periods(signals, trial)
        found = accelerations_of(signals, part, trial.cycles, self._band(signals))
        each = found.measured.reshape(trial.cycles, -1, 6)
        off = np.abs(each - each.mean(axis=0))
        axis = int(off.max(axis=(0, 1)).argmax())
        spread = math.sqrt(float((off[:, :, axis] ** 2).mean()))
        size = float(np.abs(found.commanded[:, COORDINATES.index(trial.axis)]).max())
        return Number(
            AcceptanceTest.REPEATABILITY,
            "largest deviation from the mean of the cycles",
            trial.axis,
            float(off[:, :, axis].max()),
            spread,
            "m/s^2",
            self._settings.repeatability,
            basis=found.basis[axis],
            at=f"{COORDINATES[axis]}, input {size:.3g} m/s²",
        )

    # -- describing function -----------------------------------------------------------------------------------------

    def _response(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        axis = COORDINATES.index(trial.axis)
        source = signals.commanded[:, axis]
        response = well_excited(frequency_response(source, signals.measured[:, axis], source, signals.rate))
        kept = self.curves.responses.setdefault(trial.axis, [])
        kept.append((trial.size, response))
        yield from self._gain_and_phase(trial, signals, response)
        if len(kept) > 1:
            yield self._change(trial, signals, kept[0][1], response)
        if trial.part == 1.0:
            yield self._residual(trial, signals)

    def _gain_and_phase(self, trial: Trial, signals: Signals, response: Response) -> Iterator[Number]:
        settings = self._settings
        judged = response.frequency <= settings.band * (1.0 + 1e-9)
        if not judged.any():
            raise InputError(f"no frequency is excited up to {settings.band:g} Hz")
        sizes, sigmas = np.abs(response.gain), np.hypot(response.sigma, response.bias) / math.sqrt(2.0)
        off = np.where(judged, np.abs(sizes - 1.0), -1.0)
        worst = int(off.argmax())
        amplitude = f"amplitude {trial.size * signals.scale[COORDINATES.index(trial.axis)] * 1e3:.3g} mm"
        yield Number(
            AcceptanceTest.RESPONSE,
            "deviation of the gain from 1",
            trial.axis,
            float(off[worst]),
            float(sigmas[worst]),
            "",
            settings.gain_error,
            basis=signals.poses,
            at=f"{response.frequency[worst]:.3g} Hz, {amplitude}",
        )
        lags = np.where(judged, -response.phase, -math.inf)
        worst = int(lags.argmax())
        yield Number(
            AcceptanceTest.RESPONSE,
            "phase lag",
            trial.axis,
            float(lags[worst]),
            float(sigmas[worst] / sizes[worst]),
            "rad",
            settings.phase_lag,
            basis=signals.poses,
            at=f"{response.frequency[worst]:.3g} Hz, {amplitude}",
        )
        reached = response.bandwidth()
        highest = float(response.frequency[-1])
        value, sigma = (highest, 0.0) if reached is None else reached
        name = "bandwidth (-3 dB)" if reached else "bandwidth (-3 dB), at least"
        yield Number(
            AcceptanceTest.RESPONSE,
            name,
            trial.axis,
            value,
            sigma,
            "Hz",
            settings.bandwidth,
            at_least=True,
            basis=signals.poses,
            at=amplitude,
        )

    def _change(self, trial: Trial, signals: Signals, first: Response, second: Response) -> Number:
        settings = self._settings
        both = np.isin(first.frequency, second.frequency) & (first.frequency <= settings.band * (1.0 + 1e-9))
        one, other = first.at(both), second.at(np.isin(second.frequency, first.frequency[both]))
        off = np.abs(one.gain - other.gain)
        worst = int(off.argmax())
        sigma = math.sqrt(sum(float(each.sigma[worst] ** 2 + each.bias[worst] ** 2) for each in (one, other)) / 2.0)
        return Number(
            AcceptanceTest.LINEARITY,
            "change of the gain with the amplitude",
            trial.axis,
            float(off[worst]),
            sigma,
            "",
            settings.linearity,
            basis=signals.poses,
            at=f"{one.frequency[worst]:.3g} Hz",
        )

    def _residual(self, trial: Trial, signals: Signals) -> Number:
        """The residual by octave, in the steady periods of the multisine; its mean is the cells' zero."""
        noise = self._config.cell_noise
        if not np.isfinite(signals.residual).all():
            raise InputError("the load cells gave no forces")
        if not noise > 0.0:
            raise InputError("load_cells.noise is 0 N: the residual has nothing to be compared with")
        steady = steady_stretches(signals.commanded[:, COORDINATES.index(trial.axis)])
        if steady is None:
            raise InputError("the motion does not repeat")
        powers: list[Floats] = []
        count = 0
        for stretch in steady[0]:
            residual = signals.residual[stretch]
            count = len(residual)
            powers.append(np.abs(np.fft.rfft(residual - residual.mean(axis=0), axis=0) / count) ** 2 * 2.0)
        shortest = min(map(len, powers))
        power = np.mean([each[:shortest] for each in powers], axis=0).mean(axis=1)  # N² a line, mean of the legs
        frequency = np.arange(shortest) * signals.rate / count
        white = 2.0 * noise**2 / count  # N² a line
        octaves: list[tuple[float, float, float]] = []
        numbers: list[tuple[float, float]] = []
        low = 1.0 / trial.period
        while low < 0.5 * signals.rate:
            high = min(low * _OCTAVE, 0.5 * signals.rate)
            inside = (frequency >= low * (1.0 - 1e-9)) & (frequency < high * (1.0 - 1e-9))
            if inside.any():
                ratio = math.sqrt(float(power[inside].mean()) / white)
                free = 6.0 * len(powers) * inside.sum()
                octaves.append((low, high, ratio))
                numbers.append((ratio, ratio / math.sqrt(4.0 * free)))
            low = high
        self.curves.residuals[trial.axis] = octaves
        worst = max(range(len(numbers)), key=lambda place: numbers[place][0])
        return Number(
            AcceptanceTest.RESIDUAL,
            "RMS in an octave, of the cells' noise there",
            trial.axis,
            *numbers[worst],
            "",
            self._settings.residual_noise,
            basis=Basis.CELLS,
            at=f"{octaves[worst][0]:.3g} to {octaves[worst][1]:.3g} Hz",
        )

    # -- steps -------------------------------------------------------------------------------------------------------

    def _step(self, trial: Trial, signals: Signals) -> Number:
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        found = accelerations_of(signals, part, trial.cycles, self._band(signals))
        commanded = found.commanded[:, axis].reshape(trial.cycles, -1)
        measured = found.measured[:, axis].reshape(trial.cycles, -1)
        wanted, mean = commanded.mean(axis=0), measured.mean(axis=0)
        # the steps are at the begin and the middle of a period; it is turned so that one is at a quarter
        turn = len(wanted) // 4
        wanted, mean = np.roll(wanted, turn), np.roll(mean, turn)
        t = np.arange(len(wanted)) / signals.rate - turn / signals.rate
        self.curves.steps[trial.axis] = (t, wanted, mean)
        low, high = wanted[: turn // 2].mean(), wanted[turn + turn // 2 : 2 * turn].mean()
        level = low + _STEP_PART * (high - low)
        noise = measured.std(axis=0, ddof=1).mean() / math.sqrt(trial.cycles)
        late = _crossing(t, mean, level, turn, sign=high - low)
        begun = _crossing(t, wanted, low + 0.5 * (high - low), turn, sign=high - low)
        if late is None or begun is None:
            raise InputError(f"the acceleration did not reach {_STEP_PART:g} of the step")
        return Number(
            AcceptanceTest.THRESHOLD,
            f"time to {100.0 * _STEP_PART:.0f} % of a step",
            trial.axis,
            late[0] - begun[0],
            float(noise / late[1]),
            "s",
            self._settings.dynamic_threshold,
            basis=found.basis[axis],
            at=f"step of {abs(high - low):.3g} m/s²",
        )

    # -- poses and path ----------------------------------------------------------------------------------------------

    def _poses(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        settings = self._settings
        move, rest = rest_of_visit()
        poses, cycles = len(pose_offsets(1.0)), trial.cycles
        attained = np.zeros((cycles, poses, 6))
        wanted = np.zeros((poses, 6))
        settling, overshoot = (np.full((cycles, poses), np.nan) for _ in range(2))
        for number in range(cycles):
            for place in range(poses):
                begin = (number * poses + place) * (move + rest)
                still = signals.part(begin + move + 0.5 * rest, 0.5 * rest - 1.0 / signals.rate)
                attained[number, place] = signals.measured[still].mean(axis=0)
                wanted[place] = signals.commanded[still].mean(axis=0)
                way = signals.part(begin, move + rest - 1.0 / signals.rate)
                off = np.linalg.norm(signals.measured[way, :3] - attained[number, place, :3], axis=1)
                settling[number, place], overshoot[number, place] = _settled(off, settings.settled, signals.rate)
        basis = signals.poses
        for name, columns, unit, least in (
            ("position", slice(0, 3), "m", (settings.pose_accuracy, settings.pose_repeatability)),
            ("attitude", slice(3, 6), "rad", (settings.rotation_accuracy, settings.rotation_repeatability)),
        ):
            mean = attained[:, :, columns].mean(axis=0)
            accuracy = np.linalg.norm(mean - wanted[:, columns], axis=1)
            apart = np.linalg.norm(attained[:, :, columns] - mean, axis=2)  # (cycles, poses)
            spread = apart.std(axis=0, ddof=1)
            repeatability = apart.mean(axis=0) + 3.0 * spread
            scatter = attained[:, :, columns].std(axis=0, ddof=1).max(axis=1)
            worst = int(accuracy.argmax())
            yield Number(
                AcceptanceTest.POSE,
                f"{name} accuracy",
                f"P{poses - worst}",
                float(accuracy[worst]),
                float(scatter[worst]) / math.sqrt(cycles),
                unit,
                least[0],
                basis=basis,
            )
            worst = int(repeatability.argmax())
            sigma = float(spread[worst]) * math.sqrt(1.0 / cycles + 9.0 / (2.0 * (cycles - 1)))
            yield Number(
                AcceptanceTest.POSE,
                f"{name} repeatability",
                f"P{poses - worst}",
                float(repeatability[worst]),
                sigma,
                unit,
                least[1],
                basis=basis,
                at=f"{cycles} cycles",
            )
        for name, values, unit, bound in (
            ("stabilization time", settling, "s", settings.settling),
            ("overshoot", overshoot, "m", settings.overshoot),
        ):
            first = values[:_SETTLING_CYCLES]
            mean_of = first.mean(axis=0)
            worst = int(mean_of.argmax())
            sigma = float(first[:, worst].std(ddof=1)) / math.sqrt(len(first))
            floor = 1.0 / signals.rate / math.sqrt(12.0) if unit == "s" else 0.0
            yield Number(
                AcceptanceTest.SETTLING,
                name,
                f"P{poses - worst}",
                float(mean_of[worst]),
                math.hypot(sigma, floor),
                unit,
                bound,
                basis=basis,
                at=f"band {settings.settled * 1e3:.3g} mm",
            )

    def _path(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        settings = self._settings
        part = whole_periods(signals, trial)
        rounds = trial.cycles
        commanded = signals.commanded[part, :3].reshape(rounds, -1, 3)[0]
        measured = signals.measured[part, :3].reshape(rounds, -1, 3)
        along = np.gradient(commanded, axis=0)
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        off = measured - commanded
        off -= (off * along).sum(axis=2, keepdims=True) * along  # what a lag leaves along the path is not its accuracy
        mean = off.mean(axis=0)
        accuracy = np.linalg.norm(mean, axis=1)
        apart = np.linalg.norm(off - mean, axis=2)
        spread = apart.std(axis=0, ddof=1)
        repeatability = apart.mean(axis=0) + 3.0 * spread
        speed = 2.0 * math.pi * trial.size / trial.period
        scatter = math.sqrt(float((apart**2).mean()) / (rounds - 1))  # of the mean of the rounds, along the whole path
        at = f"{rounds} rounds, {speed:.3g} m/s"
        worst = int(accuracy.argmax())
        yield Number(
            AcceptanceTest.PATH,
            "path accuracy",
            "",
            float(accuracy[worst]),
            scatter,
            "m",
            settings.path_accuracy,
            basis=signals.poses,
            at=at,
        )
        worst = int(repeatability.argmax())
        yield Number(
            AcceptanceTest.PATH,
            "path repeatability",
            "",
            float(repeatability[worst]),
            float(spread[worst]) * math.sqrt(1.0 / rounds + 9.0 / (2.0 * (rounds - 1))),
            "m",
            settings.path_repeatability,
            basis=signals.poses,
            at=at,
        )

    def _band(self, signals: Signals) -> float:
        return min(self._settings.acceleration_bandwidth, 0.4 * signals.rate)


def _spread(values: Floats) -> float:
    """Standard deviation of single values."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.inf


def _settled(off: Floats, band: float, rate: float) -> tuple[float, float]:
    """Time from the first to the last crossing of the limit band, s; greatest distance after the first, 0 inside it."""
    inside = np.flatnonzero(off <= band)
    if not len(inside):
        return math.inf, math.inf
    first = int(inside[0])
    after = off[first:]
    outside = np.flatnonzero(after > band)
    return (float(outside[-1] + 1) / rate, float(after.max())) if len(outside) else (0.0, 0.0)


def _crossing(t: Floats, values: Floats, level: float, about: int, sign: float) -> tuple[float, float] | None:
    """Time and slope at which values cross a level next, from a quarter of a step before; None if they do not."""
    rising = math.copysign(1.0, sign) * (values - level)
    first = about - about // 4
    above = np.flatnonzero((rising[first:-1] < 0.0) & (rising[first + 1 :] >= 0.0))
    if not len(above):
        return None
    at = first + int(above[0])
    slope = (rising[at + 1] - rising[at]) / (t[at + 1] - t[at])
    return float(t[at] - rising[at] / slope), float(slope)
