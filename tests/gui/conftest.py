"""Fixtures of the app's shell."""

from calibrate_support import excited, loaded, rested
from checkpoints import checkpoints
from desk import desk, manager, shared_desk
from identify_support import identifying, recorded
from live_app import live, whole_live
from live_views import history, live_view, view
from setup_support import wizard
from shell_support import garbage_as_in_the_app, session, whole_window, window

__all__ = [
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
    "recorded",
    "rested",
    "session",
    "shared_desk",
    "view",
    "whole_live",
    "whole_window",
    "window",
    "wizard",
]
