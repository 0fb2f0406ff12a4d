"""Fixtures of the app's shell."""

import gc

from desk import desk, manager, shared_desk
from live_app import live
from live_views import history, live_view, view
from setup_support import wizard
from shell_support import session, whole_window, window

__all__ = [
    "desk",
    "history",
    "live",
    "live_view",
    "manager",
    "session",
    "shared_desk",
    "view",
    "whole_window",
    "window",
    "wizard",
]


def pytest_collection_finish() -> None:
    """Spare the collector what is loaded and stays: a window is tens of thousands of objects, after which it looks."""
    gc.collect()
    gc.freeze()
