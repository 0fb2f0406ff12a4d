"""A frequency response as a Bode plot with its coherence and uncertainty."""

from typing import Any

import numpy as np

from gui.fitting import NumberTable, Outcome, PointPicture, Points, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import Theme

_HEADINGS = (
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
)
_MODELS = {
    None: tr("none fits"),
    "delay": tr("dead time"),
    "first-order": tr("first order"),
    "second-order": tr("second order"),
    "second-order-zero": tr("second order, zero"),
}
_TALL = 300  # px
_DECIBEL = 20.0 / np.log(10.0)  # a small part of a magnitude, in dB


class RespondView(ResultView):
    """Magnitude, phase, coherence and distortion over the frequency, of pose and force.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._colours = {"pose": theme.accent, "force": theme.warning}
        self._bounds = theme.muted
        self.magnitude = PointPicture(tr("Magnitude"), theme, "dB", "Hz", log_x=True)
        self.phase = PointPicture(tr("Phase"), theme, "°", "Hz", log_x=True)
        self.coherence = PointPicture(tr("Coherence"), theme, "", "Hz", log_x=True)
        self.table = NumberTable(tr("Responses"), _HEADINGS, words=(0,), wide=None)
        self.distortion = PointPicture(tr("Output and distortion"), theme, "dB", "Hz", log_x=True)
        self._kinds = {"output": theme.warning, "odd": theme.error, "even": theme.good, "noise": theme.muted}
        kinds = " ".join(swatch(colour, name) for name, colour in self._kinds.items())
        names = " ".join(swatch(colour, name) for name, colour in self._colours.items())
        self.add_pictures(
            (
                (tr("Magnitude ± σ: {names}").format(names=names), self.magnitude),
                (tr("Phase ± σ"), self.phase),
                (tr("Coherence"), self.coherence),
                (tr("Output and what is not linear in it: {names}").format(names=kinds), self.distortion),
            ),
            _TALL,
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        responses = {name: told[name] for name in self._colours if name in told}
        groups: tuple[list[Points], ...] = ([], [], [])
        for name, one in responses.items():
            size = np.array(one["magnitude"])
            part = np.array(one["sigma"]) / np.sqrt(2.0) / size  # across, and along
            values = (
                (20.0 * np.log10(size), _DECIBEL * part),
                (np.degrees(one["phase_rad"]), np.degrees(part)),
                (np.array(one["coherence"]), None),
            )
            for group, (y, sigma) in zip(groups, values, strict=True):
                spread = () if sigma is None else sigma.tolist()
                group.append(Points(one["frequency_hz"], y.tolist(), self._colours[name], spread))
        whole = ((0.0, self._bounds), (1.0, self._bounds))  # a coherence is between nothing and one
        for picture, group, levels in zip(
            (self.magnitude, self.phase, self.coherence), groups, ((), (), whole), strict=True
        ):
            picture.show_points(group, levels)
        self.distortion.show_points(self._distorted(list(responses.values())[-1]))
        self.table.fill([_row(name, one) for name, one in responses.items()])
        lines = told["pose"]["frequency_hz"]
        return outcome_text(
            outcome,
            [
                tr(
                    "Coordinate {dof}, {begin:.1f} to {end:.1f} s: {count} frequencies from {low:.3g} to {high:.3g} Hz."
                ).format(
                    dof=told["dof"],
                    begin=told["begin_s"],
                    end=told["end_s"],
                    count=len(lines),
                    low=lines[0],
                    high=lines[-1],
                )
            ],
        )

    def _distorted(self, one: dict[str, Any]) -> list[Points]:
        """Output, distortion and noise over the frequency, over the greatest output."""
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
            Points(x.tolist(), (20.0 * np.log10(np.maximum(y / output.max(), 1e-12))).tolist(), self._kinds[name])
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
