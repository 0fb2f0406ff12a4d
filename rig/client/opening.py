"""`rig.open`: start an engine, or attach to the one that has the drives."""

import contextlib
import os
import threading
from functools import partial
from pathlib import Path

from kinematics import Kernel
from rig.client.client import KEEP, RigClient
from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.ports import on_free_ports
from rig.client.runs import new_recording, remove_empty
from rig.config import RigConfig, load_config, names_file, relaxed_timing
from rig.engine import RunningEngine, find_engine
from rig.errors import InputError, RefusedError
from rig.names import check_name


def open_rig(
    config: str | Path | RigConfig,
    *,
    lockstep: bool = False,
    output: str | Path | None = None,
    record: bool = True,
    client: str | None = None,
    keep: float = KEEP,
) -> RigClient:
    """See `rig.open`."""
    settings = config if isinstance(config, RigConfig) else load_config(config)
    if not (lockstep or isinstance(config, RigConfig)) and settings.virtual is not None and not names_file(str(config)):
        settings = on_free_ports(settings)  # whoever opens it by its name has one of his own
    if not keep > 0.0:
        raise InputError(f"keep: {keep:g} s must be greater than 0")
    if lockstep and settings.virtual is None:
        raise InputError(f"lockstep: configuration {settings.name!r} has no [virtual] table")
    if not record and not lockstep:
        raise InputError("record: False needs lockstep=True, every run of an engine is recorded")
    if not record and output is not None:
        raise InputError(f"output: {output}: nothing is recorded with record=False")
    folder = Path(settings.recording.directory) if output is None else Path(output)
    name = f"script (process {os.getpid()})" if client is None else check_name("client", client)
    interruption = Interruption()
    main = threading.current_thread() is threading.main_thread()
    with interruption.installed() if main else contextlib.nullcontext():
        Kernel.load_compiler()  # where Ctrl-C does not leave it half-loaded, but is heard afterwards
        with interruption.nothing_moving():
            found = None if lockstep else find_engine(settings)
        if found is not None:
            if output is not None:
                raise InputError(
                    f"output: {folder}: the engine that has these drives, process {found.pid}, records to "
                    f"{found.recording} already; leave `output` out to attach to it"
                )
            rig = _attached(settings, found, name, interruption)
            return RigClient(rig, interruption, own=True, end=not found.owner_alive, keep=keep)
        if not record:
            return RigClient(LockstepRig(settings, None, interruption), interruption, own=True, keep=keep)
        tidy = partial(_tidy, folder, new=not folder.exists())
        recording = new_recording(folder, settings.name)
        made: LockstepRig | LiveRig
        try:
            if lockstep:
                made = LockstepRig(settings, recording, interruption)
            else:
                made = LiveRig(
                    settings if settings.virtual is None else relaxed_timing(settings), recording, name, interruption
                )
        except BaseException:
            tidy(recording)
            raise
        return RigClient(made, interruption, own=True, tidy=partial(tidy, recording), keep=keep)


def _attached(config: RigConfig, found: RunningEngine, name: str, interruption: Interruption) -> LiveRig:
    try:
        return LiveRig(config, found, name, interruption)
    except RefusedError:
        raise RefusedError(
            f"{config.name!r} is commanded by another client: engine process {found.pid}, {found.describe()}"
        ) from None


def _tidy(folder: Path, recording: Path, *, new: bool) -> None:
    """Leave no recording in which nothing took place, nor a folder that was made for it."""
    remove_empty(recording)
    if new:
        with contextlib.suppress(OSError):  # it holds something
            folder.rmdir()
