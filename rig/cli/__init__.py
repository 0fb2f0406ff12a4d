"""The command line. Modules here import only Typer when loaded; a command imports what it needs when it runs."""

from rig.cli.application import app, main
from rig.cli.child_command import run_child_command

__all__ = ["app", "main", "run_child_command"]
