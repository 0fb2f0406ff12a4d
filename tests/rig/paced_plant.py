"""A virtual rig served by a thread, and the engine's end of it, all in this process."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actuators import COMMAND_OFF, TwinServer
from rig.client import on_free_ports
from rig.config import load_config
from rig.engine.devices import make_drive_group
from rig.engine.drive_group import DriveGroup
from rig.engine.paced_ticker import PacedTicker
from rig.engine.pacer import Pacer
from rig.virtual import VirtualRig
from rig.virtual.process import PlantClock


class Plant:
    """A virtual rig served by a thread, and the engine's end of it, all in this process."""

    def __init__(self, path: Path, name: str = "virtual", changes: Mapping[str, Any] | None = None) -> None:
        self.config = on_free_ports(load_config(name).changed(changes or {}))
        self.period = self.config.period
        compiled = VirtualRig(self.config)
        compiled.advance(10 * compiled.plant.step)  # compiles the kernels before the engine waits for an answer
        self.clock = PlantClock()
        self.path = path
        self.rig = VirtualRig(self.config, self.clock.now())
        self.before_reply: Callable[[int], None] = lambda _leg: None
        self.advance: Callable[[float], None] = self.rig.advance
        self.failed: list[BaseException] = []
        self._stop, self._ready = threading.Event(), threading.Event()
        for leg, servo in enumerate(self.rig.drives, start=1):
            self._tap(leg, servo)
        self._thread = threading.Thread(target=self._serve)
        self.pacer = Pacer(path)
        self.drives: DriveGroup = make_drive_group(self.config, pacer=self.pacer)
        self.ticker = PacedTicker(self.period, self.pacer, speed=1000.0)
        self._thread.start()
        try:
            assert self._ready.wait(60.0)
            self.drives.connect(2.0)
            self.ticker.begin()
        except BaseException:
            self.close()
            raise

    def _tap(self, leg: int, servo: object) -> None:
        respond = servo.respond  # type: ignore[attr-defined]

        def tapped(adu: bytes) -> bytes:
            self.before_reply(leg)
            return bytes(respond(adu))

        servo.respond = tapped  # type: ignore[attr-defined]

    def _serve(self) -> None:
        try:
            server = TwinServer(self.rig.endpoints, advance=lambda now: self.advance(now), timekeeper=self.clock)
            server.serve(self._stop, self._listening)
        except BaseException as error:
            self.failed.append(error)

    def _listening(self, _addresses: object) -> None:
        self.clock.listen(self.path)
        self._ready.set()

    def cycle(self) -> float:
        """One cycle with six commands; the time that was given for it."""
        self.ticker.next()
        begun = self.ticker.now()
        self.drives.exchange([COMMAND_OFF] * 6, begun, 0.6 * self.period)
        return begun

    def close(self) -> None:
        self.drives.close()
        self.pacer.close()
        self._stop.set()
        self._thread.join(10.0)
        self.clock.close()
        assert not self._thread.is_alive() and not self.failed
