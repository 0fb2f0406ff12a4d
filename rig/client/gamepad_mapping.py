"""What somebody wants by a game pad: one axis, one direction and a share of the speed, as long as a button is held."""

import math
from dataclasses import dataclass

from rig.client.game_pad import PadReading

DEAD_ZONE = 0.25
"""of a stick's way: nearer to its middle it is at rest"""
SHARES = 4
"""into so many equal steps of speed the rest of the way is divided: a motion keeps the speed that it began with"""
_PLAY = 0.06
"""of a stick's way, by which it must go beyond a border before it counts: a hand that trembles changes nothing"""
_RESTING = 10
"""readings in a row in which the dead-man's button must be up at first: a pad may say late that it is down"""


@dataclass(frozen=True, slots=True)
class JogRequest:
    """`way`: direction and axis, as "+z" or "-rx"; `share`: of the speed at which it may be moved, above 0, up to 1."""

    way: str
    share: float


class GamepadMapping:
    """Reads wishes from a pad's readings, one after the other in time.

    The left stick moves along x and y, the right one along z; with the other shoulder button down they turn about these
    axes. The stick's axis that is farthest out counts alone. Nothing is wanted but while the dead-man's button is down,
    and it must have been up since the pad is there.
    """

    def __init__(self) -> None:
        self._pad: int | None = None
        self._up = 0
        self.ready = False
        """whether the dead-man's button was up since the pad is there"""
        self._axis = ""
        self._step = 0

    def take(self, reading: PadReading) -> JogRequest | None:
        """What is wanted by a reading; None: nothing, what moves is to come to a stand."""
        if reading.pad is None or reading.pad != self._pad:
            self._pad, self._up, self.ready = reading.pad, 0, False
        self._up = 0 if reading.pad is None or reading.dead_man else self._up + 1
        self.ready = self.ready or self._up >= _RESTING
        if not (self.ready and reading.dead_man) or reading.dead_man_came_up:
            self._axis, self._step = "", 0
            return None
        depths = {"x": reading.left[0], "y": reading.left[1], "z": reading.right[1]}
        axis = max(depths, key=lambda each: abs(depths[each]) + (_PLAY if each == self._axis else 0.0))
        self._step = _step(abs(depths[axis]), self._step if axis == self._axis else 0)
        self._axis = axis if self._step else ""
        if not self._step:
            return None
        return JogRequest(
            f"{'+' if depths[axis] > 0 else '-'}{'r' if reading.turning else ''}{axis}", self._step / SHARES
        )


def _step(depth: float, before: int) -> int:
    """The step of speed of a stick that is `depth` (0 to 1) out, 0 at rest; `before`: which it had."""
    width = (1.0 - DEAD_ZONE) / SHARES
    if before:
        low, high = DEAD_ZONE + (before - 1) * width, DEAD_ZONE + before * width
        if low - _PLAY <= depth and (before == SHARES or depth <= high + _PLAY):
            return before
    return min(SHARES, math.floor((depth - DEAD_ZONE) / width) + 1) if depth >= DEAD_ZONE else 0
