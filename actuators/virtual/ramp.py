"""The ramp by which a virtual drive moves its set-point to a target, where the product has one."""

import math

RAMP_STEP = 1e-3
"""s, of the ramp's integration; a device that is advanced in longer ones follows a staircase"""
_LONGEST = 1.0  # s of a single advance; a device that was not served for longer goes on from there


class Ramp:
    """A set-point, `at` m with `speed` m/s, that follows targets with limited speed and acceleration."""

    def __init__(self) -> None:
        self.rest(0.0)

    def rest(self, at: float) -> None:
        """Stand at `at`, m."""
        self.at, self.speed = at, 0.0

    def stop(self, elapsed: float, deceleration: float) -> None:
        """Decelerate (m/s²) for `elapsed` s."""
        for step in _steps(elapsed):
            self.speed = math.copysign(max(0.0, abs(self.speed) - deceleration * step), self.speed)
            self.at += self.speed * step

    def advance(self, elapsed: float, target: float, speed: float, acceleration: float) -> None:
        """Move towards `target`, m, for `elapsed` s: at most at `speed`, m/s, with `acceleration`, m/s²."""
        for step in _steps(elapsed):
            ahead = target - self.at
            allowed = min(speed, math.sqrt(2.0 * acceleration * abs(ahead)))
            most = acceleration * step
            self.speed += min(max(math.copysign(allowed, ahead) - self.speed, -most), most)
            if abs(ahead) <= abs(self.speed) * step and self.speed * ahead >= 0.0:
                self.at, self.speed = target, ahead / step
            else:
                self.at += self.speed * step


def _steps(elapsed: float) -> list[float]:
    if elapsed <= 0.0:
        return []
    elapsed = min(elapsed, _LONGEST)
    count = math.ceil(elapsed / RAMP_STEP)
    return [elapsed / count] * count
