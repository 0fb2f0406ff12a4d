"""Hold-to-run: a motion that continues only while a client holds it, and else decelerates smoothly to rest.

The engine ends it itself: a hold that is not renewed in time counts as released.
"""

from collections.abc import Callable

from rig.engine.core import Engine
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.states import State


class HoldToRun:
    """Checks between cycles whether the present motion is still held, and else ends it.

    The motion decelerates along its path, as for a pause, and its rest is dropped at standstill: it cannot be resumed.
    If its final deceleration has begun, it ends with that.

    Args:
        engine: whose motion it is.
        hold_count: gives a count that increases whenever the client renews its hold, 0 once it is released.
    """

    def __init__(self, engine: Engine, hold_count: Callable[[], int]) -> None:
        self._engine = engine
        self._hold_count = hold_count
        virtual = engine.config.virtual
        faster = 1.0 if virtual is None else max(1.0, virtual.speed)  # rig time goes by so much faster than a client
        self._bound = engine.config.safety.hold_renewal * faster
        self._slowing: float | None = None
        self._lost = False
        self._seen = 0
        self._seen_at = 0.0

    def begin(self, slowing: float) -> None:
        """Supervise the motion that is about to begin; it decelerates within `slowing` s or more.

        Raises:
            RefusedError: no client holds it.
        """
        self._seen = self._hold_count()
        if not self._seen:
            raise RefusedError(Finding(Code.NOT_HELD))
        self._slowing, self._lost, self._seen_at = slowing, False, self._engine.tick.t

    def look(self) -> None:
        """End a motion that is not held any more; called before any other command is carried out."""
        slowing, engine = self._slowing, self._engine
        if slowing is None:
            return
        state, reference = engine.machine.state, engine.reference
        if state is State.RUNNING:
            self._renew(engine.tick.t)
            left = reference.path_duration - reference.path_time  # s of the path, of which a second may be ten
            if self._lost and not reference.slowing and left > slowing * reference.path_rate:
                engine.pause(slowing)
        elif state is not State.STOPPING:  # which may end in a hold under power, with the rest of the path ahead
            self._slowing = None
            if state is State.ENGAGED and reference.paused:
                engine.motions.let_go(engine.tick.t)
                reference.stay()

    def _renew(self, t: float) -> None:
        hold_count = self._hold_count()
        if self._lost or hold_count == 0:
            self._lost = True
        elif hold_count != self._seen:
            self._seen, self._seen_at = hold_count, t
        elif t - self._seen_at > self._bound:
            self._lost = True
            name, silent = self._engine.motions.name, t - self._seen_at
            self._engine.record("warning", Finding(Code.HOLDER_SILENT, 0, silent, details={"motion": name}))
