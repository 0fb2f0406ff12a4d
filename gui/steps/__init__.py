"""Building blocks of the app's wizards: `StepWizard`, its `StepPage`s, and the `StepEntry` that opens it."""

from gui.steps.discard_question import DiscardQuestion
from gui.steps.entry import StepEntry
from gui.steps.form import ask_new_path, browse_button, line_edit, set_role, unbroken
from gui.steps.step_page import StepPage
from gui.steps.step_wizard import StepWizard

__all__ = [
    "DiscardQuestion",
    "StepEntry",
    "StepPage",
    "StepWizard",
    "ask_new_path",
    "browse_button",
    "line_edit",
    "set_role",
    "unbroken",
]
