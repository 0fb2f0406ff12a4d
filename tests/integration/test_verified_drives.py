"""Before there is torque each drive is asked whether it is the one that was connected to and configured."""

from concurrent.futures import Future
from pathlib import Path

import pytest
from fault_bench import LEG
from lockstep_bench import TARE, Bench, bench_config

from actuators import VirtualServo, create_drive
from rig.engine.link import Submission
from rig.engine.messages import Connect, Disconnect, Engage, Home, Reply, Reset
from rig.errors import RefusedError
from rig.runtime.ticker import Tick
from rig.states import FaultCode, State
from rig.virtual import VirtualRig


def configured_by_another(virtual: VirtualRig, watchdog: float) -> None:
    """Another master connects to the drive and writes its own watchdog time."""
    wire = virtual.wires()[LEG - 1]
    drive = create_drive("servo", {"host": "x", "watchdog": watchdog, "open_wire": lambda timeout: wire})
    drive.connect(1.0)
    drive.configure()
    drive.close()


def servo_of(virtual: VirtualRig, leg: int) -> VirtualServo:
    device = virtual.drives[leg - 1].device
    assert isinstance(device, VirtualServo)
    return device


def restarted(virtual: VirtualRig) -> None:
    """The drive loses what was configured, but an absolute encoder knows where the leg is."""
    servo = servo_of(virtual, LEG)
    servo.reboot()
    servo._homed, servo._zero = True, servo.position_offset
    servo.publish()


def refused(bench: Bench, why: str) -> None:
    """Engaging is refused, which changes nothing, however often it is asked for."""
    for _ in range(2):
        events = bench.engine.events
        with pytest.raises(RefusedError, match=why) as caught:
            bench.rig.request(Engage())
        assert str(caught.value).startswith(f"engage: leg {LEG}: ") and "connect and home again" in str(caught.value)
        assert bench.in_state(State.PARKED) and bench.machine.homed and not bench.torque
        assert bench.engine.events == events
        assert not any(command.enable for command in bench.engine.commands)


def engage_anew(bench: Bench) -> None:
    bench.rig.request(Disconnect())
    bench.rig.request(Connect())
    bench.rig.request(Home())
    bench.until_state(State.PARKED)
    bench.until(lambda: bench.engine.settled_for() > TARE)
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)


def test_a_watchdog_that_another_master_changed(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        configured_by_another(bench.park().virtual, 0.3)
        refused(bench, r"no longer has the watchdog time 0.05 s: register 200 reads back \[300\], not \[50\]")
        engage_anew(bench)


@pytest.mark.parametrize("watchdog", [0.0, 0.3])
@pytest.mark.parametrize("state", [State.ENGAGED, State.RUNNING])
def test_a_watchdog_that_is_cleared_under_torque(tmp_path: Path, state: State, watchdog: float) -> None:
    """Each drive is looked at in its turn; what one answer says may be damage, two are believed."""
    with Bench(tmp_path) as bench:
        bench.engage() if state is State.ENGAGED else bench.run()
        servo = servo_of(bench.virtual, LEG)
        words = servo._watchdog_bytes
        servo._watchdog_bytes, servo._watchdog = round(watchdog * 1e3).to_bytes(2, "big"), watchdog
        servo.publish()
        begun = bench.engine.tick.t
        bench.until_state(State.FAULT, 1.5)
        cause = bench.machine.cause
        assert cause is not None and (cause.code, cause.leg) == (FaultCode.DRIVE_FAULT, LEG)
        assert "watchdog" in cause.text and bench.machine.homed
        assert cause.t - begun < 0.7 and max(bench.engine.drives.stale) == 0
        assert servo._watchdog_bytes != words
        bench.rig.request(Reset())
        bench.rig.request(Home())  # which sets it again
        bench.until_state(State.PARKED)
        bench.until(lambda: bench.engine.settled_for() > TARE)
        bench.rig.request(Engage())
        bench.steps(300)
        assert bench.in_state(State.ENGAGED)


def test_one_damaged_answer_about_the_watchdog_is_none(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.engage()
        servo = servo_of(bench.virtual, LEG)
        words = servo._watchdog_bytes
        for _ in range(3):
            servo._watchdog_bytes = b"\x7f\xff"
            bench.until(lambda: bench.engine.drives._drives[LEG - 1]._watchdog_doubts == 1)  # type: ignore[attr-defined]
            servo._watchdog_bytes = words
            bench.until(lambda: bench.engine.drives._drives[LEG - 1]._watchdog_doubts == 0)  # type: ignore[attr-defined]
        assert bench.in_state(State.ENGAGED)


def test_a_drive_that_restarted_while_parked_has_no_watchdog(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        restarted(bench.park().virtual)
        bench.steps(5)
        refused(bench, "has no watchdog: register 200 reads back zero")
        engage_anew(bench)


def test_a_restart_while_parked_that_loses_the_reference_is_a_fault_at_once(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("reboot", LEG)
        bench.steps(1)
        cause = bench.machine.cause
        assert cause is not None and (cause.code, cause.leg) == (FaultCode.DRIVE_RESTARTED, LEG)
        assert bench.in_state(State.FAULT) and not bench.machine.homed


@pytest.mark.parametrize(
    ("serials", "why"),
    [
        (True, f"has serial number 'VIRTUAL-{LEG + 1}', expected 'VIRTUAL-{LEG}'"),
        (False, f"another drive answers: serial 'VIRTUAL-{LEG + 1}', before 'VIRTUAL-{LEG}'"),
    ],
)
def test_another_drive_in_place_of_the_one_connected_to(tmp_path: Path, serials: bool, why: str) -> None:
    config = bench_config()
    legs = [leg.model_dump(exclude_none=True, exclude=set() if serials else {"serial"}) for leg in config.drives.legs]
    with Bench(tmp_path, bench_config(drives={"legs": legs})) as bench:
        bench.park()
        own = servo_of(bench.virtual, LEG)
        kept, own._readable[:] = own._readable.copy(), servo_of(bench.virtual, LEG + 1)._readable
        refused(bench, why)
        own._readable[:] = kept
        bench.rig.request(Engage())
        bench.until_state(State.ENGAGED)


def asked_to_engage(bench: Bench) -> Future[Reply]:
    reply: Future[Reply] = Future()
    bench.rig.operator.submit(Submission(Engage(), None, reply))
    return reply


def test_a_drive_that_does_not_answer_in_time(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        reply = asked_to_engage(bench.park())
        bench.steps(LEG - 1)
        bench.inject("drop_write", LEG)  # what it is asked next
        bench.steps(1)
        answer = reply.result(0)
        assert not answer.accepted and f"engage: leg {LEG}: drive {LEG} at " in answer.reason
        assert "did not answer within 0.0125 s" in answer.reason  # the others wait for their exchange meanwhile
        assert bench.in_state(State.PARKED) and bench.machine.cause is None


def test_between_two_cycles_one_drive_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Bench(tmp_path) as bench:
        bench.park()
        operator, drives = bench.rig.operator, bench.engine.drives
        verify = drives.verify
        asked: list[tuple[int, int]] = []

        def look(leg: int, timeout: float) -> None:
            asked.append((bench.engine.cycles, leg))
            verify(leg, timeout)

        monkeypatch.setattr(drives, "verify", look)
        reply, begun = asked_to_engage(bench), bench.engine.cycles
        for leg in range(6):
            for repeated in range(3):  # the loop takes up its pace anew after each, and asks the operator again
                operator.reconnected = False
                operator.carry_out()
                assert operator.reconnected is (repeated == 0 and leg + 1 == len(asked))
            bench.engine.step(Tick(bench.engine.tick.t + bench.config.period))
            assert reply.done() is (leg == 5)
        assert asked == [(begun + leg, leg) for leg in range(6)]
        assert reply.result(0).accepted


def test_a_stop_while_the_drives_are_asked_ends_it(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        reply = asked_to_engage(bench.park())
        bench.steps(3)
        bench.engine.stop(1)
        bench.steps(10)
        assert reply.result(0).reason == "engage: the rig was stopped meanwhile"
        assert bench.in_state(State.PARKED) and not bench.torque
