"""The rig: configuration, cyclic engine, safety, recordings, virtual rig, reports and command line.

`rig.open` is the entry point for scripts and notebooks. Heavy modules are imported only when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rig.client import RigClient
    from rig.config import RigConfig

import os

from rig.version import __version__ as __version__

# Matrices here have six rows, for which threads are 20 times slower on a busy processor because they spin. NumPy
# reads this on import; child processes inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def open(  # `rig.open`, as `tarfile.open`
    config: str | Path | RigConfig = "virtual",
    *,
    lockstep: bool = False,
    output: str | Path | None = None,
    record: bool = True,
    client: str | None = None,
    keep: float = 60.0,
) -> RigClient:
    """Take command of a rig: start its engine, and its virtual rig if any, or attach to a running engine.

    Args:
        config: a configuration file, the name of a shipped one, or a configuration.
        lockstep: virtual rig only: rig and engine in this process on a clock that stops between calls, faster
            than real time and deterministic.
        output: folder for the recording; None: the configuration's.
        record: False, only with `lockstep`: nothing is recorded, for studies of many runs.
        client: the name under which this process commands the rig.
        keep: s of telemetry kept in memory.

    Raises:
        InputError: an invalid argument or configuration, or an unusable folder.
        RefusedError: another client commands the rig, with its name.
        HardwareError: a process could not be started, with its reason.
    """
    if not lockstep:
        from rig.runtime import begin_server, folders

        if not any(folder.held("engine") for folder in folders()):  # a running engine may be the one to attach to
            begin_server()  # loads in parallel
    from rig.client import open_rig

    return open_rig(config, lockstep=lockstep, output=output, record=record, client=client, keep=keep)
