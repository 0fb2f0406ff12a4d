"""Hold-to-run: a motion that goes on only as long as somebody holds it, and comes to a smooth stand by itself if not.

The engine trusts no client with the end of it: what is not renewed in time is let go.
"""

from collections.abc import Callable

from rig.engine.core import Engine
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.states import State


class HoldToRun:
    """Looks, between two cycles, whether the motion under way is still held; ends it where it is not.

    It slows down along its path, as at a pause, and what is left of it is forgotten once it stands: nothing is there to
    be taken up again. Where its own last ramp has begun it comes to its end by that.

    Args:
        engine: whose motion it is.
        held: a count that goes on whenever the client renews its hold, 0 once it was let go.
    """

    def __init__(self, engine: Engine, held: Callable[[], int]) -> None:
        self._engine = engine
        self._held = held
        virtual = engine.config.virtual
        faster = 1.0 if virtual is None else max(1.0, virtual.speed)  # rig time goes by so much faster than a client
        self._bound = engine.config.safety.hold_renewal * faster
        self._slowing: float | None = None
        self._lost = False
        self._seen = 0
        self._seen_at = 0.0

    def begin(self, slowing: float) -> None:
        """The motion that is about to begin is to be held; it comes to a stand in `slowing` s or more.

        Raises:
            RefusedError: nobody holds it.
        """
        self._seen = self._held()
        if not self._seen:
            raise RefusedError(Finding(Code.NOT_HELD))
        self._slowing, self._lost, self._seen_at = slowing, False, self._engine.tick.t

    def look(self) -> None:
        """Go on, or see to the end of a motion that is held no more; called before any other command is carried out."""
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
        held = self._held()
        if self._lost or held == 0:
            self._lost = True
        elif held != self._seen:
            self._seen, self._seen_at = held, t
        elif t - self._seen_at > self._bound:
            self._lost = True
            name, silent = self._engine.motions.name, t - self._seen_at
            self._engine.record("warning", Finding(Code.HOLDER_SILENT, 0, silent, details={"motion": name}))
