"""The menu of the wizards that work out what a rig is from what was measured."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import RigSession, heavy_work_obstacle
from gui.steps import StepEntry
from gui.texts import tr
from gui.widgets import Theme

if TYPE_CHECKING:
    from gui.wizard import FitWizard  # loaded when the first one is opened


class FitEntry(StepEntry):
    """Adds the entry to a menu and holds the wizard while it is open. Signals: `motion_wanted(path)` of the wizard.

    Args:
        session: the rig that the app operates.
        menu: where the entry goes.
        window: the main window.
        theme: gives the colours.
        text: of the entry. hint: what the wizard is for.
        name: of the calibration, see `_wizard`.
    """

    motion_wanted = QtCore.Signal(object)
    wizard: "FitWizard | None"

    def __init__(
        self,
        session: RigSession,
        menu: QtWidgets.QMenu,
        window: QtWidgets.QMainWindow,
        theme: Callable[[], Theme],
        text: str,
        hint: str,
        name: str,
    ) -> None:
        super().__init__(session, menu, window, text, hint)
        self._theme, self._name = theme, name

    @property
    def obstacle(self) -> str:
        """Why nothing can be computed now; empty when it can."""
        return tr("it is open") if self.wizard is not None else heavy_work_obstacle(self.session.situation)

    def start(self, source: Path | None = None) -> None:
        """Open the wizard on a file, or on what it takes by itself."""
        if self.obstacle:
            return
        wizard = _wizard(self._name, self.session, self._theme(), source, self.window)
        wizard.finished.connect(lambda _result: self._let_go())
        wizard.motion_wanted.connect(self.motion_wanted)
        self.wizard = wizard
        self.refresh()
        wizard.show()

    def close(self) -> None:
        """End what the wizard does and wait for it. May be called again."""
        if self.wizard is not None:
            self.wizard.close_worker()
            self._let_go()

    def _let_go(self) -> None:
        wizard, self.wizard = self.wizard, None
        if wizard is not None:
            wizard.retire()
            wizard.hide()
            wizard.deleteLater()
            self.refresh()


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
            FitEntry(session, self, window, theme, text, hint, name)
            for text, hint, name in (
                (
                    tr("&Geometry …"),
                    tr("Joint positions and length offsets from measured poses, and which poses to measure"),
                    "geometry",
                ),
                (
                    tr("&Load cells in place …"),
                    tr(
                        "Gain, offset and polarity of the cells by the platform's weight at rest, and the poses for "
                        "that"
                    ),
                    "in_place",
                ),
                (
                    tr("Load cells on a &bench …"),
                    tr("Gain, offset and polarity of the cells from a table of their readings under known masses"),
                    "bench",
                ),
                (
                    tr("&Masses, inertias and frictions …"),
                    tr("Masses, inertias and frictions from recorded motions and forces: a parameter file"),
                    "identify",
                ),
                (
                    tr("&Payload …"),
                    tr("Mass, centre of mass and inertia of the payload, from recordings"),
                    "weigh",
                ),
                (
                    tr("&Frequency response …"),
                    tr("Bode plot, dead time and bandwidth of a coordinate, from the recording of an excitation"),
                    "respond",
                ),
                (
                    tr("&Excitation motion …"),
                    tr("Excitation motion for identifying masses, inertias and frictions, to be run and recorded"),
                    "excite",
                ),
                (
                    tr("M&ultisine …"),
                    tr("A motion that excites one coordinate at many frequencies at once, for its frequency response"),
                    "multisine",
                ),
                (
                    tr("&Closed loop offline …"),
                    tr("Compare controllers along a trajectory, on the plant as modelled and with perturbed masses"),
                    "closed_loop",
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


def _wizard(
    name: str, session: RigSession, theme: Theme, source: Path | None, window: QtWidgets.QWidget
) -> "FitWizard":
    """The wizard of a calibration. What it needs is imported here: dozens of modules for which no window waits."""
    from gui.calibrate import bench, closed_loop, design, geometry, identify, in_place, respond, weigh
    from gui.wizard import FitWizard

    described = {
        "geometry": geometry.describe,
        "in_place": in_place.describe,
        "bench": bench.describe,
        "identify": identify.describe,
        "weigh": weigh.describe,
        "respond": respond.describe,
        "excite": design.describe_excitation,
        "multisine": design.describe_multisine,
        "closed_loop": closed_loop.describe,
    }
    return FitWizard(session, theme, described[name](session), source, window)
