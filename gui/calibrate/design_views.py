"""What came of a motion that was designed: how much of every limit it uses, and where."""

from typing import Any

from gui.fitting import BarPicture, NumberTable, Outcome, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import Theme, display_unit

_HEADINGS = ("", tr("Limit"), tr("Leg"), tr("Worst sample"), tr("Bound"), tr("At, s"), tr("Used, %"))
_ENDS = tr("speed at")


class DesignView(ResultView):
    """Bars of the limits' use, in the order of a table.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.used = BarPicture(tr("Part of every limit that is used"), theme, "%", ())
        self.table = NumberTable(tr("Limits"), _HEADINGS, words=(1,), wide=1)
        colours = swatch(theme.accent, tr("used")) + " " + swatch(theme.warning, tr("the limit itself"))
        legend = tr("Of every limit, by the row of the table: {colours}").format(colours=colours)
        self.add_pictures(((legend, self.used),))
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        checks = [each for each in outcome.result["checks"] if not each["name"].startswith(_ENDS)]
        parts = [100.0 * used(each) for each in checks]
        self.used.name_places([str(row) for row in range(1, len(checks) + 1)])
        self.used.show_bars(((parts, self._theme.accent),), [100.0] * len(checks))
        self.table.fill([_row(number, *each) for number, each in enumerate(zip(checks, parts, strict=True), 1)])
        lines = self.lines(outcome.result)
        if checks:
            most = max(range(len(parts)), key=parts.__getitem__)
            nearest = (
                tr("Nearest to its limit: {limit}, {part:.0f} % of it.")
                if checks[most]["leg"] is None
                else tr("Nearest to its limit: {limit} of leg {leg}, {part:.0f} % of it.")
            )
            lines.append(nearest.format(limit=checks[most]["name"], leg=checks[most]["leg"], part=parts[most]))
        return outcome_text(outcome, lines)

    def lines(self, told: Any) -> list[str]:
        """What is said of the motion itself."""
        raise NotImplementedError


class ExciteView(DesignView):
    """See `DesignView`; what the motion tells of the parameters."""

    def lines(self, told: Any) -> list[str]:
        """See `DesignView`."""
        return [
            tr(
                "{duration:g} s: it tells the base parameters {information:.2f} nepers on average, the best of "
                "{candidates} random motions {drawn:.2f}; condition {condition:.3g}."
            ).format(
                duration=told["duration_s"],
                candidates=told["candidates"],
                information=told["information_nepers"],
                drawn=told["random_information_nepers"],
                condition=told["condition"],
            )
        ]


class MultisineView(DesignView):
    """See `DesignView`; which frequencies are excited, and how much."""

    def lines(self, told: Any) -> list[str]:
        """See `DesignView`."""
        tones = told["frequency_hz"]
        unit, factor, _ = display_unit("rad" if told["dof"].startswith("r") else "m")
        return [
            tr(
                "Coordinate {dof}: {count} frequencies from {low:.3g} to {high:.3g} Hz, amplitude {amplitude:.3g} "
                "{unit}, {duration:g} s."
            ).format(
                dof=told["dof"],
                count=len(tones),
                low=tones[0],
                high=tones[-1],
                amplitude=factor * told["amplitude"],
                unit=unit,
                duration=told["duration_s"],
            )
        ]


def used(check: Any) -> float:
    """The part of a limit that a check of `rig.safety`, as JSON, found used; of a least value, bound over value."""
    value, bound = check["value"], check["bound"]
    return float(bound / value if check["is_minimum"] else value / bound)


def _row(number: int, check: Any, part: float) -> tuple[str, ...]:
    unit, factor, decimals = display_unit(check["unit"])
    unit = unit.replace("^2", "²")
    value, bound = (f"{factor * check[key]:.{decimals}f}".rstrip("0").rstrip(".") for key in ("value", "bound"))
    leg = tr("all") if check["leg"] is None else str(check["leg"])
    at = f"{check['time']:.3f}"
    return str(number), f"{check['name']}, {unit}" if unit else check["name"], leg, value, bound, at, f"{part:.0f}"
