"""What a recording says beside the engine's own events: commands and their outcome, what was injected, payloads."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live_bench import live_config
from lockstep_bench import Bench, bench_config

from rig.client.interruption import Interruption
from rig.client.lifecycle import connect
from rig.client.live import LiveRig
from rig.client.motions import checked_move
from rig.engine import Engage, Home, Pause, Resume, Stop
from rig.engine.journal import Journal
from rig.engine.messages import Follow, Reply, refusal
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.recording import Recorded, open_recording
from rig.recording.schema import COMMAND, INJECTED
from rig.report import summarize, write_report
from rig.runs import runs_of
from rig.safety import Cause, Trip
from rig.states import FaultCode, MotionKind, MotionOutcome, State, StopSeverity


def said(recording: Recorded, start: str) -> list[str]:
    return [event.text.removeprefix(start) for event in recording.events if event.text.startswith(start)]


@pytest.mark.usefixtures("undrawn_reports")
def test_commands_are_recorded_with_their_outcome_and_listed_by_the_report(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.engage()
        with pytest.raises(RefusedError):
            bench.rig.request(Home())
        here = bench.config.machine.geometry.home_pose
        table = checked_move(bench.config, here, here + np.array([0, 0, 2e-3, 0, 0, 0, 0]), 0.02, 0.2)
        bench.rig.request(Follow("jog z", table.step), table.samples)
        table.samples[:, 2] += 0.5
        with pytest.raises(RefusedError):
            bench.rig.request(Follow("far", table.step), table.samples)
        bench.rig.request(Pause())
        bench.rig.request(Stop(2))
        recording = bench.recording()
    commands = said(recording, COMMAND)
    by = ", by 'lockstep'"
    assert commands[:3] == [f"connect{by}", f"home{by}", f"engage{by}"]
    assert commands[3] == f"home{by}, refused: park first"
    assert commands[4] == f"follow 'jog z'{by}" and commands[5].startswith(f"follow 'far'{by}, refused: ")
    assert commands[6:] == [f"pause{by}", f"stop, category 2{by}"]
    moments = {event.text: event.t for event in recording.events}
    assert abs(moments["PARKED → ENGAGING"] - moments[f"{COMMAND}engage{by}"]) <= 2 * bench.config.period
    summary = summarize(recording)
    assert [event["text"] for event in summary["events"] if event["kind"] == "command"] == [
        COMMAND + c for c in commands
    ]
    write_report(recording, tmp_path / "report.html", summary=summary)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ">command</td>" in page and "refused: park first" in page


def test_what_is_injected_is_recorded_when_it_begins_and_ends(tmp_path: Path) -> None:
    faults = [{"fault": "jam", "leg": 3, "at": 0.2, "duration": 0.1, "value": 40.0}]
    config = bench_config(virtual={"faults": faults})
    with Bench(tmp_path, config) as bench:
        bench.steps(80)
        bench.inject("drop_all", leg=2, duration=0.05)
        bench.steps(40)
        bench.inject("payload", value=5.0)
        bench.steps(1)
        bench.virtual.faults.clear()
        bench.steps(1)
        recording = bench.recording()
    begun = [(round(e.t, 2), e.text.removeprefix(INJECTED)) for e in recording.events if e.text.startswith(INJECTED)]
    assert begun == [
        (0.0, "to come: leg 3 jammed, 40, 0.2 s after the virtual rig's start, for 0.1 s"),
        (0.2, "injected: leg 3 jammed, 40 N for 0.1 s"),
        (0.3, "ended: leg 3 jammed"),
        (0.4, "injected: cable 2 unplugged for 0.05 s"),
        (0.45, "ended: cable 2 unplugged"),
        (0.6, "injected: unknown payload, 5 kg"),
        (0.6, "cleared: unknown payload"),
    ]


def test_a_payload_of_the_configuration_is_recorded_and_listed_by_the_report(tmp_path: Path) -> None:
    plant = {"payload": {"mass": "5 kg", "center_of_mass": [0, 0, 0.1]}, "mass_scale": 1.1}
    with Bench(tmp_path, bench_config(virtual={"plant": plant, "cells": {"bias": [0, 0, 3.0, 0, 0, 0]}})) as bench:
        bench.steps(20)
        recording = bench.recording()
    assert said(recording, INJECTED) == [
        "a payload of 5 kg at (0, 0, 0.1) m that the model does not know of",
        "masses 1.1 times the model's",
        "bias of the load cells 0, 0, 3, 0, 0, 0 N",
    ]
    write_report(recording, tmp_path / "report.html", summary=summarize(recording))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ">virtual rig</td>" in page and "a payload of 5 kg at" in page


def test_no_client_floods_the_recording(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        for _ in range(10):
            for _ in range(100):
                bench.rig.operator.journal.command(
                    "engage", "", Reply(False, refusal("engage", Finding(Code.LEASE_NEEDED)))
                )
            bench.steps(1)
        bench.steps(round(1.1 / bench.config.period))
        bench.rig.operator.journal.injected("", "the last")
        bench.steps(1)
        recording = bench.recording()
    texts = [event.text for event in recording.events]
    refused = f"{COMMAND}engage, by a client without the lease, refused: {Finding(Code.LEASE_NEEDED)}"
    assert (
        texts.count(refused) == 50
        and f"{COMMAND}and 950 more within a second" in texts
        and "virtual rig: the last" in texts
    )


def test_jogging_a_hundred_times_is_recorded_whole(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        journal = Journal(bench.engine)
        for number in range(100):
            journal.command(f"follow 'jog {number}'", "rig gui", Reply(True))
            bench.steps(15)
            journal.write()
        recording = bench.recording()
    assert len([text for text in said(recording, COMMAND) if "jog" in text]) == 100


def test_on_real_processes_the_engine_hears_of_clients_and_of_the_virtual_rig(tmp_path: Path) -> None:
    config = live_config().changed({"virtual": {"faults": [{"fault": "jam", "leg": 6, "value": 1.0}]}})
    with LiveRig(config, tmp_path / "run.mcap", "tester", Interruption()) as rig:
        connect(rig)
        stranger = rig.engine.client()
        try:
            with pytest.raises(RefusedError, match="'tester' holds it"):
                stranger.request(Engage())
            with pytest.raises(RefusedError, match="engage: home first"):
                rig.request(Engage())
            assert rig.virtual is not None
            rig.virtual.inject("payload", value=0.5)
            rig.virtual.clear("payload")
            stranger.request(Stop(1))
        finally:
            stranger.close()
        rig.wait(lambda status: status.state is State.IDLE, 5.0, "rest")
        end = rig.status().t + 0.3
        rig.wait(lambda status: status.t > end, 5.0, "the news to arrive")
    recording = open_recording(tmp_path / "run.mcap")
    commands = said(recording, COMMAND)
    assert commands[:2] == ["acquire, by 'tester'", "connect, by 'tester'"]
    assert "engage, by a client without the lease, refused: needs the command lease; 'tester' holds it" in commands
    assert any(re.match("engage, by 'tester', refused: home first", text) for text in commands)
    assert "stop, category 1, by a client without the lease" in commands
    assert said(recording, INJECTED)[-3:] == [
        "on: leg 6 jammed, 1 N",
        "injected: unknown payload, 0.5 kg",
        "cleared: unknown payload",
    ]
    moments = [event.t for event in recording.events if "payload" in event.text]
    assert 0.0 < moments[0] <= moments[1]


@pytest.mark.usefixtures("undrawn_reports")
def test_the_cause_of_an_end_is_that_of_the_stop_that_ended_it_everywhere(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.run()
        silent = Cause(Finding(Code.NO_COMMAND_LEASE), bench.engine.tick.t)
        bench.engine.trip(Trip(silent, StopSeverity.CATEGORY_2, latch=False))
        bench.until_state(State.ENGAGED)
        underway = bench.rig.status().last_motion
        assert underway is not None and underway.outcome is MotionOutcome.UNDERWAY and underway.cause == ""
        bench.rig.request(Resume())
        bench.steps(60)
        bench.inject("drop_all", 3)
        bench.until_state(State.FAULT)
        status = bench.rig.status()
        recording = bench.recording()
    assert status.last_motion is not None and status.cause_code is FaultCode.COMMUNICATION_LOST
    (run,) = runs_of(recording)
    summary = summarize(recording)
    write_report(recording, tmp_path / "report.html", summary=summary)
    said = status.cause_text
    assert said.startswith("communication lost: leg 3")
    (motion,) = [motion for motion in recording.motions if motion.kind == MotionKind.RUN]
    causes = (status.last_motion.cause_text, motion.cause_text, run.cause, summary["motion"]["cause"])
    assert causes == (said,) * 4 and said in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert run.injected == ("cable 3 unplugged",)
    assert [fault["cause"] for fault in summary["faults"]] == [
        "client lost: no client holds the command lease any more",
        said,
    ]
    assert "drop_all" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    older = [replace(one, cause=None, cause_code=0) for one in recording.motions]
    (again,) = runs_of(replace(recording, motions=tuple(older)))
    assert again.cause == said  # by its events, as of a recording made before
