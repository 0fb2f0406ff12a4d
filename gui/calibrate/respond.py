"""The frequency response of a recorded excitation, as a Bode plot with its coherence and uncertainty."""

from typing import Any

import numpy as np

from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard import Description, DisplayedResult, Entered, Outcome, Result, Role, Table, Task, pictures
from kinematics import COORDINATES
from rig.services import RespondRequest, respond, respond_contents

_MODELS = {
    None: tr("no match"),
    "delay": tr("dead time"),
    "first-order": tr("first order"),
    "second-order": tr("second order"),
    "second-order-zero": tr("second order, zero"),
}
_DECIBEL = 20.0 / np.log(10.0)  # dB per relative change of a magnitude, for small changes
_COLOURS = {"pose": "accent", "force": "warning"}
_KINDS = {"output": "warning", "odd": "error", "even": "good", "noise": "muted"}
_BOUND = "muted"


def describe(_session: RigSession) -> Description:
    """Describe the wizard: a recording, the coordinate, and the excited band."""
    hint = tr("empty: what is excited")
    return Description(
        title=tr("Frequency response"),
        request_heading=(
            tr("Recording"),
            tr(
                "Choose the recording of a motion that excites one coordinate, such as one that `rig multisine` makes: "
                "commanded to measured pose, and force."
            ),
        ),
        compute_heading=(
            tr("Response"),
            tr("Nothing is saved before the next step, which writes the Bode plots as a picture."),
        ),
        file_kind="plots",
        roles=(Role("recording", tr("Use"), tr("Choose a recording."), several=False),),
        tasks=(
            Task(
                tr("Compute"),
                respond,
                RespondRequest,
                saved=lambda entered: entered.named_after("-bode.svg"),
                result=_RESULT,
                contents=respond_contents,
                values=lambda entered: {"low": None, "high": None, "band": _band(entered)},
            ),
        ),
        check=_check,
        fields=(
            fields.choice(
                "dof",
                tr("Coordinate"),
                tr("The coordinate"),
                [(tr("the excited coordinate"), ""), *((name, name) for name in COORDINATES)],
                whole=True,
            ),
            fields.optional("low", tr("From"), tr("Lowest requested frequency"), "Hz", (1e-6, 1e5), hint=hint),
            fields.optional("high", tr("To"), tr("Highest requested frequency"), "Hz", (1e-6, 1e5), hint=hint),
        ),
    )


def _band(entered: Entered) -> tuple[float, float] | None:
    low, high = entered["low"], entered["high"]
    return None if low is None or high is None else (low, high)


def _check(entered: Entered) -> str:
    low, high = entered["low"], entered["high"]
    if (low is None) != (high is None):
        return tr("Give both ends of the band, or neither.")
    return "" if low is None or low < high else band_fault(low, high)


def band_fault(low: float, high: float) -> str:
    """Why two frequencies, Hz, do not form a band; empty if they do."""
    return tr("The lowest frequency, {low:g} Hz, must be below the highest, {high:g} Hz.").format(low=low, high=high)


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot magnitude, phase, coherence and distortion over frequency, of pose and force."""
    names = pictures.swatches(theme, *((colour, name) for name, colour in _COLOURS.items()))
    kinds = pictures.swatches(theme, *((colour, name) for name, colour in _KINDS.items()))
    return (
        (
            tr("Magnitude ± σ: {names}").format(names=names),
            pictures.PointPicture(tr("Magnitude"), theme, "dB", "Hz", log_x=True),
        ),
        (tr("Phase ± σ"), pictures.PointPicture(tr("Phase"), theme, "°", "Hz", log_x=True)),
        (tr("Coherence"), pictures.PointPicture(tr("Coherence"), theme, "", "Hz", log_x=True)),
        (
            tr("Output and its nonlinear part: {names}").format(names=kinds),
            pictures.PointPicture(tr("Output and distortion"), theme, "dB", "Hz", log_x=True),
        ),
    )


def _show(outcome: Outcome) -> DisplayedResult:
    found = outcome.result
    responses = {name: found[name] for name in _COLOURS if name in found}
    groups: tuple[list[pictures.Points], ...] = ([], [], [])
    for name, one in responses.items():
        size = np.array(one["magnitude"])
        part = np.array(one["sigma"]) / np.sqrt(2.0) / size  # per component: across and along the response
        values = (
            (20.0 * np.log10(size), _DECIBEL * part),
            (np.degrees(one["phase_rad"]), np.degrees(part)),
            (np.array(one["coherence"]), None),
        )
        for group, (y, sigma) in zip(groups, values, strict=True):
            spread = () if sigma is None else sigma.tolist()
            group.append(pictures.Points(one["frequency_hz"], y.tolist(), _COLOURS[name], spread))
    magnitude, phase, coherence = groups
    tones = found["pose"]["frequency_hz"]
    return DisplayedResult(
        drawn=(
            pictures.Scatter(magnitude),
            pictures.Scatter(phase),
            pictures.Scatter(coherence, ((0.0, _BOUND), (1.0, _BOUND))),  # coherence is between 0 and 1
            pictures.Scatter(_distorted(list(responses.values())[-1])),
        ),
        rows=[_row(name, one) for name, one in responses.items()],
        lines=[
            tr(
                "Coordinate {dof}, {begin:.1f} to {end:.1f} s: {count} frequencies from {low:.3g} to {high:.3g} Hz."
            ).format(
                dof=found["dof"],
                begin=found["begin_s"],
                end=found["end_s"],
                count=len(tones),
                low=tones[0],
                high=tones[-1],
            )
        ],
    )


def _distorted(one: dict[str, Any]) -> list[pictures.Points]:
    """Return output, distortion and noise over frequency, relative to the greatest output."""
    if (known := one["distortion"]) is None:
        return []
    output = np.array(one["output"])
    frequency, level, noise = (np.array(known[name]) for name in ("frequency_hz", "level", "noise"))
    even = np.array(known["even"], dtype=bool)
    parts = {
        "output": (np.array(one["frequency_hz"]), output),
        "odd": (frequency[~even], level[~even]),
        "even": (frequency[even], level[even]),
        "noise": (frequency, noise),
    }
    return [
        pictures.Points(x.tolist(), (20.0 * np.log10(np.maximum(y / output.max(), 1e-12))).tolist(), _KINDS[name])
        for name, (x, y) in parts.items()
    ]


def _row(name: str, one: dict[str, Any]) -> tuple[str, ...]:
    fit, reached, distorted = one["fit"], one["bandwidth_hz"], one["distortion"]
    corner = "corner" if fit["corner"] is not None else "natural_frequency"
    parts = [
        _formatted(None if distorted is None else distorted[key], ".2g", 100.0)
        for key in ("odd_part", "even_part", "noise_part")
    ]
    return (
        name,
        tr("above {frequency:.3g}").format(frequency=one["frequency_hz"][-1]) if reached is None else f"{reached:.3f}",
        _formatted(one["bandwidth_sigma_hz"], ".2g"),
        _formatted(fit["lag"], ".3f", 1e3),
        _formatted(fit["lag_sigma"], ".2g", 1e3),
        _formatted(fit["dead_time"], ".3f", 1e3),
        _formatted(fit["dead_time_sigma"], ".2g", 1e3),
        _formatted(fit[corner], ".3f"),
        _formatted(fit[f"{corner}_sigma"], ".2g"),
        _MODELS[fit["structure"]],
        *parts,
        f"{one['realizations']}",
    )


def _formatted(value: float | None, style: str, scale: float = 1.0) -> str:
    return "–" if value is None else format(scale * value, style)


_RESULT = Result(
    _pictures,
    Table(
        tr("Responses"),
        (
            tr("Response"),
            "−3 dB\nHz",
            "± σ",
            tr("Lag\nms"),
            "± σ",
            tr("Dead time\nms"),
            "± σ",
            tr("Corner\nHz"),
            "± σ",
            tr("Model"),
            tr("Odd\n%"),
            tr("Even\n%"),
            tr("Noise\n%"),
            tr("Realisations"),
        ),
        words=(0,),
    ),
    _show,
    height=300,
)
