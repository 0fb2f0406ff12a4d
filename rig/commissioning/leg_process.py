"""The test of one leg as a process of its own: what runs in it, and the handle of whoever started it."""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import FrameType
from typing import Self

from actuators import ActuatorError, ConfigurationError
from calibration import CalibrationError
from rig.client import Interruption
from rig.commissioning.leg_move import LegMove, LegProgress, LegResult, check_move
from rig.commissioning.leg_run import Halt, LegRun
from rig.config import RigConfig
from rig.engine import ControlBlock, claim_drives, make_bank, owner_gone
from rig.errors import HardwareError, InputError, RigError
from rig.runtime import Cadence, RuntimeFolder, StopRequest, prepare_process, start_shielded

_STOP_TIME = 3.0  # s for a process that was told to stop, beside the drives' own time
_TERMINATE_TIME = 2.0  # s
_POLL = 0.02  # s
_SLACK = 120.0  # s that a whole test may take beside its devices' times and the leg's way: a first one compiles
_DEVICES, _STEPS = 7, 3  # with an amplifier; connect, identify, configure


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why there is no result."""

    text: str
    kind: type[RigError]


def serve_leg_test(config: RigConfig, move: LegMove, block_name: str, owner: Connection) -> None:
    """Main function of the process: one test, then the end.

    The drives are claimed before any of them is talked to. A stop flag, a silent heartbeat or an owner that is gone
    brings the leg to rest by its drive's quick stop.

    Args:
        config: the rig.
        move: what to do.
        block_name: the owner's control block.
        owner: pipe on which `LegProgress` and at last a `LegResult` or a `_Failure` go out.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the owner's to handle
    signal.signal(signal.SIGTERM, _leave)
    with contextlib.ExitStack() as resources:
        try:
            resources.enter_context(claim_drives(config))
            block = ControlBlock(block_name)
            resources.callback(block.close)
            bank = make_bank(config)
            resources.callback(bank.close)
            bank.connect(config.drives.connect_timeout)
            prepare_process(config.realtime.cpu, config.realtime.priority)
            watch = _Watch(block, owner, config.safety.heartbeat)
            wait = Cadence(config.period).wait
            answer: LegResult | _Failure = LegRun(config, move, bank, wait, watch.look, watch.report).run()
        except RigError as error:
            answer = _Failure(str(error), type(error))
        except (ConfigurationError, CalibrationError) as error:
            answer = _Failure(str(error), InputError)
        except (ActuatorError, FileNotFoundError) as error:
            answer = _Failure(str(error), HardwareError)
        with contextlib.suppress(OSError):  # the owner has gone
            owner.send(answer)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Leave by an exception, so that the drives are stopped."""
    raise SystemExit(1)


class _Watch:
    """Stop flag, heartbeat and owner."""

    def __init__(self, block: ControlBlock, owner: Connection, patience: float) -> None:
        self._block, self._owner, self._patience = block, owner, patience
        self._beat = block.heartbeat()
        self._beat_at = time.monotonic()

    def look(self) -> Halt | None:
        """Why the test must stop, or None."""
        requested = self._block.take_stop()
        if requested is not None:
            return Halt("stopped by the operator", asked=True, at_once=requested == 0)
        beat, now = self._block.heartbeat(), time.monotonic()
        if beat != self._beat:
            self._beat, self._beat_at = beat, now
        elif now - self._beat_at > self._patience:
            return Halt(f"stopped: no sign of life of the owner for {now - self._beat_at:.2f} s", asked=True)
        return Halt("stopped: the owner is gone", asked=True) if owner_gone(self._owner) else None

    def report(self, progress: LegProgress) -> None:
        """Tell the owner; nothing where it has gone."""
        with contextlib.suppress(OSError):
            self._owner.send(progress)


class LegTest:
    """Starts a test and minds its process until it has ended; a context manager.

    The owner must `beat` more often than `safety.heartbeat`, and `poll` now and then.

    Args:
        config: the rig; a virtual one must be served already.
        move: what to do.

    Raises:
        RefusedError, ConfigurationError: see `check_move`; nothing was started.
    """

    def __init__(self, config: RigConfig, move: LegMove) -> None:
        check_move(config, move)
        self._patience = _STOP_TIME + config.safety.stop_time
        self._holds = contextlib.ExitStack()
        folder = RuntimeFolder.create(self._holds)
        self._holds.callback(folder.remove)
        self._block = ControlBlock(folder.shared("control"), create=True)
        self._holds.callback(self._block.close)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve_leg_test, args=(config, move, self._block.name, theirs), name=f"test of leg {move.leg}"
        )
        self._ended = False
        try:
            start_shielded(self._process)
        except BaseException:
            self._pipe.close()
            self._holds.close()
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def beat(self) -> None:
        """Show the process that its owner is alive."""
        if not self._ended:
            self._block.beat()

    def stop(self, category: StopRequest = 1) -> None:
        """Stop: by the drive's quick stop, or with category 0 by taking the torque off at once."""
        if not self._ended:
            self._block.request_stop(category)

    def poll(self) -> LegProgress | LegResult | None:
        """The latest news, None where there is none.

        Raises:
            NotHomedError, LatchedFaultError: the leg is not homed, or a fault is latched; the move allows no more.
            RefusedError: the leg stands where the move would leave its limits.
            HardwareError: a drive does not answer or is another's, or the process has died.
            InputError: the drives or cells cannot be made of what is configured.
        """
        try:
            news = self._pipe.recv() if self._pipe.poll() else None
        except (EOFError, OSError):
            self._process.join(_TERMINATE_TIME)
            raise HardwareError(
                f"the leg test ended by itself, exit code {self._process.exitcode}; "
                "the drive should have stopped by its own watchdog: look at the machine first"
            ) from None
        if isinstance(news, _Failure):
            raise news.kind(news.text)
        return news

    def close(self) -> None:
        """End the process: stop the leg and wait, then by a signal, at last by killing it. May be called again."""
        if self._ended:
            return
        if self._process.is_alive():
            self._block.request_stop(1)
            self._process.join(self._patience)
        for end in (self._process.terminate, self._process.kill):
            if self._process.is_alive():
                end()
                self._process.join(_TERMINATE_TIME)
        self._ended = True
        self._process.join()
        self._process.close()
        self._pipe.close()
        self._holds.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def run_leg_test(
    config: RigConfig, move: LegMove, interruption: Interruption, show: Callable[[LegProgress], None]
) -> LegResult:
    """Do a whole test; the first Ctrl-C stops the leg and waits for the result, a second one takes the torque off.

    Args:
        config: the rig; a virtual one must be served already.
        move: what to do.
        interruption: installed by the caller.
        show: told the progress.

    Raises:
        RefusedError, HardwareError: see `LegTest`; it took longer than it can, and was ended.
    """
    longest = _longest(config, move)
    deadline = time.monotonic() + longest
    with LegTest(config, move) as test:
        interruption.at_once = lambda: test.stop(0)
        try:
            stopped = False
            while time.monotonic() < deadline:
                test.beat()
                if interruption.count and not stopped:
                    stopped = True
                    test.stop(1)
                news = test.poll()
                if isinstance(news, LegResult):
                    return news
                if news is not None:
                    show(news)
                time.sleep(_POLL)
        finally:
            interruption.at_once = None
    raise HardwareError(
        f"the test of leg {move.leg} did not end within {longest:g} s and was ended: look at the machine first"
    )


def _longest(config: RigConfig, move: LegMove) -> float:
    """How long a test can take, s."""
    connecting = _DEVICES * _STEPS * config.drives.connect_timeout
    return connecting + config.safety.homing_timeout + 2.0 * move.way_time + config.safety.stop_time + _SLACK
