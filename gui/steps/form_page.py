"""A page of a wizard that is described by its fields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gui.steps.fields import Field, FieldGrid
from gui.steps.step_page import StepPage


def _no_link(_widgets: Mapping[str, Any]) -> None:
    """No field depends on another."""


@dataclass(frozen=True, slots=True)
class Form:
    """Description of a page.

    title, subtitle: shown on top. fields: in order. across: fields in a row. link: connects dependent fields, by name.
    """

    title: str
    subtitle: str
    fields: Sequence[Field]
    across: int = 2
    link: Callable[[Mapping[str, Any]], None] = _no_link


class FormPage(StepPage):
    """The fields of a form; subclasses add below them what is no field."""

    def __init__(self, form: Form) -> None:
        super().__init__(form.title, form.subtitle)
        self.form = form
        self.fields = FieldGrid(form.fields, form.across)
        self.column.addWidget(self.fields)
        form.link(self.fields.widgets)
        self.fields.edited.connect(self.edited)

    def __getitem__(self, name: str) -> Any:
        """Return a field's widget."""
        return self.fields.widgets[name]

    @property
    def values(self) -> dict[str, Any]:
        """The input by names of fields; only while all are valid."""
        return {each.name: each.read(self[each.name]) for each in self.form.fields}
