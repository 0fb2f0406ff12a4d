"""Model of a sender's clock, from pairs of its time stamps and the times of their reception.

A packet sent at s of the sender's clock is received at r = s + offset + drift (s − s₀) + delay, s of this machine's
monotonic clock. The delay is never below that of an empty network, and often close to it: of each quarter of a second
only the packet with the least r − s counts (minimum-delay filter), and a straight line through half a minute of these
gives offset and drift. One-way packets do not separate the least delay from the offset: `local` says when a packet that
was not held up would arrive. That is later than when it was sent, by the least delay.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

SPAN: Final = 0.25
"""s of the sender's clock of which the least delayed packet counts"""
MOST_SPANS: Final = 120
"""spans that the line goes through"""
_LEAST_SPANS = 6
"""with fewer there is no drift, only the least difference so far"""
_OUTLIER = 4.0  # robust standard deviations, of a whole span that was held up or of a wrong stamp
_FINEST = 1e-7  # s: what a double has of the seconds since 1970
_SLEW = 1e-3  # s/s: an improved estimate moves the times of samples no faster
_CHANGED = 5e-3  # s, of `_SPANS_CHANGED` spans in a row: another offset, not noise
_SPANS_CHANGED = 4
_EARLY, _LATE = 0.25, 2.0
"""s before and behind its expected arrival: no delay, but a step of the clock"""
_AGREEING = 3
_AGREEMENT = 0.1  # s
_JITTER = 2000
"""packets of which the jitter is stated"""
_WANDERS = 2.0
"""scatters of the spans' least delays by which the least delay changes over the line: measured on a busy computer"""
_UNKNOWN_DRIFT = 2e-4
"""s/s, standard uncertainty of a computer's clock of which nothing is known"""


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """A sender's clock beside this machine's monotonic one, now.

    The standard uncertainties are those of the line, and in addition: of the offset the scatter of the spans' least
    delays about it, since by about as much even these lie above the least; of the drift twice that scatter over the
    length of the line, since by as much the least delay wanders with the load of the network and both computers, which
    no line separates from a drift. The least delay itself is a part of `offset`.
    """

    offset: float = math.nan
    """s, local minus sender's time"""
    offset_sigma: float = math.nan
    """s"""
    drift: float = math.nan
    """s/s; above zero the sender's clock is slow"""
    drift_sigma: float = math.nan
    """s/s"""
    spans: int = 0
    """quarters of a second that the line goes through"""
    steps: int = 0
    """steps of the sender's clock so far"""
    jitter: float = math.nan
    """s, 99th percentile of the delay beyond the least one, of the last 2000 packets"""
    median_jitter: float = math.nan
    """s, likewise half of them"""
    most_jitter: float = math.nan
    """s, the largest since the begin or the last step"""


class SenderClock:
    """The model of one sender's clock."""

    def __init__(self) -> None:
        self._steps = 0
        self._doubtful: list[tuple[float, float]] = []
        self._begun = False
        self._begin(0.0, 0.0)

    def _begin(self, sent: float, received: float) -> None:
        """Begin anew with a pair: both clocks are counted from it, which keeps the digits."""
        self._sent, self._received = sent, received
        self._minima: deque[tuple[float, float]] = deque(maxlen=MOST_SPANS)
        self._span = 0.0  # beginning of the present one
        self._least = (0.0, 0.0)  # its packet with the least difference
        self._intercept, self._slope, self._from = 0.0, 0.0, 0.0
        """the line in use: difference at `_from`, and its rate"""
        self._line = (0.0, 0.0)  # the estimated one: difference at the first pair, rate
        self._covariance: npt.NDArray[np.float64] | None = None
        self._scatter = 0.0  # s², variance of the spans' minima about the line
        self._wander = 0.0  # (s/s)², of the drift, since the least delay itself wanders
        self._excess: deque[float] = deque(maxlen=_JITTER)
        self._most = 0.0

    def take(self, sent: float, received: float) -> bool:
        """Take a pair, s; False if it contradicts the clock so far, and must not be used.

        The third one in a row that does, and agrees with the two before it, is taken: the clock was stepped.
        """
        if not self._begun:
            self._begun = True
            self._begin(sent, received)
        x = sent - self._sent
        y = (received - self._received) - x
        excess = y - self._difference(x)
        if not -_EARLY <= excess <= _LATE:
            return self._stepped(sent, received)
        self._doubtful.clear()
        if x - self._span >= SPAN:
            self._close_span(x)
            excess = y - self._difference(x)
            self._least = (x, y)
        elif y < self._least[1]:
            self._least = (x, y)
        if len(self._minima) < _LEAST_SPANS and y < self._difference(x):
            self._intercept, self._from, self._slope = y, x, 0.0
            excess = 0.0
        self._excess.append(excess)
        self._most = max(self._most, excess)
        return True

    def local(self, time: float) -> float:
        """Monotonic time, s, of `time` of the sender's clock, s; see the module."""
        x = time - self._sent
        return self._received + x + self._difference(x)

    def estimate(self) -> ClockEstimate:
        """The estimate now; NaN before the first pair."""
        if not self._begun:
            return ClockEstimate()
        x = self._least[0]
        drift, drift_sigma, sigma = 0.0, _UNKNOWN_DRIFT, math.nan
        if self._covariance is not None:
            drift, drift_sigma = self._line[1], math.sqrt(self._covariance[1, 1] + self._wander)
            at = np.array([1.0, x])
            sigma = math.sqrt(at @ self._covariance @ at + self._scatter)
        median, jitter = (float(value) for value in np.percentile(self._excess or [math.nan], (50.0, 99.0)))
        offset = self._received - self._sent + self._difference(x)
        return ClockEstimate(
            offset, sigma, drift, drift_sigma, len(self._minima), self._steps, jitter, median, self._most
        )

    def _difference(self, x: float) -> float:
        """Difference of the clocks beyond that of the first pair, s, by the line in use."""
        return self._intercept + self._slope * (x - self._from)

    def _stepped(self, sent: float, received: float) -> bool:
        difference = received - sent
        if self._doubtful and abs(difference - (self._doubtful[-1][1] - self._doubtful[-1][0])) > _AGREEMENT:
            self._doubtful.clear()
        self._doubtful.append((sent, received))
        if len(self._doubtful) < _AGREEING:
            return False
        first, *others = self._doubtful
        self._doubtful.clear()
        self._steps += 1
        self._begin(*first)
        for pair in others:
            self.take(*pair)
        return True

    def _close_span(self, x: float) -> None:
        """Use the finished span's least delayed packet, and aim the line in use at the new estimate."""
        self._minima.append(self._least)
        self._span = x
        now = self._difference(x)
        recent = [y - self._difference(at) for at, y in list(self._minima)[-_SPANS_CHANGED:]]
        one_way = min(recent) > _CHANGED or max(recent) < -_CHANGED
        changed = one_way and len(recent) == _SPANS_CHANGED and max(recent) - min(recent) < _CHANGED
        if changed:
            self._minima = deque(list(self._minima)[-_SPANS_CHANGED:], MOST_SPANS)
            self._steps += 1
            self._covariance = None
        if len(self._minima) < _LEAST_SPANS:
            if changed:
                self._intercept, self._from, self._slope = now + min(recent), x, 0.0
            return
        self._fit()
        aim = self._line[0] + self._line[1] * (x + SPAN)
        correction = (aim - now) / SPAN - self._line[1]
        self._intercept, self._from = now, x
        self._slope = self._line[1] + max(-_SLEW, min(_SLEW, correction))

    def _fit(self) -> None:
        """Fit the line through the spans' minima by least squares, without those that stand out.

        It begins with a line of medians, which a third of spans that were held up does not tilt. The drift has the
        prior of a computer's clock.
        """
        x, y = np.array(self._minima).T
        half = len(x) // 2
        slope = float(np.median((y[-half:] - y[:half]) / (x[-half:] - x[:half])))
        intercept = float(np.median(y - slope * x))
        used, variance, covariance = np.zeros(len(x), bool), _FINEST**2, np.zeros((2, 2))
        for _ in range(4):
            residual = y - intercept - slope * x
            scale = max(1.4826 * float(np.median(np.abs(residual))), _FINEST)
            before, used = used, np.abs(residual) <= _OUTLIER * scale
            if (before == used).all():
                break
            inside = residual[used]
            variance = max(float(inside @ inside) / max(1, len(inside) - 2), _FINEST**2)
            design = np.stack([np.ones(len(inside)), x[used]], axis=1)
            weights = design.T @ design / variance
            weights[1, 1] += 1.0 / _UNKNOWN_DRIFT**2
            covariance = np.linalg.inv(weights)
            intercept, slope = (covariance @ (design.T @ y[used]) / variance).tolist()
        self._line, self._covariance, self._scatter = (intercept, slope), covariance, variance
        self._wander = _WANDERS**2 * variance / (x[-1] - x[0]) ** 2
