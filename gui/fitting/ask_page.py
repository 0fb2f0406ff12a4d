"""The first step of a wizard: what is asked for, looked into before anything is computed."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.fitting.file_probe import ProbeCallback
from gui.fitting.job_request import JobRequest
from gui.steps import StepPage
from gui.texts import tr
from gui.widgets import TextRoom, field_refusal

ProbeFunction = Callable[[JobRequest, ProbeCallback], None]
"""Looks into the files of what is asked, and calls back."""

_PAUSE = 400  # ms without another key


class AskPage(StepPage):
    """What every first step has: what is asked for, and why it cannot be."""

    @property
    def asked(self) -> JobRequest:
        """What is asked for, by what is entered now."""
        raise NotImplementedError

    @property
    def verb(self) -> str:
        """What the button says that begins it."""
        raise NotImplementedError

    @property
    def fault(self) -> str:
        """Why it cannot be begun; empty when it may be."""
        raise NotImplementedError


class ProbedPage(AskPage):
    """A first step whose files belong together: they are looked into at once, when a person pauses.

    Args:
        title, subtitle: said on top.
        look: see `ProbeFunction`.
    """

    def __init__(self, title: str, subtitle: str, look: ProbeFunction) -> None:
        super().__init__(title, subtitle)
        self._look = look
        self._looking: JobRequest | None = None
        """what is being looked into, or was"""
        self._found: tuple[str, str] | None = None
        """what that holds, and why it cannot be used; None while it is looked into"""
        self.holding = QtWidgets.QLabel()
        self.holding.setObjectName("muted")
        self.holding.setAccessibleName(tr("What the files hold"))
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._begin)
        self.edited.connect(self._changed)

    @property
    def lacking(self) -> str:
        """What must be entered before the files are looked into; empty for nothing."""
        raise NotImplementedError

    @property
    def holds(self) -> str:
        """What the files hold; empty while that is not known."""
        if field_refusal(self) or self._found is None or self._looking != self.asked:
            return ""
        return self._found[0]

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        if wrong := field_refusal(self) or self.lacking:
            return wrong
        if self._found is None or self._looking != self.asked:
            return tr("Looking into the files …")
        return self._found[1]

    @property
    def findings(self) -> str:
        """What the page says of what it found, of the files as a rule."""
        return tr("It holds: {holds}.").format(holds=self.holds) if self.holds else ""

    def close_form(self) -> None:
        """See `StepPage`; what the files hold stands below the form as well."""
        self.column.addSpacing(8)
        self.column.addWidget(TextRoom(self.holding, 2))
        super().close_form()

    def _changed(self) -> None:
        self.holding.setText(self.findings)
        if not field_refusal(self) and not self.lacking and self._looking != self.asked:
            self._pause.start()

    def _begin(self) -> None:
        if field_refusal(self) or self.lacking or self._looking == self.asked:
            return
        asked = self._looking = self.asked
        self._found = None

        def done(holds: str, fault: str) -> None:
            if self._looking == asked:
                self._found = holds, fault
                self.edited.emit()

        self._look(asked, done)
