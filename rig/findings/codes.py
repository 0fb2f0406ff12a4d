"""All finding codes with their texts and properties.

The text is a template for `rig.findings.finding`, which documents its format.
"""

from enum import StrEnum
from typing import Self

from rig.states import FaultCode


class Severity(StrEnum):
    """Severity of a finding."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Remedy(StrEnum):
    """The operator's remedy for a finding."""

    NONE = "none"
    CONNECT = "connect"
    DISCONNECT = "disconnect"
    RECONNECT = "reconnect"
    """disconnect, connect and home"""
    HOME = "home"
    ENGAGE = "engage"
    PARK = "park"
    PAUSE = "pause"
    RESUME = "resume"
    """resume, abandon, or park a paused motion"""
    RESET = "reset"
    STOP = "stop"
    """STOP, then reset"""
    MOVE_TO_START = "move_to_start"
    TEST_LEGS = "test_legs"
    """test each leg separately, in the set-up"""
    ZERO_CELLS = "zero_cells"


_Properties = tuple[str, str, FaultCode, Remedy, Severity, str, bool]


def _code(
    name: str,
    text: str,
    fault: FaultCode = FaultCode.NONE,
    remedy: Remedy = Remedy.NONE,
    *,
    severity: Severity = Severity.ERROR,
    unit: str = "",
    wraps: bool = False,
) -> _Properties:
    return name, text, fault, remedy, severity, unit, wraps


class Code(StrEnum):
    """Finding codes.

    text: its template. fault: kind of fault, if it stops the rig. remedy: the operator's action. severity,
    unit: see there, and `Finding.unit`. wraps: it adds context to its first inner finding, and has that one's
    properties.
    """

    text: str
    fault: FaultCode
    remedy: Remedy
    severity: Severity
    unit: str
    wraps: bool

    def __new__(
        cls, name: str, text: str, fault: FaultCode, remedy: Remedy, severity: Severity, unit: str, wraps: bool
    ) -> Self:
        """Create a code with its properties."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.text, made.fault, made.remedy, made.severity, made.unit = text, fault, remedy, severity, unit
        made.wraps = wraps
        return made

    # -- requested stops, and missing clients --------------------------------------------------------------------------

    OPERATOR_STOP = _code("operator_stop", "operator's stop, category {category}", FaultCode.OPERATOR_STOP)
    STOP_FLAG = _code("stop_flag", "stop flag, category {category}", FaultCode.OPERATOR_STOP)
    ENGINE_TOLD_TO_END = _code("engine_told_to_end", "the engine was asked to end", FaultCode.OPERATOR_STOP)
    NO_COMMAND_LEASE = _code("no_command_lease", "no client holds the command lease any more", FaultCode.CLIENT_LOST)
    LEASE_PASSED = _code("lease_passed", "the command lease passed from {before!r} to {after!r}", FaultCode.CLIENT_LOST)
    CLIENT_SILENT = _code(
        "client_silent",
        "client {client!r} gave no sign of life for {value:.2f} s",
        FaultCode.CLIENT_LOST,
        unit="s",
    )
    UNATTENDED = _code(
        "unattended", "no client has commanded the engine for {bound:g} s", FaultCode.CLIENT_LOST, unit="s"
    )

    # -- the computer --------------------------------------------------------------------------------------------------

    OVERRUNS = _code("overruns", "{value:.0f} overrun cycles in a row (bound {bound:.0f})", FaultCode.OVERRUN)
    HOST_SUSPENDED = _code(
        "host_suspended",
        "the host was suspended for {value:.3f} s (the drives tolerate {bound:g} s). End other "
        "programs, lower `rate`, or give real-time rights: `rig doctor` measures what this computer "
        "can run",
        FaultCode.HOST_SUSPENDED,
        unit="s",
    )
    HOST_BUSY = _code(
        "host_busy",
        "the computer was busy: {cycles} cycles late (longest {longest:.0f*1e3} ms) in the previous "
        "second; {within}. End other programs, lower `rate`, or give real-time rights: `rig doctor` "
        "measures what this computer can run",
        wraps=True,
    )
    RECORDING_FAILED = _code("recording_failed", "{text}", FaultCode.RECORDING)
    NOT_RECORDED = _code(
        "not_recorded",
        "nothing is being recorded: {text}",
        FaultCode.RECORDING,
        severity=Severity.WARNING,
    )
    DISK_NEARLY_FULL = _code(
        "disk_nearly_full",
        "the disk has room for only {minutes:.1f} minutes of recording (bound {least:g}): free some "
        "space, or stop in time",
        severity=Severity.WARNING,
    )
    CONTROL_LINK_FAILED = _code("control_link_failed", "the control link has failed", FaultCode.INTERNAL_ERROR)
    ENGINE_ENDS = _code("engine_ends", "the engine ends: {error}: {text}", FaultCode.INTERNAL_ERROR)
    ENGINE_ENDS_AT_ONCE = _code("engine_ends_at_once", "the engine was asked to end at once", severity=Severity.WARNING)
    ENGINE_ENDS_WITHOUT_TORQUE = _code(
        "engine_ends_without_torque",
        "the engine was asked to end and does so when no drive reports torque",
        severity=Severity.WARNING,
    )
    OWNER_GONE_AT_REST = _code(
        "owner_gone_at_rest",
        "the process that started the engine has ended: without a client the engine ends at once",
        severity=Severity.WARNING,
    )
    OWNER_GONE = _code(
        "owner_gone",
        (
            "the process that started the engine has ended: without a client the engine stops the platform "
            "in {bound:g} s and ends"
        ),
        severity=Severity.WARNING,
        unit="s",
    )

    # -- drives and their wires ----------------------------------------------------------------------------------------

    NO_FEEDBACK = _code(
        "no_feedback",
        "no fresh feedback for {value:~.3g*1e3} ms (bound {bound:~.3g*1e3} ms"
        "[[, {stated:g*1e3} ms less half a cycle]])[[: {silence}]]",
        FaultCode.COMMUNICATION_LOST,
        unit="s",
    )
    NO_FEEDBACK_AT_ALL = _code(
        "no_feedback_at_all",
        "all six legs: no fresh feedback for {value:~.3g*1e3} ms (bound {bound:~.3g*1e3} ms"
        "[[, {stated:g*1e3} ms less half a cycle]])[[: {silence}]]",
        FaultCode.COMMUNICATION_LOST,
        unit="s",
    )
    DISTURBED = _code(
        "disturbed",
        "[[{device}: ]]{value:.0f} invalid replies within a second to {sent} requests (bound "
        "{bound:.0f}): check for noise on the line, or another master",
        FaultCode.COMMUNICATION_DISTURBED,
    )
    DRIVE_WATCHDOG = _code("drive_watchdog", "the drive's own watchdog stopped it", FaultCode.DRIVE_WATCHDOG)
    DRIVE_FAULT = _code("drive_fault", "drive fault {error}, {text}", FaultCode.DRIVE_FAULT)
    DRIVE_RESTARTED = _code(
        "drive_restarted", "the drive lost its reference; it may have restarted", FaultCode.DRIVE_RESTARTED
    )
    NO_WATCHDOG = _code("no_watchdog", "{text}: nothing would stop the drive in time", FaultCode.DRIVE_FAULT)
    NO_TORQUE = _code("no_torque", "no torque within {bound:g} s (drives.enable_time)", FaultCode.DRIVE_FAULT, unit="s")
    NOT_AT_REST = _code(
        "not_at_rest",
        "the platform did not come to rest within {bound:g} s of engaging",
        FaultCode.DRIVE_FAULT,
        unit="s",
    )
    TORQUE_LOST = _code("torque_lost", "torque lost without a fault of the drive", FaultCode.TORQUE_LOST)
    TORQUE_LOST_EVERYWHERE = _code(
        "torque_lost_everywhere",
        "torque lost without a fault of the drive (every drive: safe torque off, or the supply)",
        FaultCode.TORQUE_LOST,
    )
    EMERGENCY_STOP_OPEN = _code("emergency_stop_open", "the emergency stop's chain is open", FaultCode.EMERGENCY_STOP)
    SAFE_TORQUE_OFF_OPEN = _code(
        "safe_torque_off_open", "the circuit of safe torque off is open", FaultCode.SAFE_TORQUE_OFF
    )
    EMERGENCY_STOP_CLOSED = _code(
        "emergency_stop_closed", "the emergency stop's chain is closed", severity=Severity.INFO
    )
    SAFE_TORQUE_OFF_CLOSED = _code(
        "safe_torque_off_closed", "the circuit of safe torque off is closed", severity=Severity.INFO
    )
    TORQUE_DESPITE_SAFE_TORQUE_OFF = _code(
        "torque_despite_safe_torque_off",
        "the drive reports torque although the feedback of safe torque off reads open: that circuit does not reach the "
        "drive, or its feedback is wired wrongly",
        FaultCode.SAFE_TORQUE_OFF,
    )
    NO_TORQUE_DESPITE_FEEDBACK = _code(
        "no_torque_despite_feedback",
        "torque lost although the feedback of safe torque off reads closed: another contact cuts the drive's torque or "
        "supply, or the feedback is wired wrongly",
        FaultCode.SAFE_TORQUE_OFF,
    )
    IO_SILENT = _code(
        "io_silent",
        "inputs and outputs: no good reply for {value:~.3g*1e3} ms (bound {bound:~.3g*1e3} ms"
        "[[, {stated:g*1e3} ms less half a cycle]])[[: {silence}]]",
        FaultCode.INPUTS_OUTPUTS,
        unit="s",
    )
    IO_UNKNOWN = _code(
        "io_unknown", "inputs and outputs: no good reply, the inputs are not known", FaultCode.INPUTS_OUTPUTS
    )
    IO_FAILS = _code("io_fails", "inputs and outputs: {text}", FaultCode.INPUTS_OUTPUTS)
    IO_WITHOUT_WATCHDOG = _code(
        "io_without_watchdog",
        "the {device} has no watchdog that is set here: if the engine is killed or the wire cut, its outputs stay as "
        "they are",
        severity=Severity.WARNING,
    )
    TORQUE_UNEXPECTED = _code(
        "torque_unexpected", "the drive has torque in state {state:name}", FaultCode.TORQUE_UNEXPECTED
    )
    TEMPERATURE = _code(
        "temperature",
        "the drive's temperature is {value:~.1f} °C (bound {bound:~.1f} °C)",
        FaultCode.TEMPERATURE,
        unit="°C",
    )
    SUPPLY_VOLTAGE = _code(
        "supply_voltage",
        "the drive's supply has {value:^.1f} V (bounds {low:^.1f} and {high:^.1f} V)",
        FaultCode.SUPPLY_VOLTAGE,
        unit="V",
    )
    REPLIES_OLD = _code(
        "replies_old",
        "the drive's replies are {cycles:.0f} cycles old (tolerated up to {bound:.0f})",
        severity=Severity.WARNING,
    )
    REPLIES_ONE_CYCLE_OLD = _code(
        "replies_one_cycle_old",
        "the drive's replies are 1 cycle old (tolerated up to {bound:.0f})",
        severity=Severity.WARNING,
    )
    REPLIES_PROMPT = _code("replies_prompt", "the drive's replies are up to date again", severity=Severity.INFO)
    UNWATCHED = _code(
        "unwatched",
        "no watchdog: the drive continues its last command when this computer is silent",
        severity=Severity.WARNING,
    )

    # -- drives without a commanding engine ----------------------------------------------------------------------------

    STOPS_BY_WATCHDOG = _code(
        "stops_by_watchdog", "the drives stop by their own watchdog within {bound:g*1e3} ms", unit="s"
    )
    OTHERS_STOP = _code("others_stop", "the others stop by their own watchdog within {bound:g*1e3} ms", unit="s")
    SOME_LEGS = _code("some_legs", "{legs}: {within}")
    EVERY_DRIVE = _code("every_drive", "every drive: {within}")
    LIST = _code("list", "{within:join; }")
    DRIVE_SILENT = _code("drive_silent", "does not answer: {text}")
    WATCHDOG_STOPPED = _code("watchdog_stopped", "stopped by its own watchdog")
    OWN_FAULT = _code("own_fault", "stopped for a fault of its own ({text})")
    WITHOUT_FAULT = _code("without_fault", "no fault", severity=Severity.INFO)
    TORQUE_ON = _code("torque_on", "TORQUE ON")
    BRAKE_ON = _code("brake_on", "brake on", severity=Severity.INFO)
    BRAKE_NOT_ON = _code("brake_not_on", "no brake reported on")
    STANDSTILL = _code("standstill", "standstill", severity=Severity.INFO)
    MOVING = _code("moving", "MOVING")
    MOVE_UNKNOWN = _code("move_unknown", "not homed (move unknown)", severity=Severity.WARNING)
    CAME_TO_REST = _code(
        "came_to_rest",
        "at rest {value:.2f} s after the last cycle, moved {moved:.1f*1e3} mm at most",
        severity=Severity.INFO,
        unit="s",
    )

    # -- measurements --------------------------------------------------------------------------------------------------

    LENGTH_NOT_FINITE = _code(
        "length_not_finite", "the drive reports a length of {value} m", FaultCode.FEEDBACK_INVALID, unit="m"
    )
    LENGTH_ABSURD = _code(
        "length_absurd",
        "length {value:^.4f} m (limits {low:^.4f} to {high:^.4f} m) is beyond anything the leg can reach",
        FaultCode.FEEDBACK_INVALID,
        unit="m",
    )
    LENGTHS_WITHOUT_POSE = _code(
        "lengths_without_pose",
        "the six measured lengths match no pose near the previous one",
        FaultCode.FEEDBACK_INVALID,
    )
    NO_POSE = _code("no_pose", "the six measured lengths match no pose", FaultCode.FEEDBACK_INVALID)
    LENGTH_JUMP = _code(
        "length_jump",
        "length jumped, or crept, by {value:~.2f*1e3} mm more than its speed explains (bound {bound:~.2f*1e3} mm)",
        FaultCode.POSITION_JUMP,
        unit="m",
    )
    LENGTH_CREEP = _code(
        "length_creep",
        "length jumped, or crept, by {value:~.2f*1e3} mm more than its speed explains (bound {bound:~.2f*1e3} mm, "
        "half of a following error)",
        FaultCode.POSITION_JUMP,
        unit="m",
    )
    ENCODER_FROZEN = _code(
        "encoder_frozen",
        "the encoder was frozen for {cycles:.0f} cycles while the reference moved more than {bound:g*1e3} mm away",
        FaultCode.FEEDBACK_FROZEN,
        unit="m",
    )
    RUNS_AGAINST = _code(
        "runs_against",
        "moves against its reference for {cycles:.0f} cycles: a sign is inverted",
        FaultCode.RUNAWAY,
    )
    SWINGS = _code(
        "swings",
        "oscillates about its reference, {times:.0f} reversals of speed: the control loop is unstable, "
        "or nearly so, for this machine; reduce the gains or increase the rate (`rig check`)",
        FaultCode.RUNAWAY,
    )
    RUNAWAY = _code(
        "runaway",
        "following error {value:~.2f*1e3} mm (bound {bound:~.2f*1e3} mm, three times of which counts as a runaway)",
        FaultCode.RUNAWAY,
        unit="m",
    )
    FOLLOWING_ERROR = _code(
        "following_error",
        "following error {value:~.2f*1e3} mm (bound {bound:~.2f*1e3} mm)"
        "[[: it lags {lag:.0f*1e3} ms behind, at {speed:.1f*1e3} mm/s]]",
        FaultCode.FOLLOWING_ERROR,
        unit="m",
    )
    OVERSPEED = _code(
        "overspeed",
        "measured speed {value:~+.3f} m/s (bound {bound:~+.3f} m/s)",
        FaultCode.OVERSPEED,
        unit="m/s",
    )
    FORCE_WHILE_HOMING = _code(
        "force_while_homing",
        "measured force {value:~+.0f} N while homing (bound {bound:~+.0f} N)",
        FaultCode.FORCE_LIMIT,
        unit="N",
    )
    FORCE_WHILE_HOLDING = _code(
        "force_while_holding",
        "measured force {value:~+.0f} N while its drive holds the position (bound {bound:~+.0f} N)",
        FaultCode.FORCE_LIMIT,
        unit="N",
    )
    NO_READING = _code(
        "no_reading",
        "load cells: no fresh reading for {value:~.3g*1e3} ms (bound {bound:~.3g*1e3} ms"
        "[[, {stated:g*1e3} ms less half a cycle]])[[: {silence}]]",
        FaultCode.LOAD_CELL,
        unit="s",
    )
    CELL_SATURATED = _code(
        "cell_saturated",
        "the load cell reads {value:g} N, at or beyond its full scale {bound:g} N",
        FaultCode.LOAD_CELL,
        unit="N",
    )
    CELL_NOT_FINITE = _code("cell_not_finite", "the load cell reads {value:g} N", FaultCode.LOAD_CELL, unit="N")
    CELL_FROZEN = _code(
        "cell_frozen",
        "the load cell was frozen for {cycles:.0f} cycles while the model's force changed by {value:.3g} N",
        FaultCode.LOAD_CELL,
        unit="N",
    )
    CELL_STILL_FROZEN = _code(
        "cell_still_frozen",
        "the load cell still reads exactly {value:g} N",
        FaultCode.LOAD_CELL,
        unit="N",
    )
    FORCE_RESIDUAL = _code(
        "force_residual",
        "measured force is {value:~+.1f} N off the model (bound {bound:~+.1f} N)",
        FaultCode.FORCE_RESIDUAL,
        unit="N",
    )

    # -- commands ------------------------------------------------------------------------------------------------------

    CONDITION_NUMBER = _code(
        "condition_number",
        "reference: condition number {value:~.3g} (bound {bound:~.3g})",
        FaultCode.CONDITIONING,
    )
    NO_MODEL = _code("no_model", "{text}", FaultCode.CONDITIONING)
    REFERENCE_LENGTH = _code(
        "reference_length",
        "reference of leg {leg}: length {value:^.4f} m (limits {low:^.4f} to {high:^.4f} m)",
        FaultCode.LENGTH_LIMIT,
        unit="m",
    )
    REFERENCE_SPEED = _code(
        "reference_speed",
        "reference of leg {leg}: speed {value:~.3f} m/s (limit {bound:~.3f} m/s)",
        FaultCode.SPEED_LIMIT,
        unit="m/s",
    )
    REFERENCE_ACCELERATION = _code(
        "reference_acceleration",
        "reference of leg {leg}: acceleration {value:~.2f} m/s² (limit {bound:~.2f} m/s²)",
        FaultCode.SPEED_LIMIT,
        unit="m/s²",
    )
    REFERENCE_NOT_FINITE = _code(
        "reference_not_finite",
        "reference of leg {leg}: {value} is not a finite number",
        FaultCode.REFERENCE_INVALID,
    )
    SOURCE_FAILED = _code("source_failed", "reference {source!r} failed: {text}", FaultCode.REFERENCE_INVALID)
    SOURCE_LATE = _code(
        "source_late",
        "reference {source!r} takes {value:.3g*1e3} ms of a cycle (at most {bound:.3g*1e3} ms)",
        FaultCode.REFERENCE_INVALID,
        unit="s",
    )
    SOURCE_NOT_AT_REST = _code(
        "source_not_at_rest",
        "reference {source!r} did not come to rest within {bound:g} s",
        FaultCode.REFERENCE_INVALID,
        unit="s",
    )
    REFERENCE_STEP = _code(
        "reference_step",
        "reference of leg {leg}: steps by {value:~.3f/3*1e3} mm more than its speed explains within "
        "{elapsed:.3g*1e3} ms (bound {bound:~.3f/3*1e3} mm)",
        FaultCode.REFERENCE_INVALID,
        unit="m",
    )
    REFERENCE_SPEED_STEP = _code(
        "reference_speed_step",
        "reference of leg {leg}: its speed steps by {value:~.3f/3} m/s within {elapsed:.3g*1e3} ms "
        "(bound {bound:~.3f/3} m/s)",
        FaultCode.REFERENCE_INVALID,
        unit="m/s",
    )
    STREAM_NO_BRAKING_PATH = _code(
        "stream_no_braking_path", "from there the platform could not come to rest within its limits"
    )
    STREAM_JOINT = _code("stream_joint", "leg {leg}: joint angle {value:.3g} rad is beyond its limit")
    STREAM_FORCE = _code("stream_force", "leg {leg}: force {value:~.0f} N (limit {bound:~.0f} N)", unit="N")
    STREAM_REFUSED = _code(
        "stream_refused",
        "the stream {stream!r} asks for a motion beyond the limits: {within}",
        FaultCode.STREAM,
        Remedy.RESUME,
    )
    STREAM_ELSEWHERE = _code(
        "stream_elsewhere",
        "the platform cannot get to the first pose of the stream {stream!r}: {within}; "
        "stream.frame is {frame!r}: is that the frame of its poses?",
        FaultCode.STREAM,
        Remedy.RESUME,
    )
    STREAM_SILENT = _code(
        "stream_silent",
        "no usable sample of the stream {stream!r} for {value:.3g} s (watchdog {bound:.3g} s): "
        "the platform comes to rest",
        severity=Severity.WARNING,
        unit="s",
    )
    STREAM_LOST = _code(
        "stream_lost",
        "the stream {stream!r} has not come back for {value:.3g} s (bound {bound:.3g} s)",
        FaultCode.STREAM,
        Remedy.RESUME,
        unit="s",
    )
    STREAM_STARVED = _code(
        "stream_starved",
        "the stream {stream!r} lags: its delay of {bound:.3g} s does not cover the sender's periods and jitter; "
        "the platform comes to rest until there are samples again",
        severity=Severity.WARNING,
        unit="s",
    )
    STREAM_UNUSABLE = _code(
        "stream_unusable",
        "samples of the stream {stream!r} are not used: a number is not finite, the quaternion's norm is not 1, "
        "or θy is near 90°",
        severity=Severity.WARNING,
    )
    STREAM_STALE = _code(
        "stream_stale",
        "samples of the stream {stream!r} are not used: their time stamps are too old, or in the future",
        severity=Severity.WARNING,
    )
    STREAM_LIMITED = _code(
        "stream_limited",
        "the stream {stream!r} asks for a motion beyond the limits: {within}; the platform follows as closely as they "
        "allow",
        severity=Severity.WARNING,
    )
    STREAM_FOLLOWED = _code(
        "stream_followed",
        "the stream {stream!r} is followed with a delay of {bound:.3g} s",
        severity=Severity.INFO,
        unit="s",
    )
    STREAM_ENDED = _code("stream_ended", "the stream {stream!r} has ended", severity=Severity.INFO)
    STREAM_SLIPPED = _code(
        "stream_slipped",
        "the rig's clock is {value:.3g} s behind that of the stream {stream!r}, which begins anew",
        severity=Severity.WARNING,
        unit="s",
    )
    STREAM_DELAY = _code(
        "stream_delay",
        "stream.delay is {value:.4g} s, must be at least {bound:.4g} s, the look-ahead of a cycle",
        unit="s",
    )
    STREAM_UNREADABLE = _code("stream_unreadable", "the stream {stream!r} cannot be read: {text}")
    FMU_FAILED = _code("fmu_failed", "{fmu}: {text}[[: {log}]]")
    """its details: `function` and `status` of the call that failed, and `log`, the FMU's own message"""
    REFERENCE_FMU_FAILED = _code("reference_fmu_failed", "the followed FMU has failed: {within}")
    """its details: those of `FMU_FAILED`, if it is that, and `time`, s of the FMU's own"""
    PAYLOAD_FMU_FAILED = _code("payload_fmu_failed", "the payload's FMU has failed, the plant stands still: {within}")
    """its details: as `REFERENCE_FMU_FAILED`"""
    SENSOR_STALE = _code(
        "sensor_stale",
        "no reading of the sensor {sensor!r} for {value:.3g} s (bound {bound:.3g} s), after {taken} readings",
        severity=Severity.WARNING,
        unit="s",
    )
    SENSOR_BACK = _code("sensor_back", "the sensor {sensor!r} gives readings", severity=Severity.INFO)
    SENSOR_UNUSABLE = _code(
        "sensor_unusable",
        "{count} readings of the sensor {sensor!r} were not used: {text}",
        severity=Severity.WARNING,
    )
    SENSOR_FAILED = _code("sensor_failed", "the sensor {sensor!r} cannot be read: {text}", severity=Severity.WARNING)
    SENSORS_HANG = _code(
        "sensors_hang",
        "the process that reads the sensors has hung for {value:.3g} s: nothing of {text} is recorded until it goes on",
        severity=Severity.WARNING,
        unit="s",
    )
    SENSORS_DEAD = _code(
        "sensors_dead",
        "the process that reads the sensors has died: nothing of {text} is recorded from now on",
        severity=Severity.WARNING,
    )
    COMMANDED_LENGTH = _code(
        "commanded_length",
        "the commanded length would be {value:^.4f} m (limits {low:^.4f} to {high:^.4f} m)",
        FaultCode.LENGTH_LIMIT,
        unit="m",
    )
    COMMANDED_FORCE = _code(
        "commanded_force", "needs {value:~.0f} N (limit {bound:~.0f} N)", FaultCode.FORCE_LIMIT, unit="N"
    )
    LAW_NOT_FINITE = _code("law_not_finite", "the control law {law!r} asks for {text} N", FaultCode.INTERNAL_ERROR)
    LAW_FAILED = _code("law_failed", "the control law {law!r} failed: {text}", FaultCode.INTERNAL_ERROR)

    # -- state timeouts, homing, wiring and brakes ---------------------------------------------------------------------

    TORQUE_OFF_OVERDUE = _code(
        "torque_off_overdue", "torque was not off within {bound:g} s", FaultCode.STOP_OVERDUE, unit="s"
    )
    STOP_2_OVERDUE = _code(
        "stop_2_overdue", "the category 2 stop did not end within {bound:g} s", FaultCode.STOP_OVERDUE, unit="s"
    )
    STOP_1_OVERDUE = _code(
        "stop_1_overdue", "the category 1 stop did not end within {bound:g} s", FaultCode.STOP_OVERDUE, unit="s"
    )
    QUICK_STOP_OVERDUE = _code(
        "quick_stop_overdue",
        "the drives' quick stop did not end within {bound:g} s",
        FaultCode.STOP_OVERDUE,
        unit="s",
    )
    HOMING_OVERDUE = _code(
        "homing_overdue",
        "homing did not end within {bound:g} s[[: no reference found by {legs}]][[. Drive {unsought} reports a "
        "reference but was not seen to search: compare modes.homing and status.homing of its profile with the manual; "
        "if a search may be shorter than a cycle, leave status.homing out]]",
        FaultCode.HOMING_FAILED,
        unit="s",
    )
    SEARCH_UNSEEN = _code(
        "search_unseen",
        "its drive was not seen to search: it stands at its length at home, by the reference that it had",
        severity=Severity.INFO,
    )
    HOMED_WITHOUT_POSE = _code(
        "homed_without_pose", "the six homed lengths match no pose near home", FaultCode.HOMING_FAILED
    )
    HOMED_OFF = _code(
        "homed_off",
        "homed {value:~+.2f*1e3} mm from its length at home (bound {bound:~+.2f*1e3} mm)",
        FaultCode.HOMING_FAILED,
        unit="m",
    )
    HOMED_EXCHANGED = _code(
        "homed_exchanged",
        "legs {leg} and {other} homed at each other's length: their drives answer at each other's address, or the "
        "mechanism has them exchanged",
        FaultCode.WIRING,
    )
    BRAKE_SLIPS_HOMING = _code(
        "brake_slips_homing",
        "leg {leg} moved by {value:.2f*1e3} mm while homing before its turn: its brake slips",
        FaultCode.BRAKES_SLIP,
        unit="m",
    )
    BRAKES_FALL = _code(
        "brakes_fall",
        "the brakes do not hold: without torque {within:join, }, and faster than before",
        FaultCode.BRAKES_SLIP,
    )
    LEG_SPEED = _code("leg_speed", "leg {leg} by {value:+.0f*1e3} mm/s", FaultCode.BRAKES_SLIP, unit="m/s")
    BRAKES_SLIP = _code(
        "brakes_slip",
        "the brakes do not hold: moved without torque: {within:join, } (bound {bound:g*1e3} mm)",
        FaultCode.BRAKES_SLIP,
        unit="m",
    )
    LEG_WAY = _code("leg_way", "leg {leg} by {value:~+.2f*1e3} mm", FaultCode.BRAKES_SLIP, unit="m")
    MOVES_WITHOUT_TORQUE = _code(
        "moves_without_torque",
        "moves without torque, {value:+.2f*1e3} mm in the last check: the brake does not hold",
        FaultCode.BRAKES_SLIP,
        unit="m",
    )
    LEGS_MOVE_WITHOUT_TORQUE = _code("legs_move_without_torque", "{within:join; }", FaultCode.BRAKES_SLIP)
    OTHER_LEG_HOMED = _code(
        "other_leg_homed",
        "leg {leg} was commanded to home, but leg {other} moved by {value:.2f*1e3} mm: motors or "
        "encoders of legs {leg} and {other} are wired to each other's drive, or the brake of leg "
        "{other} does not hold",
        FaultCode.WIRING,
        unit="m",
    )
    OTHER_LEG_HOMED_BY_ONE = _code(
        "other_leg_homed_by_one",
        "leg {leg} moved by {value:.2f*1e3} mm while others were commanded to home: motors or encoders of "
        "{within:join or of } are wired to each other's drive, or the brake of leg {leg} does not hold",
        FaultCode.WIRING,
        unit="m",
    )
    FOUND_LEG_MOVED = _code(
        "found_leg_moved",
        "leg {leg} was at its reference, and moved by {value:.2f*1e3} mm when leg {other} was commanded to home: "
        "motors or encoders of legs {leg} and {other} are wired to each other's drive, or leg {leg} is not held",
        FaultCode.WIRING,
        unit="m",
    )
    PAIR = _code("pair", "{one} and {other}", FaultCode.WIRING)
    PAIR_OF_LEGS = _code("pair_of_legs", "legs {one} and {other}", FaultCode.WIRING)
    EXCHANGED_AT_REST = _code(
        "exchanged_at_rest",
        "{within:join, or }: the load cells' change from the start of homing to home matches no other wiring",
        FaultCode.WIRING,
    )
    DRIVES_STILL_EXCHANGED = _code(
        "drives_still_exchanged",
        "{within}: found before and not cleared by the forces; connect again",
        FaultCode.WIRING,
        Remedy.RECONNECT,
        wraps=True,
    )
    EXCHANGED_IN_MOTION = _code(
        "exchanged_in_motion",
        "the measurements in motion match another wiring: {within:join, or }",
        FaultCode.WIRING,
    )
    DRIVES_EXCHANGED = _code(
        "drives_exchanged",
        "the drives of {within:join or of } answer at each other's address",
        FaultCode.WIRING,
    )
    CELLS_EXCHANGED = _code("cells_exchanged", "the load cells of {within:join or of } are exchanged", FaultCode.WIRING)
    EXCHANGE_UNCLEAR = _code(
        "exchange_unclear",
        "the forces cannot show whether drives are exchanged: {within}",
        severity=Severity.INFO,
    )
    TOO_SHORT_AT_REST = _code(
        "too_short_at_rest", "the rig was not at rest long enough before homing", severity=Severity.INFO
    )
    FITS_NO_WIRING = _code(
        "fits_no_wiring",
        "the load cells' change from the start of homing to home matches no wiring",
        severity=Severity.INFO,
    )
    PAIRS_ALIKE = _code(
        "pairs_alike",
        "from where homing began, an exchange of legs {within:join, } would go unnoticed",
        severity=Severity.INFO,
    )
    ALL_PAIRS_ALIKE = _code(
        "all_pairs_alike",
        "from where homing began, any two legs could be exchanged unnoticed",
        severity=Severity.INFO,
    )
    UNPROVEN = _code(
        "unproven", "no test is on record for its present wiring, address and profile", remedy=Remedy.TEST_LEGS
    )
    UNPROVEN_EXCHANGED = _code(
        "unproven_exchanged",
        "the drives of legs {pairs:join, of legs } have been exchanged since the legs were tested; {within}",
        remedy=Remedy.TEST_LEGS,
    )
    UNPROVEN_UNREADABLE = _code("unproven_unreadable", "{text}", remedy=Remedy.TEST_LEGS)
    RECORD_NOT_STRUCK = _code(
        "record_not_struck",
        "the tests on record could not be removed, and prove nothing any more: {text}",
        severity=Severity.WARNING,
        remedy=Remedy.TEST_LEGS,
    )

    # -- the test of one leg -------------------------------------------------------------------------------------------

    LEG_HOMED_NOWHERE = _code(
        "leg_homed_nowhere",
        "leg {leg} moved {value:.1f*1e3} mm without finding its reference",
        FaultCode.HOMING_FAILED,
        unit="m",
    )
    LEG_HOMING_OVERDUE = _code(
        "leg_homing_overdue",
        "leg {leg} did not find its reference within {bound:g} s",
        FaultCode.HOMING_FAILED,
        unit="s",
    )
    LEG_HOMED_BEYOND = _code(
        "leg_homed_beyond",
        "leg {leg} reports a length of {value:^.4f} m (limits {low:^.4f} to {high:^.4f} m)",
        FaultCode.HOMING_FAILED,
        unit="m",
    )
    LEG_OVERSPEED = _code(
        "leg_overspeed",
        "leg {leg} moves at {value:~.0f*1e3} mm/s (bound {bound:~.0f*1e3} mm/s)",
        FaultCode.OVERSPEED,
        unit="m/s",
    )
    OTHER_ENCODER_MOVED = _code(
        "other_encoder_moved",
        "its encoder moved {value:.2f*1e3} mm while leg {tested} was moved: are encoder cables crossed, or does a "
        "brake slip?",
        FaultCode.WIRING,
        unit="m",
    )
    LEG_REVERSED = _code(
        "leg_reversed",
        "leg {leg} is {value:~.2f*1e3} mm off its path (bound {bound:~.2f*1e3} mm): it moves against its command "
        "({moved:+.2f*1e3} mm), a direction is reversed",
        FaultCode.RUNAWAY,
        unit="m",
    )
    LEG_OFF_PATH = _code(
        "leg_off_path",
        "leg {leg} is {value:~.2f*1e3} mm off its path (bound {bound:~.2f*1e3} mm): it moved {moved:+.2f*1e3} mm of "
        "{wanted:+.2f*1e3} mm",
        FaultCode.FOLLOWING_ERROR,
        unit="m",
    )
    LEG_NO_ROOM = _code(
        "leg_no_room",
        "leg {leg} is at {start:.4f} m: {travel:+g*1e3} mm from there is outside its limits: length "
        "{value:^.4f} m (limits {low:^.4f} to {high:^.4f} m)",
        FaultCode.LENGTH_LIMIT,
        unit="m",
    )
    TORQUE_OFF_UNCONFIRMED = _code("torque_off_unconfirmed", "the drive does not confirm that its torque is off")
    LEG_WRONG_WAY = _code(
        "leg_wrong_way",
        "it moved {value:+.3f*1e3} mm where {travel:+g*1e3} mm were commanded: wrong direction",
        unit="m",
    )
    LEG_MISSED = _code("leg_missed", "it moved {value:+.3f*1e3} mm where {travel:+g*1e3} mm were commanded", unit="m")
    LEG_SPEED_REVERSED = _code(
        "leg_speed_reversed",
        "it moved {value:+.3f*1e3} mm by its positions and {by_speed:+.3f*1e3} mm by its speeds: feedback.position or "
        "feedback.velocity has the wrong sign, and the command with it; measure at the rod, and correct the profile's "
        "scale",
        unit="m",
    )
    LEG_NOT_BACK = _code("leg_not_back", "it came back to {value:+.3f*1e3} mm from its start", unit="m")
    LEG_HOMED_OFF = _code(
        "leg_homed_off",
        "homed {value:~+.2f*1e3} mm from its length at home (bound {bound:~+.2f*1e3} mm): correct its "
        "position_offset (now {offset:.3f*1e3} mm; {fits:.3f*1e3} mm would fit), or the mechanism",
        unit="m",
    )
    LEG_PROFILE_SUSPECT = _code(
        "leg_profile_suspect",
        "if nothing blocks the leg: compare address, type, scale and word_order of position in [feedback] and "
        "[command] of {profile} with the manual",
    )
    LEG_SEARCH_SUSPECT = _code(
        "leg_search_suspect",
        "compare modes.homing, status.homed and status.homing of {profile} with the manual",
    )
    LEG_REPLIES_SLOW = _code(
        "leg_replies_slow",
        "for drives that answer late: a longer drives.reply_timeout (now {timeout:g*1e3} ms), or a lower rate (now "
        "{rate:g} Hz); `rig setup probe` says how long they take",
    )
    LEG_CELL_INVALID = _code("leg_cell_invalid", "its load cell has no valid reading")
    LEG_CELL_SATURATED = _code(
        "leg_cell_saturated", "its load cell is at or beyond its full scale {bound:g} N", unit="N"
    )
    LEG_CELL_FROZEN = _code("leg_cell_frozen", "its load cell is frozen: {value:g} N in every reading", unit="N")
    LEG_PASSED = _code(
        "leg_passed",
        "test of leg {leg}: passed; {travel:+g*1e3} mm commanded, {value:+.3f*1e3} mm measured",
        severity=Severity.INFO,
        unit="m",
    )
    LEG_STOPPED = _code(
        "leg_stopped",
        "test of leg {leg}: stopped; {travel:+g*1e3} mm commanded[[, {value:+.3f*1e3} mm measured]]; {within:join; }",
        severity=Severity.INFO,
        unit="m",
    )
    LEG_FAILED = _code(
        "leg_failed",
        "test of leg {leg}: does not pass; {travel:+g*1e3} mm commanded[[, {value:+.3f*1e3} mm measured]]; "
        "{within:join; }",
        severity=Severity.WARNING,
        unit="m",
    )
    LEG_UNKNOWN = _code("leg_unknown", "leg {number} is outside 1 to 6")
    LEG_MOVE_REFUSED = _code("leg_move_refused", "test of leg {leg}: {within:join; }")
    TEST_NOT_FINITE = _code("test_not_finite", "{what} {value} is not a finite number")
    TEST_TRAVEL = _code("test_travel", "travel {value:g*1e3} mm is outside {low:g*1e3} to {high:g*1e3} mm", unit="m")
    TEST_SPEED = _code("test_speed", "speed {value:g*1e3} mm/s is outside {low:g*1e3} to {high:g*1e3} mm/s", unit="m/s")
    TEST_MODE = _code("test_mode", "its drive has no mode POSITION ({drive}), which is needed to move one leg")
    TEST_WITHOUT_REFERENCE = _code(
        "test_without_reference",
        "the drive has no reference yet and cannot move to positions: home this leg first",
    )
    FAULT_TO_CLEAR = _code(
        "fault_to_clear", "[[{within}: ]]a latched fault; look at the cause, then allow it to be cleared", wraps=True
    )
    STOPPED_BEFORE_MOVING = _code("stopped_before_moving", "stopped before anything moved", severity=Severity.INFO)
    TEST_NOT_PASSED = _code("test_not_passed", "test of leg {leg}: it did not pass, and proves nothing")

    # -- query of the drives -------------------------------------------------------------------------------------------

    IN_ORDER = _code("in_order", "{within:join, }", severity=Severity.INFO)
    DRIVE_SERIAL = _code("drive_serial", "serial {serial}", severity=Severity.INFO)
    DRIVE_FIRMWARE = _code("drive_firmware", "firmware {firmware}", severity=Severity.INFO)
    STATUS_FAULT = _code("status_fault", "fault")
    STATUS_QUICK_STOP = _code("status_quick_stop", "quick stop")
    STATUS_HOMING = _code("status_homing", "homing", severity=Severity.INFO)
    STATUS_TORQUE = _code("status_torque", "torque on", severity=Severity.INFO)
    STATUS_HOMED = _code("status_homed", "homed", severity=Severity.INFO)
    ANSWERS_AFTER = _code("answers_after", "answers after {value:.3g*1e3} ms", severity=Severity.INFO, unit="s")
    POSITION_READ = _code("position_read", "position {value:.3f*1e3} mm", severity=Severity.INFO, unit="m")
    FORCE_READ = _code("force_read", "force {value:.1f} N", severity=Severity.INFO, unit="N")
    ANSWER_UNKNOWN = _code("answer_unknown", "answers ({reply}); no driver knows it by its registers")
    ANSWER_WITHOUT_DRIVER = _code("answer_without_driver", "answers ({reply}): {within}; no driver knows it")
    ANSWER_OF_DRIVER = _code(
        "answer_of_driver", "driver {driver}[[, profile {profile}]]: {within}", severity=Severity.INFO
    )
    REGISTERS_ALONE = _code(
        "registers_alone", "it has these registers, none of which identifies it", severity=Severity.INFO
    )
    FOUND_OF_OTHER_DRIVER = _code("found_of_other_driver", "{place} {within}: the driver is {driver}")
    FOUND_OTHER_FORMAT = _code(
        "found_other_format", "{place}: parity and stop bits differ from those of the other ports"
    )
    FOUND_TOO_MANY = _code("found_too_many", "{place}: every leg has its drive")
    DRIVE_AND_FAULT = _code("drive_and_fault", "{within:join: }")
    OTHER_UNIT_ANSWERS = _code("other_unit_answers", "{text}; unit {unit} answers there[[: {within}]]")
    UNEXPECTED_SERIAL = _code("unexpected_serial", "another drive than expected, serial {expected}")
    FAULT_AT_DRIVE = _code("fault_at_drive", "latched fault {error}, {text}")
    REPLY_TOO_LATE = _code(
        "reply_too_late", "it answers after {value:g} s, and is waited for {bound:g} s: raise reply_timeout", unit="s"
    )
    ENCODER_INVALID = _code(
        "encoder_invalid", "the encoder has no valid value (position {position:g} m, speed {speed:g} m/s)"
    )
    LENGTH_NOT_OF_MECHANISM = _code(
        "length_not_of_mechanism",
        "its length {value:^.1f*1e3} mm is outside the mechanism's {low:^.1f*1e3} to {high:^.1f*1e3} mm: correct its "
        "position_offset (now {offset:g*1e3} mm, {least:.1f*1e3} to {most:.1f*1e3} mm would fit where it stands), the "
        "scale of its profile, or the mechanism",
        unit="m",
    )
    POSITION_OF_NO_LEG = _code(
        "position_of_no_leg",
        "no leg can have this position, {value:.3g} m: compare address, type, scale and word_order of it with the "
        "manual",
        severity=Severity.WARNING,
        unit="m",
    )
    UNIT_ID_IGNORED = _code(
        "unit_id_ignored",
        "{place} answers under every unit id, also {units:join and }, which no leg has: its legs cannot be "
        "distinguished; correct the gateway",
    )
    ONE_DRIVE_BY_WATCHDOG = _code(
        "one_drive_by_watchdog",
        "{legs} are answered by one and the same drive: a watchdog time that is written at leg {first} is read at the "
        "others; correct an address, or a gateway that ignores the unit id",
    )
    ONE_DRIVE_BY_SERIAL = _code(
        "one_drive_by_serial", "{legs} are answered by one and the same drive, serial {serial}: correct an address"
    )
    DRIVES_SWAPPED = _code(
        "drives_swapped", "the drives of legs {one} and {other} have changed places: cables or unit ids swapped"
    )
    DRIVE_ELSEWHERE = _code(
        "drive_elsewhere", "the drive of leg {other} (serial {serial}) answers at leg {leg}'s address"
    )

    # -- zero of the load cells ----------------------------------------------------------------------------------------

    CELLS_NOT_ZEROED = _code("cells_not_zeroed", "the load cells cannot be zeroed:{within:lines}")
    ZERO_REFUSED = _code("zero_refused", "zero refused, nothing written:{within:lines}")
    ZERO_WITHOUT_FEEDBACK = _code(
        "zero_without_feedback", "{value:.0f} of {count} cycles without fresh feedback (bound {bound:.0f})"
    )
    ZERO_IN_MOTION = _code(
        "zero_in_motion",
        "leg {leg} is not at rest: {value:~.2f*1e3} mm/s (bound {bound:~.2f*1e3} mm/s)",
        unit="m/s",
    )
    ZERO_LEG_MOVED = _code(
        "zero_leg_moved",
        "leg {leg} is not at rest: it moved {value:~.3f*1e3} mm (bound {bound:~.3f*1e3} mm)",
        unit="m",
    )
    ZERO_CELLS_EXCHANGED = _code(
        "zero_cells_exchanged",
        "the load cells of legs {one} and {other} read each other's force: legs {one} and {other} read {read_one:+.1f} "
        "and {read_other:+.1f} N, where the model has {model_one:+.1f} and {model_other:+.1f} N: correct their wiring",
        unit="N",
    )
    ZERO_CELL_REVERSED = _code(
        "zero_cell_reversed",
        "its load cell reads {value:+.1f} N where the model has {model:+.1f} N: its polarity is reversed: rig "
        "calibrate cells",
        unit="N",
    )
    ZERO_SHIFT = _code("zero_shift", "the zero would shift by {value:~+.1f} N (bound {bound:~+.1f} N)", unit="N")
    ZERO_NOISE = _code(
        "zero_noise",
        "noise {value:~.2f} N (bound {bound:~.2f} N, {factor:g} times what is expected)",
        unit="N",
    )
    ZERO_DRIFT = _code("zero_drift", "the zero drifted by {value:~+.2f/3} N (bound {bound:~+.2f/3} N)", unit="N")

    # -- refused commands ----------------------------------------------------------------------------------------------

    CONNECT_FIRST = _code("connect_first", "connect first", remedy=Remedy.CONNECT)
    HOME_FIRST = _code("home_first", "home first", remedy=Remedy.HOME)
    ENGAGE_FIRST = _code("engage_first", "engage first", remedy=Remedy.ENGAGE)
    PARK_FIRST = _code("park_first", "park first", remedy=Remedy.PARK)
    WAIT_FOR_HOMING = _code("wait_for_homing", "wait until homing is done")
    WAIT_FOR_TORQUE = _code("wait_for_torque", "wait until the drives have torque")
    WAIT_FOR_PARKING = _code("wait_for_parking", "wait until the platform is parked")
    WAIT_FOR_STOP = _code("wait_for_stop", "wait until the stop is done")
    WAIT_FOR_LEG_TEST = _code("wait_for_leg_test", "wait until the leg is tested")
    MOTION_RUNNING = _code("motion_running", "a motion is running", remedy=Remedy.PAUSE)
    FAULT_LATCHED = _code("fault_latched", "a fault is latched: reset first", remedy=Remedy.RESET)
    HELD_FOR_FAULT = _code("held_for_fault", "held after a fault: press STOP, then reset", remedy=Remedy.STOP)
    ALREADY_CONNECTED = _code("already_connected", "the drives are connected")
    NO_FAULT = _code("no_fault", "there is no fault to reset")
    ALREADY_HOMED = _code("already_homed", "homed; disconnect to home again", remedy=Remedy.DISCONNECT)
    NO_MOTION = _code("no_motion", "no motion is running")
    PAUSE_FIRST = _code("pause_first", "{motion!r} is running: pause it first", remedy=Remedy.PAUSE)
    NOTHING_PAUSED = _code("nothing_paused", "nothing is paused")
    ALREADY_ENGAGED = _code("already_engaged", "the drives have torque already")
    ALREADY_PARKED = _code("already_parked", "the platform is parked")
    NO_TORQUE_TO_PARK = _code("no_torque_to_park", "the drives have no torque")
    NOT_CONNECTED = _code("not_connected", "the drives are not connected", remedy=Remedy.CONNECT)
    LEGS_SILENT = _code("legs_silent", "no fresh feedback of leg {legs_listed}")
    TORQUE_STILL_ON = _code("torque_still_on", "the drive still has torque")
    TORQUE_STAYS_ON = _code(
        "torque_stays_on",
        "the drive still has torque; press the emergency stop or cut the drive's supply, then try again",
    )
    TORQUE_UNSUPERVISED = _code(
        "torque_unsupervised",
        "the drive still has torque and would be neither supervised nor recorded; press the emergency "
        "stop or cut the drive's supply, then try again",
    )
    PROVE_WIRING = _code(
        "prove_wiring",
        "{within}; test each of these legs, or home with the wiring unproven",
        remedy=Remedy.TEST_LEGS,
        wraps=True,
    )
    LOOP_REFUSED = _code("loop_refused", "{text}")
    NOT_HOMED = _code(
        "not_homed", "the platform is not homed any more: disconnect, connect and home", remedy=Remedy.RECONNECT
    )
    POSE_UNKNOWN = _code(
        "pose_unknown", "the measured pose is not known: disconnect, connect and home", remedy=Remedy.RECONNECT
    )
    CELLS_SILENT = _code("cells_silent", "no fresh reading of the load cells[[: {silence}]]")
    CELLS_DEAD = _code("cells_dead", "{within:join; }")
    ZERO_NOT_JUDGED = _code(
        "zero_not_judged",
        "the load cells' zero is not judged yet, {bound:g} s at rest are needed",
        unit="s",
    )
    ZERO_OFF = _code(
        "zero_off",
        "the load cell of leg {leg} is {value:~+.1f} N off the model at rest (bound {bound:~+.1f} N): tare the cells, "
        "or correct the mechanism's masses",
        remedy=Remedy.ZERO_CELLS,
        unit="N",
    )
    CELLS_READ_EACH_OTHER = _code(
        "cells_read_each_other",
        "the load cells of legs {leg} and {other} read each other's force at rest, {value:~+.1f} N off the model "
        "(bound {bound:~+.1f} N): correct their wiring, or tare them if it is right",
        remedy=Remedy.ZERO_CELLS,
        unit="N",
    )
    CELL_REVERSED = _code(
        "cell_reversed",
        "the load cell of leg {leg} is {value:~+.1f} N off the model at rest (bound {bound:~+.1f} N): the polarity "
        "(gain) of the load cell is reversed at leg {legs_listed}: rig calibrate cells",
        unit="N",
    )
    MOTION_PAUSED = _code("motion_paused", "{motion!r} is paused: resume it, abandon it, or park", remedy=Remedy.RESUME)
    BEGUN_BY_ANOTHER = _code(
        "begun_by_another",
        "{motion!r} was begun by {client!r} under a command lease that has ended: take it over to go on with it, "
        "abandon it, or park",
        remedy=Remedy.RESUME,
    )
    RESET_UNDER_WAY = _code("reset_under_way", "a reset is under way")
    CAUSE_REMAINS = _code("cause_remains", "the cause is still there: {within:join; }")
    LEG_SILENT = _code("leg_silent", "no fresh feedback[[: {silence}]]")
    DRIVE_SAYS = _code("drive_says", "{text}")
    NOT_FINITE = _code("not_finite", "length {length} m, speed {speed} m/s")
    CELLS_STILL_SILENT = _code("cells_still_silent", "load cells: no fresh reading[[: {silence}]]")
    STOPPED_MEANWHILE = _code("stopped_meanwhile", "the rig was stopped meanwhile")
    LEASE_LAPSED = _code("lease_lapsed", "the command lease of the request has ended")
    LEASE_NEEDED = _code("lease_needed", "needs the command lease; acquire it first")
    LEASE_NEEDED_HELD = _code("lease_needed_held", "needs the command lease; {client!r} holds it")
    LEASE_HELD = _code("lease_held", "{client!r} holds the command lease")
    NOT_HELD = _code("not_held", "it was released before it began")
    ELSEWHERE = _code(
        "elsewhere",
        "the motion starts {away:in:m} and {turned:in:rad} from where the platform is: move to its start first",
        remedy=Remedy.MOVE_TO_START,
    )
    WAY_HOME_REFUSED = _code(
        "way_home_refused", "{within}\n  move somewhere else first, or STOP, which takes the torque off"
    )
    MOVING_WHEN_ASKED = _code("moving_when_asked", "the platform was moving at the request: try again")
    SOURCE_REFUSED = _code("source_refused", "reference {source!r} cannot be followed: {text}")
    SOURCE_NOT_ENGAGED = _code(
        "source_not_engaged",
        "{source!r} cannot be followed in state {state:name}: engage first",
        remedy=Remedy.ENGAGE,
    )
    DRIVE_CHANGED = _code("drive_changed", "{within}; disconnect, connect and home again", remedy=Remedy.RECONNECT)
    DEVICES_UNUSABLE = _code("devices_unusable", "{count} devices cannot be used:\n  {within:join\n  }")
    DRIVE_FAILS = _code("drive_fails", "{text}")
    CELLS_FAIL = _code("cells_fail", "load cells: {text}")
    DRIVE_WITHOUT_MODE = _code("drive_without_mode", "the drive has no mode {modes}")
    DRIVE_WITHOUT_CELL = _code(
        "drive_without_cell",
        "the drive reads no load cell: name the cells' devices in [load_cells] (rig setup new: --amplifier)",
    )
    DRIVE_COMMANDED = _code("drive_commanded", "the drive has torque already: another master commands it")
    DRIVE_NO_REPLY = _code("drive_no_reply", "no good reply to the cyclic exchange[[: {silence}]]")
    CELLS_NO_REPLY = _code("cells_no_reply", "load cells: no good reply to the cyclic exchange[[: {silence}]]")
    OTHER_DRIVE = _code("other_drive", "another drive answers: {field} {now!r}, before {before!r}")
    SAME_DRIVE = _code("same_drive", "legs {one} and {other} have the same drive at {place}")
    DRIVE_CLAIMED = _code("drive_claimed", "{text}")
    DRIVE_UNCLAIMED = _code("drive_unclaimed", "the drive cannot be claimed: {text}")
    CHECK_DIED = _code(
        "check_died",
        "the process that checks motions has died: disconnect and connect again (rig operate: quit and start it again)",
        remedy=Remedy.DISCONNECT,
    )
    CHECK_LATE = _code(
        "check_late",
        "the check of a motion took longer than {bound:g} s: disconnect and connect again (rig operate: quit and "
        "start it again)",
        remedy=Remedy.DISCONNECT,
        unit="s",
    )
    LINK_CLOSED = _code("link_closed", "a {command!r} request: the connection to the engine was closed")
    ENGINE_SILENT = _code(
        "engine_silent", "the engine did not answer a {command!r} request within {bound:g} s", unit="s"
    )
    ENGINE_GONE = _code("engine_gone", "the engine (process {pid}) has ended", remedy=Remedy.CONNECT)
    ENGINE_NOT_RUNNING = _code("engine_not_running", "the engine is not running", remedy=Remedy.CONNECT)
    ENGINE_STARTING = _code("engine_starting", "the engine is starting")
    ENGINE_ENDING = _code("engine_ending", "the engine is ending")
    ENGINE_DIED = _code("engine_died", "the engine has died: restart it first", remedy=Remedy.CONNECT)
    ENGINE_FOUND = _code("engine_found", "an engine holds the drives: take it over first", remedy=Remedy.CONNECT)
    MOTION_REFUSED = _code("motion_refused", "{text}")
    TRAJECTORY_OUTSIDE = _code("trajectory_outside", "the trajectory exceeds the limits:{within:lines}")
    TARGET_OUTSIDE = _code("target_outside", "the target exceeds the limits:{within:lines}")
    MOTION_ABOVE = _code(
        "motion_above",
        "{quantity:name}[[ of leg {leg}]]: {value:~unit}[[ at {time:.4g} s]], must be at most {bound:~unit}"
        "[[ (beyond it from {since:.4g} s)]]",
    )
    MOTION_BELOW = _code(
        "motion_below",
        "{quantity:name}[[ of leg {leg}]]: {value:~unit}[[ at {time:.4g} s]], must be at least {bound:~unit}"
        "[[ (beyond it from {since:.4g} s)]]",
    )
    MOTION_NOT_AT_REST = _code(
        "motion_not_at_rest",
        "{quantity:name}[[ of leg {leg}]]: {value:~unit}[[ at {time:.4g} s]], must be at rest",
    )
    MOTION_SINGULAR = _code("motion_singular", "at {time:.4g} s: {text}")
    SMALLER_PASSES = _code("smaller_passes", "it would pass if scaled by {value:.3f} about its start pose")
    NO_SMALLER_PASSES = _code("no_smaller_passes", "no smaller amplitude about its start pose passes either")
    SLOWING_ABOVE = _code(
        "slowing_above",
        "braked to a standstill in {duration:g} s from {time:.4g} s on: {quantity:name} of leg {leg}: {value:~unit}, "
        "must be at most {bound:~unit}",
    )
    NO_FREE_RANGE = _code("no_free_range", "no free range: {within}")
    RANGE_TOO_SHORT = _code("range_too_short", "no free range: it would be shorter than {bound:g} {unit}")
    NO_SIZE_PASSES = _code("no_size_passes", "no passing size was found: for the smallest one tried,\n{within}")
    TABLE_NO_NUMBERS = _code("table_no_numbers", "the samples of a table must be numbers: {text}")
    TABLE_NOT_FINITE = _code("table_not_finite", "the table is not finite at [{place}]")
    TABLE_SHAPE = _code("table_shape", "a table of shape {shape}, must be (n, 18): q, q̇ and q̈ of six coordinates")
    TABLE_TOO_SHORT = _code("table_too_short", "a motion needs at least two rows")
    MALFORMED = _code("malformed", "{text}")
    NOT_ROWS = _code("not_rows", "{size} bytes are not rows of 18 float64")
    UNEXPECTED = _code("unexpected", "{error}: {text}")
    ENGINE_UNHEARD = _code("engine_unheard", "the engine has not answered yet")
    ENGINE_NOT_ANSWERING = _code("engine_not_answering", "the engine does not answer")
    FOUND_ENGINE_SILENT = _code(
        "found_engine_silent",
        "it does not answer; `kill -9 {pid}` ends it, and the drives are then without a master",
    )
    FOUND_ENGINE_COMMANDED = _code("found_engine_commanded", "{client!r} commands it")
    REQUEST_UNDER_WAY = _code("request_under_way", "{request} is under way")
    NOTHING_RECORDED = _code("nothing_recorded", "nothing has been recorded yet")
    FAULTS_VIRTUAL_ONLY = _code("faults_virtual_only", "faults can be injected into a virtual rig only")
    VIRTUAL_RIG_DOWN = _code("virtual_rig_down", "the virtual rig is not running: connect first", remedy=Remedy.CONNECT)
    SETUP_OPEN = _code("setup_open", "the set-up is open")
    DRIVES_HELD = _code(
        "drives_held",
        "the app holds the drives: park, then disconnect first",
        remedy=Remedy.DISCONNECT,
    )
    PROCESSOR_RESERVED = _code(
        "processor_reserved",
        "while the drives have torque the processor is reserved for the engine: park or stop first",
        remedy=Remedy.PARK,
    )
    REFUSED = _code("refused", "{command}: {within}", wraps=True)
    MESSAGE = _code("message", "{text}")

    # -- how a motion or a run ended early ----------------------------------------------------------------------------

    FAULT_CAUSE = _code("fault_cause", "{kind:name}: {within}", wraps=True)
    RUN_FAULT = _code("run_fault", "the run ended in a fault at {time:.3f} s: {within}", wraps=True)
    TWINS_LATE = _code(
        "twins_late",
        "the virtual drives' process was late in the last {window:g} s ({late} ×, at most {longest:.0f*1e3} ms): this "
        "computer is too busy for real time; {within}. Without real time the virtual rig waits for the computer",
        wraps=True,
    )
    FAULT_EXPLAINED = _code("fault_explained", "{within:join; }", wraps=True)
    RUN_STOPPED = _code("run_stopped", "the run was stopped at {time:.3f} s[[: {within}]]", wraps=True)
    MOTION_STOPPED = _code("motion_stopped", "the motion {motion!r} was stopped at {time:.3f} s: {within}", wraps=True)
    MOTION_ENDED_EARLY = _code("motion_ended_early", "{motion!r} ended early: {within}", wraps=True)
    LEFT_IN_FAULT = _code("left_in_fault", "the rig is left in a fault, at {time:.3f} s: {within}", wraps=True)
    FAULT_BEFORE_CONNECTION = _code(
        "fault_before_connection",
        "the drives were in a fault before they were connected: {within}. Drives whose engine has died stop so. Look "
        "at the machine; then reset them",
        wraps=True,
        remedy=Remedy.RESET,
    )
    LEFT_PARKED = _code("left_parked", "the rig left PARKED during the measurement at rest: {within}", wraps=True)
    IN_STATE = _code("in_state", "the rig is in state {state:name}")
    PAUSED_BEFORE_START = _code("paused_before_start", "paused before it began")
    ENDED_BEFORE_PAUSE = _code("ended_before_pause", "{motion!r} ended before it could pause")
    RELEASED_BEFORE_START = _code("released_before_start", "released before it began")
    STOP_REQUESTED = _code("stop_requested", "stopped")
    ABANDON_REQUESTED = _code("abandon_requested", "abandoned")
    INTERRUPTED = _code("interrupted", "interrupted")
    WAIT_TIMEOUT = _code(
        "wait_timeout", "timed out after {bound:.1f} s waiting for {what}; the state is {state:name}", unit="s"
    )
    CYCLES_STOPPED = _code(
        "cycles_stopped",
        "the engine's cycles have stopped for {value:.0f} s while waiting for {what}; the state is {state:name}",
        unit="s",
    )
    LEASE_LOST = _code("lease_lost", "the command lease was lost while waiting for {what}[[; {client!r} has it now]]")
    NO_REASON = _code("no_reason", "no reason is known")

    # -- why an acceptance test has no number ------------------------------------------------------------------------

    ACCEPT_NO_SIZE = _code("accept_no_size", "no size of the motion passes the check of motions")
    ACCEPT_NO_MOTION = _code("accept_no_motion", "no motion for it was among those wanted")
    ACCEPT_NOT_RECORDED = _code("accept_not_recorded", "the recording does not have the motion {motion!r}")
    ACCEPT_AFTER_FAULT = _code(
        "accept_after_fault", "the test ended when {motion!r} was not completed: {within}", wraps=True
    )
    ACCEPT_NOT_RECOVERED = _code(
        "accept_not_recovered", "the rig could not be engaged again after a fault: {within}", wraps=True
    )
    ACCEPT_STOPPED = _code("accept_stopped", "the test was stopped at {motion!r}[[: {within}]]", wraps=True)
    ACCEPT_NOT_RUN = _code("accept_not_run", "the motion was not run")
    ACCEPT_SLOWED = _code("accept_slowed", "the motion was not run at full speed throughout")
    ACCEPT_GAPS = _code("accept_gaps", "the column {column!r} has gaps: cycles without feedback")
    ACCEPT_DISORDER = _code("accept_disorder", "the rows are not in order")
    ACCEPT_SKIPPED = _code(
        "accept_skipped", "{value:.0f} of {count} cycles were skipped, must be at most {bound:.0f} to be interpolated"
    )
    ACCEPT_CUT_OFF = _code("accept_cut_off", "{value:.0f} of {bound:.0f} cycles were recorded")
    ACCEPT_NOT_COVERED = _code("accept_not_covered", "the {sensor:name}'s file does not cover the motion")
    ACCEPT_SENSOR_GAP = _code(
        "accept_sensor_gap",
        "the {sensor:name}'s file has {value:~.0f*1e3} ms without a sample in the motion (bound {bound:~.0f*1e3} ms)",
        unit="s",
    )
    ACCEPT_NOT_EXCITED = _code("accept_not_excited", "no frequency is excited up to {bound:g} Hz", unit="Hz")
    ACCEPT_NO_CELLS = _code("accept_no_cells", "the load cells gave no forces")
    ACCEPT_NO_NOISE = _code(
        "accept_no_noise", "load_cells.noise is 0 N: the residual has nothing to be compared with", unit="N"
    )
    ACCEPT_NOT_PERIODIC = _code("accept_not_periodic", "the motion does not repeat")
    ACCEPT_TOO_SMALL = _code(
        "accept_too_small",
        "the poses are {value:~.3g*1e3} mm apart, must be more than the limit band, acceptance.settled = "
        "{bound:~.3g*1e3} mm",
        unit="m",
    )

    # -- configuration -------------------------------------------------------------------------------------------------

    AT_KEY = _code("at_key", "{key}: {within}", wraps=True)
    AND_MORE = _code("and_more", "and {count} more")
    CONFIG_UNUSABLE = _code("config_unusable", "configuration {path} cannot be used:[[{within:lines}]]")
    CONFIG_NOT_WRITTEN = _code("config_not_written", "configuration {path} was not written:[[{within:lines}]]")
    CONFIG_LEFT = _code("config_left", "configuration {path} is left as it is:[[{within:lines}]]")
    TWINS_UNUSABLE = _code("twins_unusable", "the virtual rig cannot be served:[[{within:lines}]]")
    TIMETABLE_UNUSABLE = _code("timetable_unusable", "the timetable of faults cannot be played:[[{within:lines}]]")
    THRESHOLDS_UNUSABLE = _code("thresholds_unusable", "thresholds cannot be used:[[{within:lines}]]")
    THRESHOLDS_NOT_OF_MOTION = _code("thresholds_not_of_motion", "thresholds cannot be the motion's:[[{within:lines}]]")
    SECTION_UNUSABLE = _code("section_unusable", "[{section}]:[[{within:lines}]]")
    ADDRESS_UNUSABLE = _code("address_unusable", "leg {leg}:[[{within:lines}]]")
    VALUE_REFUSED = _code("value_refused", "{text}")
    VALUE_INVALID = _code("value_invalid", "{text}, not {shown}")
    KEY_UNKNOWN = _code("key_unknown", "unknown key")
    KEY_MISSING = _code("key_missing", "missing")
    ENTRY_COUNT = _code("entry_count", "{value:.0f} entries, not {bound:.0f}")
    NOT_INTEGER = _code("not_integer", "must be an integer, not {shown}")
    NOT_NUMBER = _code("not_number", "must be a number, not {shown}")
    NOT_FINITE_NUMBER = _code("not_finite_number", "must be a finite number, not {shown}")
    NOT_TEXT = _code("not_text", "must be text, not {shown}")
    NOT_BOOLEAN = _code("not_boolean", "must be true or false, not {shown}")
    NOT_LIST = _code("not_list", "must be a list, not {shown}")
    NOT_TABLE = _code("not_table", "must be a table, not {shown}")
    NOT_A_CHOICE = _code("not_a_choice", "must be {choices}, not {shown}")
    TEXT_EMPTY = _code("text_empty", "must not be empty")
    BELOW_LEAST = _code("below_least", "must be at least {bound:.15g}, not {shown}")
    ABOVE_GREATEST = _code("above_greatest", "must be at most {bound:.15g}, not {shown}")
    OUT_OF_RANGE = _code("out_of_range", "{value:g}[[ {unit}]], must be {low:g} to {high:g}[[ {unit}]]")
    MORE_THAN_MOST = _code("more_than_most", "{value:g}[[ {unit}]], must be at most {bound:g}[[ {unit}]]")
    SCALED_DEFAULT = _code(
        "scaled_default",
        "{within}: not given, the default follows from the size of the machine",
        wraps=True,
    )
    THRESHOLD_UNKNOWN = _code(
        "threshold_unknown", ("there is no threshold of this name; the thresholds are {names:join, }")
    )
    THRESHOLD_GENERAL = _code(
        "threshold_general",
        ("the rig's configuration sets {bound:g} for every motion; a motion can change it but not remove it"),
    )
    NO_HOME = _code("no_home", "{mechanism} gives no platform.home; a rig needs one")
    LIMITS_MISSING = _code(
        "limits_missing", "{mechanism} does not limit {limits:join, } of leg {leg}; a rig needs that"
    )
    OBSERVER_SLOW_DRIVES = _code(
        "observer_slow_drives",
        "the observer compares consecutive cycles, {bound:g} s, but drives answer every {value:g} s: "
        "rate must be {rate} Hz at most, or mode force",
        unit="s",
    )
    OBSERVER_DELAY = _code(
        "observer_delay",
        "the observer assumes drives that follow within a cycle, {bound:g} s, but drives.delay is {value:g} s",
        unit="s",
    )
    ARM_GAINS_REFUSED = _code("arm_gains_refused", "the error may not vanish under these gains:{within:lines}")
    GAIN_ASYMMETRIC = _code(
        "gain_asymmetric",
        "[[{gain}: ]]row {row}, column {column}: {value:g} {unit}, must be {bound:g} {unit} as in row {column}, column "
        "{row} (condition {condition}: the matrix is symmetric)",
    )
    DAMPING_NEGATIVE = _code(
        "damping_negative",
        "[[{gain}: ]]least eigenvalue {value:g} {unit}, must be at least {bound:g} {unit} (condition a: K_v is "
        "non-negative definite)",
        unit="1/s",
    )
    STIFFNESS_NOT_POSITIVE = _code(
        "stiffness_not_positive",
        "[[{gain}: ]]least eigenvalue {value:g} {unit}, must be above {bound:g} {unit} (condition b: K_p is positive "
        "definite)",
        unit="1/s²",
    )
    UNDAMPED = _code(
        "undamped",
        "[[{gain}: ]]{value:.0f} of {bound:.0f} directions are damped, and the others oscillate undamped "
        "(condition c: the rank of [K_v | K_p K_v | …] is {bound:.0f})",
    )
    ARM_UNPHYSICAL = _code(
        "arm_unphysical", "no real body has the mass and inertia of {names:join, }", severity=Severity.WARNING
    )
    ARM_BEYOND_LIMIT = _code(
        "arm_beyond_limit",
        "{joint}: {quantity} {value:~.6g} {unit} at t = {time:g} s, limit {bound:~.6g} {unit}",
        severity=Severity.WARNING,
    )
    TASK_GAINS_TWICE = _code(
        "task_gains_twice",
        "{other} gives the gains of computed-torque already: give a bandwidth and damping ratio, or stiffness and "
        "damping",
    )
    TASK_GAIN_ALONE = _code("task_gain_alone", "given without {other}: the two go together")
    MODE_EVERYWHERE = _code("mode_everywhere", '{mode}, but every leg has mode = "position": set it here, once')
    MODE_MIXED = _code(
        "mode_mixed", '{mode} has the forces of all six legs, but leg {legs_listed} has mode = "position"'
    )
    REPLY_DELAY_LONG = _code(
        "reply_delay_long", "{value:g} s, must be below {bound:g} s, the reply_timeout of its line", unit="s"
    )
    SYNC_PERIOD_DIFFERS = _code(
        "sync_period_differs",
        "{value:g} s, must be {bound:.6g} s, in which the drives get a set-point, or 0 for drives that measure it",
        unit="s",
    )
    LINE_SHARE = _code(
        "line_share",
        "{line}: {devices:join, }, {bytes} bytes, {value:.3g*1e3} of {bound:.3g*1e3} ms for replies ({share:.0f} %): "
        "{carried:.3g*1e3} ms of bytes, {delays:.3g*1e3} ms until the devices answer"
        "[[ (assumed for {assumed:join, })]], "
        "{silences:.3g*1e3} ms of silences[[; without {seldom:join, }, not asked in every cycle, {usual:.3g*1e3} ms, "
        "and occupied {load:.0f} % of the time]][[; {apart:join, } read in other "
        "cycles than the other devices with a sample period]]",
        severity=Severity.INFO,
        unit="s",
    )
    LINE_SLOW = _code(
        "line_slow",
        "the line {line} ({devices:join, }) takes {value:.3g*1e3} ms for a cycle's {bytes} bytes "
        "({carried:.3g*1e3} ms), {exchanges} reply delays ({delays:.3g*1e3} ms) and silences ({silences:.3g*1e3} ms); "
        "replies have {bound:.3g*1e3} ms at {rate:g} Hz (drives.reply_deadline)[[. The same holds for "
        "{alike:join, }]][[. Remedies: {within:join; }]]",
        unit="s",
    )
    LINE_RATE = _code(
        "line_rate",
        "it carries {value:g} Hz at most: lower `rate`[[, with a reserve to {bound:g} Hz]]",
        severity=Severity.INFO,
        unit="Hz",
    )
    LINE_RATE_REFUSED = _code(
        "line_rate_refused",
        "it carries {value:g} Hz at most, a rate that is refused: {within:join; }",
        severity=Severity.INFO,
        unit="Hz",
    )
    LINE_RATE_BY_DRIVES = _code(
        "line_rate_by_drives",
        'it carries {value:g} Hz with `mode = "position"`, in which the drives close the loops',
        severity=Severity.INFO,
        unit="Hz",
    )
    LINE_NO_RATE = _code(
        "line_no_rate",
        "it carries {value:g} Hz at most, less than the lowest rate, {bound:g} Hz",
        severity=Severity.INFO,
        unit="Hz",
    )
    LINE_BAUD = _code(
        "line_baud",
        "set the line and its devices from {value:.0f} to {bound:.0f} baud",
        severity=Severity.INFO,
        unit="baud",
    )
    LINE_SPLIT = _code("line_split", "put its devices on {count} lines", severity=Severity.INFO)
    LINE_BAUD_AND_SPLIT = _code(
        "line_baud_and_split",
        "put its devices on {count} lines, and set these from {value:.0f} to {bound:.0f} baud",
        severity=Severity.INFO,
        unit="baud",
    )
    LINE_FEWER_BYTES = _code(
        "line_fewer_bytes",
        "exchange fewer registers: {bound:.0f} bytes at most, now {value:.0f}",
        severity=Severity.INFO,
    )
    LINE_QUICKER = _code(
        "line_quicker",
        "set the devices to answer within {bound:.3g*1e3} ms, and turnaround and reply_delay to it, now "
        "{value:.3g*1e3} ms",
        severity=Severity.INFO,
        unit="s",
    )
    LINE_LATER_DEADLINE = _code(
        "line_later_deadline", "raise drives.reply_deadline to {value:g}", severity=Severity.INFO
    )
    LINE_SAMPLED_TOGETHER = _code(
        "line_sampled_together",
        "a sample period does not shorten it: {devices:join, } have a cycle in common with the others",
        severity=Severity.INFO,
    )
    SAMPLE_PERIOD_LONG = _code(
        "sample_period_long",
        "{value:g} s, must be at most {bound:g} s, half of drives.watchdog: one lost telegram would stop the rig",
        unit="s",
    )
    STALE_BELOW_CYCLE = _code(
        "stale_below_cycle", "{value:g} s, must be at least {bound:g} s, a cycle at {rate:g} Hz", unit="s"
    )
    STALE_BELOW_SAMPLE = _code("stale_below_sample", "{value:g} s, must be at least {bound:g} s, {other}", unit="s")
    READINGS_TOO_FAST = _code(
        "readings_too_fast",
        "{value:g} s between two readings, must be at least {bound:g} s, the time that a reading by {device} takes",
        unit="s",
    )
    WATCHDOG_SHORT = _code(
        "watchdog_short",
        "{value:g} s is less than two cycles ({bound:.4g} s): one lost telegram would stop the rig",
        unit="s",
    )
    DELAY_LONG = _code("delay_long", "{value:g} s, must be at most {cycles} cycles, {bound:.4g} s", unit="s")
    PLACE_TAKEN = _code("place_taken", "{place} is {other}'s, whose driver has no other device there")
    LINE_DIFFERS = _code("line_differs", "{line} at {settings}, {other} has it at {others}")
    UNIT_TAKEN = _code("unit_taken", "unit {number} of {line} is {other}'s")
    LINE_SETTING_DIFFERS = _code(
        "line_setting_differs", "{setting} {given}, but leg {other} on the same line, {place}, has {others}"
    )
    TWIN_TAKEN = _code("twin_taken", "{line} unit {number} is taken by {other}")
    TWIN_FRAMING = _code("twin_framing", "{line} has devices of another framing")
    FILE_UNUSABLE = _code("file_unusable", "{text}: {file}")
    SENSOR_CONFLICT = _code("sensor_conflict", "{text}")
    MOVE_FASTER_THAN_LEGS = _code(
        "move_faster_than_legs",
        "{value:~.6g/3} {unit}, must be at most {bound:~.6g/3} {unit} by the legs' limits of {speed:g} m/s and "
        "{acceleration:g} m/s^2 across {stroke:.3g} m",
    )
    STOP_TIME_SHORT = _code(
        "stop_time_short",
        "{value:~.6g/3} s, must be at least {bound:~.6g/3} s to brake from the legs' {speed:g} m/s with their "
        "{acceleration:g} m/s^2",
        unit="s",
    )
    BEYOND_STROKE = _code(
        "beyond_stroke",
        "{value:~.6g/3} m, must be at most {bound:~.6g/3} m, a tenth of the shortest stroke",
        unit="m",
    )
    BEYOND_FORCE_LIMIT = _code(
        "beyond_force_limit",
        "{value:g} N, must be at most {bound:g} N, the least of the legs' force limits",
        unit="N",
    )
    NOISE_WOULD_STOP = _code(
        "noise_would_stop",
        "{value:~.6g/3} N, must be at most {bound:~.6g/3} N: beyond safety.force_residual = {residual:g} N it would "
        "stop the rig",
        unit="N",
    )
    CONDITION_AT_HOME = _code(
        "condition_at_home", "{bound:g}, but at home it is {value:.3g}: no pose would be permitted"
    )
    WEIGHT_BEYOND_LIMIT = _code(
        "weight_beyond_limit",
        "force limit of leg {leg}: {bound:g} N, but it carries {value:.3g} N of the platform's weight at home",
        unit="N",
    )
    WEIGHT_BEYOND_CELL = _code(
        "weight_beyond_cell",
        "{bound:g} N, but leg {leg} carries {value:.3g} N of the platform's weight at home",
        unit="N",
    )
    LEG_BEYOND_DRIVE = _code(
        "leg_beyond_drive",
        "its drive accepts {shortest:.4g} to {longest:.4g} m, but the mechanism allows {low:g} to {high:g} m; "
        "position_offset (now {offset:g} m) is the leg's length where the drive reads zero, and at home the leg is "
        "{home:.6g} m long",
        unit="m",
    )
    CHARACTER_UNUSABLE = _code("character_unusable", "character {character!r} cannot be written")

    # -- events --------------------------------------------------------------------------------------------------------

    STATE_CHANGED = _code("state_changed", "{before:name} → {after:name}", severity=Severity.INFO)
    DRIVE_IDENTIFIED = _code("drive_identified", "{identity}", severity=Severity.INFO)
    HOMING_UNPROVEN = _code(
        "homing_unproven",
        ("homing without proof of the wiring, accepted by the operator: {within}"),
        severity=Severity.WARNING,
    )
    MOTION_ABANDONED = _code(
        "motion_abandoned",
        "{motion!r} is abandoned at {time:.3f} of {duration:.3f} s",
        severity=Severity.INFO,
    )
    ENDLESS_MOTION_ABANDONED = _code(
        "endless_motion_abandoned", "{motion!r} is abandoned after {time:.3f} s", severity=Severity.INFO
    )
    HOLDER_SILENT = _code(
        "holder_silent",
        "{motion!r} slows down: its hold-to-run client was silent for {value:.2f} s",
        severity=Severity.WARNING,
        unit="s",
    )
    CHECKS_OFF = _code("checks_off", "{text}", severity=Severity.WARNING)
    GAINS_UNUSED = _code("gains_unused", "{text}", severity=Severity.INFO)
    GAINS_FITTED = _code(
        "gains_fitted",
        "the default gains, {stiffness:g} N/m and {damping:g} N s/m, are too high at {rate:g} Hz: {new_stiffness:g} "
        "N/m and {new_damping:g} N s/m are written",
        severity=Severity.WARNING,
    )
    LOOP_DOUBTFUL = _code("loop_doubtful", "{text}", severity=Severity.WARNING)
    PLANT_PACED_AGAIN = _code(
        "plant_paced_again",
        "the virtual rig is paced by the engine again",
        severity=Severity.WARNING,
    )
    PLANT_UNPACED = _code(
        "plant_unpaced",
        "the virtual rig is no longer paced by the engine: it follows the wall clock",
        severity=Severity.WARNING,
    )
    REALTIME = _code("realtime", "{text}", severity=Severity.INFO)
    COMMAND_GIVEN = _code("command_given", "command: {text}", severity=Severity.INFO)
    CUE_TUNED = _code("cue_tuned", "tuning of the washout: {text}", severity=Severity.INFO)
    INJECTED = _code("injected", "virtual rig: [[{action}: ]]{text}", severity=Severity.INFO)
