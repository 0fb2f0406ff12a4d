"""What an engine and a virtual rig need first, for the server from which they are forked: it imports this module."""

import contextlib
import gc

from rig.config import load_config

with contextlib.suppress(Exception):  # whoever needs it will be told
    load_config("virtual")  # the first kernel brings the compiler along, and scipy.linalg with it

gc.freeze()  # a child that searched all this for garbage would have to copy it first
