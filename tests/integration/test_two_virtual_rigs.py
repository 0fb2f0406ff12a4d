"""Virtual rigs of several programs and users on one machine at the same time: none is in another's way."""

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from configured import SHIPPED, endpoints

ROOT = Path(__file__).resolve().parents[2]
OTHER_USER = 65534
SCRIPT = """
import sys
import rig
from rig.runtime import runtime_root
with rig.open("virtual", output=sys.argv[1]) as robot:
    robot.connect()
    print(robot.state.name, runtime_root().name, *(leg.port for leg in robot.config.drives.legs), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def taken() -> Iterator[None]:
    """Another program listens at the ports of the shipped configuration; here, or on this machine already."""
    with contextlib.ExitStack() as stack:
        for place in endpoints(SHIPPED):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_server(place))
        yield


def _as_another_user() -> list[str]:
    """What begins a command that is to be another user's; that user may read all that is this one's to be read."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return []
    who = [f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    return ["setpriv", *who, "--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--"]


@pytest.fixture
def everybody_s() -> Iterator[Path]:
    """A folder in which every user may make files, as /tmp is."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO | stat.S_ISVTX)
        yield folder


@pytest.mark.usefixtures("taken")
def test_scripts_of_two_users_open_virtual_rigs_while_the_ports_of_the_shipped_one_are_taken(everybody_s: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(everybody_s)}
    begins = [[], [], _as_another_user()]
    told: list[list[str]] = []
    with contextlib.ExitStack() as stack:
        scripts = [
            stack.enter_context(
                subprocess.Popen(
                    [*begin, sys.executable, "-c", SCRIPT, str(everybody_s / f"out-{number}")],
                    env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                )
            )
            for number, begin in enumerate(begins)
        ]  # fmt: skip
        for script in scripts:
            assert script.stdout is not None
            told.append(script.stdout.readline().split())
        for script in scripts:
            script.communicate("end\n", timeout=60.0)
        assert [script.returncode for script in scripts] == [0, 0, 0]
    assert [state for state, *_rest in told] == ["IDLE"] * 3
    ports = [int(port) for _state, _root, *ports in told for port in ports]
    assert len(set(ports)) == 18 and not set(ports) & {port for _host, port in endpoints(SHIPPED)}
    roots = [root for _state, root, *_ports in told]
    assert roots[0] == roots[1] and (roots[2] != roots[0]) == bool(begins[2])
