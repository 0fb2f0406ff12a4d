"""What a driver lets be set of its own: by name, with what it is as usual, and in words. For forms and commands."""

import ast
import inspect
import textwrap
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from actuators import ActuatorError, ModbusAddress, TcpAddress, find_driver
from kinematics import NumberTextError, read_number, toml_item

_PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """One setting of a driver. usual: as a file would have it, "" where nothing is set. about: in words."""

    name: str
    usual: str
    about: str


def has_profile(driver: str) -> bool:
    """Whether drives of a driver are described by a register map; not of one that there is none of."""
    return _PROFILE in _fields(driver)


def own_settings(driver: str) -> tuple[OwnSetting, ...]:
    """Those of a driver beside the profile, which drafts have a place of their own for; none of an unknown one."""
    fields = _fields(driver)
    about = _told(find_driver(driver).settings) if fields else {}
    return tuple(
        OwnSetting(name, _written(field.get_default(call_default_factory=True)), about.get(name, ""))
        for name, field in fields.items()
        if name != _PROFILE
    )


def usual_frame(driver: str) -> tuple[str, int] | None:
    """Parity and stop bits of a driver's serial ports where nothing else is said; None of one that has none."""
    fields = find_driver(driver).address.model_fields
    return (fields["parity"].default, fields["stop_bits"].default) if "parity" in fields else None


def usual_unit(driver: str) -> int:
    """Unit id of a driver's drives where nothing else is said."""
    return int(find_driver(driver).address.model_fields["unit"].default)


def speaks_modbus(driver: str) -> bool:
    """Whether what a search asks is a question to a driver's drives; to others it could be a command."""
    return issubclass(find_driver(driver).address, ModbusAddress | TcpAddress)


def setting_value(text: str) -> Any:
    """What a person writes for a setting: a value as in a file (0.2, true, { … }), any other text as it stands.

    A number may have a comma before its decimals; nothing separates groups of its digits.
    """
    bare = text.strip()
    if "_" in bare and bare.lstrip("+-")[:1].isdecimal():  # TOML would make a number of it
        return bare
    try:
        table = tomllib.loads(f"value = {bare}")
    except (ValueError, RecursionError):  # no TOML, a number of more digits than are converted, nested too deep
        with suppress(NumberTextError):
            return read_number(bare) if "," in bare else bare
        return bare
    return table["value"] if table.keys() == {"value"} else text


def _fields(driver: str) -> dict[str, Any]:
    try:
        return find_driver(driver).settings.model_fields
    except ActuatorError:
        return {}


def _written(value: object) -> str:
    return "" if value is None else toml_item(value).as_string()


def _told(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a model, or of those that it is made of."""
    told = {}
    for kind in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        try:
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        except (OSError, TypeError, SyntaxError):
            continue  # a third party's, without its source
        assert isinstance(definition, ast.ClassDef)
        for field, text in pairwise(definition.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    told[name] = " ".join(words.split())
    return told
