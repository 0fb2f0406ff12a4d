"""Fixtures of the app's shell."""

from calibrate_support import excited, loaded, rested
from checkpoints import checkpoints
from dashboard_views import boards, boards_history, boards_view
from desk import desk, manager, shared_desk
from fit_support import menu
from identify_support import by_command, identifying, recorded, useless
from live_app import live, whole_live
from live_views import history, live_view, view
from setup_support import set_up, wizard
from shell_support import garbage_as_in_the_app, no_window_left, panels, session, theme, whole_window, window

__all__ = [
    "boards",
    "boards_history",
    "boards_view",
    "by_command",
    "checkpoints",
    "desk",
    "excited",
    "garbage_as_in_the_app",
    "history",
    "identifying",
    "live",
    "live_view",
    "loaded",
    "manager",
    "menu",
    "no_window_left",
    "panels",
    "recorded",
    "rested",
    "session",
    "set_up",
    "shared_desk",
    "theme",
    "useless",
    "view",
    "whole_live",
    "whole_window",
    "window",
    "wizard",
]
