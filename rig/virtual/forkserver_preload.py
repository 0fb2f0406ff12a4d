"""Imports for the fork server of engine and virtual rig, which preloads this module."""

import contextlib
import gc

from kinematics import cached_only
from rig.config import load_config
from rig.engine import rehearsed
from rig.virtual.virtual_rig import VirtualRig

with contextlib.suppress(Exception):  # the process that needs it reports the error
    config = load_config("virtual")  # the first kernel imports the compiler and scipy.linalg
    with cached_only():  # otherwise a waiting parent would wait for the compiler first, and ignore Ctrl-C
        rehearsed(config)
        rig = VirtualRig(config)
        rig.advance(10 * rig.plant.step)

gc.freeze()  # garbage collection in a child would copy all these pages
