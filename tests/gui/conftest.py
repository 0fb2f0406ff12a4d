"""Fixtures of the app's shell."""

from live_app import live
from live_views import history, live_view, view
from setup_support import wizard
from shell_support import session, whole_window, window

__all__ = ["history", "live", "live_view", "session", "view", "whole_window", "window", "wizard"]
