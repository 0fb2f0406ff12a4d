"""An engine that controls this rig's drives but was not started by the app: find, watch, stop and end it."""

import contextlib
from collections.abc import Callable
from typing import Literal

from pyqtgraph.Qt import QtCore

from gui.models import Holder
from gui.session.workers import Worker
from gui.texts import tr
from rig.client import LiveRig, bring_to_rest
from rig.config import RigConfig
from rig.engine import RunningEngine, Snapshot, Stop, find_engine
from rig.errors import HardwareError

_POLL_INTERVAL = 1000  # ms
_STOP_TIMEOUT = 1.0  # s


class FoundEngine(QtCore.QObject):
    """Polls for such an engine while the app has none of its own. Only `close` blocks.

    Signals: `changed`: found, changed or gone.

    Args:
        config: the rig.
    """

    changed = QtCore.Signal()

    def __init__(self, config: RigConfig, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self.engine: RunningEngine | None = None
        self.holder: Holder | None = None
        self._worker = Worker("found engine", self)
        self._stops = Worker("found engine's stops", self)
        self._watching = self._asked = False
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_POLL_INTERVAL)
        self._timer.timeout.connect(self.poll)

    def watch(self, on: bool) -> None:
        """Start or stop polling; a stop still reaches the last engine found."""
        if on == self._watching:
            return
        self._watching = on
        if on:
            self._timer.start()
            self.poll()
        else:
            self._timer.stop()
            self._set_found(self.engine, None)

    def poll(self) -> None:
        """Poll now."""
        if not self._asked:
            self._asked = True
            self._worker.submit(lambda: find_holder(self._config), self._polled)

    def request_stop(self, category: Literal[0, 1, 2], failed: Callable[[Exception], None]) -> bool:
        """Raise its stop flag at once, and also send a stop; return whether there is such an engine."""
        engine = self.engine
        if engine is None:
            return False
        try:
            engine.request_stop(category)
        except HardwareError as error:
            failed(error)
            return False

        def send() -> None:
            with contextlib.closing(engine.client(_STOP_TIMEOUT)) as client:
                client.request(Stop(category))

        self._stops.submit(send, lambda _result, error: failed(error) if error is not None else None)
        return True

    def end(self, client: str, done: Callable[[Exception | None], None]) -> None:
        """Take its lease, bring the platform to rest, close the recording, end it; `done` gets a refusal."""
        engine, config = self.engine, self._config
        if engine is None:
            return

        def end() -> None:
            with LiveRig(config, engine, client) as rig:
                bring_to_rest(rig)
            if engine.alive:
                raise HardwareError(
                    tr("the engine was asked to end but still runs: `kill {pid}`").format(pid=engine.pid)
                )

        self._worker.submit(end, lambda _result, error: done(error))

    def close(self, timeout: float) -> None:
        """Stop polling, and wait at most `timeout` s for a request in progress."""
        self._timer.stop()
        for worker in (self._worker, self._stops):
            worker.finish()
        for worker in (self._worker, self._stops):
            worker.join(timeout)

    def _polled(self, found: tuple[RunningEngine | None, Holder | None] | None, _error: Exception | None) -> None:
        self._asked = False
        if self._watching and found is not None:
            self._set_found(*found)

    def _set_found(self, engine: RunningEngine | None, holder: Holder | None) -> None:
        before = self.holder
        self.engine, self.holder = engine, holder
        if self.holder != before:
            self.changed.emit()


def find_holder(config: RigConfig) -> tuple[RunningEngine | None, Holder | None]:
    """Return the engine that controls the rig's drives, with its status. Raises HardwareError as `find_engine`."""
    engine = find_engine(config)
    if engine is None:
        return None, None
    status: Snapshot | None = None
    with contextlib.suppress(HardwareError):
        status = engine.status()
    return engine, Holder(engine.pid, engine.owner_alive, status)
