"""`rig.open` on an engine that runs already: attached to, refused with who commands it, let go of again."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from configured import endpoints
from engine_stand_in import StandIn
from waiting import PATIENCE, eventually

import rig
from kinematics import Kernel
from rig.client.live import LiveRig
from rig.client.telemetry import Telemetry, TelemetryLog
from rig.config.rig_config import RigConfig
from rig.engine import Disconnect, Home, Shutdown, Stop, find_engine
from rig.errors import HardwareError, InputError, RefusedError
from rig.states import State
from rig.telemetry import ROW


def test_a_running_engine_is_attached_to_and_goes_on(stand_in: StandIn, free_config: RigConfig) -> None:
    with rig.open(free_config) as robot:
        assert robot.status.lease == f"script (process {os.getpid()})"
        assert robot.recording.name == "run.mcap" and robot.state is State.ENGAGED
        beats = stand_in.beats()
        eventually(lambda: stand_in.beats() > beats + 2, "a heartbeat of its own")
    assert robot.closed and stand_in.leases.client == "" and stand_in.commands == []
    found = find_engine(free_config)
    assert found is not None and found.alive


_SERVER = """
import sys
import rig
from kinematics import Kernel
from multiprocessing import forkserver
from rig.config import load_config
from rig.errors import InputError
legs = [{"host": "127.0.0.1", "port": int(port)} for port in sys.argv[2:]]
try:
    rig.open(load_config("virtual").changed({"drives": {"legs": legs}}), keep=float(sys.argv[1])).close()
except InputError as error:
    assert "keep" in str(error)
print(forkserver._forkserver._forkserver_pid is not None)
"""
"""What a script of its own says on whether it has a server of processes once it has opened the rig."""


def test_a_server_of_processes_is_only_begun_for_an_engine_that_is_started(
    stand_in: StandIn, free_config: RigConfig
) -> None:
    def begun(keep: str) -> str:
        ports = [str(port) for _, port in endpoints(free_config)]
        environment = os.environ | {"TMPDIR": tempfile.gettempdir()}
        command = [sys.executable, "-c", _SERVER, keep, *ports]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert begun("60.0") == "False\n" and stand_in.leases.client == ""
    stand_in.engine.close()
    assert begun("0.0") == "True\n"  # while it loaded, before it looked at what was wrong


def test_one_whose_owner_is_gone_is_ended_with_it(stand_in: StandIn, free_config: RigConfig) -> None:
    stand_in.owner.close()
    rig.open(free_config).close()
    assert stand_in.commands == [Stop(1), Disconnect(), Shutdown()] and find_engine(free_config) is None


def test_who_commands_the_rig_is_said(stand_in: StandIn, free_config: RigConfig) -> None:
    engine = find_engine(free_config)
    assert engine is not None
    with LiveRig(free_config, engine, "the night shift"):
        with pytest.raises(RefusedError) as refused:
            rig.open(free_config)
        text = str(refused.value)
        assert text.startswith(f"'virtual' is commanded by another client: engine process {os.getpid()}, state ENGAGED")
        assert "'the night shift' holds the command lease" in text
    assert Home() not in stand_in.commands


def test_the_last_reference_lets_go(stand_in: StandIn, free_config: RigConfig) -> None:
    robot = rig.open(free_config)
    assert stand_in.leases.client
    del robot
    assert stand_in.leases.client == ""


def test_the_last_reference_may_end_in_the_heartbeats_thread(
    stand_in: StandIn, free_config: RigConfig, capfd: pytest.CaptureFixture[str]
) -> None:
    """There the collector of rings of references may find it at any time, with what the end waits for held."""
    stand_in.owner.close()
    robot = rig.open(free_config)
    ring = [robot]
    ring.append(ring)  # type: ignore[arg-type]
    live = robot.rig
    assert isinstance(live, LiveRig)
    gone, collect = weakref.ref(robot), live._beating._check

    def look() -> bool:
        with live._watch.lock, live._reading:  # as in the midst of a look
            gc.collect()
        return collect()

    gc.disable()
    try:
        del robot, ring
        live._beating._check = look
        eventually(lambda: gone() is None, "the collector")
        eventually(lambda: not live._beating.is_alive() and find_engine(free_config) is None, "the rig's end")
    finally:
        gc.enable()
    assert stand_in.commands == [Stop(1), Disconnect(), Shutdown()] and capfd.readouterr().err == ""


def test_a_stop_raises_the_flag_before_it_asks(stand_in: StandIn, free_config: RigConfig) -> None:
    with rig.open(free_config) as robot:
        robot.stop(1)
        assert stand_in.block.stop_requested() == 1 and stand_in.commands == [Stop(1)]
        stand_in.server.close()  # an engine whose link has failed
        assert isinstance(robot.rig, LiveRig)
        robot.rig._closed.set()
        with pytest.raises(HardwareError):
            robot.stop(0)
        assert stand_in.block.stop_requested() == 0


def test_a_stop_needs_no_lease_and_waits_behind_nobody(stand_in: StandIn, free_config: RigConfig) -> None:
    engine = find_engine(free_config)
    assert engine is not None
    with LiveRig(free_config, engine, "first") as first, ThreadPoolExecutor(1) as pool:
        stand_in.leases.end(stand_in.leases.holder)  # as after a silence
        with LiveRig(free_config, engine, "second") as second:
            with pytest.raises(RefusedError, match="'second' holds the command lease"):
                first.request(Home())
            first.request(Stop(2))
            assert stand_in.commands == [Stop(2)] and stand_in.leases.client == "second"
            with stand_in.slow() as answer:
                homing = pool.submit(second.request, Home())
                eventually(lambda: Home() in stand_in.commands, "the request that takes its time")
                second.request(Stop(1))
                assert stand_in.commands[-1] == Stop(1) and not homing.done()
                answer()
            homing.result(PATIENCE)


def test_a_file_cannot_be_named_for_an_engine_that_records(
    stand_in: StandIn, free_config: RigConfig, tmp_path: Path
) -> None:
    text = rf"output: {tmp_path}/out: .* process {os.getpid()}, records to .*run\.mcap already; leave `output` out"
    with pytest.raises(InputError, match=text):
        rig.open(free_config, output=tmp_path / "out")
    assert stand_in.leases.client == "" and not (tmp_path / "out").exists()


def test_a_connection_that_was_closed_says_so(stand_in: StandIn, free_config: RigConfig) -> None:
    robot = rig.open(free_config)
    robot.close()
    with pytest.raises(HardwareError, match="the rig was closed"):
        robot.status  # noqa: B018
    with pytest.raises(HardwareError, match="a 'status' request: the connection to the engine was closed"):
        robot.rig.status()


@pytest.mark.parametrize(("options", "text"), [({"keep": 0.0}, "keep: 0 s"), ({"keep": np.nan}, "keep: nan s")])
def test_an_argument_that_cannot_be_is_refused(free_config: RigConfig, options: dict[str, float], text: str) -> None:
    with pytest.raises(InputError, match=text):
        rig.open(free_config, **options)  # type: ignore[arg-type]


def test_lockstep_needs_a_virtual_rig(free_config: RigConfig) -> None:
    with pytest.raises(InputError, match=r"lockstep: .* has no \[virtual\] table"):
        rig.open(free_config.changed({"virtual": None}), lockstep=True)


def test_a_lockstep_rig_that_records_nothing_runs_as_one_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    telemetry = []
    for record in (False, True):
        with rig.open("virtual", lockstep=True, record=record) as robot:
            robot.home()
            telemetry.append(robot.telemetry().rows)
            if not record:
                with pytest.raises(InputError, match="record=False"):
                    robot.recording  # noqa: B018
        assert bool(list(tmp_path.rglob("*.mcap"))) is record
    without, recorded = telemetry
    for name in ROW.names or ():
        if name not in ("exchange_time", "compute_time"):
            assert np.array_equal(without[name], recorded[name], equal_nan=without[name].dtype.kind == "f"), name


def test_only_a_lockstep_rig_may_record_nothing(free_config: RigConfig, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"record: False needs lockstep=True"):
        rig.open(free_config, record=False)
    with pytest.raises(InputError, match=r"output: .* nothing is recorded"):
        rig.open(free_config, lockstep=True, record=False, output=tmp_path)


def rows(first: int, count: int) -> np.ndarray:
    made = np.zeros(count, ROW)
    made["t"] = 0.01 * np.arange(first, first + count)
    made["force_measured"] = np.arange(6)
    made["state"][::2] = State.RUNNING
    return made


def test_the_newest_cycles_are_kept_as_arrays() -> None:
    log = TelemetryLog(25)
    assert len(log.newest()) == 0 and repr(log.newest()) == "Telemetry: no cycles"
    for first in range(0, 100, 10):
        log.add(rows(first, 10))
    data = log.newest()
    assert len(data) == 25 and data.t[[0, -1]] == pytest.approx([0.75, 0.99])
    assert data.forces.shape == (25, 6) and data.forces[3, 5] == 5.0 and data.pose.shape == (25, 7)
    assert len(log.newest(0.1)) == 10 and 0 < len(data.during(State.RUNNING)) < 25
    assert Telemetry.meaning("force_model").startswith("N, model force")
    with pytest.raises(InputError, match="no column 'force'"):
        Telemetry.meaning("force")


def test_importing_rig_brings_nothing_heavy() -> None:
    program = "import sys, rig; print(sorted(set(sys.modules) & {'numpy', 'numba', 'zmq', 'pydantic', 'matplotlib'}))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_ctrl_c_does_not_leave_the_compiler_half_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load() -> None:
        signal.raise_signal(signal.SIGINT)
        loaded.append("whole")

    monkeypatch.setattr(Kernel, "load_compiler", load)
    with pytest.raises(KeyboardInterrupt):
        rig.open("virtual", lockstep=True, output=tmp_path)
    assert loaded == ["whole"] and list(tmp_path.iterdir()) == []
