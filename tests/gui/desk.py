"""A screen with a window manager and the app on it, a hand at its mouse and keys, and an eye on its widgets."""

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
from processes import offspring
from waiting import PATIENCE

from rig.engine import ControlBlock

_PATIENCE = 2 * PATIENCE  # s for a program to come up on a busy machine
_WAIT = PATIENCE  # s for a click, a dialog, and what compiles kernels the first time
_AGAIN = 0.3  # s after which a key that nobody got while the focus went on is pressed again
MANAGERS = {"openbox": ["openbox", "--sm-disable"], "metacity": ["metacity", "--sm-disable"]}
_TURNS = 12  # of the wheel, over any page
_STEADY = 2  # looks at which something is in the same place, before it is clicked


_processes: set[int] = set()


def of_desks() -> set[int]:
    """Every process of the desks that are up."""
    return {pid for one in _processes for pid in (one, *offspring(one))}


def until(condition: Callable[[], Any], what: str, patience: float = _WAIT) -> Any:
    """What `condition` gives, once it is true; the test fails after `patience` s."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, f"timed out after {patience:g} s waiting for {what}"
        time.sleep(0.02)
    return found


class Desk:
    """See the module. What is pressed and seen is named by a Python expression, which the app evaluates: see `wm_app`.

    Args:
        manager: name of the window manager.
        folder: for what the app writes.
        owner: ends every process.
        live: whether the app starts engines, and virtual rigs for them.
        heartbeat: s, that these engines bear without a sign of the app's life.
        environment: of the app, on top of the test's.
    """

    def __init__(
        self,
        manager: str,
        folder: Path,
        owner: ExitStack,
        *,
        live: bool = False,
        heartbeat: float = 2.0,
        **environment: str,
    ) -> None:
        self.folder = folder
        self._owner = owner
        self._kind = ["live", str(heartbeat)] if live else []
        self.block = ControlBlock.create()
        owner.callback(self.block.close)
        ours, theirs = os.pipe()
        with os.fdopen(ours) as number:
            # without -noreset it begins anew, and refuses who comes meanwhile, when its only client, a question, leaves
            screen = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1920x1080x24", "-nolisten", "tcp", "-noreset"]
            self._start(screen, pass_fds=[theirs])
            os.close(theirs)
            assert select.select([number], [], [], _PATIENCE)[0], "Xvfb does not come up"
            display = number.readline().strip()
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        opener = folder / "bin" / "xdg-open"  # no browser comes up over the app
        opener.parent.mkdir(exist_ok=True)
        opener.write_text("#!/bin/sh\n", encoding="utf-8")
        opener.chmod(0o700)
        self._environment = os.environ | {
            "DISPLAY": f":{display}",
            "QT_QPA_PLATFORM": "xcb",
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CONFIG_HOME": str(folder),
            "PATH": os.pathsep.join([str(opener.parent), os.environ["PATH"]]),
            "GSETTINGS_BACKEND": "memory",
            "NO_AT_BRIDGE": "1",
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        }
        managing = self._start(MANAGERS[manager])

        def manages() -> bool:
            assert managing.poll() is None, f"{manager} has ended with {managing.returncode}"
            return self._tool("get_num_desktops").returncode == 0

        until(manages, f"{manager} to manage", _PATIENCE)
        self._environment |= environment
        self.start_app()

    def start_app(self) -> None:
        """Start the app, the first one or, after it has ended, another."""
        program = [sys.executable, str(Path(__file__).with_name("wm_app.py"))]
        command = [*program, self.block.name, str(self.folder), *self._kind]
        self.app = self._start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        until(lambda: self.ask("look")["active"], "the window to be active", _PATIENCE)

    def _start(self, command: list[str], **options: Any) -> "subprocess.Popen[Any]":
        environment = getattr(self, "_environment", None)
        process = subprocess.Popen(command, env=environment, **({"stdout": subprocess.DEVNULL} | options))
        self._owner.callback(self._end, process)
        _processes.add(process.pid)
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
        _processes.discard(process.pid)

    # -- the app's own word ------------------------------------------------------------------------------------------

    def ask(self, request: str, what: str = "") -> Any:
        """The app's answer to a request; what failed there fails here."""
        assert self.app.stdin is not None and self.app.stdout is not None
        self.app.stdin.write(f"{json.dumps([request, what])}\n")
        self.app.stdin.flush()
        assert select.select([self.app.stdout], [], [], _PATIENCE)[0], "the app says nothing"
        failure, answer = json.loads(self.app.stdout.readline())
        assert not failure, failure
        return answer

    def do(self, expression: str) -> None:
        """Have the app evaluate this once it has answered: what happens to it, never what is tried."""
        self.ask("do", expression)

    def value(self, expression: str) -> Any:
        """What an expression is in the app, as far as JSON can say it."""
        return self.ask("value", expression)

    def wait(self, expression: str, patience: float = _WAIT) -> Any:
        """What an expression is in the app, once it is true."""
        return until(lambda: self.value(expression), expression, patience)

    def make_views(self) -> None:
        """Have the window make every view, where it has not yet."""
        self.do("window.complete or window.views.building.start()")
        self.wait("window.complete")

    def where(self, expression: str) -> dict[str, Any]:
        """Where a widget, or a part of it, is on the screen, and what it shows."""
        return dict(self.ask("where", expression))

    # -- mouse and keys ----------------------------------------------------------------------------------------------

    def _tool(self, *arguments: object) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            ["xdotool", *map(str, arguments)], env=self._environment, capture_output=True, timeout=_WAIT, check=False
        )

    def hand(self, *arguments: object) -> str:
        """What xdotool says to a command that it can do."""
        done = self._tool(*arguments)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def click(self, x: int, y: int, button: int = 1, times: int = 1) -> None:
        """A click, a double click, or so many turns of the wheel (buttons 4 and 5)."""
        self.hand("mousemove", x, y, "click", "--repeat", times, "--delay", 20, button)

    def place(self, expression: str) -> list[int]:
        """Where something is, once it stands still there and can be pressed, with nothing of the app's over it."""
        before: list[Any] = []

        def ready() -> list[int] | None:
            seen = self.where(expression)
            before.append(seen["place"])
            steady = before[-_STEADY:] == [seen["place"]] * _STEADY
            return seen["place"] if seen["enabled"] and seen["clear"] and steady else None

        return list(until(ready, f"{expression} to be in reach"))

    def press(self, expression: str, button: int = 1, times: int = 1) -> None:
        """Click on something, and wait until it has got that: a manager that looks first lets keys overtake it."""
        x, y = self.place(expression)
        before = self.value("keys.clicks")
        self.click(x, y, button, times)
        until(lambda: self.value("keys.clicks") >= before + times, f"{expression} to get the click")
        self.settle()

    def scroll_to(self, expression: str, area: str = "pages()") -> None:
        """Turn the wheel over the bars of the window's pages, or another area, until something can be pressed."""
        for direction in (5, 4):
            for bar in ("verticalScrollBar()", "horizontalScrollBar()"):
                for _ in range(_TURNS):
                    if self.where(expression)["clear"]:
                        return
                    if self.where(f"{area}.{bar}")["visible"]:
                        self.press(f"{area}.{bar}", direction)
        raise AssertionError(f"{expression} is nowhere on its page")

    def key(self, *keys: str) -> None:
        """Press keys, as xdotool names them, one after the other."""
        self.hand("key", "--delay", 20, *keys)
        self.settle()

    def type(self, text: str) -> None:
        """Type a text into whatever has the keyboard."""
        self.hand("type", "--delay", 10, text)
        self.settle()

    def enter(self, expression: str, text: str) -> None:
        """Click into a field and type something in place of what is there."""
        self.press(expression)
        self.key("ctrl+a")
        self.type(text)

    def settle(self) -> None:
        """Wait until the app has got every click and key so far: a key that means nothing comes after them."""
        before, deadline = self.value("keys.shifts"), time.monotonic() + _WAIT
        while True:
            self.hand("key", "shift")
            again = time.monotonic() + _AGAIN
            while time.monotonic() < again:
                if self.value("keys.shifts") > before:
                    return
                time.sleep(0.01)
            assert time.monotonic() < deadline, "no window of the app has the keyboard"

    def stopped(self) -> Any:
        """The category of the stop whose flag is up, or comes up; lowered as the engine does."""
        return until(self.block.take_stop, "the stop's flag")

    # -- dialogs -----------------------------------------------------------------------------------------------------

    def open(self, name: str, count: int, popup: bool) -> None:
        """Open something, and wait until the window manager has placed it."""
        self.ask("open", name)

        def up() -> bool:
            seen = self.ask("look")
            return bool(seen["dialogs"] == count and seen["popup"] == popup and seen["active"])

        until(up, f"the {name}")
        places = self.ask("look")["stops"]

        def settled() -> bool:
            nonlocal places
            before, places = places, self.ask("look")["stops"]
            time.sleep(0.1)
            return bool(before == places)

        until(settled, f"the {name} to be placed")

    def dialog(self, count: int = 1) -> None:
        """Wait until so many dialogs are up, no popup, and some window has the keyboard."""

        def up() -> bool:
            seen = self.ask("look")
            return bool(seen["dialogs"] == count and seen["active"] and not seen["popup"])

        until(up, f"{count} dialogs")

    def choose_file(self, path: Path) -> None:
        """Type the name of a file into the file dialog that comes up.

        Metacity gives a window no focus while somebody types elsewhere: its field is clicked into, as a person does.
        """
        self.dialog()
        self.enter("file_name()", str(path))
        self.key("Return")
        self.dialog(0)

    def close_all(self) -> None:
        """Close whatever is up."""

        def gone() -> bool:
            seen = self.ask("close")
            return not seen["dialogs"] and not seen["popup"]

        until(gone, "everything to be closed")


@pytest.fixture(scope="session", params=list(MANAGERS))
def manager(request: pytest.FixtureRequest) -> str:
    """Name of a window manager."""
    return str(request.param)


@pytest.fixture(scope="session")
def shared_desk(manager: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The app on a session without processes, under each window manager; one for all tests under it."""
    with ExitStack() as owner:
        made = Desk(manager, tmp_path_factory.mktemp(manager), owner)
        yield made
        made.ask("quit")


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    """That desk as it was at first: nothing up, no engine, the demo unchanged."""
    shared_desk.close_all()
    shared_desk.do("fresh()")
    shared_desk.wait("session.status is None and window.width() == 1280")
    shared_desk.hand("windowactivate", shared_desk.value("int(window.winId())"))  # wherever the keyboard was left
    shared_desk.dialog(0)
    return shared_desk
