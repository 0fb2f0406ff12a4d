"""What an engine and a virtual rig need first, for the server from which they are forked: it imports this module."""

import contextlib
import gc

from kinematics import cached_only
from rig.config import load_config
from rig.engine import rehearsed
from rig.virtual.virtual_rig import VirtualRig

with contextlib.suppress(Exception):  # whoever needs it will be told
    config = load_config("virtual")  # the first kernel brings the compiler along, and scipy.linalg with it
    with cached_only():  # else whoever waits for a process would wait for the compiler first, and not hear Ctrl-C
        rehearsed(config)
        rig = VirtualRig(config)
        rig.advance(10 * rig.plant.step)

gc.freeze()  # a child that searched all this for garbage would have to copy it first
