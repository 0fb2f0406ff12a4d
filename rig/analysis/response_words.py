"""Frequency responses in words: what a command prints, and what is to be known of it, for command and app alike."""

import math

import numpy as np

from rig.analysis.frequency_responses import RecordedResponse
from rig.analysis.response import Response
from rig.analysis.response_fit import Note, ResponseFit, Verdict

_LISTED = 12
_QUANTILE = 1.6449  # of a normal distribution at 95 %
_MODELS = {
    "delay": "a dead time",
    "first-order": "a dead time and a lag of first order",
    "second-order": "a dead time and a lag of second order",
    "second-order-zero": "a dead time and a lag of second order with a zero",
}


def notes_of(found: RecordedResponse, fits: dict[str, ResponseFit]) -> list[tuple[str, str, str]]:
    """What is to be known: response, code (`Note` or `Verdict`) and words."""
    noted: list[tuple[str, str, str]] = []
    for name, response in found.responses().items():
        fit = fits[name]
        if fit.verdict is Verdict.NO_MODEL_FITS:
            noted.append((name, fit.verdict.value, _unfit(fit)))
        noted += [(name, note.value, _note(note, fit)) for note in fit.notes]
        if (distortion := response.distortion) is not None:
            for there, note, part in (
                (distortion.even_found, Note.EVEN_DISTORTION, distortion.even_part),
                (distortion.odd_found, Note.ODD_DISTORTION, distortion.odd_part),
            ):
                if there:
                    kind = note.value.replace("-", " ")
                    noted.append((name, note.value, f"{kind} beyond noise, {100.0 * part:.2g} % of the output"))
    if found.own_loops:
        text = "drives that close loops of their own give more than they are commanded: no response of a force"
        noted.append(("force", Note.OWN_LOOPS.value, text))
    return noted


def _unfit(fit: ResponseFit) -> str:
    return (
        f"no model fits, the best one by a reduced χ² of {fit.chi_square:.3g} (probability {fit.probability:.1g}): "
        "neither dead time nor corner can be told"
    )


def _note(note: Note, fit: ResponseFit) -> str:
    if note is Note.DEAD_TIME_AT_BOUND and fit.dead_time_sigma is not None:
        return f"the dead time is at its bound of 0, and at most {_QUANTILE * 1e3 * fit.dead_time_sigma:.3g} ms (95 %)"
    if note is Note.CORNER_NOT_TOLD and fit.corner_above is not None:
        return f"the corner is above {fit.corner_above:.3g} Hz (95 %), more this band and its noise do not tell"
    if note is Note.DAMPING_AT_BOUND:
        return "the damping is at its bound of 0"
    return (
        "one realisation of the phases and no lines left out: uncertainties are by noise alone, what friction and "
        "other distortion make is not in them (rig multisine --realizations)"
    )


def described(name: str, response: Response, fit: ResponseFit) -> str:
    """A response and its fit, as a command prints them."""
    reached = response.bandwidth()
    pieces = f"{response.averages:g} averages"
    if response.periodic:
        pieces = f"{response.realizations} realisations of {response.averages / response.realizations:g} periods"
    lines = [f"{name}: commanded to measured, {len(response.frequency)} frequencies, {pieces}"]
    beyond = f"above {response.frequency[-1]:g} Hz"
    lines.append("  -3 dB      " + (beyond if reached is None else f"{reached[0]:.3f} ± {reached[1]:.3f} Hz"))
    if fit.verdict is Verdict.FITS:
        lines += _parameters(fit)
    if (distortion := response.distortion) is not None:
        even, odd, noise = (100.0 * part for part in (distortion.even_part, distortion.odd_part, distortion.noise_part))
        lines.append(f"  distortion even {even:.2g} %, odd {odd:.2g} % of the output; noise {noise:.2g} %")
    lines.append(f"  {'Hz':>9} {'|H|':>10} {'sigma':>9} {'noise':>9} {'phase deg':>10} {'coherence':>10}")
    shown = np.unique(np.round(np.linspace(0, len(response.frequency) - 1, _LISTED)).astype(int))
    for at in shown:
        lines.append(
            f"  {response.frequency[at]:9.3f} {abs(response.gain[at]):10.5f} {response.sigma[at]:9.2g} "
            f"{response.noise[at]:9.2g} {math.degrees(response.phase[at]):10.3f} {response.coherence[at]:10.6f}"
        )
    return "\n".join(lines)


def _parameters(fit: ResponseFit) -> list[str]:
    def told(value: float | None, sigma: float | None, scale: float = 1.0, unit: str = "") -> str:
        return "" if value is None or sigma is None else f"{scale * value:.3f} ± {scale * sigma:.3f}{unit}"

    model = _MODELS["" if fit.structure is None else fit.structure.value]
    lines = [f"  model      {model}, reduced χ² {fit.chi_square:.2g} (probability {fit.probability:.2g})"]
    lines.append(f"  lag        {told(fit.lag, fit.lag_sigma, 1e3, ' ms')} at low frequencies")
    beside = f", beside {1e3 * fit.transport:g} ms to the middle of the command's hold" if fit.transport else ""
    lines.append(f"  dead time  {told(fit.dead_time, fit.dead_time_sigma, 1e3, ' ms')}{beside}")
    for label, value in (
        ("corner", told(fit.corner, fit.corner_sigma, 1.0, " Hz")),
        ("natural", told(fit.natural_frequency, fit.natural_frequency_sigma, 1.0, " Hz")),
        ("damping", told(fit.damping, fit.damping_sigma)),
        ("zero", told(fit.zero, fit.zero_sigma, 1.0, " Hz")),
    ):
        if value:
            lines.append(f"  {label:10} {value}")
    if fit.nuisances:
        parts = [f"{name} {told(*values)}" for name, values in fit.nuisances.items()]
        lines.append(f"  friction   of the model's, more by a part of {', '.join(parts)}")
    return lines
