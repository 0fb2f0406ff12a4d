"""Cycle jitter of this computer under its present load, compared with cycle rates."""

import contextlib
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np
import numpy.typing as npt

from rig.config import RigConfig
from rig.engine import rehearsed
from rig.errors import HardwareError
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess, prepare_process

RATES = (2000.0, 1000.0, 500.0, 250.0, 200.0, 100.0, 50.0)
"""Hz, rates checked besides the configured one."""
_TOLERATED = 0.01
"""Tolerated fraction of late cycles, each a stale sample or a skipped cycle."""
_READY_TIMEOUT = 120.0  # s; the first start on a machine compiles the kernels
_SLACK = 10.0  # s, in addition to the measurement


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Result of a cycle measurement."""

    rate: float
    """Hz, measured rate"""
    cycles: int
    late: int
    """cycles that would have missed their deadline"""
    usual: float
    """s from a cycle's deadline to the end of its computations, 99th percentile"""
    longest: float
    """s, the same for the worst cycle"""
    carries: float | None
    """Hz, the highest rate without a fault; None if there is none"""


def judge(config: RigConfig, delays: npt.NDArray[np.float64]) -> Steadiness:
    """Judge the delays of cycles at the configured rate.

    A rate is feasible if 99 % of the cycles leave the replies their time (`drives.reply_deadline` of the
    period), and the longest delay is permitted: shorter than the drives' watchdog, and than
    `safety.stale_cycles` or `stale_time`, and `safety.overruns_in_a_row` cycles.

    Args:
        config: the rig.
        delays: (n,) s from each cycle's deadline to the end of its computations; n ≥ 1.
    """
    tolerated = min(round(config.safety.staleness(config.period) / config.period), config.safety.overruns_in_a_row)
    room = 1.0 - config.drives.reply_deadline
    longest = float(delays.max())

    def carried(rate: float) -> bool:
        late = float(np.mean(delays > room / rate))
        return late <= _TOLERATED and longest < min(tolerated / rate, config.drives.watchdog)

    rates = sorted({*RATES, config.rate}, reverse=True)
    return Steadiness(
        rate=config.rate,
        cycles=len(delays),
        late=int(np.count_nonzero(delays > room * config.period)),
        usual=float(np.quantile(delays, 0.99)),
        longest=longest,
        carries=next((rate for rate in rates if carried(rate)), None),
    )


def measure(config: RigConfig, duration: float = 1.0) -> Steadiness:
    """Run the cycle's computations at the configured rate for `duration` s, without drives, and judge it.

    Runs in a separate process, with the configured real-time settings as far as permitted.

    Raises:
        HardwareError: the process ends or hangs.
    """
    process = ChildProcess("the process that tries a cycle", _measure, config, duration)
    try:
        delays: npt.NDArray[np.float64] | str = process.receive(_READY_TIMEOUT + duration + _SLACK)
    except ChildLateError as error:
        text = "the cycle's computations take longer than two minutes to be compiled and tried"
        raise HardwareError(text) from error
    except ChildDiedError as error:
        raise HardwareError(f"the process that tries a cycle ended with exit code {process.exitcode}") from error
    finally:
        process.end(0.0, terminate=False)
    if isinstance(delays, str):
        raise HardwareError(delays)
    return judge(config, delays)


def _measure(config: RigConfig, duration: float, answer: Connection) -> None:
    """Entry point of the process: the engine's loop with simulated cycles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        engine = rehearsed(config)
    except Exception as error:  # for example an unreadable calibration
        answer.send(f"a cycle cannot be tried: {error}")
        return
    prepare_process(config.realtime.cpu, config.realtime.priority)
    delays = []
    period = config.period
    deadline = time.monotonic() + period
    end = deadline + duration
    while deadline < end:
        while (remaining := deadline - time.monotonic()) > 0.0:
            time.sleep(remaining)
        engine.rehearse()
        delay = time.monotonic() - deadline
        delays.append(delay)
        deadline += (1 + int(delay / period)) * period
    with contextlib.suppress(OSError):  # the parent is gone
        answer.send(np.array(delays))
