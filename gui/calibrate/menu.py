"""The menu of the calibration and identification wizards."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Phase, RigSession, heavy_work_obstacle
from gui.steps import StepEntry
from gui.texts import finding_text, tr
from gui.widgets import Theme
from rig.findings import Code, Finding

if TYPE_CHECKING:
    from gui.calibrate.acceptance import AcceptanceWizard
    from gui.wizard import FitWizard  # deferred until the first wizard is opened


class FitEntry(StepEntry):
    """Adds the entry to a menu and owns the wizard while it is open. Signals: `motion_requested(path)` of the wizard.

    Args:
        session: the app's rig.
        menu: gets the entry.
        window: the main window.
        theme: colours.
        text: of the entry. hint: its tooltip.
        name: of the calibration, see `_wizard`.
    """

    motion_requested = QtCore.Signal(object)
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
        """Why nothing can be computed now; empty if it can."""
        return tr("it is open") if self.wizard is not None else heavy_work_obstacle(self.session.situation)

    def start(self, source: Path | None = None) -> None:
        """Open the wizard with a source file, or with its default source."""
        if self.obstacle:
            return
        wizard = _wizard(self._name, self.session, self._theme(), source, self.window)
        wizard.finished.connect(lambda _result: self._wizard_closed())
        wizard.motion_requested.connect(self.motion_requested)
        self.wizard = wizard
        self.refresh()
        wizard.show()

    def close(self) -> None:
        """Cancel running jobs and wait for them. May be called again."""
        if self.wizard is not None:
            self.wizard.close_worker()
            self._wizard_closed()

    def _wizard_closed(self) -> None:
        wizard, self.wizard = self.wizard, None
        if wizard is not None:
            wizard.retire()
            wizard.hide()
            wizard.deleteLater()
            self.refresh()


class AcceptanceEntry(StepEntry):
    """Adds the acceptance test to a menu and owns its wizard while it is open; arguments as `StepEntry`."""

    wizard: "AcceptanceWizard | None"

    @property
    def obstacle(self) -> str:
        """Why the test cannot be opened now; empty if it can."""
        return tr("it is open") if self.wizard is not None else self._against()

    def start(self) -> None:
        """Open the wizard."""
        if self.obstacle:
            return
        from gui.calibrate.acceptance import AcceptanceWizard  # deferred: the window does not wait for it

        self.wizard = AcceptanceWizard(self.session, self._against, self.window)
        self.wizard.finished.connect(lambda _result: self._closed())
        self.refresh()
        self.wizard.show()

    def close(self) -> None:
        """End it; a machine that moves is stopped. May be called again."""
        if self.wizard is not None:
            if self.wizard.runner.busy and self.session.config.virtual is None:
                self.session.stop(1)
            self._closed()

    def _against(self) -> str:
        """Why no test can be run: a machine's drives must be free, the test of a virtual rig needs the processor."""
        if self.session.config.virtual is not None:
            return heavy_work_obstacle(self.session.situation)
        free = self.session.phase in (Phase.DOWN, Phase.DIED)
        return "" if free else finding_text(Finding(Code.DRIVES_HELD))

    def _closed(self) -> None:
        wizard, self.wizard = self.wizard, None
        if wizard is not None:
            wizard.retire()
            wizard.hide()
            wizard.deleteLater()
            self.refresh()


class CalibrateMenu(QtWidgets.QMenu):
    """Menu entries for all wizards, and the acceptance test.

    Signals: `motion_requested(path)`: open a saved motion in the tab Motion.

    Args:
        session: the app's rig.
        window: the main window.
        theme: colours.
    """

    motion_requested = QtCore.Signal(object)

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
            entry.motion_requested.connect(self.motion_requested)
        self.addSeparator()
        self.acceptance = AcceptanceEntry(
            session,
            self,
            window,
            tr("&Acceptance test …"),
            tr("Excursions, describing functions, repeatability and more, as the field's standards measure them"),
        )

    def close_wizards(self) -> None:
        """Cancel the wizards' jobs and wait for them. May be called again."""
        for entry in (*self.entries, self.acceptance):
            entry.close()


def _wizard(
    name: str, session: RigSession, theme: Theme, source: Path | None, window: QtWidgets.QWidget
) -> "FitWizard":
    """Create a wizard by name. Its dependencies are imported here, so that the window does not wait for them."""
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
