"""Fixtures of the app's shell."""

from shell_support import session, window

__all__ = ["session", "window"]
