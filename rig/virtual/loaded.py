"""All that an engine and a virtual rig load, for the server from which they are forked: it imports this module."""

import contextlib

import rig.engine  # noqa: F401
from rig.config import load_config

with contextlib.suppress(Exception):  # whoever needs it will be told
    load_config("virtual")  # the first kernel brings the compiler along
