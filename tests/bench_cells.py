"""Load cells on a bench behind drives that stay off: what they read, and a configuration of them."""

from pathlib import Path

import numpy as np

from actuators import Mode, Responder, ServoProfile, VirtualServo, load_profile


class Bench:
    """A leg's cell on a bench: the sensors of a `PlantPort` without a machine."""

    def __init__(self, leg: int, *, noise: float = 0.02) -> None:
        self.random = np.random.default_rng(leg)
        self.sensitivity = (-1.0) ** leg * (0.9 + 0.04 * leg)
        self.bias = 3.0 * leg - 5.0
        self.noise = noise
        self.force = 0.0
        self.dead = False
        self.length, self.velocity, self.motor, self.homing_done = 0.45, 0.0, 0.0, False
        self.powered = False

    @property
    def cell(self) -> float:
        return (
            float("nan") if self.dead else self.bias + self.sensitivity * self.force + self.noise * self.random.normal()
        )

    def command(
        self, mode: Mode, force: float, position: float, velocity: float, enabled: bool, quick_stop: bool, brake: bool
    ) -> None:
        self.powered |= enabled or mode is not Mode.OFF


def write_config(path: Path, ports: list[int], amplifier: int | None = None) -> None:
    legs = ", ".join(f'{{ host = "127.0.0.1", port = {port} }}' for port in ports)
    lines = ['name = "bench"', 'mechanism = "lab-hexapod"', "rate = 2000", "[drives]", f"legs = [{legs}]"]
    if amplifier is not None:
        lines += ["[load_cells]", 'source = "amplifier"', "[load_cells.amplifier]"]
        lines += ['host = "127.0.0.1"', f"port = {amplifier}"]
    path.write_text("\n".join(lines) + "\n")


def servos(cells: list[Bench]) -> list[Responder]:
    profile = load_profile("generic-servo", ServoProfile)
    return [VirtualServo(profile, bench) for bench in cells]
