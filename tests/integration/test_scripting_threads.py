"""One rig under command by several threads, in lockstep: pauses, stops and interrupts reach the call they mean."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep_bench import bench_config
from waiting import PATIENCE, eventually

from rig.client import HoldInterrupt, RigClient, open_rig
from rig.engine import Abandon, RigCommand
from rig.errors import RunFaultError
from rig.runtime import StopRequest
from rig.states import State

SINE = {"parts": [{"type": "harmonic", "duration": 60.0, "fade": 0.5, "terms": [
    {"dof": "z", "amplitude": "10 mm", "frequency": 1.0}]}]}  # fmt: skip
SHORT = {"parts": [SINE["parts"][0] | {"duration": 3.0}]}
LOOKS = 0.5
"""s of rig time in which whoever waits has looked at the rig more than once"""

LONGEST = 100.0
"""s of rig time"""

Aside = Callable[..., Future[None]]


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[RigClient]:
    with open_rig(bench_config(), lockstep=True, output=tmp_path) as made:
        made.home()
        made.engage()
        yield made


@pytest.fixture
def aside(robot: RigClient) -> Iterator[Aside]:
    """Calls something in another thread, which has come to its end before the rig is closed."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit
        robot.stop()


def running(robot: RigClient) -> None:
    eventually(lambda: robot.state is State.RUNNING and robot.status.path_time > 0.7, "the motion to run")


def test_another_thread_pauses_a_run_and_lets_it_go_on(robot: RigClient, aside: Aside) -> None:
    followed = aside(robot.run, SHORT, repeats=2)
    running(robot)
    assert robot.pause() and robot.status.paused
    robot.resume()
    followed.result(PATIENCE)
    assert robot.state is State.ENGAGED and not robot.status.paused
    assert [event.text for event in robot.events].count("RUNNING → ENGAGED") == 4  # way, pause, two ends
    assert np.diff(robot.telemetry().t) == pytest.approx(robot.config.period)


def test_a_run_that_another_thread_abandons_has_not_come_to_its_end(
    robot: RigClient, aside: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = robot.rig.request

    def slowly_answered(command: RigCommand, samples: Any = None) -> None:
        request(command, samples)
        if isinstance(command, Abandon):  # whoever runs the motion looks at the rig before the answer is here
            asked = robot.status.t
            eventually(lambda: robot.status.t > asked + LOOKS, "the other thread to look")

    monkeypatch.setattr(robot.rig, "request", slowly_answered)
    followed = aside(robot.run, SINE)
    running(robot)
    assert robot.pause()
    robot.abandon()
    with pytest.raises(RunFaultError, match="'motion' ended early: abandoned"):
        followed.result(PATIENCE)
    assert robot.state is State.ENGAGED and not robot.status.paused


@pytest.mark.parametrize(("category", "state"), [(2, State.ENGAGED), (1, State.PARKED)])
def test_another_thread_stops_what_is_started_and_what_is_run(
    robot: RigClient, aside: Aside, category: StopRequest, state: State
) -> None:
    robot.start(SINE)
    followed = aside(robot.wait)
    running(robot)
    robot.stop(category)
    with pytest.raises(RunFaultError, match="stop"):
        followed.result(PATIENCE)
    assert robot.state is state


def test_an_interrupt_is_heard_by_the_main_thread_alone(robot: RigClient, aside: Aside) -> None:
    begun = robot.status.t
    passed = aside(robot.wait, 5.0)
    with pytest.raises(HoldInterrupt, match="holds under power"), robot._asking():
        signal.raise_signal(signal.SIGINT)
        heard = robot.status.t
        eventually(lambda: passed.done() or robot.status.t > heard + LOOKS, "the other thread to look first")
        robot.rig.wait(lambda status: status.t > begun + 1.0, LONGEST, "what is never waited for")
    passed.result(PATIENCE)
    assert robot.status.t > begun + 4.9
    aside(robot.jog, "z", "1 mm").result(PATIENCE)  # the interrupt is an old one by then
    assert robot.state is State.ENGAGED
