"""The control cabinet of a virtual rig: emergency stop and safe torque off, and what its inputs and outputs meet."""

from collections.abc import Callable, Sequence

from actuators import FaultKind, FaultyDevice, VirtualDrive
from rig.config import DigitalIo

CABINET_FAULTS = {
    "io_emergency_stop": FaultKind("the emergency stop is pressed: the drives' torque is cut, its inputs open"),
    "io_emergency_stop_wire": FaultKind("the input of the emergency stop's chain reads open, the chain is closed"),
    "io_safe_torque_off": FaultKind("the circuit of safe torque off opens: the drives' torque is cut"),
    "io_safe_torque_off_feedback": FaultKind("its feedback reads open, the circuit is closed"),
}
"""Faults of the circuits, of the whole rig."""
_CUTS = frozenset({"io_emergency_stop", "io_safe_torque_off"})
_OPENS = {
    "emergency_stop": frozenset({"io_emergency_stop", "io_emergency_stop_wire"}),
    "safe_torque_off": frozenset({"io_emergency_stop", "io_safe_torque_off", "io_safe_torque_off_feedback"}),
}
"""Input → faults by which it reads open."""
_BARRED = "safe_torque_off"


class Cabinet:
    """The drives, and circuits behind the inputs and outputs of a configuration; `actuators.Terminals` of its block.

    The emergency stop cuts the torque of all drives by the circuit of safe torque off, whatever the software does.
    `drives`: the twins. `outputs`: by name, what is on.
    """

    def __init__(
        self, io: DigitalIo | None, drives: Sequence[FaultyDevice], hold_brake: Callable[[int, bool], None]
    ) -> None:
        """io: None for a rig without any. drives: twins of legs 1 to 6, whose torque the circuits cut.

        hold_brake: takes the supply from the brake of leg 0…5 (True), or gives it back.
        """
        self.drives = tuple(drives)
        self.block: FaultyDevice | None = None
        """the twin of the block, once it is made"""
        self.present = io is not None
        io = DigitalIo.model_construct() if io is None else io
        self._active: set[str] = set()
        self._at_drives = [
            (point.leg - 1, point.name or "", name) for name, point in io.inputs.points.items() if point.leg is not None
        ]
        self._of_drives = [
            (point.leg - 1, point.name or "", name)
            for name, point in io.outputs.points.items()
            if point.leg is not None
        ]
        self.polled = bool(self._of_drives)
        """whether outputs are at drives, so that `follow` has to be called"""
        self._inputs = {point.channel: name for name, point in io.inputs.points.items() if point.channel is not None}
        self._points = io.inputs.points
        self._outputs = {point.channel: name for name, point in io.outputs.points.items() if point.channel is not None}
        self._switched = dict.fromkeys(io.outputs.points, False)
        self._hold_brake = hold_brake
        self._show()
        self.follow()

    def follow(self) -> None:
        """Let the brakes follow their outputs."""
        for name, on in self.outputs.items():
            if name.startswith("brake"):
                _, _, leg = name.partition("_")
                for one in (int(leg) - 1,) if leg else range(len(self.drives)):
                    self._hold_brake(one, not on)

    @property
    def outputs(self) -> dict[str, bool]:
        """See the class."""
        found = dict(self._switched)
        for leg, output, name in self._of_drives:
            device = self.drives[leg].device
            found[name] = isinstance(device, VirtualDrive) and device.outputs.get(output, False)
        return found

    def _show(self) -> None:
        """Give the drives their inputs."""
        for leg, name, wired in self._at_drives:
            device = self.drives[leg].device
            if isinstance(device, VirtualDrive) and name in device.inputs:
                device.inputs = {**device.inputs, name: self.signal(wired)}

    def read(self, channel: int) -> bool:
        """See `actuators.Terminals`."""
        return self.signal(self._inputs[channel])

    def write(self, channel: int, on: bool) -> None:
        """See `actuators.Terminals`."""
        self._switched[self._outputs[channel]] = on
        self.follow()

    def signal(self, name: str) -> bool:
        """Whether the input of this name has a signal."""
        return self._closed(name) is (self._points[name].active == "high")

    def _closed(self, name: str) -> bool:
        return not self._active & _OPENS[name]

    def set_fault(self, name: str, *, on: bool) -> None:
        """Begin or end a fault of `CABINET_FAULTS`."""
        cut = bool(self._active & _CUTS)
        self._active = self._active | {name} if on else self._active - {name}
        self._show()
        if cut == bool(self._active & _CUTS):
            return
        for drive in self.drives:
            if _BARRED in drive.kinds and not cut:
                drive.inject(_BARRED)
            elif _BARRED in drive.kinds:
                drive.clear(_BARRED)
