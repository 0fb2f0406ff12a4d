"""The conformance suite of a driver of drives, over its own twin."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    ActuatorError,
    Command,
    CommandError,
    ConnectError,
    Counters,
    Drive,
    DriveOptions,
    Feedback,
    Mode,
    Status,
    VirtualDrive,
    create_drive,
    create_twin,
    find_driver,
)
from rig.testing.benches import DriveBench, MakeDriveBench, drive_benches
from rig.testing.declaration import incomplete, lacking, refusal, unknown_option, wrong_kind
from rig.testing.failure import ConformanceError, Failure, on_bench, on_every_bench, run_checks
from rig.testing.twins import survives_any_bytes, survives_no_numbers, within_modbus_bounds

_NAME = "drive 4"
_WATCHDOG = 0.05  # s
_CYCLE = 2e-3  # s
_PATIENCE = 5.0  # s, for what must not wait at all


def reach(bench: DriveBench, command: Command) -> Feedback:
    """What a command has led to when it has been carried out."""
    feedback = bench.do(command)
    for _ in range(bench.takes - 1):
        feedback = bench.do(command)
    return feedback


def home(bench: DriveBench) -> str:
    """Configure the drive and search its reference; what is wrong, "" for nothing."""
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    if not reach(bench, COMMAND_HOME).status & Status.HOMING:
        return f"after {bench.takes} cycles with COMMAND_HOME its status is not HOMING"
    bench.leg.settle()
    if not reach(bench, COMMAND_HOME).status & Status.HOMED:
        return f"{bench.takes} cycles after the leg was at its reference its status is not HOMED"
    return ""


def command_of(bench: DriveBench) -> Command:
    """A command with torque, at rest, in a mode that the drive has."""
    mode = Mode.FORCE if Mode.FORCE in bench.drive.capabilities.modes else Mode.POSITION
    return Command(mode, 10.0, bench.leg.length, enable=True)


def power(bench: DriveBench) -> Command:
    """The command with which the homed drive is powered now. Raises ConformanceError: it does not get there."""
    if wrong := home(bench):
        raise ConformanceError(wrong)
    bench.do(COMMAND_OFF)
    command = command_of(bench)
    if not reach(bench, command).status & Status.ENABLED:
        raise ConformanceError(f"homed, and commanded {command}, it is not ENABLED after {bench.takes} cycles")
    return command


def _near(value: float, wanted: float, tolerance: float) -> bool:
    return abs(value - wanted) <= tolerance  # False for NaN


def _declared(bench: DriveBench) -> Iterator[str]:
    driver = find_driver(bench.driver)
    yield from lacking(driver, [driver.address], DriveOptions, [driver.settings], driver.settings.files)


def _describes_itself(bench: DriveBench) -> Iterator[str]:
    drive = bench.drive
    if wrong := wrong_kind("it", drive, Drive):
        yield wrong
    if drive.name != _NAME:
        yield f"its name is {drive.name!r}, its options say {_NAME!r}"
    can = drive.capabilities
    if Mode.OFF not in can.modes or (Mode.HOMING in can.modes) != can.homing:
        yield f"modes {can.modes} with homing={can.homing}: OFF belongs to them, and HOMING where there is homing"
    for name in ("force_limit", "position_limit", "velocity_limit"):
        limit = getattr(can, name)
        if not (math.isfinite(limit) and limit > 0.0):
            yield f"capabilities.{name} is {limit}, must be finite and positive"
    yield from incomplete(drive.identify(), bench.lacks)
    if not (drive.error_text(0) and drive.error_text(12345)):
        yield "error_text is empty for 0 or for an unknown code"


def _refuses_options(bench: DriveBench) -> Iterator[str]:
    yield from unknown_option(
        partial(create_drive, bench.driver), lambda options: create_twin(bench.driver, options, bench.leg)
    )


def _moves_nothing_unasked(bench: DriveBench) -> Iterator[str]:
    if not bench.drive.connected:
        yield "connected is False after connect"
    bench.drive.identify()
    bench.drive.configure()
    if bench.leg.enabled or not bench.leg.brake:
        yield "connect, identify or configure powers the drive or opens its brake"


def _si_units(bench: DriveBench) -> Iterator[str]:
    if wrong := home(bench):
        yield wrong
    bench.leg.velocity, bench.leg.cell = -0.125, 321.5
    feedback = reach(bench, COMMAND_OFF)
    if wrong := wrong_kind("what exchange gives", feedback, Feedback):
        yield wrong
    if not _near(feedback.position, bench.leg.length, bench.step):
        yield f"position is {feedback.position} m, the leg is {bench.leg.length} m long"
    velocity = 0.0 if "velocity" in bench.lacks else -0.125
    if not _near(feedback.velocity, velocity, bench.step):
        yield f"velocity is {feedback.velocity} m/s, must be {velocity} m/s"
    if bench.drive.capabilities.force_feedback and not _near(feedback.force, 321.5, max(1e-2, bench.force_step)):
        yield f"force is {feedback.force} N, the cell has 321.5 N"
    if (feedback.fresh, feedback.age, feedback.error) != (True, 0, 0):
        yield f"a good reply is fresh={feedback.fresh}, age={feedback.age} s, error={feedback.error}"


def _set_points(bench: DriveBench) -> Iterator[str]:
    command, leg = power(bench), bench.leg
    velocity = 0.0 if "feedforward" in bench.lacks or "velocity" in bench.lacks else 0.02
    told = Command(command.mode, -77.5, 0.61, 0.0 if "feedforward" in bench.lacks else 0.02, enable=True)
    for _ in range(bench.arrives):
        bench.do(told)
        leg.settle()
    if leg.mode is not command.mode:
        yield f"commanded {command.mode!r}, the leg is in {leg.mode!r}"
    if command.mode is Mode.FORCE and not _near(leg.force, -77.5, max(1e-2, bench.force_step)):
        yield f"commanded -77.5 N, the leg is told {leg.force} N"
    if (command.mode is Mode.POSITION or "one set-point" not in bench.lacks) and not _near(
        leg.position, 0.61, bench.step
    ):
        yield f"commanded 0.61 m, the leg is told {leg.position} m"
    if "feedforward" not in bench.lacks and not _near(leg.feedforward, velocity, bench.step):
        yield f"commanded 0.02 m/s, the leg is told {leg.feedforward} m/s"


def _power(bench: DriveBench) -> Iterator[str]:
    command, leg = power(bench), bench.leg
    leg.velocity = 0.2
    if not bench.do(COMMAND_STOP).status & Status.QUICK_STOP and "quick stop" not in bench.lacks:
        yield "its status is not QUICK_STOP in the cycle of COMMAND_STOP, while the leg moves"
    leg.settle()
    stopped = reach(bench, COMMAND_STOP).status
    if not stopped & Status.BRAKE and "brake" not in bench.lacks:
        yield f"stopped and at rest its status is {stopped!r}, without BRAKE"
    if stopped & Status.ENABLED or not leg.brake:
        yield "stopped and at rest it has torque, or its brake is open"
    if reach(bench, command).status & Status.ENABLED:
        yield "after a quick stop it is powered again without `enable` having been False"
    bench.do(COMMAND_OFF)
    if not reach(bench, command).status & Status.ENABLED:
        yield "after a quick stop and COMMAND_OFF it cannot be powered again"
    off = bench.do(COMMAND_OFF).status
    if off & Status.ENABLED or leg.enabled:
        yield f"in the cycle of COMMAND_OFF it has torque, its status is {off!r}"


def _watchdog(bench: DriveBench) -> Iterator[str]:
    if not bench.drive.capabilities.watchdog:
        return
    power(bench)
    leg = bench.leg
    leg.velocity = 0.2
    bench.pass_time(_WATCHDOG + 0.01)
    if not leg.quick_stop:
        yield f"{_WATCHDOG + 0.01:g} s without a command the leg, moving, does not stop; the watchdog is {_WATCHDOG} s"
    leg.settle()
    bench.pass_time(1e-3)
    if not leg.brake:
        yield "stopped by its watchdog and at rest, its brake is open"
    feedback = reach(bench, COMMAND_OFF)
    if not (feedback.status & Status.FAULT and feedback.status & Status.WATCHDOG and feedback.error):
        yield f"after its watchdog it says {feedback.status!r} and error {feedback.error}, not FAULT and WATCHDOG"
    if reach(bench, COMMAND_CLEAR).status & Status.FAULT:
        yield "COMMAND_CLEAR does not clear the fault of its watchdog"


def _observes(bench: DriveBench) -> Iterator[str]:
    drive, command = bench.drive, power(bench)
    told = reach(bench, command)
    seen = drive.observe(1.0)
    if (seen.status, seen.error, seen.sequence, seen.fresh) != (told.status, 0, told.sequence, True):
        yield f"observe says {seen}, the cycle before {told}"
    if not _near(seen.position, told.position, 1e-6):
        yield f"observe says {seen.position} m, the cycle before {told.position} m"
    if seen.velocity != 0.0:
        yield f"observe says {seen.velocity} m/s of a leg at rest, also where it does not know a speed"
    if drive.capabilities.watchdog:
        bench.pass_time(0.8 * _WATCHDOG)
        drive.observe(1.0)
        bench.pass_time(0.8 * _WATCHDOG)  # together more than the watchdog tolerates
        if not drive.observe(1.0).status & Status.WATCHDOG:
            yield "observe feeds the watchdog"
    bench.faults.inject("drop_all")
    if text := refusal(ConnectError, _NAME, partial(drive.observe, 0.05)):
        yield f"observe of a silent drive {text}"


def _stale(bench: DriveBench) -> Iterator[str]:
    drive, command = bench.drive, power(bench)
    bench.faults.inject("drop_all")
    last = drive.exchange(command, bench.now + 0.25, 0.0)
    if last.fresh or not _near(last.age, 0.25, 1e-6):
        yield f"0.25 s without a reply: fresh={last.fresh}, age={last.age} s"
    again = drive.exchange(command, bench.now + 0.5, 0.0)
    if again != last._replace(age=again.age) or not _near(again.age, 0.5, 1e-6):
        yield f"a stale sample must keep the last good values and age: {last}, then {again}"
    if not math.isfinite(last.position):
        yield f"a stale sample's position is {last.position} m"
    bench.faults.clear("drop_all")
    feedback = bench.do(command)
    if not feedback.fresh or feedback.age:
        yield f"the first reply after the silence: fresh={feedback.fresh}, age={feedback.age} s"
    if feedback.sequence >= 0 and feedback.sequence != drive.sequence:
        yield f"it echoes {feedback.sequence}, the command is {drive.sequence}"


def _wire_fault(fault: str, bench: DriveBench) -> Iterator[str]:
    drive, command = bench.drive, power(bench)
    if fault == "hang" and bench.do(command).sequence < 0:
        return  # without an echo nothing tells a hung drive from one at rest
    before = drive.counters.received
    bench.faults.inject(fault)
    started = time.monotonic()
    for age in range(1, 6):
        feedback = bench.do(command)
        if feedback.fresh or not _near(feedback.age, _CYCLE * age, 1e-6):
            yield f"cycle {age} of the fault: fresh={feedback.fresh}, age={feedback.age} s"
    if time.monotonic() - started > _PATIENCE:
        yield f"five cycles took {time.monotonic() - started:.1f} s: it waits beyond the deadline"
    counters = drive.counters
    if wrong := wrong_kind("counters", counters, Counters):
        yield wrong
    if counters.received != before:
        yield f"{counters.received - before} replies are counted as received"
    counted = counters.late + counters.rejected + counters.exceptions + counters.crc + counters.mismatched
    if fault != "close" and counted < 5:
        yield f"five cycles have failed, counted are {counted}: {counters}"


def _points(bench: DriveBench) -> Iterator[str]:
    drive, twin = bench.drive, bench.faults.device
    if text := refusal(CommandError, "no_such_output", lambda: drive.switch("no_such_output", True)):
        yield f"switching an output that there is not {text}"
    names, outputs = drive.input_names, drive.output_names
    if not (names or outputs):
        if drive.inputs:
            yield f"it names no inputs, and reads {dict(drive.inputs)}"
        return
    if not isinstance(twin, VirtualDrive) or set(twin.inputs) != set(names) or set(twin.outputs) != set(outputs):
        yield f"its twin does not have exactly the inputs {names} and the outputs {outputs}"
        return
    if drive.inputs:
        yield f"before the first reply it reads {dict(drive.inputs)}"
    drive.configure()
    for signals in ((), names, *((name,) for name in names)):
        twin.inputs = wanted = {name: name in signals for name in names}
        reach(bench, COMMAND_OFF)
        if drive.inputs != wanted:
            yield f"its inputs have the signals {wanted}, and it reads {dict(drive.inputs)}"
    yield from _switches(bench, drive, twin)
    bench.faults.inject("drop_all")
    before, twin.inputs = dict(drive.inputs), {name: not on for name, on in twin.inputs.items()}
    bench.do(COMMAND_OFF)
    if drive.inputs != before:
        yield f"nothing was received, and its inputs have become {dict(drive.inputs)}"
    bench.faults.clear("drop_all")
    reach(bench, COMMAND_OFF)
    drive.connect(1.0)
    if drive.inputs:
        yield f"connected again, it reads {dict(drive.inputs)} before a reply"


def _switches(bench: DriveBench, drive: Drive, twin: VirtualDrive) -> Iterator[str]:
    """What is wrong with the outputs of a drive that has some."""
    outputs = drive.output_names
    for chosen in (*((name,) for name in outputs), outputs, ()):
        wanted = {name: name in chosen for name in outputs}
        for name, on in wanted.items():
            drive.switch(name, on)
        reach(bench, COMMAND_OFF)
        if twin.outputs != wanted:
            yield f"its outputs were switched to {wanted}, and are {dict(twin.outputs)}"
    if not outputs:
        return
    bench.faults.inject("drop_all")
    for name in outputs:
        drive.switch(name, True)
    bench.do(COMMAND_OFF)
    bench.faults.clear("drop_all")
    reach(bench, COMMAND_OFF)
    if not all(twin.outputs.values()):
        yield f"they were switched on by a command that was lost, and after the next ones are {dict(twin.outputs)}"
    drive.connect(1.0)
    drive.configure()
    reach(bench, COMMAND_OFF)
    if any(twin.outputs.values()):
        yield f"connected and configured again, its outputs are {dict(twin.outputs)}, must be off"


def _replayed(bench: DriveBench) -> Iterator[str]:
    command = power(bench)
    if bench.do(command).sequence < 0:
        return
    bench.faults.inject("replay")
    seen = [bench.do(command) for _ in range(5)]
    if seen[0].fresh or any(one.fresh and one.lag != 1 for one in seen[1:]):
        yield f"replies of the cycle before count as of this one: {seen}"
    told_apart = bench.drive.line is None and "transaction" not in bench.lacks
    if told_apart and any(one.fresh for one in seen):
        yield "replies of the cycle before are accepted, on a wire of its own"


def _hangs(bench: DriveBench) -> Iterator[str]:
    drive, powered = bench.drive, power(bench)
    for wanted, command in (("off", COMMAND_OFF), ("powered", powered)):
        if not bench.do(command).fresh or drive.silence:
            yield f"{wanted}, answering: silence is {drive.silence!r}"
        echo = drive.sequence
        if bench.do(command).sequence < 0:
            return  # without an echo nothing tells a hung drive from one at rest
        bench.faults.inject("hang")
        for age in range(1, 6):
            feedback = bench.do(command)
            if feedback.fresh or not _near(feedback.age, _CYCLE * age, 1e-6) or feedback.sequence != echo + 1:
                yield f"{wanted}, hung for {age} cycles: {feedback}"
            if f"acts on command {echo + 1}, not on {drive.sequence}" not in drive.silence:
                yield f"{wanted}, hung, acting on command {echo + 1}: silence is {drive.silence!r}"
        bench.faults.clear("hang")
        if not bench.do(COMMAND_OFF).fresh or drive.silence:
            yield f"{wanted}, it hangs no more: silence is {drive.silence!r}"


def _lags(bench: DriveBench) -> Iterator[str]:
    drive = bench.drive
    drive.configure()
    bench.do(COMMAND_OFF)
    if bench.do(COMMAND_OFF).sequence < 0:
        return
    bench.faults.inject("lag", 1.0)
    seen = [bench.do(COMMAND_OFF) for _ in range(6)]
    if [one.fresh for one in seen] != [True, False, True, True, True, True]:
        yield f"replies a cycle old for good, fresh are {[one.fresh for one in seen]}: all but the second must be"
    if [one.lag for one in seen] != [0, 0, 1, 1, 1, 1] or (drive.counters.lagging, drive.counters.mismatched) != (4, 1):
        yield f"replies a cycle old for good: lags {[one.lag for one in seen]}, {drive.counters}"
    bench.faults.inject("lag", 2.0)
    if any([bench.do(COMMAND_OFF).fresh for _ in range(8)][2:]):
        yield "replies two cycles old are accepted, with echo_lag = 1"
    bench.faults.clear("lag")
    if [bench.do(COMMAND_OFF).lag for _ in range(3)][1:] != [0, 0]:
        yield "after a lag its replies are not of the present command again"


def _refuses_commands(bench: DriveBench) -> Iterator[str]:
    mode, leg, drive = power(bench).mode, bench.leg, bench.drive
    before = (leg.mode, leg.force, leg.position, drive.counters.sent)
    for bad in (
        Command(mode, force=math.nan, enable=True),
        Command(mode, position=math.inf, enable=True),
        Command(mode, velocity=-math.inf, enable=True),
        Command(mode, force=2.0 * drive.capabilities.force_limit, enable=True),
    ):
        if text := refusal(CommandError, _NAME, partial(drive.begin, bad, bench.now)):
            yield f"{bad} {text}"
    if (leg.mode, leg.force, leg.position, drive.counters.sent) != before:
        yield "a command that was refused changes what the leg does, or is counted as sent"


def _largest(bench: DriveBench) -> Iterator[str]:
    command, can, drive = power(bench), bench.drive.capabilities, bench.drive
    for sign in (1.0, -1.0):
        position = can.position_centre + sign * can.position_limit
        largest = Command(command.mode, sign * can.force_limit, position, sign * can.velocity_limit, enable=True)
        before = drive.counters.sent
        for _ in range(3):
            bench.do(largest)
            bench.do(command)
        if drive.counters.sent != before + 6:
            yield f"of six commands, three of them {largest}, {drive.counters.sent - before} are sent"


def _reconnects(bench: DriveBench) -> Iterator[str]:
    power(bench)
    drive, leg = bench.drive, bench.leg
    before = (leg.mode, leg.force, leg.position)
    drive.close()
    drive.close()
    if drive.connected:
        yield "connected is True after close"
    if drive.exchange(COMMAND_OFF, bench.now, 0.0).fresh:
        yield "closed, an exchange is fresh"
    if text := refusal(ConnectError, _NAME, partial(drive.observe, 1.0)):
        yield f"closed, observe {text}"
    drive.connect(1.0)
    drive.identify()
    if (leg.mode, leg.force, leg.position) != before:
        yield "closing, connecting or identifying commands the leg"


def _time_limits(bench: DriveBench) -> Iterator[str]:
    drive = bench.drive
    bench.faults.inject("busy")
    accesses: dict[str, Callable[[], object]] = {"observe": partial(drive.observe, 0.01)}
    if "identity" not in bench.lacks:
        accesses |= {"identify": drive.identify, "configure": drive.configure}
    started = time.monotonic()
    for name, access in accesses.items():
        if text := refusal(ActuatorError, _NAME, access):
            yield f"{name} of a drive that refuses everything {text}"
    bench.faults.clear("busy")
    bench.faults.inject("drop_all")
    if text := refusal(ConnectError, "did not answer within 0.01 s", partial(drive.observe, 0.01)):
        yield f"observe(0.01) of a silent drive {text}"
    if time.monotonic() - started > _PATIENCE:
        yield f"accesses with a limit of 0.01 s took {time.monotonic() - started:.1f} s"


def _after_a_second(bench: DriveBench) -> Feedback:
    bench.pass_time(1.0)
    return bench.do(COMMAND_OFF)


def _serial_of_a_virtual_rig(bench: DriveBench) -> Iterator[str]:
    options = {**bench.options, "serial": "VIRTUAL-4"}
    try:
        create_twin(bench.driver, options, bench.make_leg())
    except Exception as error:  # of whatever kind, where the twin is somebody else's
        yield f"{type(error).__name__} with the serial number {options['serial']!r} of a virtual rig: {error}"


DriveCheck = Callable[[DriveBench], Iterator[str]]
_OPTIONS = {"name": _NAME, "watchdog": _WATCHDOG}
_SHORT = {**_OPTIONS, "request_timeout": 0.01}
_CHECKS: Mapping[str, DriveCheck] = {
    "declared": _declared,
    "describes itself": _describes_itself,
    "refuses options": _refuses_options,
    "moves nothing unasked": _moves_nothing_unasked,
    "SI units": _si_units,
    "set-points": _set_points,
    "power": _power,
    "watchdog": _watchdog,
    "observes": _observes,
    "stale samples": _stale,
    **{f"wire fault {name}": partial(_wire_fault, name) for name in ("drop_all", "delay", "bit_flip", "busy")},
    **{f"wire fault {name}": partial(_wire_fault, name) for name in ("close", "hang")},
    "inputs and outputs": _points,
    "replayed replies": _replayed,
    "hung drive": _hangs,
    "lagging replies": _lags,
    "refuses commands": _refuses_commands,
    "largest commands": _largest,
    "reconnects": _reconnects,
    "time limits": _time_limits,
    "twin: any bytes": lambda bench: survives_any_bytes(bench.faults),
    "twin: no numbers": lambda bench: survives_no_numbers((bench.leg,), partial(_after_a_second, bench)),
    "twin: serial number": _serial_of_a_virtual_rig,
    "twin: Modbus": lambda bench: within_modbus_bounds(bench.faults.device),
}


DRIVE_CHECKS: Mapping[str, Callable[[MakeDriveBench], Iterator[str]]] = {
    name: partial(on_bench, check, _SHORT if name == "time limits" else _OPTIONS) for name, check in _CHECKS.items()
}
"""The checks of a driver by name; each is given what makes its bench.

The declaration is whole; the drive identifies itself; wrong options are refused; nothing moves before it is commanded;
feedback and set-points are in SI units of the leg; power, brake, quick stop and watchdog are as `Status` has them;
observing commands nothing; samples age; inputs and outputs, where it has some, are read and switched by name; faults
of the wire are counted, never raised, and nothing of them is believed; commands that cannot be are refused; accesses
end in time; the twin tolerates any bytes and values.
"""


def check_driver(name: str, benches: Mapping[str, MakeDriveBench] | None = None) -> tuple[Failure, ...]:
    """Check the driver called `name` on each of `benches`, by default those of `drive_benches`; none failed: ().

    Raises:
        ConfigurationError: no such driver.
    """
    found = drive_benches(name) if benches is None else benches
    return run_checks(on_every_bench(DRIVE_CHECKS, found))
