"""The menu of the wizards that work out what a rig is from what was measured."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.calibrate.entry import FitEntry, MakeWizard
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme

if TYPE_CHECKING:
    from gui.fitting import FitWizard


class CalibrateMenu(QtWidgets.QMenu):
    """One entry for each. Signals: `motion_wanted(path)`: a motion that was saved is wanted in the tab Motion.

    Args:
        session: the rig that the app operates.
        window: the main window.
        theme: gives the colours.
    """

    motion_wanted = QtCore.Signal(object)

    def __init__(self, session: RigSession, window: QtWidgets.QMainWindow, theme: Callable[[], Theme]) -> None:
        super().__init__(tr("&Calibrate"), window)
        wizards = self.entries = [
            FitEntry(session, self, window, theme, text, hint, _later(name))
            for text, hint, name in (
                (
                    tr("&Geometry …"),
                    tr("Joint positions and length offsets from measured poses, and which poses to measure"),
                    "GeometryWizard",
                ),
                (
                    tr("&Load cells in place …"),
                    tr(
                        "Gain, offset and polarity of the cells by the platform's weight at rest, and the poses for "
                        "that"
                    ),
                    "InPlaceWizard",
                ),
                (
                    tr("Load cells on a &bench …"),
                    tr("Gain, offset and polarity of the cells from a table of their readings under known masses"),
                    "BenchWizard",
                ),
                (
                    tr("&Masses, inertias and frictions …"),
                    tr("Masses, inertias and frictions from recorded motions and forces: a parameter file"),
                    "IdentifyWizard",
                ),
                (
                    tr("&Payload …"),
                    tr("Mass, centre of mass and inertia of what stands on the platform, from recordings"),
                    "WeighWizard",
                ),
                (
                    tr("&Frequency response …"),
                    tr("Bode plot, dead time and bandwidth of a coordinate, from the recording of an excitation"),
                    "RespondWizard",
                ),
                (
                    tr("&Excitation motion …"),
                    tr("A motion that tells masses, inertias and frictions, to be run and recorded"),
                    "ExciteWizard",
                ),
                (
                    tr("M&ultisine …"),
                    tr("A motion that excites one coordinate at many frequencies at once, for its frequency response"),
                    "MultisineWizard",
                ),
                (
                    tr("&Closed loop offline …"),
                    tr("Controllers side by side along a trajectory, on the plant as modelled and with other masses"),
                    "ClosedLoopWizard",
                ),
            )
        ]
        self.geometry, self.in_place, self.bench, self.identify, self.weigh, self.respond = wizards[:6]
        self.excite, self.multisine, self.closed_loop = wizards[6:]
        for entry in wizards:
            entry.motion_wanted.connect(self.motion_wanted)

    def close_wizards(self) -> None:
        """End what the wizards do and wait for it. May be called again."""
        for entry in self.entries:
            entry.close()


def _later(name: str) -> MakeWizard:
    """Makes a wizard of `gui.calibrate.wizards`, which brings dozens of modules for which no window waits."""

    def make(session: RigSession, theme: Theme, source: Path | None, window: QtWidgets.QWidget) -> "FitWizard":
        from gui.calibrate import wizards

        wizard: FitWizard = getattr(wizards, name)(session, theme, source, window)
        return wizard

    return make
