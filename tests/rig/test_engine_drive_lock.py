"""One engine to a drive, however its host is spelt, and what one that is refused leaves behind."""

import multiprocessing
import os
import pwd
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from engine_support import CONFIG

from rig.client import on_free_ports
from rig.config import LegDrive, leg_section
from rig.engine.drive_lock import claim_addresses, claim_drives
from rig.engine.drive_names import drive_names
from rig.engine.process import run_engine
from rig.errors import HardwareError
from rig.runtime.runtime_folder import RuntimeFolder


def test_a_drive_takes_one_engine() -> None:
    config, other = on_free_ports(CONFIG), on_free_ports(CONFIG)
    legs = other.resolved()["drives"]["legs"]
    sharing = other.changed({"drives": {"legs": [*legs[:4], config.resolved()["drives"]["legs"][4], legs[5]]}})
    with claim_drives(config):
        for leg, again in ((1, config), (5, sharing)):
            with pytest.raises(
                HardwareError, match=rf"leg {leg}: another program \(process {os.getpid()}, .*\) commands"
            ):
                claim_drives(again)
        claim_drives(other).close()  # what the refused one had claimed before is free
    claim_drives(config).close()


def drive_at(host: str, port: int = 502, unit: int = 1) -> LegDrive:
    return leg_section("servo").model_validate({"host": host, "port": port, "unit": unit})


@pytest.mark.parametrize(
    ("host", "again"),
    [
        ("localhost", "127.0.0.1"),
        ("127.0.0.1", "LocalHost"),
        ("127.0.0.1", "[::1]"),
        ("::1", "localhost"),
        ("127.0.0.1", "::ffff:127.0.0.1"),
        ("127.0.0.1", "127.1"),
        ("2001:DB8::0:1", "2001:db8:0::1"),
        ("Drive-1.invalid", "drive-1.INVALID."),
        ("d" * 80, "D" * 80),  # longer than a label of a name may be
        (f"{'drive.' * 20}invalid", f"{'drive.' * 20}Invalid"),
    ],
)
def test_a_drive_is_one_however_its_host_is_spelt(host: str, again: str) -> None:
    with claim_addresses({3: drive_at(host)}):
        with pytest.raises(HardwareError, match="leg 2: another program"):
            claim_addresses({1: drive_at("127.0.0.2"), 2: drive_at(again)})
        claim_addresses({1: drive_at(again, port=503), 2: drive_at(again, unit=2)}).close()
        claim_addresses({1: drive_at("127.0.0.2")}).close()
    with pytest.raises(HardwareError, match="legs 1 and 4 have the same drive at"):
        claim_addresses({1: drive_at(host), 4: drive_at(again)})
    claim_addresses({3: drive_at(again)}).close()


def test_a_claim_that_another_user_holds_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with claim_addresses({3: drive_at("127.0.0.1")}):
        own = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: own + 1)
        with pytest.raises(HardwareError) as refused:
            claim_addresses({2: drive_at("localhost")})
    name = pwd.getpwuid(own).pw_name
    assert f"leg 2: user {name} (process {os.getpid()}, `" in str(refused.value)
    assert str(refused.value).endswith("only that user or the administrator can end it")


def test_a_claim_that_is_squatted_without_a_word_is_said_to_be() -> None:
    (name,) = drive_names({3: drive_at("127.0.0.1")})[3]
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(name)
        with pytest.raises(HardwareError, match=r"leg 3: another program .* does not say who it is: `sudo ss -xp`"):
            claim_addresses({3: drive_at("127.0.0.1")})
    claim_addresses({3: drive_at("127.0.0.1")}).close()


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, answered = threading.Event(), threading.Event()
    look_up = socket.getaddrinfo

    def slow(host: str, *arguments: Any, **options: Any) -> Any:
        if not options["flags"]:
            answer.wait(60.0)
            answered.set()
            raise socket.gaierror
        return look_up(host, *arguments, **options)

    monkeypatch.setattr("rig.engine.drive_names.socket.getaddrinfo", slow)
    monkeypatch.setattr("rig.engine.drive_names._RESOLUTION", 0.01)
    with claim_addresses({1: drive_at("drive")}):
        with pytest.raises(HardwareError, match="leg 2: another program"):
            claim_addresses({2: drive_at("DRIVE")})
        assert not answered.is_set()
    answer.set()
    assert answered.wait(10.0)


def test_an_engine_that_cannot_start_and_has_nobody_to_tell_leaves_no_folder(tmp_path: Path) -> None:
    config = on_free_ports(CONFIG)
    holds = ExitStack()
    folder = RuntimeFolder.create(holds)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    engine = context.Process(target=run_engine, args=(config, tmp_path / "run.mcap", folder, theirs))
    with claim_drives(config):
        engine.start()
        theirs.close()
        ours.close()  # all that is left to see of an owner that was killed
        holds.close()
        try:
            engine.join(60.0)
            assert engine.exitcode == 0
        finally:
            engine.kill()
            engine.join()
    assert not folder.path.exists()
