"""Wizards over rig services, each built from a `Description`.

`FitWizard` has three steps: the request, the computation with its result, and the file to save. The service and the
file probe run in processes of their own. The parts of a description come from `gui.steps.fields`, `pictures`,
`results` and `save_page`.
"""

from gui.wizard import pictures, results, save_page
from gui.wizard.description import Description, DisplayedResult, Entered, Outcome, Result, Role, Table, Task
from gui.wizard.wizard import FitWizard

__all__ = [
    "Description",
    "DisplayedResult",
    "Entered",
    "FitWizard",
    "Outcome",
    "Result",
    "Role",
    "Table",
    "Task",
    "pictures",
    "results",
    "save_page",
]
