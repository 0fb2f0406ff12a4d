"""A rig as an operation sees it: commands, status and waiting, the same for the real-time rig and the lockstep one."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.client.events import Listener, RowListener
from rig.config import RigConfig
from rig.engine import RigCommand, Snapshot
from rig.runtime import StopRequest
from rig.virtual import ActiveFault


class FaultControl(Protocol):
    """Where faults of a virtual rig are begun and ended; see `rig.virtual.Faults`."""

    @property
    def active(self) -> Sequence[ActiveFault]:
        """Those that are on."""

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> object:
        """Begin one."""

    def clear(self, name: str | None = None, leg: int | None = None) -> object:
        """End them."""


class Rig(Protocol):
    """A connected engine, wherever it runs, and the right to command it."""

    config: RigConfig

    @property
    def recording(self) -> Path:
        """The file that the engine records to."""

    @property
    def faults(self) -> FaultControl | None:
        """Where faults are injected; None where the virtual rig is another process's, or there is none."""

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """Send a command.

        Raises RefusedError, with the engine's reason, when it is refused and nothing changed; HardwareError when that
        is because a device does not answer as it should, or when the engine is gone.
        """

    def status(self) -> Snapshot:
        """The engine's present status."""

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """Let the rig run until `until` holds for its status, which is returned.

        Raises HardwareError when that takes longer than `timeout` s of rig time, saying `what` was waited for, and
        InterruptedRunError after Ctrl-C.
        """

    def raise_stop_flag(self, category: StopRequest) -> None:
        """Have the engine stop in its next cycle; does not wait, and may be called from a signal handler."""

    def hold(self) -> None:
        """Renew the hold of a motion that goes on only as long as it is held; does not wait."""

    def let_go(self) -> None:
        """Give that hold up: the motion comes to a stand; does not wait."""

    def listen(self, listener: Listener | None, rows: RowListener | None = None) -> None:
        """From now on tell what happens, and telemetry rows: a live rig's as they come, from a thread of its own."""

    def refresh(self) -> None:
        """Tell now what is new."""

    def close(self) -> None:
        """Let go of the rig. May be called again."""
