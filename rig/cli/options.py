"""Arguments and options that several commands share."""

import math
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from kinematics import Quantity, Thresholds
    from rig.config import RigConfig, Validation

_LAST_PORT = 65535

MechanismArgument = Annotated[
    str,
    typer.Argument(
        metavar="MECHANISM",
        help="A mechanism file (TOML), or the name of a shipped one: lab-hexapod, dasgupta-1998, pedrammehr-2012.",
    ),
]
ConfigArgument = Annotated[
    str,
    typer.Argument(metavar="CONFIG", help='A rig\'s configuration (TOML), or the shipped "virtual".'),
]
NewFolderOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write; it appears only when complete.")
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write; it appears only when complete.")
]
UnprovenOption = Annotated[
    bool,
    typer.Option(
        "--unproven",
        help="Home even if the wiring of a leg is untested (rig setup leg); stored in the recording.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
ProgressOption = Annotated[
    bool, typer.Option("--progress", help="Print each step on standard error, as a line beginning with “… ”.")
]
ProbeOption = Annotated[
    bool,
    typer.Option("--look", help="Only show the contents of the files, or why they are unusable; nothing is computed."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS|local:N", help="A Dask scheduler, or N worker processes here."),
]

NewCalibrationOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write, never overwritten; left out: cells-DATE.toml."),
]

_Kind = TypeVar("_Kind", bound="Thresholds")
_Choice = TypeVar("_Choice", bound=str)
_UNIT_NORM = 1e-6
_AT_A_PROMPT = {"m": "mm", "rad": "deg", "m/s": "mm/s", "rad/s": "deg/s"}
"""Display unit in prompts by SI unit."""


def parse_given(given: "Sequence[str]", kind: "type[_Kind]") -> "_Kind":
    """Parse thresholds given as NAME=VALUE. Raises ConfigError with all faults."""
    from rig.config import parse_thresholds
    from rig.errors import InputError

    parts = [text.partition("=") for text in given]
    if wrong := [name for name, mark, _value in parts if not mark]:
        raise InputError(f"--threshold {wrong[0]}: must be NAME=VALUE")
    return parse_thresholds({name.strip(): value for name, _mark, value in parts}, kind)


def parse_judge(config: str | None, given: "Sequence[str]") -> "Validation | None":
    """Return thresholds that replace the recorded ones: `--thresholds CONFIG`, or only the `--threshold NAME=VALUE`s.

    None without either. Raises InputError for both, or invalid ones.
    """
    from rig.config import Validation, load_config
    from rig.errors import InputError

    if config is not None and given:
        raise InputError("--threshold and --thresholds: give either")
    if config is not None:
        return load_config(config).validation
    return parse_given(given, Validation) if given else None


@contextmanager
def refused_parameters() -> "Iterator[None]":
    """Convert an invalid request within a `with` block to a usage error with its faults."""
    from rig.errors import InputError

    try:
        yield
    except InputError as error:
        raise typer.BadParameter("; ".join(error.faults or (error.what,))) from None


@contextmanager
def named_by_option(**options: str) -> "Iterator[None]":
    """Convert an invalid field within a `with` block to a usage error with the option's name.

    Args:
        options: option names by field name, where they differ.

    Raises:
        typer.BadParameter: FieldError was raised.
        RefusedError: FieldRefusedError was.
    """
    from rig.errors import FieldError, FieldRefusedError, RefusedError

    def option(field: str) -> str:
        return options.get(field, f"--{field.replace('_', '-')}")

    try:
        yield
    except FieldError as error:
        raise typer.BadParameter(error.fault, param_hint=f"'{option(error.field)}'") from None
    except FieldRefusedError as error:
        raise RefusedError(f"{option(error.field)}: {error.fault}") from None


def print_contents(holds: str, as_json: bool) -> None:
    """Print the contents of a command's files."""
    import json

    typer.echo(json.dumps({"holds": holds}) if as_json else holds)


def print_warning(text: str) -> None:
    """Print a warning on standard error."""
    _print_marked("warning: ", "yellow", text)


def print_error(text: str) -> None:
    """Print on standard error why there is no result."""
    _print_marked("error: ", "red", text)


def error_text(error: Exception) -> str:
    """Return the text of an error, with the commands and options of this program that are its remedy."""
    from rig.errors import RigError
    from rig.findings import Code

    hints = {
        Code.PROVE_WIRING: "`rig setup leg` tests one, --unproven homes without",
        Code.FAULT_BEFORE_CONNECTION: "`rig run --reset`, or `reset` at the prompt of `rig operate`",
    }
    finding = error.finding if isinstance(error, RigError) else None
    hint = "; ".join(text for code, text in hints.items() if finding is not None and finding.names(code))
    return f"{error} ({hint})" if hint else str(error)


def warn_of_checks_off(config: "RigConfig") -> None:
    """Print on standard error which checks the configuration switches off."""
    if config.safety.off:
        print_warning(f"checks {config.safety.disabled_text}")


def print_styled(
    text: str, *, fg: str | None = None, bold: bool | None = None, nl: bool = True, err: bool = False, control: str = ""
) -> None:
    """Print a text in a colour, after the unescaped terminal sequence `control`."""
    from rig.names import printable

    stream = sys.stderr if err else sys.stdout
    typer.echo(control, file=getattr(stream, "raw", stream), nl=False)
    typer.secho(printable(text), file=getattr(stream, "raw", stream), fg=fg, bold=bold, nl=nl)


def table_console(*, err: bool = False) -> "Console":
    """Return the console for tables and bars. It prints texts literally: no markup, control characters escaped."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from rig.names import printable

    class Printable(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> "Iterator[Segment]":
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text), style, control)

    return Printable(stderr=err, highlight=False, markup=False)


def _print_marked(mark: str, colour: str, text: str) -> None:
    from rig.findings import elided

    print_styled(mark, fg=colour, bold=True, err=True, nl=False)
    typer.echo("\n".join(map(elided, text.split("\n"))), err=True)


def parse_pose(text: str, option: str) -> tuple[float, float, float, float, float, float, float]:
    """Parse seven numbers x,y,z,qw,qx,qy,qz (m; unit quaternion, scalar first), and normalise the quaternion.

    `option` is the option's name for the message.

    Raises:
        typer.BadParameter: not seven finite numbers, or not a unit quaternion.
    """
    from kinematics import read_list

    try:
        values = read_list(text)
    except ValueError as error:
        fault = f"{text!r} is not a list of numbers x,y,z,qw,qx,qy,qz: {error}"
        raise typer.BadParameter(fault, param_hint=option) from None
    fault = _fault(values)
    if fault:
        raise typer.BadParameter(fault, param_hint=option)
    norm = math.hypot(*values[3:])
    x, y, z, qw, qx, qy, qz = *values[:3], *(value / norm for value in values[3:])
    return x, y, z, qw, qx, qy, qz


def parse_choice(text: str, choices: "Sequence[_Choice]", option: str) -> "_Choice":
    """Return the one of at least two choices that is named; `option` is the option's name for the message.

    Raises:
        typer.BadParameter: none of them.
    """
    for choice in choices:
        if choice == text:
            return choice
    *others, last = choices
    raise typer.BadParameter(f"{text!r} must be {', '.join(others)} or {last}", param_hint=f"'{option}'")


def parse_six(text: str, names: str, option: str) -> tuple[float, float, float, float, float, float]:
    """Parse six finite numbers; `names` lists them, `option` is the option's name for the message.

    Raises:
        typer.BadParameter: not six finite numbers.
    """
    from kinematics import read_list

    try:
        x, y, z, rx, ry, rz = read_list(text, 6)
    except ValueError as error:
        fault = f"{text!r} is not a list of six finite numbers {names}: {error}"
        raise typer.BadParameter(fault, param_hint=option) from None
    return x, y, z, rx, ry, rz


def parse_span(text: str, option: str) -> tuple[float, float]:
    """Parse a time span "FROM,TO", s; `option` is the option's name for the message.

    Raises:
        typer.BadParameter: not two finite numbers, the first below the second.
    """
    from kinematics import read_list

    try:
        begin, end = read_list(text, 2)
    except ValueError as error:
        fault = f"{text!r} is not a span of time FROM,TO, s: {error}"
        raise typer.BadParameter(fault, param_hint=f"'{option}'") from None
    if begin >= end:
        raise typer.BadParameter(f"{text!r}: FROM must be below TO", param_hint=f"'{option}'")
    return begin, end


def parse_quantity(text: str, quantity: "Quantity", option: str) -> float:
    """Parse a number in SI or with a unit ("2 mm") to SI; `option` is the option's name.

    Raises:
        typer.BadParameter: neither, another dimension, or not finite.
    """
    try:
        return quantity.read(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'") from None


def parse_with_unit(text: str, quantity: "Quantity", option: str) -> float:
    """Like `parse_quantity` for interactive input: except for seconds and 0, a unit is required.

    Raises:
        typer.BadParameter: also a bare number: 5 seldom means 5 m.
    """
    value = parse_quantity(text, quantity, option)
    usual = _AT_A_PROMPT.get(quantity.unit)
    if usual and value != 0.0 and text.strip()[-1] in "0123456789.,":
        hint = f"{text} has no unit: {text}{usual} or {text}{quantity.unit}?"
        raise typer.BadParameter(hint, param_hint=f"'{option}'")
    return value


def _fault(values: list[float]) -> str:
    if len(values) != 7:
        return f"{len(values)} numbers, not the seven x,y,z,qw,qx,qy,qz: commas separate them, decimals have a point"
    norm = math.hypot(*values[3:])
    if abs(norm - 1.0) > _UNIT_NORM:
        return f"the quaternion's norm is {norm:.9g}, not 1 within {_UNIT_NORM:g}"
    return ""


def address_of(text: str, name: str, least: int = 1) -> tuple[str, int]:
    """Parse HOST:PORT with a port of at least `least`; IPv6 in brackets. Raises InputError with the option."""
    from rig.errors import InputError

    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal() and least <= int(port) <= _LAST_PORT):
        raise InputError(f"{name} {text!r}: give HOST:PORT, with a port of {least} to {_LAST_PORT}")
    if host[0] == "[" and host[-1] == "]":
        return host[1:-1], int(port)
    if ":" in host:
        raise InputError(f"{name} {text!r}: an IPv6 address goes in brackets, as in [::1]:{port}")
    return host, int(port)


def named_values(given: list[str], option: str) -> dict[str, object]:
    """Return the values of a repeated option NAME=VALUE by name, numbers and truth values as such; InputError."""
    from rig.commissioning import setting_value
    from rig.errors import InputError

    found: dict[str, object] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise InputError(f"{option} {text!r}: give NAME=VALUE")
        if name in found:
            raise InputError(f"{option} {text!r}: {name} is given twice")
        found[name] = setting_value(value)
    return found
