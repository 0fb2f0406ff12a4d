"""What came of weighing a payload."""

from calibration import Parameter, parse_parameters
from gui.fitting import CHANGES, LEGS, BarPicture, Outcome, ParameterTable, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import Theme


class WeighView(ResultView):
    """What the cells read beyond the model without and with the payload, and the platform with it.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.residuals = BarPicture(tr("Residual without and with the payload"), theme, tr("N RMS"), LEGS)
        self.table = ParameterTable(theme)
        legend = tr("Residual by a model {without} {with_it}").format(
            without=swatch(theme.muted, tr("without the payload")), with_it=swatch(theme.accent, tr("with it"))
        )
        self.add_pictures(
            ((legend, self.residuals), (tr("Platform with it. {changes}").format(changes=CHANGES), self.table.changes))
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        assert outcome.text is not None  # the command refuses before it tells anything
        told, file = outcome.result, parse_parameters(outcome.text)
        self.residuals.show_bars(
            [
                ([each[key] for each in told["cells"]], colour)
                for key, colour in (
                    ("residual_before_n", self._theme.muted),
                    ("residual_after_n", self._theme.accent),
                )
            ]
        )
        self.table.show_parameters(file.parameters)
        source = (
            tr(
                "From {poses} poses at rest and {samples} samples in motion, reduced χ² {chi_square:.2f}; the platform "
                "known {platform}."
            )
            if told["inertia"]
            else tr("From {poses} poses at rest, reduced χ² {chi_square:.2f}; the platform known {platform}.")
        )
        lines = [
            tr("Payload: {parameters}.").format(parameters=", ".join(map(_words, file.nuisance))),
            source.format(
                poses=told["poses"],
                samples=told["samples_in_motion"],
                chi_square=told["chi_square"],
                platform=file.provenance["platform"],
            ),
        ]
        if not told["inertia"]:
            lines.append(tr("Poses at rest do not tell the inertia: the platform keeps that of its mechanism."))
        return outcome_text(outcome, lines)


def _words(each: Parameter) -> str:
    return f"{each.name.removeprefix('payload.')} {each.value:.4g} ± {each.sigma:.2g} {each.unit}"
