"""An engine that has this rig's drives though the app did not start it: found, watched, stopped and ended."""

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

_LOOK_INTERVAL = 1000  # ms
_STOP_TIMEOUT = 1.0  # s


class FoundEngine(QtCore.QObject):
    """Looks for the engine while the app has none of its own. Nothing here waits but `close`.

    Signals: `changed` when another was found, it is another than it was, or there is none any more.

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
        self._timer.setInterval(_LOOK_INTERVAL)
        self._timer.timeout.connect(self.look)

    def watch(self, on: bool) -> None:
        """Begin to look, or end it; a stop still reaches what was found last."""
        if on == self._watching:
            return
        self._watching = on
        if on:
            self._timer.start()
            self.look()
        else:
            self._timer.stop()
            self._take(self.engine, None)

    def look(self) -> None:
        """Look now."""
        if not self._asked:
            self._asked = True
            self._worker.submit(lambda: find_holder(self._config), self._looked)

    def request_stop(self, category: Literal[0, 1, 2], failed: Callable[[Exception], None]) -> bool:
        """Raise its stop flag at once, and ask by its link as well; whether there is such an engine."""
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
        """Take its lease as `client`, bring the platform to rest, close the recording and end it; refused to `done`."""
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
        """Look no further, and wait at most `timeout` s for what is under way."""
        self._timer.stop()
        for worker in (self._worker, self._stops):
            worker.finish()
        for worker in (self._worker, self._stops):
            worker.join(timeout)

    def _looked(self, found: tuple[RunningEngine | None, Holder | None] | None, _error: Exception | None) -> None:
        self._asked = False
        if self._watching and found is not None:
            self._take(*found)

    def _take(self, engine: RunningEngine | None, holder: Holder | None) -> None:
        before = self.holder
        self.engine, self.holder = engine, holder
        if self.holder != before:
            self.changed.emit()


def find_holder(config: RigConfig) -> tuple[RunningEngine | None, Holder | None]:
    """The engine that has the drives of a configuration, and what it is now. Raises HardwareError as `find_engine`."""
    engine = find_engine(config)
    if engine is None:
        return None, None
    status: Snapshot | None = None
    with contextlib.suppress(HardwareError):
        status = engine.status()
    return engine, Holder(engine.pid, engine.owner_alive, status)
