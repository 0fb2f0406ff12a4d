"""A rig whose drives can be asked, whether real or virtual."""

from collections.abc import Iterator
from contextlib import contextmanager

from rig.config import RigConfig, relaxed_timing
from rig.virtual import VirtualRigProcess


@contextmanager
def served(config: RigConfig) -> Iterator[RigConfig]:
    """The configuration to talk to the drives with; a virtual rig is served for as long as the block lasts.

    Raises:
        HardwareError: the virtual rig could not start: a port is taken.
    """
    if config.virtual is None:
        yield config
        return
    with VirtualRigProcess(config):
        yield relaxed_timing(config)
