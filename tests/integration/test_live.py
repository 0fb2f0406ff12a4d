"""The rig as real processes: a whole run, the death of the engine and of its client, and Ctrl-C at the command."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from live_bench import SPEED, Command, command, live_config, shared_memory
from lockstep_bench import MOTION, causes, motion_table
from processes import offspring
from waiting import eventually

from actuators import Status
from kinematics import MotionTable, TrajectorySpec, build_trajectory
from rig.cli import main
from rig.client import free_ports
from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.client.post_mortem import ask_drives
from rig.client.runs import execute
from rig.engine.devices import make_drive_group
from rig.engine.link import LinkClient
from rig.engine.messages import Connect, Disconnect, Engage, Follow, Home, Park, Shutdown
from rig.errors import ExitCode, RefusedError
from rig.findings import Code
from rig.recording import open_recording
from rig.runtime.shared_memory import ControlBlock
from rig.runtime.spawning import begin_server
from rig.states import FaultCode, State

STOPPED = [Code.WATCHDOG_STOPPED, Code.BRAKE_ON, Code.STANDSTILL]

WAIT = 60.0  # s


@pytest.fixture(scope="module")
def table() -> MotionTable:
    """A motion, prepared before there is an engine that would miss this process meanwhile."""
    return motion_table(live_config())


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path, table: MotionTable) -> Iterator[LiveRig]:
    """A live rig, engaged, at a speed; nothing of it is left afterwards."""
    with LiveRig(live_config(getattr(request, "param", SPEED)), tmp_path / "run.mcap", "first", Interruption()) as made:
        shared = shared_memory(made.engine.pid or 0)
        assert len(shared) == 3
        made.request(Connect())
        made.request(Home())
        engaged(made)
        yield made
    assert not [path for path in shared if path.exists()]


def reach(rig: LiveRig, state: State) -> None:
    rig.wait(lambda status: status.state is state, WAIT, state.name)


def engaged(rig: LiveRig) -> None:
    reach(rig, State.PARKED)
    since = rig.status().t
    rig.wait(lambda status: status.t > since + 0.3, WAIT, "the tare")
    rig.request(Engage())
    reach(rig, State.ENGAGED)


def running(rig: LiveRig, table: MotionTable) -> None:
    rig.request(Follow("bench", table.step), table.samples)
    rig.wait(lambda status: status.path_time > 0.7, WAIT, "the motion to run")
    assert rig.status().state is State.RUNNING


def test_a_run_from_end_to_end(tmp_path: Path) -> None:
    config = live_config()
    trajectory = build_trajectory(TrajectorySpec.model_validate(MOTION), config.machine.geometry.home_pose)
    phases = []
    result = execute(
        config, trajectory, "short", tmp_path / "out", report=lambda progress: phases.append(progress.phase)
    )
    assert result.error is None
    recording = open_recording(result.recording)
    assert recording.complete and recording.dropped == 0 and causes(recording) == []
    assert len(recording.rows) == recording.closing["cycles"] == result.summary["recording"]["rows"]
    assert (recording.rows["state"] == State.RUNNING).any() and recording.rows["state"][-1] == State.PARKED
    assert np.diff(recording.rows["t"]).min() > 0.9 * config.period, "a cycle was caught up"
    assert result.report.exists() and {path.name for path in (tmp_path / "out").iterdir()} == {
        result.report.name,
        result.recording.name,
    }
    assert [phase for i, phase in enumerate(phases) if phase not in phases[:i]] == [
        "checking",
        "connecting",
        "homing",
        "engaging",
        "moving to the start",
        "running",
        "parking",
        "reporting",
    ]


def test_the_engine_is_killed_and_the_drives_stop_by_their_own_watchdog(
    rig: LiveRig, table: MotionTable, tmp_path: Path
) -> None:
    running(rig, table)
    assert rig.virtual is not None
    last = rig.status().t
    alive = time.monotonic()
    os.kill(rig.engine.pid or 0, signal.SIGKILL)
    killed = rig.virtual.look().time
    # nothing is asked of the drives meanwhile: whatever stops them is their own
    eventually(lambda: rig.virtual is not None and rig.virtual.look().time > killed + 1.0, "the drives to stop")
    assert not rig.engine.alive
    eventually(lambda: open_recording(tmp_path / "run.mcap").complete, "the recorder to close the recording")
    lengths = open_recording(tmp_path / "run.mcap").rows["length"][-1]
    legs = ask_drives(rig.config, alive, lengths, patience=30.0)  # by reading alone
    for leg in legs:
        assert leg.safe and [found.code for found in leg.findings] == STOPPED
        assert abs(leg.moved) < 0.1 and leg.rest > 0.3  # the rig's clock may have been behind, and caught up
    assert any(leg.moved != 0.0 for leg in legs)
    drives = make_drive_group(rig.config)
    drives.connect(2.0)
    assert drives.all(Status.WATCHDOG) and drives.all(Status.BRAKE) and not drives.any(Status.ENABLED)
    assert drives.all(Status.STANDSTILL) and drives.all(Status.HOMED)
    drives.close()
    rig.close()
    recording = open_recording(tmp_path / "run.mcap")
    assert len(recording.rows) and recording.rows["t"][-1] > last - 1.0
    assert (recording.rows["state"][-1], recording.dropped) == (State.RUNNING, 0)


@pytest.mark.parametrize("rig", [1.0], indirect=True)
def test_the_client_goes_and_another_one_parks_the_rig(rig: LiveRig, table: MotionTable, tmp_path: Path) -> None:
    running(rig, table)
    with ExitStack() as stack:
        block = ControlBlock.attach(rig.engine.address.block)
        stack.callback(block.close)
        second = LinkClient(rig.engine.address.socket)
        stack.callback(second.close)
        rig._beating.close()  # from now on the first is silent
        eventually(lambda: not second.status().lease, "the silent client's lease to be taken back")
        eventually(lambda: second.status().state is State.ENGAGED, "the platform to be held")
        held = second.status()
        assert held.paused and held.cause == "" and held.homed
        sign = block.sign(second.acquire("second"))
        sign.beat()
        with pytest.raises(RefusedError, match="'second' holds the command lease"):
            rig.request(Park())
        second.request(Park())

        def parked() -> bool:
            sign.beat()
            return second.status().state is State.PARKED

        eventually(parked, "the second client to park the rig")
        second.request(Disconnect())
        second.request(Shutdown())
    assert rig.engine.join(WAIT)
    recording = open_recording(tmp_path / "run.mcap")
    assert recording.complete and recording.dropped == 0
    assert causes(recording) == [FaultCode.CLIENT_LOST]
    assert recording.rows["stop"].max() == 1 and recording.rows["state"][-1] == State.PARKED


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def rig_command(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(command(tmp_path, *arguments))


QUICK = {
    'rate = "500 Hz"': 'rate = "200 Hz"',
    "\nstiffness = 20.0e3": "\nstiffness = 8.0e3",  # stable at this rate
    "\ndamping = 900.0": "\ndamping = 360.0",
    'start_spread = "10 mm"': 'start_spread = "1 mm"',
    "heartbeat = 0.5": "heartbeat = 4.0",
}
"""What of the shipped configuration's text is changed for a run that costs little."""
SWING = """frame = "home"
[[parts]]
type = "harmonic"
duration = 20
fade = 0.5
terms = [{ dof = "z", amplitude = "20 mm", frequency = 0.9 }, { dof = "x", amplitude = "15 mm", frequency = 0.7 }]
"""


def configuration(folder: Path, ports: list[int], *, virtual: bool) -> Path:
    """The shipped configuration on other ports, as a file."""
    text = (resources.files("rig.config") / "shipped" / "virtual.toml").read_text(encoding="utf-8")
    for leg, port in enumerate(ports, start=1):
        text = text.replace(f"port = 1502{leg},", f"port = {port},")
    for shipped, quick in QUICK.items():
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, quick)
    if not virtual:
        text = text[: text.index("\n[virtual]")].replace("connect_timeout = 2.0", "connect_timeout = 0.3")
    path = folder / "rig.toml"
    path.write_text(text)
    return path


@pytest.fixture
def running_command(rig_command: Callable[..., Command], tmp_path: Path) -> Command:
    """`rig run` on a quick rig of a motion that begins where the platform stands."""
    configuration(tmp_path, free_ports(6), virtual=True)
    (tmp_path / "swing.toml").write_text(SWING)
    return rig_command("run", "rig.toml", "swing.toml", "-o", "out")


def test_ctrl_c_stops_the_rig_in_a_controlled_way(running_command: Command) -> None:
    path = running_command.until_running()
    running_command.interrupt()
    assert running_command.ended() == ExitCode.INTERRUPTED
    out, err = running_command.texts()
    assert err == "error: interrupted; the rig was stopped\n"
    assert str(path.name) in out
    recording = open_recording(path)
    assert recording.complete and recording.dropped == 0
    assert causes(recording) == [FaultCode.OPERATOR_STOP]
    assert recording.rows["stop"].max() == 2 and recording.rows["state"][-1] == State.PARKED
    assert sorted(item.suffix for item in path.parent.iterdir()) == [".html", ".mcap"]


def test_a_second_ctrl_c_stops_at_once(running_command: Command) -> None:
    path = running_command.until_running()
    running_command.interrupt()
    running_command.until_stopping()
    running_command.interrupt()
    assert running_command.ended() == ExitCode.INTERRUPTED
    assert running_command.texts()[1] == "error: interrupted twice; the torque was taken off at once\n"
    recording = open_recording(path)
    assert recording.complete and recording.dropped == 0
    stops = [event.text for event in recording.events if event.code == FaultCode.OPERATOR_STOP]
    assert len(stops) == 2 and stops[0].endswith("category 1") and stops[1].endswith("category 0")


def test_ctrl_c_before_anything_moves_leaves_nothing(rig_command: Callable[..., Command], tmp_path: Path) -> None:
    demo = rig_command("demo", "--duration", "8", "-o", "out")
    eventually((tmp_path / "out").exists, "the processes to be started")
    demo.interrupt()
    assert demo.ended() == ExitCode.INTERRUPTED
    out, err = demo.texts()
    assert out == "" and err.endswith("\nerror: interrupted before anything moved\n") and err.count("\n") == 2
    assert not (tmp_path / "out").exists()


CarriedOut = Callable[..., tuple[int, str, str]]


@pytest.fixture
def carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CarriedOut:
    """Carries out a command in this process: exit code and what it wrote. No process of it is left then."""
    begin_server()
    monkeypatch.chdir(tmp_path)

    def carry_out(*arguments: str) -> tuple[int, str, str]:
        before = offspring(os.getpid()).keys()
        code = main(list(arguments))
        eventually(lambda: offspring(os.getpid()).keys() <= before, "the last process of the command to end", 10.0)
        return code, *capfd.readouterr()

    return carry_out


_WAY_OUT = "end the program that listens there, or give another port"


@pytest.mark.parametrize("arguments", [("run", "rig.toml", "demo", "-o", "out"), ("virtual", "rig.toml")])
def test_a_port_that_is_taken(carried_out: CarriedOut, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ports = free_ports(6)
    configuration(tmp_path, ports, virtual=True)
    with socket.create_server(("127.0.0.1", ports[2])):
        code, out, err = carried_out(*arguments)
    assert code == ExitCode.HARDWARE
    assert (out, err) == ("", f"error: cannot listen on 127.0.0.1:{ports[2]}: Address already in use: {_WAY_OUT}\n")
    assert not (tmp_path / "out").exists()


def test_a_drive_that_is_silent(carried_out: CarriedOut, tmp_path: Path) -> None:
    ports = free_ports(6)
    configuration(tmp_path, ports, virtual=False)
    with ExitStack() as stack:
        for port in ports:
            stack.enter_context(socket.create_server(("127.0.0.1", port)))
        code, out, err = carried_out("run", "rig.toml", "demo", "-o", "out")
    assert code == ExitCode.HARDWARE
    assert out == "" and err.startswith("error: connect: 6 devices cannot be used:\n") and err.count("\n") == 7
    for leg, port in enumerate(ports, start=1):
        assert f"leg {leg}: drive {leg} at 127.0.0.1:{port} did not answer within 0.3 s" in err
    assert not (tmp_path / "out").exists()


def test_the_virtual_rig_is_served_until_ctrl_c(rig_command: Callable[..., Command], tmp_path: Path) -> None:
    ports = free_ports(6)
    configuration(tmp_path, ports, virtual=True)
    served = rig_command("virtual", "rig.toml")
    eventually(lambda: "Ctrl-C ends it" in served.texts()[0], "the virtual rig to be served")
    for port in ports:
        socket.create_connection(("127.0.0.1", port), 5.0).close()
    served.interrupt()
    assert served.ended() == ExitCode.OK
    out, err = served.texts()
    assert err == "" and all(f"127.0.0.1:{port}" in out for port in ports)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports[0]), 5.0)
