"""Requests of services: frozen dataclasses that validate their fields on construction."""

import dataclasses
from typing import Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as validated

from kinematics import fault_reason
from rig.errors import InputError

_Kind = TypeVar("_Kind")


@dataclass_transform(frozen_default=True)
def request(cls: type[_Kind]) -> type[_Kind]:
    """Make a class a request: a frozen dataclass, validated by the types of its fields.

    An invalid value raises InputError; its `faults` name field, value and bound. Fields of this project's classes
    are checked by type only.
    """
    made: Any = validated(cls, frozen=True, config=ConfigDict(arbitrary_types_allowed=True, extra="forbid"))
    checked = made.__init__
    names = [each.name for each in dataclasses.fields(made)]

    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            checked(self, *args, **kwargs)
        except ValidationError as error:
            raise InputError(f"{cls.__name__}: cannot be used", faults=_faults(error, names)) from None

    made.__init__ = construct
    kind: type[_Kind] = made
    return kind


def _faults(error: ValidationError, names: list[str]) -> list[str]:
    """Return one line per fault: field, value, and bound. A positional argument has its number."""
    found = []
    for one in error.errors(include_url=False):
        first, *rest = one["loc"] or ("request",)
        place = [names[first] if isinstance(first, int) and first < len(names) else first, *rest]
        found.append(f"{'.'.join(map(str, place))}: {one['input']!r}: {fault_reason(one)}")
    return found
