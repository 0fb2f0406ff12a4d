"""What came of a calibration of the cells in place, and of a plan of poses for it."""

from typing import Any

from gui.fitting import LEGS, BarPicture, NumberTable, Outcome, PointPicture, Points, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme

_HEADINGS = (tr("Leg"), tr("Gain\nN/unit"), "± σ", tr("Offset"), "± σ", tr("Sign"), tr("Not fitted\nN"), tr("Noise\nN"))


class InPlaceView(ResultView):
    """Gains and offsets beside those before, residuals by pose, and the numbers of each cell.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.gains = PointPicture(tr("Change of each gain"), theme, "%", places=LEGS)
        self.offsets = PointPicture(tr("Change of each offset"), theme, tr("units read"), places=LEGS)
        self.residuals = PointPicture(tr("Residuals by rest"), theme, "N", tr("rest"))
        self.table = NumberTable(tr("Cells"), _HEADINGS, words=(), wide=None)
        legs = " ".join(swatch(colour, str(leg)) for leg, colour in enumerate(LEG_COLOURS, 1))
        self.add_pictures(
            (
                (tr("Gains, from those of the recording, ± σ"), self.gains),
                (tr("Offsets, from those of the recording, ± σ"), self.offsets),
                (tr("Residual at each rest, leg {legs}").format(legs=legs), self.residuals),
            )
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        cells = told["cells"]
        gains = [100.0 * (each["gain"] / each["gain_before"] - 1.0) for each in cells]
        sigmas = [100.0 * each["gain_standard_error"] / each["gain_before"] for each in cells]
        offsets = [each["offset"] - each["offset_before"] for each in cells]
        errors = [each["offset_standard_error"] for each in cells]
        for picture, values, spread in ((self.gains, gains, sigmas), (self.offsets, offsets, errors)):
            groups = [Points([leg], [values[leg]], colour, [spread[leg]]) for leg, colour in enumerate(LEG_COLOURS)]
            picture.show_points(groups, [(0.0, self._theme.muted)])
        used = [each for each in told["rests"] if each["used"]]
        self.residuals.show_points(
            [
                Points([each["rest"] for each in used], [each["residuals_n"][leg] for each in used], colour)
                for leg, colour in enumerate(LEG_COLOURS)
            ],
            [(0.0, self._theme.muted)],
        )
        self.table.fill([_row(each) for each in cells])
        return outcome_text(
            outcome,
            [
                tr(
                    "{mechanism}: {count} rests fitted, reduced χ² {chi_square:.2f}; those not fitted are predicted "
                    "to {residual:.3g} N RMS or better."
                ).format(
                    mechanism=told["mechanism"],
                    count=len(used),
                    chi_square=told["chi_square"],
                    residual=max(each["hold_out_n"] for each in cells),
                )
            ],
        )


def _row(cell: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(cell["leg"]),
        f"{cell['gain']:.6g}",
        f"{cell['gain_standard_error']:.2g}",
        f"{cell['offset']:.5g}",
        f"{cell['offset_standard_error']:.2g}",
        f"{cell['polarity']:+d}",
        f"{cell['hold_out_n']:.3g}",
        f"{cell['noise_n']:.3g}",
    )


class WeightPlanView(ResultView):
    """How differently planned poses load each cell.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.forces = BarPicture(tr("Forces on each cell"), theme, "N", LEGS)
        self.table = NumberTable(tr("Forces"), (tr("Leg"), tr("Least, N"), tr("Greatest, N")), words=(), wide=None)
        legend = tr("Force on each cell: {least} {greatest}").format(
            least=swatch(theme.muted, tr("least")), greatest=swatch(theme.accent, tr("greatest"))
        )
        self.add_pictures(((legend, self.forces),))
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        least, greatest = told["forces_n"]["least"], told["forces_n"]["greatest"]
        self.forces.show_bars(((least, self._theme.muted), (greatest, self._theme.accent)))
        rows = zip(least, greatest, strict=True)
        self.table.fill([(str(leg), f"{low:+.1f}", f"{high:+.1f}") for leg, (low, high) in enumerate(rows, 1)])
        return outcome_text(
            outcome,
            [
                tr("{poses} poses within the limits, a motion of {duration:.1f} s.").format(
                    poses=told["poses"], duration=told["duration_s"]
                )
            ],
        )
