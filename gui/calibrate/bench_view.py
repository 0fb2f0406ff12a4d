"""What came of a calibration of the cells on a bench."""

from typing import Any

from gui.fitting import LEGS, BarPicture, NumberTable, Outcome, PointPicture, Points, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme

_HEADINGS = (
    tr("Leg"),
    tr("Gain\nN/unit"),
    "± σ",
    tr("Offset"),
    "± σ",
    tr("Sign"),
    tr("Not linear\n%"),
    tr("Hysteresis\n%"),
    tr("Repeats to\n%"),
)


class BenchView(ResultView):
    """Residuals over the force in the order of loading, so that hysteresis is a loop; drift beside its bound.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.residuals = PointPicture(tr("Residuals over the force"), theme, tr("residual, N"), tr("force, N"))
        self.drift = BarPicture(tr("Drift of each zero"), theme, "N", LEGS)
        self.table = NumberTable(tr("Cells"), _HEADINGS, words=(), wide=None)
        legs = " ".join(swatch(colour, str(leg)) for leg, colour in enumerate(LEG_COLOURS, 1))
        drift = tr("Drift of the zero: {found} {accepted}").format(
            found=swatch(theme.accent, tr("found")), accepted=swatch(theme.warning, tr("accepted"))
        )
        self.add_pictures(
            (
                (tr("Residual as loaded, joined in time, leg {legs}").format(legs=legs), self.residuals),
                (drift, self.drift),
            )
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        cells = told["cells"]
        self.residuals.show_points(
            [
                Points(
                    [each["force_n"] for each in cell["readings"]],
                    [each["residual_n"] for each in cell["readings"]],
                    colour,
                    joined=True,
                )
                for cell, colour in zip(cells, LEG_COLOURS, strict=True)
            ],
            [(0.0, self._theme.muted)],
        )
        drifts = [abs(cell["drift_n"]) for cell in cells]
        self.drift.show_bars(((drifts, self._theme.accent),), [cell["drift_bound_n"] for cell in cells])
        self.table.fill([_row(cell) for cell in cells])
        worst = max(cells, key=lambda cell: float(cell["residual_max"]))
        return outcome_text(
            outcome,
            [
                tr(
                    "Readings in {unit}, masses in {load}: residuals up to {residual:.3g} N, at leg {leg}; the "
                    "zeros drifted by {drift:.3g} N at most."
                ).format(
                    unit=told["unit"],
                    load=told["load"],
                    residual=worst["residual_max"],
                    leg=worst["leg"],
                    drift=max(drifts),
                )
            ],
        )


def _row(cell: dict[str, Any]) -> tuple[str, ...]:
    parts = (
        "–" if cell[name] is None else f"{cell[name]:.3f}" for name in ("nonlinearity", "hysteresis", "repeatability")
    )
    return (
        str(cell["leg"]),
        f"{cell['gain']:.6g}",
        f"{cell['gain_standard_error']:.2g}",
        f"{cell['offset']:.5g}",
        f"{cell['offset_standard_error']:.2g}",
        f"{cell['polarity']:+d}",
        *parts,
    )
