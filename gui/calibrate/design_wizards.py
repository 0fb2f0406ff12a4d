"""The wizards that design motions: one that tells parameters, one that excites a coordinate."""

import shlex
from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.design_pages import DesignPage, ExcitePage, MultisinePage
from gui.calibrate.design_views import DesignView, ExciteView, MultisineView
from gui.fitting import FitWizard, Outcome, Use
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme

_JUDGED = tr("Nothing is saved before the next step. The motion keeps to every limit, as `rig check` looks at them.")


class DesignWizard(FitWizard):
    """Design a motion for the open configuration, save it, and take it into the tab Motion.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        title: of the window.
        view: shows what came of it.
        page: the first.
        following: what is done with the recording of it, a sentence.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        title: str,
        page: DesignPage,
        view: DesignView,
        following: str,
        parent: QtWidgets.QWidget | None,
    ) -> None:
        super().__init__(session, title, parent)
        self.page, self.fit, self._following = page, view, following
        self.set_up(page, view, (tr("Motion"), _JUDGED), "motion")

    def use(self, outcome: Outcome, target: Path) -> Use:
        """See `FitWizard`."""
        line = shlex.join(["rig", "run", str(self.session.config.path), str(target)])
        return Use(
            tr("To run it"),
            line,
            tr("Run it by this command, or in the tab Motion. {following}").format(following=self._following),
            motion=True,
        )


class ExciteWizard(DesignWizard):
    """See `DesignWizard`; `_source` is not used: there is none."""

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        _source: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        page = ExcitePage(session.config.path, session.folder)
        following = tr("Then identify masses, inertias and frictions from its recording.")
        super().__init__(session, tr("Excitation motion"), page, ExciteView(theme), following, parent)


class MultisineWizard(DesignWizard):
    """See `DesignWizard`; `_source` is not used: there is none."""

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        _source: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        page = MultisinePage(session.config.path, session.folder)
        following = tr("Then look at the frequency response of its recording.")
        super().__init__(session, tr("Multisine"), page, MultisineView(theme), following, parent)
