"""The motion panel as its tests use it."""

from pathlib import Path
from typing import Any

from gui.motion.panel import MotionPanel
from rig.config.rig_config import load_config

HOME = load_config("virtual").machine.geometry.home_pose


def looked(panel: MotionPanel, qtbot: Any) -> None:
    """Wait until the motion is checked."""
    qtbot.waitUntil(lambda: panel.preview.fault != "being checked", timeout=60_000)


def look_first(panel: MotionPanel, qtbot: Any) -> None:
    """Look at the motion that the panel begins with, which the `window` of the tests leaves out."""
    panel._changed.start()
    looked(panel, qtbot)


def open_motion(panel: MotionPanel, qtbot: Any, path: Path) -> None:
    """Open a file, and wait until it is read."""
    panel.load_file(path)
    qtbot.waitUntil(lambda: "reading" not in panel.title, timeout=60_000)


def take(panel: MotionPanel, qtbot: Any, **motion: Any) -> None:
    """Show a motion, and wait until it is checked."""
    panel.editor.set_value({"frame": "home", "pivot": [0.0, 0.0, 0.0], **motion}, Path())
    looked(panel, qtbot)
