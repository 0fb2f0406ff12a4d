"""How long a client waits for a live rig: by the rig's own time, and by the wall clock only for its cycles to go on."""

from types import SimpleNamespace

import pytest

from rig.client import Interruption, LiveRig
from rig.errors import HardwareError
from rig.states import State


class Times:
    """Stands for the module `time`, on a machine on which looking at the status takes a while."""

    def __init__(self) -> None:
        self.now = 40.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, duration: float) -> None:
        self.now += duration


class Rig(LiveRig):
    """A live rig whose engine goes `speed` times as fast as the wall clock."""

    def __init__(self, times: Times, speed: float) -> None:
        self._times, self._speed, self._began = times, speed, times.now
        self._interruption = Interruption()
        self._lease = None

    def status(self) -> SimpleNamespace:  # type: ignore[override]
        self._times.now += 0.01
        return SimpleNamespace(t=(self._times.now - self._began) * self._speed, state=State.HOMING)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    made = Times()
    monkeypatch.setattr("rig.client.live.time", made)
    return made


@pytest.mark.parametrize("speed", [0.01, 1.0, 20.0])
def test_a_busy_machine_shortens_no_wait(times: Times, speed: float) -> None:
    rig = Rig(times, speed)
    assert rig.wait(lambda status: status.t > 4.9, 5.0, "it").t > 4.9
    began = rig.status().t
    with pytest.raises(HardwareError, match=r"timed out after 5\.0 s waiting for it; the state is HOMING"):
        rig.wait(lambda _status: False, 5.0, "it")
    assert rig.status().t - began == pytest.approx(5.0, abs=0.1 * max(1.0, speed))


def test_cycles_that_stand_are_not_waited_for(times: Times) -> None:
    rig = Rig(times, 0.0)
    began = times.now
    with pytest.raises(HardwareError, match="the engine's cycles have stopped for 10 s while waiting for it"):
        rig.wait(lambda _status: False, 5.0, "it")
    assert times.now - began == pytest.approx(10.0, abs=0.1)
