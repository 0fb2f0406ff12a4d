"""Six drives over the wires of a virtual rig in this process, and a controller to move it with."""

from collections.abc import Callable, Sequence

import numpy as np

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    Command,
    Drive,
    Feedback,
    MemoryWire,
    Mode,
    Responder,
    Status,
    create_drive,
    exchange_all,
)
from dynamics import Dynamics
from kinematics import leg_kinematics
from rig.config.rig_config import RigConfig, load_config
from rig.virtual import VirtualRig

PERIOD = 2e-3


def virtual_config(**virtual: object) -> RigConfig:
    return load_config("virtual").changed({"virtual": virtual})


class Bench:
    """A virtual rig with six connected and configured drives, exchanging every PERIOD."""

    def __init__(self, config: RigConfig, watchdog: float = 0.05) -> None:
        self.config = config
        self.rig = VirtualRig(config)
        self.now = 0.0
        self.traffic: list[bytes] = []
        self.drives: list[Drive] = []
        for leg, (_, device) in enumerate(self.rig.endpoints[:6]):
            wire = MemoryWire(self._tapped(device))
            options = {"name": f"drive {leg + 1}", "host": "memory", "watchdog": watchdog}
            drive = create_drive("servo", options | {"open_wire": lambda _timeout, wire=wire: wire})
            drive.connect(1.0)
            drive.configure()
            self.drives.append(drive)
        self.feedback = self.cycle([COMMAND_OFF] * 6)

    def _tapped(self, device: Responder) -> Callable[[bytes], bytes]:
        def respond(request: bytes) -> bytes:
            reply = device.respond(request)
            self.traffic += request, reply
            return reply

        return respond

    def wait(self, duration: float) -> None:
        """Let time pass without a word to the drives."""
        self.now += duration
        self.rig.advance(self.now)

    def cycle(self, commands: Sequence[Command]) -> list[Feedback]:
        self.now += PERIOD
        self.rig.advance(self.now)
        self.feedback = exchange_all(self.drives, commands, self.now, 0.0)
        return self.feedback

    def home(self) -> None:
        for _ in range(2000):
            if all(item.status & Status.HOMED for item in self.cycle([COMMAND_HOME] * 6)):
                return
        raise AssertionError("not homed within 4 s")

    def lengths(self) -> np.ndarray:
        return np.array([item.position for item in self.feedback])

    def speeds(self) -> np.ndarray:
        return np.array([item.velocity for item in self.feedback])

    def cells(self) -> np.ndarray:
        return np.array([item.force for item in self.feedback])


class Controller:
    """Feedforward of the exact model with a PD loop on leg length: F = F_ff + K_p (L_d − L) + K_d (L̇_d − L̇)."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        machine = bench.config.machine
        self.geometry, self.home = machine.geometry, machine.geometry.home_pose
        self.model = Dynamics(machine, coulomb_speed=1e-3)

    def motion(self, t: float, amplitude: float, frequency: float) -> np.ndarray:
        """A heave of the platform that fades in over a second."""
        w = 2.0 * np.pi * frequency
        x = min(t, 1.0)
        fade = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        rate = 30.0 * x**2 * (1.0 - x) ** 2
        curve = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
        motion = np.zeros(19)
        motion[:7] = self.home
        motion[2] += amplitude * fade * np.sin(w * t)
        motion[9] = amplitude * (rate * np.sin(w * t) + fade * w * np.cos(w * t))
        motion[15] = amplitude * (curve * np.sin(w * t) + 2.0 * rate * w * np.cos(w * t) - fade * w**2 * np.sin(w * t))
        return motion

    def cycle(self, t: float, amplitude: float = 0.01, frequency: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """One exchange at path time t; gives length error (m) and cell residual (N) of its feedback."""
        bench, lead = self.bench, self.bench.config.command_lead
        now = self.motion(t, amplitude, frequency)
        legs = leg_kinematics(self.geometry, now)
        force = self.model.forces(self.motion(t + lead, amplitude, frequency))
        error, rate = legs.length - bench.lengths(), legs.velocity - bench.speeds()
        control = self.bench.config.control
        force = force + control.stiffness * error + control.damping * rate
        bench.cycle([Command(Mode.FORCE, force=float(value), enable=True) for value in force])
        after = self.motion(t + PERIOD, amplitude, frequency)
        residual = bench.cells() - self.model.cells(after)[0]
        return leg_kinematics(self.geometry, after).length - bench.lengths(), residual
