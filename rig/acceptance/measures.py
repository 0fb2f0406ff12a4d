"""The numbers of an acceptance test from the signals of its motions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kinematics import COORDINATES
from rig.acceptance.numbers import (
    SHOWN,
    AcceptanceTest,
    At,
    Basis,
    Condition,
    NotMeasurableError,
    Number,
    Quantity,
    not_measured,
)
from rig.acceptance.plan import HEAVE, Kind, Trial, pose_offsets, rest_of_visit
from rig.acceptance.rounding import Rounding, resting_rounding
from rig.acceptance.signals import (
    Complex,
    Floats,
    Signals,
    accelerations_of,
    lines_of,
    rounding_of,
    whole_periods,
)
from rig.analysis import Response, frequency_response, steady_stretches, well_excited
from rig.config import RigConfig
from rig.findings import Code, Finding

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
_CLEAR = 0.1  # of a step, the noise of its mean above which the first crossing may be one of the noise
_FINER = 32  # values a cycle, in which the time of a step is looked for


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

        Raises NotMeasurableError, or InputError of the analysis, for signals that cannot be used.
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
        rounding = self._rounding(trial, signals).coordinates[:, :, [axis]]
        commanded = lines_of(signals.commanded[part][:, [axis]], signals.rate, trial.cycles)
        measured = lines_of(signals.measured[part][:, [axis]], signals.rate, trial.cycles, rounding)
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
        shown, factor_shown = SHOWN[units[axis // 3]]
        yield Number(
            test,
            Quantity.REACHED,
            trial.axis,
            float(abs(value[0])),
            float(sigma[0]),
            units[axis // 3],
            bound,
            at_least=True,
            basis=basis,
            at=At(
                Condition.COMMANDED,
                {"frequency": 1.0 / trial.period, "size": factor_shown * float(wanted), "unit": shown},
            ),
        )

    # -- slow sine ---------------------------------------------------------------------------------------------------

    def _slow(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        scale = signals.scale[axis]
        place = scale * (signals.commanded[part, axis] - signals.commanded[part, axis].mean())
        off = scale * (signals.measured - signals.commanded)[part, axis]
        speed = np.gradient(place, 1.0 / signals.rate)
        rounding = self._rounding(trial, signals)
        yield self._hysteresis(trial, signals, place, off, speed, scale * rounding.coordinates[:, :, axis])
        found = accelerations_of(signals, part, trial.cycles, self._band(signals), rounding)
        error, rounded = found.errors[:, axis], found.rounding[:, :, axis]
        turns = np.flatnonzero(np.diff(speed > 0.0))
        near = round(_NEAR_TURN * trial.period * signals.rate)
        turns = turns[(turns >= near) & (turns < len(error) - near)]
        bumps = np.array([np.abs(error[turn - near : turn + near]).max() for turn in turns])
        at_turns = np.unique((turns[:, np.newaxis] + np.arange(-near, near)) % rounded.shape[1])
        noise = math.sqrt(float(error.reshape(trial.cycles, -1)[:, at_turns].var(axis=0, ddof=1).mean()))
        independent = 2.0 * self._band(signals) * trial.cycles * len(at_turns) / signals.rate
        # the scatter of four bumps is little known: the mean with that of so much noise
        scatter = math.sqrt(0.5 * (_spread(bumps) ** 2 + _greatest_sigma(noise, independent) ** 2))
        yield Number(
            AcceptanceTest.TURN_AROUND,
            Quantity.BUMP,
            trial.axis,
            float(bumps.max()),
            math.hypot(scatter, _spread(np.abs(rounded[:, at_turns]).max(axis=1))),
            "m/s^2",
            self._settings.turn_around,
            basis=found.basis[axis],
        )
        travel = np.abs(speed) > _TRAVEL * np.abs(speed).max()
        rms = math.sqrt(float((error[travel] ** 2).mean()))
        lines = lines_of(found.errors[:, [axis]], signals.rate, trial.cycles).within(self._band(signals))
        whole = float(lines.rms()[0])
        relative = float(lines.rms_sigma()[0]) / (whole or 1.0) / math.sqrt(travel.mean())
        yield Number(
            AcceptanceTest.SMOOTHNESS,
            Quantity.ROUGHNESS,
            trial.axis,
            rms,
            math.hypot(rms * relative, _rounded_rms_sigma(error, rounded, travel)),
            "m/s^2",
            self._settings.smoothness,
            basis=found.basis[axis],
        )

    def _hysteresis(
        self, trial: Trial, signals: Signals, place: Floats, off: Floats, speed: Floats, rounded: Floats
    ) -> Number:
        edges = np.linspace(-_INNER, _INNER, _BINS + 1) * np.abs(place).max()
        count = len(place) // trial.cycles
        bins = np.digitize(place[:count], edges) - 1
        within = bins[:, np.newaxis] == np.arange(_BINS)
        forth, back = (within & moving[:, np.newaxis] for moving in (speed[:count] > 0.0, speed[:count] < 0.0))
        weights = np.array([way / np.where(way.any(axis=0), way.sum(axis=0), np.nan) for way in (forth, back)])
        means = off.reshape(trial.cycles, count) @ weights  # (2, cycles, bins)
        width = means[0] - means[1]
        across = width.mean(axis=0)
        worst = int(np.nanargmax(np.abs(across)))
        scatter = math.sqrt(float(np.nanmean(width.var(axis=0, ddof=1)))) / math.sqrt(trial.cycles)
        at_worst = rounded @ (weights[0] - weights[1])[:, worst]
        scatter = math.hypot(scatter, math.sqrt(float((at_worst**2).mean())))
        middles = 0.5 * (edges[1:] + edges[:-1])
        self.curves.loops[trial.axis] = (middles, means[0].mean(axis=0), means[1].mean(axis=0))
        return Number(
            AcceptanceTest.HYSTERESIS,
            Quantity.LOOP,
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
        rounding = self._rounding(trial, signals)
        found = accelerations_of(signals, part, trial.cycles, band, rounding)
        lines = lines_of(found.measured, signals.rate, trial.cycles, found.rounding)
        main = float(abs(lines.harmonic(1)[axis]))
        low = np.array([abs(lines.harmonic(number)[axis]) for number in _LOW_HARMONICS])
        noises = np.array([lines.sigma(number)[axis] for number in _LOW_HARMONICS])
        ratio = float(np.linalg.norm(low)) / main
        sigma = float(np.linalg.norm(low * noises) / (np.linalg.norm(low) or 1.0)) / main
        yield Number(
            AcceptanceTest.LINEARITY,
            Quantity.HARMONICS,
            trial.axis,
            ratio,
            sigma,
            "",
            settings.linearity,
            basis=found.basis[axis],
            at=At(Condition.FREQUENCY, {"frequency": 1.0 / trial.period}),
        )
        rest = lines.within(band, without=(1, *_LOW_HARMONICS))
        rms = float(rest.rms()[axis])
        yield Number(
            AcceptanceTest.NOISE,
            Quantity.NOISE_RMS,
            trial.axis,
            rms,
            float(rest.rms_sigma()[axis]),
            "m/s^2",
            settings.noise,
            basis=found.basis[axis],
            at=At(Condition.UP_TO, {"frequency": band}),
        )
        peak = float(np.abs(rest.signal()[:, axis]).max())
        drawn = rest.rounded()[:, :, axis]
        scattered = math.sqrt(max(rms**2 - float((drawn**2).mean()), 0.0))
        independent = 2.0 * band * trial.cycles * trial.period
        yield Number(
            AcceptanceTest.NOISE,
            Quantity.NOISE_PEAK,
            trial.axis,
            peak,
            math.hypot(_greatest_sigma(scattered, independent), _spread(np.abs(drawn).max(axis=1))),
            "m/s^2",
            basis=found.basis[axis],
            at=At(Condition.UP_TO, {"frequency": band}),
        )
        every = lines.within(band)
        driven = float(every.rms()[axis])
        others = every.rms() / driven
        others[axis] = 0.0
        worst = int(others.argmax())
        yield Number(
            AcceptanceTest.CROSSTALK,
            Quantity.OTHER_AXIS,
            trial.axis,
            float(others[worst]),
            float(every.rms_sigma()[worst]) / driven,
            "",
            settings.crosstalk,
            basis=found.basis[worst],
            at=At(Condition.AXIS, {"axis": COORDINATES[worst]}),
        )
        if trial.axis == HEAVE:
            yield from self._leg_balance(trial, signals, part, rounding)

    def _leg_balance(self, trial: Trial, signals: Signals, part: slice, rounding: Rounding) -> Iterator[Number]:
        rounded = (None, rounding.legs)
        lines = [lines_of(signals.lengths[part, which], signals.rate, trial.cycles, rounded[which]) for which in (0, 1)]
        gains: Complex = lines[1].harmonic(1) / lines[0].harmonic(1)
        sigmas = lines[1].sigma(1) / np.abs(lines[0].harmonic(1))
        for name, values, unit, bound in (
            (Quantity.LEG_GAINS, np.abs(gains), "", self._settings.leg_balance_gain),
            (Quantity.LEG_PHASES, np.angle(gains), "rad", self._settings.leg_balance_phase),
        ):
            high, low = int(values.argmax()), int(values.argmin())
            yield Number(
                AcceptanceTest.LEG_BALANCE,
                name,
                trial.axis,
                float(values[high] - values[low]),
                float(math.hypot(sigmas[high], sigmas[low])),
                unit,
                bound,
                at=At(Condition.FREQUENCY, {"frequency": 1.0 / trial.period}),
                legs=(high + 1, low + 1),
            )

    # -- hard sine ---------------------------------------------------------------------------------------------------

    def _repeatability(self, trial: Trial, signals: Signals) -> Number:
        part = whole_periods(signals, trial)
        found = accelerations_of(signals, part, trial.cycles, self._band(signals), self._rounding(trial, signals))
        each = found.measured.reshape(trial.cycles, -1, 6)
        off = np.abs(each - each.mean(axis=0))
        axis = int(off.max(axis=(0, 1)).argmax())
        spread = math.sqrt(float((off[:, :, axis] ** 2).mean()))
        independent = 2.0 * self._band(signals) * trial.cycles * trial.period
        size = float(np.abs(found.commanded[:, COORDINATES.index(trial.axis)]).max())
        return Number(
            AcceptanceTest.REPEATABILITY,
            Quantity.OF_CYCLES,
            trial.axis,
            float(off[:, :, axis].max()),
            _greatest_sigma(spread, independent),
            "m/s^2",
            self._settings.repeatability,
            basis=found.basis[axis],
            at=At(Condition.AXIS_INPUT, {"axis": COORDINATES[axis], "size": size}),
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
            raise NotMeasurableError(Finding(Code.ACCEPT_NOT_EXCITED, bound=settings.band))
        sizes, sigmas = np.abs(response.gain), np.hypot(response.sigma, response.bias) / math.sqrt(2.0)
        off = np.where(judged, np.abs(sizes - 1.0), -1.0)
        worst = int(off.argmax())
        axis = COORDINATES.index(trial.axis)
        size = 1e3 * float(signals.scale[axis] * np.abs(signals.commanded[:, axis] - signals.commanded[0, axis]).max())
        yield Number(
            AcceptanceTest.RESPONSE,
            Quantity.GAIN,
            trial.axis,
            float(off[worst]),
            float(sigmas[worst]),
            "",
            settings.gain_error,
            basis=signals.poses,
            at=At(Condition.FREQUENCY_AMPLITUDE, {"frequency": float(response.frequency[worst]), "size": size}),
        )
        lags = np.where(judged, -response.phase, -math.inf)
        worst = int(lags.argmax())
        yield Number(
            AcceptanceTest.RESPONSE,
            Quantity.PHASE,
            trial.axis,
            float(lags[worst]),
            float(sigmas[worst] / sizes[worst]),
            "rad",
            settings.phase_lag,
            basis=signals.poses,
            at=At(Condition.FREQUENCY_AMPLITUDE, {"frequency": float(response.frequency[worst]), "size": size}),
        )
        reached = response.bandwidth()
        highest = float(response.frequency[-1])
        value, sigma = (highest, 0.0) if reached is None else reached
        yield Number(
            AcceptanceTest.RESPONSE,
            Quantity.BANDWIDTH,
            trial.axis,
            value,
            sigma,
            "Hz",
            settings.bandwidth,
            at_least=True,
            beyond=reached is None,
            basis=signals.poses,
            at=At(Condition.AMPLITUDE, {"size": size}),
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
            Quantity.GAIN_CHANGE,
            trial.axis,
            float(off[worst]),
            sigma,
            "",
            settings.linearity,
            basis=signals.poses,
            at=At(Condition.FREQUENCY, {"frequency": float(one.frequency[worst])}),
        )

    def _residual(self, trial: Trial, signals: Signals) -> Number:
        """The residual by octave, in the steady periods of the multisine; its mean is the cells' zero."""
        noise = self._config.cell_noise
        if not np.isfinite(signals.residual).all():
            raise NotMeasurableError(Finding(Code.ACCEPT_NO_CELLS))
        if not noise > 0.0:
            raise NotMeasurableError(Finding(Code.ACCEPT_NO_NOISE))
        steady = steady_stretches(signals.commanded[:, COORDINATES.index(trial.axis)])
        if steady is None:
            raise NotMeasurableError(Finding(Code.ACCEPT_NOT_PERIODIC))
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
            Quantity.RESIDUAL,
            trial.axis,
            *numbers[worst],
            "",
            self._settings.residual_noise,
            basis=Basis.CELLS,
            at=At(Condition.OCTAVE, {"low": octaves[worst][0], "high": octaves[worst][1]}),
        )

    # -- steps -------------------------------------------------------------------------------------------------------

    def _step(self, trial: Trial, signals: Signals) -> Number:
        axis = COORDINATES.index(trial.axis)
        part = whole_periods(signals, trial)
        found = accelerations_of(signals, part, trial.cycles, self._band(signals), self._rounding(trial, signals))
        commanded = found.commanded[:, axis].reshape(trial.cycles, -1)
        measured = found.measured[:, axis].reshape(trial.cycles, -1)
        wanted, mean = commanded.mean(axis=0), measured.mean(axis=0)
        # the steps are at the begin and the middle of a period; it is turned so that one is at a quarter
        turn = len(wanted) // 4
        wanted, mean = np.roll(wanted, turn), np.roll(mean, turn)
        t = (np.arange(len(wanted)) - turn) / signals.rate
        self.curves.steps[trial.axis] = (t, wanted, mean)
        low, high = wanted[: turn // 2].mean(), wanted[turn + turn // 2 : 2 * turn].mean()
        level = low + _STEP_PART * (high - low)
        noise = measured.std(axis=0, ddof=1).mean() / math.sqrt(trial.cycles)
        noise = math.hypot(noise, math.sqrt(float((found.rounding[:, :, axis] ** 2).mean())))
        fine = (np.arange(_FINER * len(t)) / _FINER - turn) / signals.rate  # between the cycles, as the band has it
        late = _crossing(fine, _finer(mean), level, _FINER * turn, sign=high - low)
        without = [np.roll(np.delete(measured, cycle, axis=0).mean(axis=0), turn) for cycle in range(trial.cycles)]
        others = [_crossing(fine, _finer(each), level, _FINER * turn, sign=high - low) for each in without]
        begun = _crossing(fine, _finer(wanted), low + 0.5 * (high - low), _FINER * turn, sign=high - low)
        assert begun is not None  # what is commanded reaches its own middle
        sigma = None
        if late is not None:
            clear = noise < _CLEAR * abs(high - low)
            times = [None if one is None else one[0] for one in others]
            sigma = max(float(noise / late[1]), _jackknife(times)) if clear else math.inf
        return Number(
            AcceptanceTest.THRESHOLD,
            Quantity.STEP_TIME,
            trial.axis,
            math.inf if late is None else late[0] - begun[0],
            sigma,
            "s",
            self._settings.dynamic_threshold,
            basis=found.basis[axis],
            at=At(Condition.STEP, {"size": float(abs(high - low))}),
        )

    # -- poses and path ----------------------------------------------------------------------------------------------

    def _poses(self, trial: Trial, signals: Signals) -> Iterator[Number]:
        settings = self._settings
        move, rest = rest_of_visit()
        poses, cycles = len(pose_offsets(1.0)), trial.cycles
        attained, wanted, rounded = np.zeros((cycles, poses, 6)), np.zeros((poses, 6)), np.zeros((poses, 6))
        settling, overshoot = (np.full((cycles, poses), np.nan) for _ in range(2))
        for number in range(cycles):
            for place in range(poses):
                begin = (number * poses + place) * (move + rest)
                still = signals.part(begin + move + 0.5 * rest, 0.5 * rest - 1.0 / signals.rate)
                attained[number, place] = signals.measured[still].mean(axis=0)
                wanted[place] = signals.commanded[still].mean(axis=0)
                if number == 0 and signals.poses is Basis.ENCODERS:
                    rounded[place] = self._resting(signals, still, wanted[place])
                way = signals.part(begin, move + rest - 1.0 / signals.rate)
                off = np.linalg.norm(signals.measured[way, :3] - attained[number, place, :3], axis=1)
                settling[number, place], overshoot[number, place] = _settled(off, settings.settled, signals.rate)
        yield from self._pose_numbers(attained, wanted, rounded, signals.poses)
        apart = float(np.linalg.norm(np.diff(wanted[:, :3], axis=0), axis=1).min())
        if not apart > settings.settled:
            why = Finding(Code.ACCEPT_TOO_SMALL, value=apart, bound=settings.settled)
            yield not_measured(AcceptanceTest.SETTLING, "", why)
            return
        for quantity, values, unit, bound in (
            (Quantity.STABILIZATION, settling, "s", settings.settling),
            (Quantity.OVERSHOOT, overshoot, "m", settings.overshoot),
        ):
            first = values[:_SETTLING_CYCLES]
            mean_of = first.mean(axis=0)
            worst = int(mean_of.argmax())
            came = math.isfinite(mean_of[worst])
            sigma = float(first[:, worst].std(ddof=1)) / math.sqrt(len(first)) if came else math.inf
            floor = 1.0 / signals.rate / math.sqrt(12.0) if unit == "s" else 0.0
            yield Number(
                AcceptanceTest.SETTLING,
                quantity,
                f"P{poses - worst}",
                float(mean_of[worst]),
                math.hypot(sigma, floor) if came else None,
                unit,
                bound,
                basis=signals.poses,
                at=At(Condition.BAND, {"size": 1e3 * settings.settled}),
            )

    def _resting(self, signals: Signals, still: slice, coordinates: Floats) -> Floats:
        readings = signals.lengths[still, 1]
        return resting_rounding(readings, coordinates, signals.steps, self._config.machine.geometry)

    def _pose_numbers(self, attained: Floats, wanted: Floats, rounded: Floats, basis: Basis) -> Iterator[Number]:
        """Accuracy and repeatability, of positions by distance, of attitudes by angle.

        attained: (cycles, poses, 6), wanted (poses, 6), rounded (poses, 6): σ of a coordinate at rest by rounding.
        """
        settings = self._settings
        cycles, poses = attained.shape[:2]
        mean = attained.mean(axis=0)
        off, apart = mean - wanted, attained - mean
        cycled: dict[str, float | int | str] = {"cycles": cycles}

        accuracy = np.linalg.norm(off[:, :3], axis=1)
        worst = int(accuracy.argmax())
        yield Number(
            AcceptanceTest.POSE,
            Quantity.POSITION_ACCURACY,
            f"P{poses - worst}",
            float(accuracy[worst]),
            math.hypot(
                float(_along(apart[:, worst, :3], off[worst, :3]).std(ddof=1)) / math.sqrt(cycles),
                float(np.linalg.norm(rounded[worst, :3] * off[worst, :3])) / (float(accuracy[worst]) or 1.0),
            ),
            "m",
            settings.pose_accuracy,
            basis=basis,
            at=At(Condition.CYCLES, cycled),
        )
        distance = np.linalg.norm(apart[:, :, :3], axis=2)  # (cycles, poses)
        spread = distance.std(axis=0, ddof=1)
        repeatability = distance.mean(axis=0) + 3.0 * spread
        worst = int(repeatability.argmax())
        yield Number(
            AcceptanceTest.POSE,
            Quantity.POSITION_REPEATABILITY,
            f"P{poses - worst}",
            float(repeatability[worst]),
            math.hypot(
                float(spread[worst]) * math.sqrt(1.0 / cycles + 9.0 / (2.0 * (cycles - 1))),
                float(np.linalg.norm(rounded[worst, :3])) / math.sqrt(3.0),
            ),
            "m",
            settings.pose_repeatability,
            basis=basis,
            at=At(Condition.CYCLES, cycled),
        )
        angles = attained[:, :, 3:].std(axis=0, ddof=1)  # (poses, 3)
        for quantity, values, sigmas, bound in (
            (
                Quantity.ATTITUDE_ACCURACY,
                np.abs(off[:, 3:]),
                angles / math.sqrt(cycles),
                settings.rotation_accuracy,
            ),
            (
                Quantity.ATTITUDE_REPEATABILITY,
                3.0 * angles,
                3.0 * angles / math.sqrt(2.0 * (cycles - 1)),
                settings.rotation_repeatability,
            ),
        ):
            worst, angle = divmod(int(values.argmax()), 3)
            yield Number(
                AcceptanceTest.POSE,
                quantity,
                f"P{poses - worst}",
                float(values[worst, angle]),
                float(np.hypot(sigmas, rounded[:, 3:])[worst, angle]),
                "rad",
                bound,
                basis=basis,
                at=At(Condition.CYCLES_AXIS, {"cycles": cycles, "axis": COORDINATES[3 + angle]}),
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
        radius = 0.5 * float(np.ptp(commanded, axis=0).max())
        # of the mean of the rounds, towards where it is off, along the whole path
        scatter = math.sqrt(float((_along(off - mean, mean) ** 2).mean()) / (rounds - 1))
        rounded = self._rounding(trial, signals).coordinates[:, :, :3]
        scatter = math.hypot(scatter, math.sqrt(float((_along(rounded, mean) ** 2).mean())))
        at = At(Condition.ROUNDS, {"cycles": rounds, "speed": 2.0 * math.pi * radius / trial.period})
        worst = int(accuracy.argmax())
        yield Number(
            AcceptanceTest.PATH,
            Quantity.PATH_ACCURACY,
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
            Quantity.PATH_REPEATABILITY,
            "",
            float(repeatability[worst]),
            float(spread[worst]) * math.sqrt(1.0 / rounds + 9.0 / (2.0 * (rounds - 1))),
            "m",
            settings.path_repeatability,
            basis=signals.poses,
            at=at,
        )

    def _rounding(self, trial: Trial, signals: Signals) -> Rounding:
        return rounding_of(signals, whole_periods(signals, trial), trial.cycles, self._config.machine.geometry)

    def _band(self, signals: Signals) -> float:
        return min(self._settings.acceleration_bandwidth, 0.4 * signals.rate)


def _rounded_rms_sigma(error: Floats, rounded: Floats, where: npt.NDArray[np.bool_]) -> float:
    """Standard uncertainty by rounding of the RMS of errors (n,), over part of them; draws (d, m) of a period.

    By the scatter of the draws' own power, and of what they add to the rest of the error.
    """
    here = where[: rounded.shape[1]]
    whole = float((error[where] ** 2).mean()) or math.inf
    powers = (rounded[:, here] ** 2).mean(axis=1)
    beside = 2.0 * (rounded[:, here] * error[: rounded.shape[1]][here]).mean(axis=1)
    rest = max(1.0 - float(powers.mean()) / whole, 0.0)
    return math.sqrt(float(powers.var(ddof=1)) + rest * float(beside.var(ddof=1))) / (2.0 * math.sqrt(whole))


def _spread(values: Floats) -> float:
    """Standard deviation of single values."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.inf


def _jackknife(values: list[float | None]) -> float:
    """Standard uncertainty of a number by those without one of the cycles each; infinite where one has none."""
    known = np.array([math.nan if value is None else value for value in values])
    sigma = math.sqrt(float(((known - known.mean()) ** 2).sum()) * (len(known) - 1) / len(known))
    return sigma if math.isfinite(sigma) else math.inf


def _greatest_sigma(spread: float, count: float) -> float:
    """Standard uncertainty of the greatest magnitude of so many independent normal values, by Gumbel's distribution."""
    return spread * math.pi / math.sqrt(12.0 * math.log(2.0 * max(count, 2.0)))


def _along(vectors: Floats, direction: Floats) -> Floats:
    """Components of vectors (…, k) along directions that broadcast with them; 0 along none."""
    size = np.linalg.norm(direction, axis=-1, keepdims=True)
    along: Floats = (vectors * (direction / np.where(size > 0.0, size, 1.0))).sum(axis=-1)
    return along


def _settled(off: Floats, band: float, rate: float) -> tuple[float, float]:
    """Time from the first to the last crossing of the limit band, s; greatest distance after the first, 0 inside it."""
    inside = np.flatnonzero(off <= band)
    if not len(inside):
        return math.inf, math.inf
    first = int(inside[0])
    after = off[first:]
    outside = np.flatnonzero(after > band)
    return (float(outside[-1] + 1) / rate, float(after.max())) if len(outside) else (0.0, 0.0)


def _finer(periodic: Floats) -> Floats:
    """A period (n,) with `_FINER` values for each, by its spectrum."""
    count = _FINER * len(periodic)
    found: Floats = np.fft.irfft(_FINER * np.fft.rfft(periodic), n=count)
    return found


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
