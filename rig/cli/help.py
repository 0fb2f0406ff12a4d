"""Help texts of commands as plain text, in which a [table] of a file is printed literally.

Rich's panels would more than double the time of `rig --help`, and interpret brackets as markup.
"""

from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

_UNITS = {"S": "s", "HZ": "Hz", "M": "m", "N": "N"}
"""SI unit by a number's metavar in the help; the number may carry another unit."""


class _Commands(TyperGroup):
    """A group whose help lists its commands by panel, each with the first paragraph of its own help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            text = " ".join((command.help or "").split("\n\n", 1)[0].split())
            panels.setdefault(command.rich_help_panel or "Commands", []).append((name, text))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


class _Application(typer.Typer):
    """Commands whose numbers are parsed by `kinematics.read_quantity`, not by Typer."""

    def command(self, *names: Any, **settings: Any) -> Callable[[Any], Any]:
        """See `typer.Typer`."""
        register = super().command(*names, **settings)

        def registered(function: Any) -> Any:
            hints = get_type_hints(function, include_extras=True)
            function.__annotations__ = hints  # Typer would evaluate textual annotations again
            for hint in hints.values():
                read_numbers_of(hint)
            return register(function)

        return registered


def read_numbers_of(hint: Any) -> None:
    """Make an annotation's argument or option use this project's parser if it is one or several numbers."""
    given = get_args(hint)
    info = next((each for each in given if hasattr(each, "parser") and hasattr(each, "min")), None)
    if info is None or info.parser is not None:
        return
    kinds = {given[0]}
    for _ in range(2):  # list[float] | None
        kinds |= {part for each in kinds for part in get_args(each)}
    if kind := next((each for each in (int, float) if each in kinds), None):
        info.parser = _reader(kind, info.min, info.max, info.metavar or "")


def _reader(kind: type, least: float | None, most: float | None, metavar: str) -> Callable[[Any], Any]:
    def number(text: Any) -> Any:
        if not isinstance(text, str):
            return text  # a default
        from kinematics import read_quantity, read_whole

        unit = "" if kind is int else _UNITS.get(metavar, "")  # N is also the metavar of a count
        shown = "%" if metavar == "PERCENT" else ""
        try:
            value = read_whole(text) if kind is int else read_quantity(text, (unit,), shown)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        low, high = least is not None and value < least, most is not None and value > most
        if low or high:
            bounds = f"at least {least:g}" if most is None else f"at most {most:g}"
            bounds = f"{least:g} to {most:g}" if least is not None and most is not None else bounds
            raise typer.BadParameter(f"{value:g} must be {bounds} {unit}".rstrip())
        return value

    number.__name__ = "integer" if kind is int else "number"
    return number


def command_group(**settings: Any) -> typer.Typer:
    """Return a Typer application with plain-text help; `settings` as for `typer.Typer`."""
    plain: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
    return _Application(cls=_Commands, **plain, **settings)
