"""The rig: configuration, cyclic engine, safety, recordings, virtual rig, reports and command line.

`rig.open` is the way in for a script or a notebook. Nothing heavy is imported before it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rig.client import RigClient
    from rig.config import RigConfig

import os

from rig.version import __version__ as __version__

# Matrices here are of six rows, which threads make 20 times slower where a processor is busy: they wait spinning. NumPy
# reads this as it is loaded; the processes that are started have it from here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def open(  # `rig.open`, as `tarfile.open`
    config: str | Path | RigConfig = "virtual",
    *,
    lockstep: bool = False,
    output: str | Path | None = None,
    client: str | None = None,
    keep: float = 60.0,
) -> RigClient:
    """Take command of a rig: start its engine, and its virtual rig where it has one, or attach to the engine it has.

    Args:
        config: a configuration file, the name of a shipped one, or a configuration.
        lockstep: a virtual rig only: rig and engine in this process on a clock that stands between two calls, faster
            than real time and the same every time.
        output: folder for the recording; the configuration's where it is left out.
        client: the name under which this process commands the rig.
        keep: s of telemetry that are kept in memory.

    Raises:
        InputError: an argument or the configuration is wrong, or the folder cannot be used.
        RefusedError: another client commands the rig; who.
        HardwareError: a process could not be started, with its reason.
    """
    if not lockstep:
        from rig.runtime import begin_server, folders

        if not any(folder.held("engine") for folder in folders()):  # one that runs may be the one to attach to
            begin_server()  # which loads while this process does
    from rig.client import open_rig

    return open_rig(config, lockstep=lockstep, output=output, client=client, keep=keep)
