"""How commands explain themselves: plain text, in which a [table] of a file stands as it is written.

Rich's panels would more than double what `rig --help` costs, and take whatever is in brackets for their own markup.
"""

from typing import Any

import typer
from typer.core import TyperGroup


class _Commands(TyperGroup):
    """A group whose help lists its commands by panel, each with the whole first paragraph of its own help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            text = " ".join((command.help or "").split("\n\n", 1)[0].split())
            panels.setdefault(command.rich_help_panel or "Commands", []).append((name, text))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def command_group(**settings: Any) -> typer.Typer:
    """A Typer application whose help is plain text; `settings` as `typer.Typer` takes them."""
    plain: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
    return typer.Typer(cls=_Commands, **plain, **settings)
