"""What is drawn beside the machine: a button with a list to tick."""

from dataclasses import fields

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.scene import OverlayOptions
from gui.texts import tr

_TEXTS = {
    "forces": (
        tr("&Forces"),
        tr("Arrows of the legs' forces: measured in the leg's colour, the model's slim beside it"),
    ),
    "wrench": (
        tr("External &wrench"),
        tr("Force and moment (two heads) that the residuals imply, if the model is right"),
    ),
    "trail": (tr("&Trail"), tr("Where the middle of the plate has been in the last seconds")),
    "limits": (tr("&Limits"), tr("Stripes and words on a leg that uses 90 % of a stroke, joint angle or force")),
}


class OverlayMenu(QtWidgets.QToolButton):
    """Ticks of a `OverlayOptions`. Signal `changed` when one has been changed.

    Args:
        problem: why nothing of it can be drawn; empty when it can.
        measured: whether there are measured forces, and residuals that tell a wrench.
    """

    changed = QtCore.Signal()

    def __init__(self, problem: str, *, measured: bool) -> None:
        super().__init__()
        self.problem = problem
        self.setText(tr("Show"))
        self.setAccessibleName(tr("What is drawn beside the machine"))
        self.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setEnabled(not problem)
        reason = (
            tr("Not possible: {problem}").format(problem=problem) if problem else tr("Forces, wrench, trail, limits")
        )
        self.setToolTip(reason)
        self.setAccessibleDescription(reason)
        menu = QtWidgets.QMenu(self)
        menu.setToolTipsVisible(True)
        self.actions_ = {}
        for field in fields(OverlayOptions):
            text, hint = _TEXTS[field.name]
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(bool(field.default))
            action.setToolTip(hint)
            self.actions_[field.name] = action
            action.toggled.connect(lambda _on: self.changed.emit())
        if not measured:
            self.actions_["wrench"].setEnabled(False)
            self.actions_["wrench"].setToolTip(tr("Nothing is measured, so there are no residuals that tell a wrench"))
        self.setMenu(menu)

    @property
    def shown(self) -> OverlayOptions:
        """What is ticked."""
        return OverlayOptions(
            **{name: action.isEnabled() and action.isChecked() for name, action in self.actions_.items()}
        )

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Keep the ticks under a name."""
        for part, action in self.actions_.items():
            settings.setValue(f"{name}/show {part}", "yes" if action.isChecked() else "no")

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept under a name."""
        for part, action in self.actions_.items():
            kept = settings.value(f"{name}/show {part}")
            if kept is not None:
                action.setChecked(kept == "yes")
