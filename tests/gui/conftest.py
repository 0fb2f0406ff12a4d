"""Fixtures of the app's shell."""

from live_app import live
from shell_support import session, window

__all__ = ["live", "session", "window"]
