"""Digital inputs and outputs of a rig in the cycle: what is read, and what the state switches."""

import contextlib
from collections.abc import Callable, Mapping, Sequence

from actuators import ActuatorError, ConfigurationError, CycleExchange, Drive, IoDevice, Status
from rig.config import DigitalIo
from rig.engine.snapshot import IoReport, ReplyCounts
from rig.findings import Code, Finding
from rig.safety import OPEN, StateMachine
from rig.telemetry import POINT_FLAGS

_ENABLED = Status.ENABLED.value
_FLASHES = 2.0  # Hz, of the lamp's state: once a second on and off
_FLAGS = {name: flag.value for name, flag in POINT_FLAGS.items()}


class InputsOutputs:
    """Points at a block and at drives.

    Args:
        io: the configuration.
        device: the block, None without one.
        drives: of legs 1 to 6.

    Raises:
        ConfigurationError: a drive does not have a point.

    `inputs` has by name whether a circuit is closed, None before it is known; `outputs` by name what is commanded.
    `stale` (consecutive exchanges without a good reply of the block), `age` (s since one).
    """

    def __init__(self, io: DigitalIo, device: IoDevice | None, drives: Sequence[Drive]) -> None:
        self.device = device
        self._drives = tuple(drives)
        self._inputs, self._outputs = io.inputs.points, io.outputs.points
        self._states: dict[str, bool | None] = dict.fromkeys(self._inputs)
        self.outputs = dict.fromkeys(self._outputs, False)
        self._of_drives = [
            (point.leg - 1, point.name or "", name) for name, point in self._outputs.items() if point.leg is not None
        ]
        for kind, points in (("input", self._inputs), ("output", self._outputs)):
            for name, point in points.items():
                if point.leg is not None:
                    _check_drive(drives[point.leg - 1], kind, name, point.name or "")
        self._brakes = [f"brake_{leg}" for leg in range(1, 7)] if io.outputs.brakes is not None else []
        self.stale, self.age = 0, 0.0
        self._ours = False
        """whether the outputs are those of this rig since connecting: before that they may be another master's"""
        self.flags = 0
        """bits of `CycleFlag`"""

    @property
    def inputs(self) -> Mapping[str, bool | None]:
        """See the class."""
        return self._states

    @property
    def unwatched(self) -> Finding | None:
        """Finding of a block with outputs that does not switch them off by itself."""
        if self.device is None or not self.device.outputs or self.device.watchdog:
            return None
        return Finding(Code.IO_WITHOUT_WATCHDOG, details={"device": self.device.name})

    def connect(self, timeout: float) -> Finding | None:
        """Connect the block within `timeout` s, and ask for its inputs; a finding if that fails."""
        self._states = dict.fromkeys(self._inputs)
        self.off()
        self.stale = 0
        return self._tried(lambda device: (device.connect(timeout), device.identify()))

    def configure(self) -> Finding | None:
        """Switch the block's outputs off and set its watchdog; a finding if that fails."""
        self._ours = True
        return self._tried(lambda device: device.configure())

    def _tried(self, access: Callable[[IoDevice], object]) -> Finding | None:
        if self.device is not None:
            try:
                access(self.device)
            except ActuatorError as error:
                return Finding(Code.IO_FAILS, details={"text": str(error)})
        return None

    def begin(self, now: float) -> None:
        """Send the block's request of the cycle at `now`, s, and give the drives their outputs."""
        outputs = self.outputs
        if self.device is not None:
            states = [outputs[name] for name, point in self._outputs.items() if point.channel is not None]
            self.device.begin(states, now)
        for leg, output, name in self._of_drives:
            self._drives[leg].switch(output, outputs[name])

    def finish(self, exchange: CycleExchange, deadline: float) -> None:
        """Take the replies by `deadline`, s; exchange: with the drives, in this cycle."""
        states: Sequence[bool] = ()
        if self.device is not None:
            states, fresh, self.age = self.device.finish(deadline)
            self.stale = 0 if fresh or not self.device.overdue else self.stale + 1
        block = iter(states)
        for name, point in self._inputs.items():
            of_drive = {} if point.leg is None else exchange.inputs(point.leg - 1)
            signal = next(block, None) if point.leg is None else of_drive.get(point.name or "")
            if signal is not None:
                self._states[name] = signal is (point.active == "high")
        self._flag()

    @property
    def on_at_drives(self) -> bool:
        """Whether an output at a drive is commanded on."""
        return any(self.outputs[name] for _, _, name in self._of_drives)

    def off(self) -> None:
        """Command every output off."""
        self.outputs = dict.fromkeys(self._outputs, False)

    def follow(self, t: float, machine: StateMachine, asked: Sequence[bool], status: Sequence[int]) -> None:
        """Command the outputs by the state at rig time `t`, s.

        Args:
            t: s.
            machine: the state.
            asked: by leg, whether its drive was commanded torque in the last exchange.
            status: by leg, bits of `actuators.Status` that it reported.
        """
        outputs, allowed = self.outputs, machine.torque_allowed
        carried = [wanted and bool(bits & _ENABLED) for wanted, bits in zip(asked, status, strict=True)]
        release = allowed and not machine.closing
        if "enable" in outputs:
            outputs["enable"] = allowed
        if "brake" in outputs:
            outputs["brake"] = release and any(carried) and carried == list(asked)
        for name, one in zip(self._brakes, carried, strict=False):
            outputs[name] = release and one
        if "lamp" in outputs:
            outputs["lamp"] = allowed or (machine.latched and int(t * _FLASHES) % 2 == 0)
        self._flag()

    def _flag(self) -> None:
        found = 0
        for states in (self.inputs, self.outputs):
            for name, on in states.items():
                if on:
                    found |= _FLAGS.get(name, _FLAGS["brake"])
        self.flags = found

    @property
    def known(self) -> bool:
        """Whether the last exchange left every input known."""
        return self.stale == 0 and None not in self.inputs.values()

    @property
    def troubles(self) -> list[Finding]:
        """What no reset is made with: a chain of emergency stops that is open, also if it opened before connecting."""
        return [Finding(OPEN["emergency_stop"])] if self.inputs.get("emergency_stop") is False else []

    @property
    def obstacles(self) -> tuple[Finding, ...]:
        """What stands against torque: open circuits, and inputs that are not known."""
        found = [Finding(OPEN[name]) for name, closed in self.inputs.items() if closed is False]
        return (*([Finding(Code.IO_UNKNOWN)] if not self.known else []), *found)

    def report(self, replies: ReplyCounts) -> IoReport:
        """A report for snapshots; replies: of the block."""
        return IoReport(
            tuple(self.inputs.items()), tuple(self.outputs.items()), self.obstacles, replies, self.stale > 0
        )

    def resume(self) -> None:
        """See `Member.resume`."""
        if self.device is not None:
            self.device.resume()

    @property
    def connected(self) -> bool:
        """Whether the block is."""
        return self.device is None or self.device.connected

    def close(self) -> None:
        """Switch the block's outputs off if `configure` was called, as far as it answers, and close its connection."""
        self.off()
        if self.device is None:
            return
        if self._ours and self.device.connected:
            with contextlib.suppress(ActuatorError):
                self.device.switch_off()
        self._ours = False
        self.device.close()


def _check_drive(drive: Drive, kind: str, name: str, wanted: str) -> None:
    """Refuse (ConfigurationError) a point that the drive does not have."""
    known = drive.input_names if kind == "input" else drive.output_names
    if wanted not in known:
        listed = ", ".join(known) or "none"
        raise ConfigurationError(f"io.{kind}s.{name}: {drive.name} has no {kind} {wanted!r}; it has: {listed}")
