"""The wizards' engine: a `StepWizard` of pages, which are described by `Form`s of `fields`, and save a file at the end.

A page is a `StepPage`: a `FormPage` with the fields of its form, or a `FilePage` that saves a file. A `StepEntry` opens
a wizard from a menu.
"""

from gui.steps import fields
from gui.steps.discard_question import DiscardQuestion
from gui.steps.entry import StepEntry
from gui.steps.fields import Field
from gui.steps.file_page import FilePage
from gui.steps.form import ask_new_path, browse_button, line_edit, set_role, unbroken
from gui.steps.form_page import Form, FormPage
from gui.steps.step_page import StepPage
from gui.steps.step_wizard import StepWizard

__all__ = [
    "DiscardQuestion",
    "Field",
    "FilePage",
    "Form",
    "FormPage",
    "StepEntry",
    "StepPage",
    "StepWizard",
    "ask_new_path",
    "browse_button",
    "fields",
    "line_edit",
    "set_role",
    "unbroken",
]
