"""Checks that a configuration switches off by name: off they are, and everybody is told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest
from lockstep_bench import Bench, bench_config

from rig.cli import main
from rig.config.rig_config import load_config
from rig.config.sections import CheckName, Safety
from rig.engine.messages import Connect, Engage
from rig.errors import ConfigError, ExitCode, RefusedError
from rig.report import summarize, write_report
from rig.states import FaultCode, State

NAMES = get_args(CheckName)
OFF = 'off = ["force_residual", "tare_shift"]'


@contextmanager
def rig_without(folder: Path, *names: str) -> Iterator[Bench]:
    with Bench(folder, bench_config(safety={"off": names})) as bench:
        yield bench


def config_without(folder: Path) -> Path:
    path = folder / "rig.toml"
    text = load_config("virtual").path.read_text(encoding="utf-8")
    assert "off = []" in text
    path.write_text(text.replace("off = []", OFF), encoding="utf-8")
    return path


def test_the_bound_of_a_check_that_is_off_is_infinite() -> None:
    assert all(Safety().bound(name) == getattr(Safety(), name) for name in NAMES)
    for name in NAMES:
        without = Safety(off=(name,))
        assert without.bound(name) == float("inf")
        assert all(without.bound(other) == getattr(without, other) for other in NAMES if other != name)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["gravity"], r"safety.off\[1\]: must be 'following_error', .*'tare_shift'.*, not 'gravity'"),
        (["tare_shift", "tare_shift"], "safety.off: 'tare_shift' is there twice"),
        (["condition"], "condition is never switched off: near a singular pose .* that may be: following_error"),
        (["heartbeat"], "heartbeat is never switched off: a client that hangs"),
        ("tare_shift", "safety.off"),
        ([["tare_shift"], ["tare_shift"]], "safety.off"),
        ([1e3], r"safety.off\[1\]"),
    ],
)
def test_other_names_are_refused(names: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config().changed({"safety": {"off": names}})


def test_every_bound_may_be_off_or_says_why_not() -> None:
    for name in Safety.model_fields:
        if name in ("off", "characteristic_length"):  # a list, a unit of length
            continue
        if name in NAMES:
            assert load_config().changed({"safety": {"off": [name]}}).safety.off == (name,)
        else:
            with pytest.raises(ConfigError, match=f"{name} is never switched off"):
                load_config().changed({"safety": {"off": [name]}})


@pytest.mark.parametrize(
    ("check", "fault", "value", "code"),
    [
        ("force_residual", "force_step", 60.0, FaultCode.FORCE_RESIDUAL),
        ("following_error", "encoder_jump", 0.003, FaultCode.FOLLOWING_ERROR),
        ("position_jump", "encoder_jump", 0.003, FaultCode.POSITION_JUMP),
        ("frozen_cycles", "encoder_frozen", None, FaultCode.FEEDBACK_FROZEN),
    ],
)
def test_what_is_off_is_not_looked_at(
    check: str, fault: str, value: float | None, code: FaultCode, tmp_path: Path
) -> None:
    with rig_without(tmp_path, *(name for name in NAMES if name != check)) as bench:
        bench.run().inject(fault, 3, value)
        bench.until_state(State.FAULT)
        assert bench.machine.cause is not None and bench.machine.cause.code is code
    (tmp_path / "off").mkdir()
    with rig_without(tmp_path / "off", *NAMES) as bench:
        bench.run().inject(fault, 3, value)
        bench.steps(20)
        assert bench.machine.cause is None or bench.machine.cause.code is not code


def test_a_runaway_is_one_without_the_check_of_the_following_error(tmp_path: Path) -> None:
    with rig_without(tmp_path, *NAMES) as bench:
        bench.run().inject("encoder_frozen", 3)
        bench.until_state(State.FAULT)
        assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.RUNAWAY


def test_a_shifted_zero_may_be_borne(tmp_path: Path) -> None:
    cells = {"bias": [0.0, 0.0, 12.0, 0.0, 0.0, 0.0]}
    with Bench(tmp_path, bench_config(virtual={"cells": cells})) as bench:
        bench.park()
        with pytest.raises(RefusedError, match="bound 5 N"):
            bench.rig.request(Engage())
    (tmp_path / "off").mkdir()
    changed = bench_config(virtual={"cells": cells}, safety={"off": ["tare_shift"]})
    with Bench(tmp_path / "off", changed) as bench:
        bench.engage()


@pytest.mark.usefixtures("undrawn_reports")
def test_the_engine_and_the_report_say_it(tmp_path: Path) -> None:
    with rig_without(tmp_path, "tare_shift", "force_residual") as bench:
        bench.rig.request(Connect())
        bench.steps(20)
        recording = bench.recording()
    (event,) = (event for event in recording.events if "switched off" in event.text)
    assert event.text == "switched off by safety.off, not checked: tare_shift, force_residual"
    summary = summarize(recording)
    assert summary["checks_off"] == ["tare_shift", "force_residual"]
    write_report(recording, tmp_path / "report.html", summary=summary)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Checks switched off, by the configuration: tare_shift, force_residual" in page


def test_check_and_doctor_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = config_without(tmp_path)
    assert main(["check", str(path)]) == 0
    assert "warning: checks switched off by safety.off, not checked: force_residual, tare_shift" in (
        capsys.readouterr().out
    )
    assert main(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checks_off"] == ["force_residual", "tare_shift"]
    main(["doctor", str(path), "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    (found,) = (finding for finding in findings if finding["name"] == "checks")
    assert found["status"] == "warn" and "force_residual, tare_shift" in found["detail"]


@pytest.mark.parametrize("command", [["operate", "--lockstep"], ["run", "demo", "--lockstep", "--amplitude", "0.001"]])
def test_every_start_says_it(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise RefusedError("started")

    monkeypatch.setattr("sys.stdin", StringIO())
    monkeypatch.setattr("rig.client.conduct", refuse)
    monkeypatch.setattr("rig.client.runs.conduct", refuse)
    name, *rest = command
    assert main([name, str(config_without(tmp_path)), *rest, "-o", str(tmp_path / "out")]) == ExitCode.REFUSED
    said = "warning: checks switched off by safety.off, not checked: force_residual, tare_shift"
    assert said in capsys.readouterr().err
