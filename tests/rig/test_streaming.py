"""Telemetry of a running engine to those who plot it: over real sockets, understood by somebody else's code."""

import contextlib
import errno
import json
import os
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from engine_stand_in import StandIn
from mcap_ros2._dynamic import generate_dynamic
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from rig.cli import main
from rig.cli.options import address_of
from rig.client import FoxgloveOutlet, PlotJugglerOutlet, stream
from rig.config.rig_config import RigConfig
from rig.engine import RunningEngine, find_engine
from rig.errors import ExitCode, HardwareError, InputError
from rig.telemetry import ROW

HOST = "127.0.0.1"
TIMEOUT = 20.0


@pytest.fixture
def engine(stand_in: StandIn, free_config: RigConfig) -> RunningEngine:
    found = find_engine(free_config)
    assert found is not None
    return found


def row(cycle: int, period: float = 0.002) -> np.ndarray:
    made = np.zeros(1, ROW)
    made["cycle"], made["t"] = cycle, cycle * period
    made["force_measured"] = np.arange(1.0, 7.0) + cycle
    made["position_command"] = np.nan
    return made


@contextlib.contextmanager
def streaming(engine: RunningEngine, outlet, rate: float, push: Callable[[int], None]) -> Iterator[list[int]]:
    """Stream in a thread, beside one that pushes cycle after cycle until the block's end."""
    ended, sent = threading.Event(), []

    def run() -> None:
        sent.append(stream(engine, outlet, rate, ended.is_set))

    def work() -> None:
        cycle = 0
        while not ended.wait(1e-3):
            push(cycle)
            cycle += 1

    threads = [threading.Thread(target=run), threading.Thread(target=work)]
    for thread in threads:
        thread.start()
    try:
        yield sent
    finally:
        ended.set()
        for thread in threads:
            thread.join(TIMEOUT)


def test_plotjuggler_is_sent_as_many_rows_a_second_as_it_is_to_have(stand_in: StandIn, engine: RunningEngine):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((HOST, 0))
        receiver.settimeout(TIMEOUT)
        with (
            contextlib.closing(PlotJugglerOutlet(*receiver.getsockname())) as outlet,
            streaming(engine, outlet, 100.0, lambda cycle: stand_in.ring.push(row(cycle))) as sent,
        ):
            heard = [json.loads(receiver.recv(65536)) for _ in range(8)]
    cycles = [said["cycle"] for said in heard]
    assert np.diff(cycles).tolist() == [5] * 7  # 500 Hz, every fifth
    first = heard[0]
    assert first["force_measured"] == {str(leg): leg + cycles[0] for leg in range(1, 7)}
    assert "position_command" in first and first["position_command"] == {}  # what is not a number is left out
    assert heard[-1]["timestamp"] - first["timestamp"] == pytest.approx(7 * 0.01, abs=1e-6)
    assert sent[0] >= 8


def subscribed(client: ClientConnection) -> dict[str, Any]:
    """Subscribe to the first channel that a Foxglove server tells of; what it says of it."""
    while True:
        said = client.recv(TIMEOUT)
        if isinstance(said, str) and (message := json.loads(said))["op"] == "advertise":
            channel: dict[str, Any]
            (channel,) = message["channels"]
            subscription = {"id": 7, "channelId": channel["id"]}
            client.send(json.dumps({"op": "subscribe", "subscriptions": [subscription]}))
            return channel


def test_foxglove_reads_the_messages_of_a_recording(stand_in: StandIn, engine: RunningEngine):
    with (
        contextlib.closing(FoxgloveOutlet(HOST, 0)) as outlet,
        streaming(engine, outlet, 1000.0, lambda cycle: stand_in.ring.push(row(cycle))),
        connect(f"ws://{HOST}:{outlet.port}", subprotocols=[Subprotocol("foxglove.sdk.v1")]) as client,
    ):
        channel = subscribed(client)
        data = b""
        while not data:
            data = said if isinstance(said := client.recv(TIMEOUT), bytes) and said[0] == 1 else b""
    assert (channel["topic"], channel["encoding"], channel["schemaEncoding"]) == ("/rig/cycle", "cdr", "ros2msg")
    _, subscription, log_time = struct.unpack_from("<BIQ", data)
    cycle = generate_dynamic(channel["schemaName"], channel["schema"])[channel["schemaName"]](data[13:])
    assert subscription == 7 and log_time > 1_600_000_000 * 10**9
    assert list(cycle.force_measured) == [leg + cycle.cycle for leg in range(1, 7)]
    assert cycle.t == pytest.approx(0.002 * cycle.cycle)


def test_what_cannot_be_streamed_is_refused(engine: RunningEngine, stand_in: StandIn):
    with contextlib.closing(PlotJugglerOutlet(HOST, 9)) as outlet:
        for rate in (0.0, -1.0, np.nan, np.inf):
            with pytest.raises(InputError, match=rf"rate {rate} Hz is not a positive number"):
                stream(engine, outlet, rate, lambda: True)
        stand_in.engine.close()
        with pytest.raises(HardwareError, match=r"the engine \(process \d+\) has ended"):
            stream(engine, outlet, 1.0, lambda: True)
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HardwareError, match=f"cannot serve Foxglove at {HOST}:{port}"):
            FoxgloveOutlet(HOST, port)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("a..b:9870", "PlotJuggler at a..b:9870: not a host name"),
        (f"{'a' * 70}:9870", "not a host name"),
        ("::1:9870", "an IPv6 address goes in brackets, as in [::1]:9870"),
        ("[:::9870", "an IPv6 address goes in brackets"),
        ("nowhere", "give HOST:PORT, with a port of 1 to 65535"),
    ],
)
def test_an_address_that_is_none_is_refused_in_words(
    at: str, said: str, stand_in: StandIn, free_config: RigConfig, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    monkeypatch.setattr("rig.config.load_config", lambda _name: free_config)
    assert main(["stream", "plotjuggler", "--at", at]) == ExitCode.INPUT
    assert said in capsys.readouterr().err


def test_addresses_are_said_as_they_are_typed_and_opened():
    assert address_of("[::1]:9870", "--at") == ("::1", 9870)
    with pytest.raises(InputError, match=r"PlotJuggler at \[::zz\]:9870: "):
        PlotJugglerOutlet("::zz", 9870)
    with contextlib.closing(FoxgloveOutlet("0.0.0.0", 0)) as server:
        assert server.place == f"to Foxglove at ws://{socket.gethostname()}:{server.port}"


def test_what_cannot_leave_is_said_once_and_not_counted(stand_in: StandIn, engine: RunningEngine):
    warned: list[str] = []
    pushed = iter(range(1000))

    def ended() -> bool:
        stand_in.ring.push(row(next(pushed)))
        return bool(warned) and next(pushed) > 40

    with contextlib.closing(PlotJugglerOutlet("255.255.255.255", 9)) as outlet:  # to all, which nobody has allowed
        assert stream(engine, outlet, 500.0, ended, warned.append) == 0
    assert warned in ([os.strerror(errno.EACCES)], [os.strerror(errno.ENETUNREACH)])  # the latter without any network


def test_the_command_ends_with_the_engine(
    stand_in: StandIn, free_config: RigConfig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("rig.config.load_config", lambda _name: free_config)
    assert main(["stream", "plotjuggler", "--at", "nowhere"]) == ExitCode.INPUT
    assert "--at 'nowhere': give HOST:PORT, with a port of 1 to 65535" in capsys.readouterr().err
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((HOST, 0))
        receiver.settimeout(0.01)
        place = "{}:{}".format(*receiver.getsockname())

        def end_once_heard() -> None:
            for cycle in range(2000):
                stand_in.ring.push(row(cycle))
                with contextlib.suppress(TimeoutError):
                    if receiver.recv(65536):
                        break
            stand_in.lock.close()

        thread = threading.Thread(target=end_once_heard)
        thread.start()
        assert main(["stream", "plotjuggler", "--at", place]) == ExitCode.OK
        thread.join(TIMEOUT)
    out = capsys.readouterr().out
    assert f"to PlotJuggler at {place}: start there Streaming → UDP Server, port" in out
    assert re.search(r"\n[1-9]\d* cycles were sent; the engine has ended\n$", out)
    assert main(["stream", "foxglove"]) == ExitCode.HARDWARE
    assert "no engine of yours commands" in capsys.readouterr().err
