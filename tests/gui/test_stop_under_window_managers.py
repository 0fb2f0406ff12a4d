"""STOP by a real mouse under real window managers: over each dialog, popup and question the engine's flag goes up."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rig.engine import ControlBlock

_PATIENCE = 60.0  # s for a program to come up on a busy machine
_WAIT = 20.0  # s for a click, or a dialog
MANAGERS = {"openbox": ["openbox", "--sm-disable"], "metacity": ["metacity", "--sm-disable"]}
DIALOGS = (
    "file dialog",
    "folder dialog",
    "save dialog",
    "question of a file dialog",
    "question",
    "about",
    "wizard",
    "question of the wizard",
    "menu",
    "combo box",
)


def _until(condition: Callable[[], Any], what: str, patience: float = _WAIT) -> Any:
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {patience:g} s in vain for {what}"
        time.sleep(0.02)
    return found


class Desk:
    """A screen with a window manager and the app on it, and a hand at the mouse.

    Args:
        manager: command of the window manager.
        folder: for what the app writes.
        owner: ends every process.
    """

    def __init__(self, manager: list[str], folder: Path, owner: ExitStack) -> None:
        self._owner = owner
        self.block = ControlBlock()
        owner.callback(self.block.close)
        ours, theirs = os.pipe()
        with os.fdopen(ours) as number:
            screen = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
            self._start(screen, pass_fds=[theirs])
            os.close(theirs)
            assert select.select([number], [], [], _PATIENCE)[0], "Xvfb does not come up"
            display = number.readline().strip()
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        self._environment = os.environ | {
            "DISPLAY": f":{display}",
            "QT_QPA_PLATFORM": "xcb",
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CONFIG_HOME": str(folder),
            "GSETTINGS_BACKEND": "memory",
            "NO_AT_BRIDGE": "1",
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        }
        self._start(manager)
        _until(lambda: self._tool("get_num_desktops").returncode == 0, f"{manager[0]} to manage", _PATIENCE)
        app = [sys.executable, str(Path(__file__).with_name("wm_app.py")), self.block.name, str(folder)]
        self._app = self._start(app, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()

    def _start(self, command: list[str], **options: Any) -> "subprocess.Popen[Any]":
        environment = getattr(self, "_environment", None)
        process = subprocess.Popen(command, env=environment, **({"stdout": subprocess.DEVNULL} | options))
        self._owner.callback(self._end, process)
        return process

    @staticmethod
    def _end(process: "subprocess.Popen[Any]") -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.terminate()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _tool(self, *arguments: object) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            ["xdotool", *map(str, arguments)], env=self._environment, capture_output=True, timeout=_WAIT, check=False
        )

    def _read(self) -> dict[str, Any]:
        assert self._app.stdout is not None
        assert select.select([self._app.stdout], [], [], _PATIENCE)[0], "the app says nothing"
        return dict(json.loads(self._app.stdout.readline()))

    def ask(self, request: str = "look") -> dict[str, Any]:
        assert self._app.stdin is not None
        self._app.stdin.write(f"{request}\n")
        self._app.stdin.flush()
        return self._read()

    def click(self, x: int, y: int) -> None:
        assert self._tool("mousemove", x, y, "click", 1).returncode == 0

    def open(self, name: str, count: int, popup: bool) -> None:
        """Open something, and wait until the window manager has placed it."""
        self.ask(f"open {name}")

        def up() -> bool:
            seen = self.ask()
            return bool(seen["dialogs"] == count and seen["popup"] == popup and seen["active"])

        _until(up, f"the {name}")
        places = self.ask()["stops"]

        def settled() -> bool:
            nonlocal places
            before, places = places, self.ask()["stops"]
            time.sleep(0.1)
            return bool(before == places)

        _until(settled, f"the {name} to be placed")

    def close_all(self) -> None:
        def gone() -> bool:
            seen = self.ask("close")
            return not seen["dialogs"] and not seen["popup"]

        _until(gone, "everything to be closed")


@pytest.fixture(scope="module", params=list(MANAGERS))
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with ExitStack() as owner:
        made = Desk(MANAGERS[request.param], tmp_path_factory.mktemp(request.param), owner)
        _until(lambda: made.ask()["active"], "the window to be active")
        yield made
        made.ask("quit")


@pytest.mark.parametrize("name", DIALOGS)
def test_every_stop_in_sight_raises_the_flag(desk: Desk, name: str) -> None:
    popup = name in ("menu", "combo box")
    desk.open(name, 0 if popup else 2 if " of " in name else 1, popup)
    seen = desk.ask()
    assert len(seen["stops"]) >= (1 if popup else 2), "the window's STOP, and that of each dialog"
    for x, y in seen["stops"]:
        assert desk.block.take_stop() is None
        desk.click(x, y)
        raised = _until(desk.block.take_stop, f"the flag, after a click at {x}, {y}")
        assert raised == 1
    assert desk.ask()["stopped"] == seen["stopped"] + len(seen["stops"])
    desk.close_all()
