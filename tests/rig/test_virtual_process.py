import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from configured import endpoints

from actuators import COMMAND_OFF, Drive, create_drive, exchange_all
from rig.client import free_ports
from rig.config.rig_config import RigConfig, load_config
from rig.errors import ConfigError, HardwareError, InputError
from rig.virtual import RigView, VirtualRigProcess, serve_virtual_rig
from rig.virtual.process import LINGER


@pytest.fixture
def config() -> RigConfig:
    legs = [{"host": "127.0.0.1", "port": port} for port in free_ports(6)]
    return load_config("virtual").changed({"drives": {"legs": legs}})


@pytest.fixture
def drives(config: RigConfig) -> Iterator[list[Drive]]:
    made = [
        create_drive("servo", {"name": f"drive {leg}", "host": host, "port": port})
        for leg, (host, port) in enumerate(endpoints(config), start=1)
    ]
    yield made
    for drive in made:
        drive.close()


def test_six_drives_over_tcp(config: RigConfig, drives: list[Drive]) -> None:
    with VirtualRigProcess(config) as rig:
        assert rig.alive
        for drive in drives:
            drive.connect(2.0)
            drive.configure()
        assert [drive.identify().serial for drive in drives] == [f"VIRTUAL-{leg}" for leg in range(1, 7)]
        for _ in range(20):
            feedback = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), 1.0)
            assert all(item.fresh for item in feedback)
        assert sum(item.force for item in feedback) > 100.0  # the platform's weight

        # the machine's monotonic clock is the rig's
        before = time.monotonic()
        view = rig.look()
        assert before - 1.0 < view.time <= time.monotonic()
        assert view.plant_fault == ""

        view = rig.inject("cell_nan", 2, duration=60.0)
        assert [(fault.name, fault.leg) for fault in view.faults] == [("cell_nan", 2)]
        feedback = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), 1.0)
        assert feedback[1].force != feedback[1].force
        with pytest.raises(InputError, match="no fault 'nothing'"):
            rig.inject("nothing")
        assert rig.clear().faults == ()

        # Ctrl-C at a terminal reaches every process of the group: the rig waits for its owner
        assert rig.pid is not None
        os.kill(rig.pid, signal.SIGINT)
        assert rig.look().faults == ()

        with pytest.raises(HardwareError, match="started already"):
            rig.start()
        taken = VirtualRigProcess(config)
        with pytest.raises(HardwareError, match=f"127.0.0.1:{endpoints(config)[0][1]}"):
            taken.start()
        assert taken.pid is None
    assert not rig.alive
    rig.stop()
    with pytest.raises(HardwareError, match="not running"):
        rig.look()
    # nothing listens any more
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", config.drives.legs[0].port), 1.0)


def test_what_cannot_be_served_and_what_dies_is_reported(config: RigConfig) -> None:
    broken = config.changed({"virtual": {"faults": [{"fault": "nothing"}]}})
    rig = VirtualRigProcess(broken)
    with pytest.raises(ConfigError, match=r"virtual.faults\[1\]: no fault 'nothing'"):
        rig.start()
    with VirtualRigProcess(config) as rig:
        assert rig.pid is not None
        os.kill(rig.pid, signal.SIGKILL)
        with pytest.raises(HardwareError, match="died"):
            rig.look()
            rig.look()


def test_ends_with_its_owner_but_not_before_its_clients(config: RigConfig, drives: list[Drive]) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_virtual_rig, args=(config, theirs))
    process.start()
    theirs.close()
    assert isinstance(ours.recv(), RigView)
    drives[0].connect(2.0)
    drives[0].identify()  # the connection is taken, not only waiting
    ours.close()  # all that is left to see of an owner that was killed
    process.join(LINGER + 1.0)
    assert process.is_alive() and drives[0].observe(2.0).fresh
    drives[0].close()
    process.join(LINGER + 30.0)
    assert process.exitcode == 0
