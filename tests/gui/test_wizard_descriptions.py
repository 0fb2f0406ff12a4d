"""Descriptions of the wizards: every name of a field is one of its request's."""

from dataclasses import fields
from typing import Any

from fit_support import opened

from gui.calibrate import CalibrateMenu


def test_fields_roles_and_files_are_of_the_request(menu: CalibrateMenu, qtbot: Any) -> None:
    for entry in menu.entries:
        wizard = opened(entry, None, qtbot)
        description = wizard.description
        for number, task in enumerate(description.tasks):
            if len(description.tasks) > 1:
                wizard.request_page["task"].setCurrentIndex(number)
            entered = wizard.request_page.entered
            assert entered.task == number
            added = task.values(entered)
            parts: tuple[Any, ...] = (*description.fields, *description.roles)
            names = {each.name for each in parts if each.only in (None, number)} - added.keys()
            names |= {name for name, value in added.items() if value is not None} | {task.writes}
            assert names <= {each.name for each in fields(task.kind)}, description.title
            assert wizard.request_page.request.values.keys() <= names
        entry.close()
