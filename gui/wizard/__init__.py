"""Wizards over services of the rig, each built of a `Description`.

`FitWizard` has three steps: what is asked, what came of it, and the file to be saved. The service runs in a process of
its own, and so does what looks into the files before. A description's parts are made by `fields`, `pictures`,
`results` and `storing`.
"""

from gui.wizard import fields, pictures, results, storing
from gui.wizard.description import Description, Entered, Outcome, Result, Role, Shown, Table, Task
from gui.wizard.wizard import FitWizard

__all__ = [
    "Description",
    "Entered",
    "FitWizard",
    "Outcome",
    "Result",
    "Role",
    "Shown",
    "Table",
    "Task",
    "fields",
    "pictures",
    "results",
    "storing",
]
