"""The command line. Modules here import only Typer when loaded; a command imports its needs when it runs."""

from rig.cli.application import app, main

__all__ = ["app", "main"]
