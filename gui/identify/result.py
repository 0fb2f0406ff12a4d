"""What came of an identification: what forces are left unexplained, and what changed by how much."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration import Parameter, parse_parameters
from gui.fitting import CHANGES, LEGS, BarPicture, Outcome, ParameterTable, ResultView, change, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import Theme
from rig.analysis import TERM_NAMES


@dataclass(frozen=True, slots=True)
class Identified:
    """What came of an identification.

    mechanism: its name. parameters: of the file, those first that changed most in their standard deviations. before,
    after, noise: N RMS at the cells on what was held out, of legs 1 to 6 and of all. told: of so many combinations.
    verdict: on the fit; terms: codes of what the data show beyond the model, the greatest first.
    """

    mechanism: str
    parameters: tuple[Parameter, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    noise: tuple[float, ...]
    told: int
    combinations: int
    consistent: bool
    drives: bool
    verdict: str
    terms: tuple[str, ...]


def identified(told: Mapping[str, Any], text: str) -> Identified:
    """What the command told, and the file that it wrote."""
    held, base = told["holdout"], told["base_parameters"]

    def of(name: str) -> tuple[float, ...]:
        return (*(float(leg[name]) for leg in held["legs"]), float(held[name]))

    return Identified(
        mechanism=told["mechanism"],
        parameters=tuple(sorted(parse_parameters(text).parameters, key=lambda each: -abs(change(each)))),
        before=of("residual_before_n"),
        after=of("residual_after_n"),
        noise=of("noise_n"),
        told=sum(each["told"] for each in base),
        combinations=len(base),
        consistent=told["consistent"],
        drives=told["drives_used"],
        verdict=told["verdict"],
        terms=tuple(dict.fromkeys(each["code"] for each in told["terms"])),
    )


class IdentifyView(ResultView):
    """Residuals, changes and parameters; `result` is what they show.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.result: Identified | None = None
        self.residuals = BarPicture(tr("Residual before and after, by leg"), theme, tr("N RMS"), (*LEGS, tr("all")))
        self.table = ParameterTable(theme)
        legend = tr("Residual held out: {nominal} {identified} {noise}").format(
            nominal=swatch(theme.muted, tr("nominal")),
            identified=swatch(theme.accent, tr("identified")),
            noise=swatch(theme.warning, tr("noise")),
        )
        self.add_pictures(((legend, self.residuals), (CHANGES, self.table.changes)))
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        assert outcome.text is not None  # the command refuses before it tells anything
        result = self.result = identified(outcome.result, outcome.text)
        self.residuals.show_bars(((result.before, self._theme.muted), (result.after, self._theme.accent)), result.noise)
        self.table.show_parameters(result.parameters)
        warnings = []
        if result.terms:
            names = ", ".join(TERM_NAMES[code] for code in result.terms)
            warnings.append(
                tr("The data show more than the model has: {names}. It was estimated too.").format(names=names)
            )
        if result.verdict == "lack_of_fit":
            warnings.append(
                tr("Lack of fit: what is left is more than the cells' noise. Values may be further off than told.")
            )
        if not result.consistent:
            warnings.append(tr("No bodies can exist with these parameters."))
        if not result.drives:
            warnings.append(tr("The drives' forces are not known here: friction below the load cells was not told."))
        line = tr(
            "{mechanism}: residual {before:.2f} N → {after:.2f} N, noise {noise:.2f} N. {told} of {combinations} "
            "combinations that forces can tell are known at least twice as well as before."
        ).format(
            mechanism=result.mechanism,
            before=result.before[-1],
            after=result.after[-1],
            noise=result.noise[-1],
            told=result.told,
            combinations=result.combinations,
        )
        fit = {
            "pass": tr("Fit: pass, what is left is the cells' noise."),
            "undecided": tr("Fit: undecided, the cells' noise is not known apart from the motion."),
        }.get(result.verdict)
        return outcome_text(outcome, [line, *([] if fit is None else [fit])], warnings)
