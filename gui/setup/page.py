"""What the set-up's pages have in common: the part of a draft that each is for, and how faults and legs are told."""

from itertools import groupby

from pyqtgraph.Qt import QtWidgets

from gui.steps import StepPage
from gui.texts import tr
from gui.widgets import LEG_COLOURS
from rig.commissioning import Draft

LOCAL = "127.0.0.1"
"""Where the virtual devices of a rehearsal are."""
FAULT_LIMIT = 6


class SetupPage(StepPage):
    """One page. Its widgets keep what a person entered; `fill` puts that into a draft.

    Args:
        title, subtitle: said on top.
        sections: beginnings of the places in the file that this page answers for.
    """

    def __init__(self, title: str, subtitle: str, sections: tuple[str, ...] = ()) -> None:
        super().__init__(title, subtitle)
        self._sections = sections

    def fill(self, draft: Draft) -> Draft:
        """The draft with what was entered here."""
        return draft

    def own_faults(self, faults: tuple[str, ...]) -> list[str]:
        """Those of a draft's faults that are this page's to mend."""
        return [fault for fault in faults if fault.startswith(self._sections)] if self._sections else []


def listed(faults: list[str]) -> str:
    """Faults as text, a line each; many are counted."""
    lines = faults[:FAULT_LIMIT]
    if len(faults) > FAULT_LIMIT:
        lines.append(tr("… and {count} more").format(count=len(faults) - FAULT_LIMIT))
    return "\n".join(lines)


def ranges(numbers: list[int]) -> str:
    """Whole numbers in order, runs of three and more drawn together: 1, 3–6."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), lambda entry: entry[1] - entry[0]):
        found = [str(number) for _, number in run]
        parts += found if len(found) < 3 else [f"{found[0]}–{found[-1]}"]
    return ", ".join(parts)


def leg_label(leg: int) -> QtWidgets.QLabel:
    """The name of leg 0…5 with its colour."""
    return QtWidgets.QLabel(
        tr('<span style="color:{leg_colours}">●</span> Leg {leg}').format(leg_colours=LEG_COLOURS[leg], leg=leg + 1)
    )
