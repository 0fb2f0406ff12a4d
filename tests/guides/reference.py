"""The reference pages, made from the schema and from the command line's help. As a program it writes them.

In a page what is made stands between `<!-- made: NAME -->` and `<!-- end -->`; the rest is written by hand.
"""

import ast
import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from actuators import (
    AmplifierProfile,
    ServoProfile,
    cell_driver_names,
    drive_names,
    find_cell_driver,
    find_driver,
    find_io_driver,
    io_driver_names,
)
from dynamics.mechanism_file import OneLegMechanismTable
from dynamics.serial.arm_file import (
    ArmTable,
    CouplingTable,
    MotorTable,
    PrismaticJointTable,
    PrismaticLimits,
    RevoluteJointTable,
    RevoluteLimits,
    TipTable,
)
from kinematics import JointTrajectorySpec, Quantity, Range, TrajectorySpec, Tuning
from rig.cli.application import commands
from rig.config import RigConfig
from rig.config.digital_io import DigitalIo, Point
from rig.config.load_cells import LoadCells
from rig.config.rig_config import SCALED
from rig.config.sections import Control, Drives, LegDrive, Motion, Safety
from rig.config.task_gains import GainRange
from rig.config.virtual_rig import Tolerance, VirtualCells, VirtualDrive

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = tuple(
    DOCS / name
    for name in (
        "configuration.md", "trajectory-file.md", "commands.md", "arms.md", "cueing.md", "driver-of-your-own.md",
        "profile-reference.md",
    )
)  # fmt: skip
_SIZED: dict[tuple[str, ...], type[BaseModel]] = {
    ("control",): Control,
    ("safety",): Safety,
    ("motion",): Motion,
    ("load_cells",): LoadCells,
    ("virtual", "drive"): VirtualDrive,
    ("virtual", "cells"): VirtualCells,
    ("virtual", "plant", "tolerance"): Tolerance,
}
assert _SIZED.keys() == SCALED.keys()
_MADE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| key | type | unit | bounds | default | meaning |\n|---|---|---|---|---|---|\n"
_COUNTS = {2: "two", 3: "three", 6: "six"}
_FORMS = {
    "Register": "register", "BitMap": "signal", "ModeCode": "mode", "WordMap": "word", "Text": "text register",
    "Number": "number register", "RampRegister": "ramp's register",
}  # fmt: skip
"""Tables that many keys of a profile are, and what they are called there."""


@dataclass
class Key:
    """A key of a file: what a person may write there.

    `model` is of a key that is a table, `several` says that it may be there more than once.
    """

    kind: str = ""
    unit: str = ""
    bounds: str = ""
    optional: bool = False
    model: type[BaseModel] | None = None
    several: bool = False
    variants: list[type[BaseModel]] = field(default_factory=list)


def updated(text: str) -> str:
    """A page's text with all that is made in it made anew."""
    return _MADE.sub(lambda found: found[1] + MAKERS[found[2]]() + found[3], text)


# -- the schema of a file ----------------------------------------------------------------------------------------------


def described(model: type[BaseModel], name: str) -> str:
    """The docstring of a field, on one line; the nearest of the model's bases that has one."""
    for base in model.__mro__:
        if text := _docstrings(base).get(name):
            return text
    return ""


@cache
def _docstrings(model: type) -> dict[str, str]:
    if not issubclass(model, BaseModel) or model is BaseModel or name_is_made(model):
        return {}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for one, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(after, ast.Expr):
            found[one.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return found


def name_is_made(model: type) -> bool:
    """Whether a model is put together by the program for one driver, and has no text of its own."""
    return "<locals>" in model.__qualname__ or model.__name__ == "CellPlace"


def key_of(annotation: Any, metadata: list[Any]) -> Key:
    """What may be written for a field of this type."""
    parts = list(_flat(metadata))
    gain = next((each for each in parts if isinstance(each, GainRange)), None)
    if gain is not None:
        return Key("number, six, or six by six", gain.unit, _bounds([gain.bounds]))
    origin = get_origin(annotation)
    if origin is Annotated:
        return key_of(annotation.__origin__, [*annotation.__metadata__, *parts])
    if origin in (Union, types.UnionType):
        members = [each for each in get_args(annotation) if each is not types.NoneType]
        if set(members) == {int, float}:
            return key_of(float, parts)
        if len(members) > 1 and all(inspect.isclass(each) for each in members):
            return Key("table", variants=members, optional=len(members) < len(get_args(annotation)))
        key = key_of(members[0], parts)
        key.optional = True
        every = [key, *(key_of(each, []) for each in members[1:])]
        models = [each.model for each in every if each.model is not None]
        if len(every) > 1 and (models or any(get_origin(each) is Literal for each in members)):
            key.kind = " or ".join(dict.fromkeys(each.kind for each in every))
        if len(every) > 1 and models:
            key.model, key.variants = None, models
        return key
    if origin is Literal:
        return Key(" or ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in get_args(annotation)))
    if origin in (tuple, list):
        return _list(get_args(annotation), parts)
    if origin is dict:
        inner = key_of(get_args(annotation)[1], [])
        if inner.model is None:
            return Key("table of whole numbers")
        return Key(f"{_plural(inner.kind)} by name", model=inner.model, several=True)
    if origin is Mapping:
        return Key("table of tables")
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return Key(_FORMS.get(annotation.__name__, "table"), model=annotation)
    return _plain(annotation, parts)


def _list(members: tuple[Any, ...], parts: list[Any]) -> Key:
    key = key_of(members[0], [])
    most = next((each.max_length for each in parts if hasattr(each, "max_length")), None)
    least = next((each.min_length for each in parts if hasattr(each, "min_length")), 0)
    fixed = len(members) if Ellipsis not in members and len(members) > 1 else most if _exact(parts) else None
    if key.model is None and not key.variants:
        kinds = list(dict.fromkeys(key_of(each, []).kind for each in members if each is not Ellipsis))
        units = list(dict.fromkeys(key_of(each, []).unit for each in members if each is not Ellipsis))
        plural = _plural(kinds[0])
        if len(kinds) > 1:
            plural = " and ".join(f"three {_plural(kind)}" for kind in kinds)
            key.unit = ", ".join(units)
        elif fixed is not None:
            many = plural.startswith(tuple(_COUNTS.values()))
            plural = f"{_COUNTS[fixed]} lists of {plural}" if many else f"{_COUNTS[fixed]} {plural}"
        else:
            plural = f"list of {plural}"
        key.kind = plural
        if any(getattr(each, "func", None) is not None and "once" in each.func.__name__ for each in parts):
            key.kind = plural.replace("six ", "one or six ")
    else:
        key.kind = f"six {_plural(key.kind)}" if fixed == 6 else _plural(key.kind)
        key.several = True
    if fixed is None and most is not None:
        key.bounds = (f"{least} to {most}" if least else f"at most {most}") + " of them"
    return key


def _plural(kind: str) -> str:
    if kind == "mass" or " or " in kind or kind.startswith(tuple(_COUNTS.values())):
        return "masses" if kind == "mass" else kind
    first, *rest = kind.split(" of ", maxsplit=1)
    return " of ".join([f"{first}s", *rest])


def _exact(parts: list[Any]) -> bool:
    lengths = {getattr(each, name) for each in parts for name in ("min_length", "max_length") if hasattr(each, name)}
    return len(lengths) == 1 and any(hasattr(each, "min_length") for each in parts)


def _plain(annotation: Any, parts: list[Any]) -> Key:
    kind = {float: "number", int: "whole number", bool: "true or false", str: "text"}.get(annotation, "text")
    quantity = next((each for each in parts if isinstance(each, Quantity)), None)
    unit = next((each.unit for each in parts if getattr(each, "unit", "")), "")
    return Key(kind if quantity is None else quantity.name, unit, _bounds(parts) if annotation is not str else "")


def _bounds(parts: list[Any]) -> str:
    """The narrowest bounds in words."""
    words = []
    least: list[tuple[str, Any]] = [("above", each.gt) for each in parts if isinstance(each, Gt)]
    least += [("from", each.ge) for each in parts if isinstance(each, Ge)]
    most: list[tuple[str, Any]] = [("to", each.le) for each in parts if isinstance(each, Le)]
    most += [("below", each.lt) for each in parts if isinstance(each, Lt)]
    for each in parts:
        if isinstance(each, Range):
            least += [("from", each.least)] if each.least > -math.inf else []
            most += [("to", each.greatest)]
    if least:
        words.append(max(least, key=lambda bound: (float(bound[1]), bound[0] == "above")))
    if most:
        words.append(min(most, key=lambda bound: float(bound[1])))
    text = " ".join(f"{word} {_number(bound)}" for word, bound in words)
    return text.removeprefix("from ") if " to " in text else text


def _number(value: Any) -> str:
    if isinstance(value, int):
        return "2⁶³" if value == 2**63 else str(value)
    return re.sub(r"e([-+])0?", lambda sign: "e" + sign[1].strip("+"), f"{value:g}")


def _flat(metadata: list[Any]) -> Iterator[Any]:
    """All metadata of a field, also that of a `Field` within its type."""
    for each in metadata:
        if isinstance(each, FieldInfo):
            yield from _flat(each.metadata)
        else:
            yield each


def rows(model: type[BaseModel], names: list[str] | None = None) -> str:
    """The table of a model's keys; `names`: these alone."""
    return _HEAD + "".join(_row(model, name) for name in names or model.model_fields)


def _row(model: type[BaseModel], name: str) -> str:
    info = model.model_fields[name]
    key = key_of(info.annotation, info.metadata)
    text = described(model, name)
    key.unit, text = (re.sub(r"\^(\d)", lambda power: "⁰¹²³"[int(power[1])], each) for each in (key.unit, text))
    if key.unit and not key.unit.endswith(", rad"):
        text = re.sub(rf", {re.escape(key.unit)}(?=[,.;:])", "", text)
    default = _default(info, key) + _size_of(model, name)
    cells = (f"`{name}`", key.kind, key.unit, key.bounds, default, text.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |\n"


def _size_of(model: type[BaseModel], name: str) -> str:
    """What of the machine's size a default is multiplied by, if any."""
    for way, section in _SIZED.items():
        if issubclass(model, section) and (powers := SCALED[way].get(name)):
            return "".join(f" / {power[1:]}" if power.startswith("-") else f" × {power}" for power in powers)
    return ""


def _default(info: FieldInfo, key: Key) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if value is None or isinstance(value, BaseModel) or key.several or value == {}:
        return "–" if value is None else "none" if key.several else "see its table" if key.model else "–"
    return _value(value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        alike = len(value) > 0 and all(each == value[0] for each in value)
        return _value(value[0]) if alike else f"[{', '.join(map(_value, value))}]"
    return _number(value)


def tables(model: type[BaseModel], name: str, *, skip: tuple[str, ...] = ()) -> str:
    """The tables of a model and of all that are within it, each under its heading; `name`: of the table in the file."""
    parts = [_heading(name) + _about(model) + rows(model)] if name else []
    for own, info in model.model_fields.items():
        key = key_of(info.annotation, info.metadata)
        if key.model is not None and own not in skip:
            inner = f"{name}.{own}" if name else own
            parts.append(tables(key.model, f"[{inner}]" if key.several else inner))
    return "\n".join(parts)


def _heading(name: str) -> str:
    return f"### `[{name}]`\n"


def _about(model: type[BaseModel]) -> str:
    return f"{' '.join((model.__doc__ or '').split())}\n\n"


def configuration() -> str:
    """Every key of a rig's configuration."""
    scalars = [name for name, info in RigConfig.model_fields.items() if not _is_table(info)]
    before = [name for name in RigConfig.model_fields if name in ("control", "safety", "motion")]
    after = [name for name in RigConfig.model_fields if _is_table(RigConfig.model_fields[name])]
    after = [name for name in after if name not in (*before, "drives", "load_cells", "io")]
    parts = ["### At the top of the file\n" + rows(RigConfig, scalars)]
    parts += [tables(_model(RigConfig, name), name) for name in before]
    parts += [_drives(), _cells(), _io(), *(tables(_model(RigConfig, name), name) for name in after)]
    return "\n".join(parts)


def _is_table(info: FieldInfo) -> bool:
    return key_of(info.annotation, info.metadata).model is not None


def _model(owner: type[BaseModel], name: str) -> type[BaseModel]:
    info = owner.model_fields[name]
    model = key_of(info.annotation, info.metadata).model
    assert model is not None
    return model


def _drives() -> str:
    about = "Keys of all drivers; the settings of each driver follow below.\n\n"
    parts = [_heading("drives") + about + rows(Drives)]
    for name in drive_names():
        settings = find_driver(name).settings
        parts.append(f"### `[drives]` with the driver `{name}`\n" + _about(settings) + rows(settings))
    own = [name for name in LegDrive.model_fields if name != "unit"]
    about = "Six tables, or six entries of `legs`. Keys of all drivers; the address of each driver follows below.\n\n"
    parts.append(_heading("[drives.legs]") + about + rows(LegDrive, own))
    for name in drive_names():
        address = find_driver(name).address
        parts.append(f"### `[[drives.legs]]` with the driver `{name}`\n" + _about(address) + rows(address))
    return "\n".join(parts)


def _cells() -> str:
    about = "Keys of all sources; the addresses of each driver of devices follow below.\n\n"
    parts = [_heading("load_cells") + about + rows(LoadCells)]
    for name in cell_driver_names():
        driver = find_cell_driver(name)
        places = "`[load_cells.amplifier]` and `[[load_cells.devices]]`"
        if driver.address is driver.cell_address:
            parts.append(f"### {places} with the driver `{name}`\n" + _about(driver.address) + rows(driver.address))
            continue
        for place, address in zip(places.split(" and "), (driver.address, driver.cell_address), strict=True):
            parts.append(f"### {place} with the driver `{name}`\n" + _about(address) + rows(address))
    return "\n".join(parts)


def _io() -> str:
    parts = [_heading("io") + _about(DigitalIo) + rows(DigitalIo)]
    for name in ("inputs", "outputs"):
        model = _model(DigitalIo, name)
        parts.append(_heading(f"io.{name}") + _about(model) + rows(model))
    parts.append("### `[io.inputs.NAME]` and `[io.outputs.NAME]`\n" + _about(Point) + rows(Point))
    for name in io_driver_names():
        address = find_io_driver(name).address
        parts.append(f"### `[io.block]` with the driver `{name}`\n" + _about(address) + rows(address))
    return "\n".join(parts)


def profile(kind: type[BaseModel], *, with_forms: bool = True) -> str:
    """Every key of a profile: its tables, and then the tables that many of their keys are (`with_forms`)."""
    parts, forms = ["### At the top of the file\n" + rows(kind, _scalars(kind))], dict[type[BaseModel], None]()

    def look(model: type[BaseModel], place: str) -> None:
        for name, info in model.model_fields.items():
            key = key_of(info.annotation, info.metadata)
            inner = f"{place}.{name}" if place else name
            for each in [*key.variants, key.model]:
                if each is not None and each.__name__ in _FORMS:
                    forms[each] = None
                elif each is not None:
                    by_name = key.several and get_origin(info.annotation) is dict
                    head = f"{inner}.NAME" if by_name else f"[{inner}]" if key.several else inner
                    parts.append(_heading(head) + _about(each) + rows(each))
                    look(each, inner)

    look(kind, "")
    if with_forms:
        parts += [f"### A {_FORMS[each.__name__]}\n" + _about(each) + rows(each) for each in forms]
    return "\n".join(parts)


def _scalars(kind: type[BaseModel]) -> list[str]:
    """Names of the keys that stand at the top of a profile, with the tables that have no heading of their own."""
    found = []
    for name, info in kind.model_fields.items():
        model = key_of(info.annotation, info.metadata).model
        if model is None or model.__name__ in _FORMS:
            found.append(name)
    return found


def mechanism() -> str:
    """Every key of a mechanism file."""
    scalars = [name for name, info in OneLegMechanismTable.model_fields.items() if not _is_table(info)]
    top = "### At the top of the file\n" + rows(OneLegMechanismTable, scalars)
    return top + "\n" + tables(OneLegMechanismTable, "")


def trajectory_head() -> str:
    """The keys of a trajectory file beside its parts."""
    names = [name for name in TrajectorySpec.model_fields if name not in ("parts", "validation")]
    return rows(TrajectorySpec, names)


def trajectory_thresholds() -> str:
    """The keys of its table [validation]."""
    return rows(_model(TrajectorySpec, "validation"))


def part_models() -> dict[str, type[BaseModel]]:
    """The kinds of parts of a trajectory file, by their type."""
    info = TrajectorySpec.model_fields["parts"]
    kinds = key_of(get_args(info.annotation)[0], []).variants
    return {get_args(kind.model_fields["type"].annotation)[0]: kind for kind in kinds}


def part(kind: str) -> str:
    """The keys of one kind of part, and of its terms."""
    model = part_models()[kind]
    text = rows(model, [name for name in model.model_fields if name != "type"])
    if "terms" in model.model_fields:
        linear, angular = key_of(get_args(model.model_fields["terms"].annotation)[0], []).variants
        text += "\nA term of `x`, `y`, `z`:\n\n" + rows(linear) + "\nA term of `rx`, `ry`, `rz`:\n\n" + rows(angular)
    return text


def arm_file() -> str:
    """Every key of an arm file."""
    scalars = [name for name in ArmTable.model_fields if name not in ("joints", "coupling", "tip")]
    parts = ["### At the top of the file\n" + rows(ArmTable, scalars)]
    both = [name for name in RevoluteJointTable.model_fields if name not in ("motor", "limits")]
    own = [name for name in both if name in PrismaticJointTable.__annotations__ and name != "kind"]
    parts.append(_heading("[joints]") + _about(RevoluteJointTable) + rows(RevoluteJointTable, both))
    parts.append('With `kind = "prismatic"` in their place:\n\n' + rows(PrismaticJointTable, own))
    tables_of = (
        ("joints.limits", RevoluteLimits), ("joints.limits", PrismaticLimits), ("joints.motor", MotorTable),
        ("[coupling]", CouplingTable), ("tip", TipTable),
    )  # fmt: skip
    for name, model in tables_of:
        kind = " of a prismatic joint" if model is PrismaticLimits else ""
        parts.append(f"### `[{name}]`{kind}\n" + _about(model) + rows(model))
    return "\n".join(parts)


def joint_parts() -> str:
    """Every key of the parts of an arm's trajectory file."""
    info = JointTrajectorySpec.model_fields["parts"]
    parts = []
    for model in key_of(get_args(info.annotation)[0], []).variants:
        kind = get_args(model.model_fields["type"].annotation)[0]
        names = [name for name in model.model_fields if name not in ("type", "terms")]
        text = f"### {kind}\n" + _about(model) + rows(model, names)
        if "terms" in model.model_fields:
            text += "\n`terms`, each:\n\n" + rows(get_args(model.model_fields["terms"].annotation)[0])
        parts.append(text)
    return "\n".join(parts)


def tuning() -> str:
    """Every key of a washout's tuning."""
    tables = [name for name, info in Tuning.model_fields.items() if _is_table(info)]
    parts = [
        "### At the top of the file\n" + rows(Tuning, [name for name in Tuning.model_fields if name not in tables])
    ]
    for name in tables:
        model = _model(Tuning, name)
        parts.append(f"### `[{name}]`\n" + _about(model) + rows(model))
    return "\n".join(parts)


# -- the command line --------------------------------------------------------------------------------------------------


def every_command() -> dict[str, Any]:
    """All commands by what is typed, those of groups as well, in the order of the help."""
    found: dict[str, Any] = {}

    def look(command: Any, words: str) -> None:
        if hasattr(command, "list_commands"):
            context = typer.Context(command)
            for name in command.list_commands(context):
                look(command.get_command(context, name), f"{words} {name}")
        else:
            found[words] = command

    look(commands(), "rig")
    return found


def command_list() -> str:
    """One line a command, by what they are for."""
    panels: dict[str, list[str]] = {}
    for words, command in every_command().items():
        parent = words.split()[1]
        panel = getattr(commands().commands[parent], "rich_help_panel", None) or "Others"
        summary = _help(command.help).split("\n\n", maxsplit=1)[0]
        panels.setdefault(panel, []).append(f"| [`{words}`](#{words.replace(' ', '-')}) | {summary} |\n")
    return "\n".join(f"**{panel}**\n\n| command | |\n|---|---|\n{''.join(lines)}" for panel, lines in panels.items())


def command_details() -> str:
    """Every command with its arguments and options."""
    parts = []
    for words, command in every_command().items():
        context = typer.Context(command, info_name=words)
        parameters = [each for each in command.get_params(context) if not getattr(each, "hidden", False)]
        lines = "".join(_parameter(each, context) for each in parameters if "--help" not in each.opts)
        usage = " ".join([words, *command.collect_usage_pieces(context)])
        table = f"\n| | |\n|---|---|\n{lines}" if lines else ""
        parts.append(f"### {words}\n    {usage}\n\n{_help(command.help)}\n{table}")
    return "\n".join(parts)


def _parameter(parameter: Any, context: Any) -> str:
    names, text = parameter.get_help_record(context)
    return f"| `{names}` | {_help(text).replace('|', chr(92) + '|')} |\n"


def _help(text: str | None) -> str:
    """A command's help as paragraphs."""
    paragraphs = inspect.cleandoc(text or "").replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())


def example_driver() -> str:
    """The worked example, as it is in its module."""
    text = (DOCS.parent / "rig" / "testing" / "example_driver.py").read_text(encoding="utf-8")
    return f"```python\n{text}```\n"


MAKERS: dict[str, Callable[[], str]] = {
    "example-driver": example_driver,
    "configuration": configuration,
    "mechanism": mechanism,
    "trajectory-head": trajectory_head,
    "trajectory-thresholds": trajectory_thresholds,
    "arm-file": arm_file,
    "joint-parts": joint_parts,
    "tuning": tuning,
    "servo-profile": partial(profile, ServoProfile),
    "amplifier-profile": partial(profile, AmplifierProfile, with_forms=False),
    "commands": command_list,
    "options": command_details,
    **{f"part-{kind}": partial(part, kind) for kind in part_models()},
}

if __name__ == "__main__":
    for page in PAGES:
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
