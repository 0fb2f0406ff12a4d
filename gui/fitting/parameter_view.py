"""A table of parameters beside the picture of their changes: what is chosen in one is marked in the other."""

from collections.abc import Sequence

from calibration import Parameter
from gui.fitting.pictures import ChangePicture
from gui.fitting.result_view import NumberTable
from gui.texts import tr
from gui.widgets import Theme

CHANGES = tr("Change of each parameter, ± one standard deviation")
"""legend of the picture"""

_HEADINGS = ("", tr("Parameter"), tr("Unit"), tr("Nominal"), tr("Value"), "σ", tr("Change / σ"))


def change(parameter: Parameter) -> float:
    """By how many of its standard deviations a parameter changed; 0 for one that is known exactly."""
    return (parameter.value - parameter.nominal) / parameter.sigma if parameter.sigma > 0.0 else 0.0


class ParameterTable(NumberTable):
    """Parameters, and `changes`, the picture that goes with them.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("Parameters"), _HEADINGS, words=(1, 2), wide=1)
        self.changes = ChangePicture(theme)
        self.currentCellChanged.connect(lambda row, *_rest: self.changes.choose(row))

    def show_parameters(self, parameters: Sequence[Parameter]) -> None:
        """Show them in this order."""
        self.fill(
            [
                (
                    str(row),
                    each.name,
                    each.unit,
                    f"{each.nominal:.5g}",
                    f"{each.value:.5g}",
                    f"{each.sigma:.2g}",
                    f"{change(each):+.1f}",
                )
                for row, each in enumerate(parameters, start=1)
            ]
        )
        self.changes.show_changes([change(each) for each in parameters])
