"""The virtual rig's process, and its fault injection."""

import threading
from collections.abc import Callable

from pyqtgraph.Qt import QtCore

from gui.session.workers import Worker
from gui.texts import tr
from rig.config import RigConfig
from rig.engine import ProgressCallback
from rig.errors import HardwareError
from rig.virtual import RigView, VirtualRigProcess

_WAY_OUT = tr("Disconnect, then Connect, starts a new virtual rig")


class VirtualHardware(QtCore.QObject):
    """Without a virtual rig in the configuration there is no process. Only `wait_ready`, `notify` and `stop` block.

    Signals: `answered(request, error)`: a fault was started or ended, or not; `seen` with a `RigView`;
    `stuck(reason)`: the plant is stuck for good, or the process died.

    Args:
        config: the rig.
    """

    answered = QtCore.Signal(str, object)
    seen = QtCore.Signal(object)
    stuck = QtCore.Signal(str)

    def __init__(self, config: RigConfig, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self._process: VirtualRigProcess | None = None
        self._lock = threading.Lock()
        self._worker = Worker("virtual rig", self)
        self._ready = False
        self._plant_fault = ""

    def begin(self) -> None:
        """Start the process if none is running."""
        with self._lock:
            if self._config.virtual is None or (self._alive and not self._plant_fault):
                return
            if self._process is not None:
                self._process.stop()
            self._ready = False
            self._plant_fault = ""
            self._process = VirtualRigProcess(self._config)
            self._process.begin()

    def wait_ready(self, report_compiling: ProgressCallback | None = None) -> None:
        """Wait until its drives accept connections.

        report_compiling: called with the progress if the plant has to be compiled first.
        Raises HardwareError with the reason on failure.
        """
        with self._lock:
            if self._process is not None and not self._ready:
                self._process.wait_ready(report_compiling=report_compiling)
                self._ready = True

    def notify(self, engine: str) -> None:
        """Register the engine with that control link for fault notices. Raises HardwareError if the rig is gone."""
        with self._lock:
            if self._process is not None:
                self._process.notify(engine)

    @property
    def _alive(self) -> bool:
        return self._process is not None and self._process.alive

    def stop(self) -> None:
        """End the process. May be called again."""
        with self._lock:
            if self._process is not None:
                self._process.stop()
                self._process = None

    def finish(self) -> None:
        """Let the thread end after the queued jobs."""
        self._worker.finish()

    def join(self, timeout: float) -> None:
        """Wait for the thread, s."""
        self._worker.join(timeout)

    def inject(self, name: str, leg: int | None, value: float | None, duration: float | None) -> None:
        """Start a fault; see `rig.virtual.Faults.inject`."""
        self._ask(tr("inject {name}").format(name=name), lambda rig: rig.inject(name, leg, value, duration))

    def clear(self, name: str | None = None, leg: int | None = None) -> None:
        """End faults; see `rig.virtual.Faults.clear`."""
        self._ask(
            tr("clear faults") if name is None else tr("clear {name}").format(name=name),
            lambda rig: rig.clear(name, leg),
        )

    def poll(self) -> None:
        """Poll the active faults."""
        if self._process is not None:
            self._ask("", lambda rig: rig.look())

    def _ask(self, what: str, ask: Callable[[VirtualRigProcess], RigView]) -> None:
        def job() -> RigView:
            if not self._ready:  # whoever waits for it has the lock
                raise HardwareError(tr("the virtual rig is not running"))
            with self._lock:
                if self._process is None or not self._ready:
                    raise HardwareError(tr("the virtual rig is not running"))
                return ask(self._process)

        def done(view: RigView | None, error: Exception | None) -> None:
            if what:
                self.answered.emit(what, error)
            if view is not None:
                if view.plant_fault not in ("", self._plant_fault):
                    self.stuck.emit(f"{view.plant_fault}; {_WAY_OUT}")
                self._plant_fault = view.plant_fault
                self.seen.emit(view)
            elif not (what or self._alive or self._plant_fault == str(error)):  # reported once
                self._plant_fault = str(error)
                self.stuck.emit(f"{self._plant_fault}; {_WAY_OUT}")

        self._worker.submit(job, done)
