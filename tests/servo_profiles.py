"""Servos of other makes, as their profiles describe them."""

import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from actuators import ServoProfile, load_profile

PROFILE = load_profile("generic-servo", ServoProfile)


def profile(**changes: Any) -> ServoProfile:
    """The generic servo's profile with some of its tables changed."""
    content = PROFILE.model_dump()
    for table, entries in changes.items():
        content[table] = content[table] | entries if isinstance(entries, dict) else entries
    return ServoProfile.model_validate(content)


SEPARATE = profile(functions={"exchange": "separate", "read": 4})
"""One without FC23: the command is written by FC16, the feedback read by FC4."""

_WORD = {"type": "i16", "scale": 5e-5, "invalid": -32768}
SINGLE = profile(
    functions={"exchange": "separate", "write": 6},
    feedback={
        "position": {"address": 3, **_WORD},
        "velocity": {"address": 4, **_WORD},
        "force": {"address": 5, "type": "i16", "scale": 0.1, "invalid": -32768},
        "auxiliary": {},
    },
    command={
        "force": {"address": 103, "type": "i16", "scale": 0.1},
        "position": {"address": 104, "type": "i16", "scale": 5e-5},
        "velocity": {"address": 105, "type": "i16", "scale": 5e-5},
    },
)
"""One that is written register after register by FC6, in words."""

SWAPPED = profile(
    word_order="little-swapped",
    feedback={
        "position": {"address": 3, "type": "f32"},
        "velocity": {"address": 5, "type": "f32", "word_order": "big-swapped"},
    },
    command={"position": {"address": 105, "type": "f32", "word_order": "little"}},
    parameters={"watchdog": {"address": 200, "type": "u32", "scale": 1e-3}},
)
"""One with all four orders of bytes."""

BARE = profile(
    functions={"exchange": "separate"},
    feedback={"error": None, "sequence": None, "velocity": None, "force": None, "auxiliary": {}},
    command={
        "control": {"address": 100},
        "mode": {"address": 101},
        "sequence": None,
        "force": None,
        "position": {"address": 102, "type": "i32", "scale": 1e-7},
        "velocity": None,
    },
    parameters={"watchdog": None},
    identity=None,
    modes={"force": None},
    errors={},
)
"""One for positions only, without an echo, a speed, an error code, a watchdog or a name."""


def guide() -> ServoProfile:
    """The worked example of the guide to devices, out of its page."""
    page = (Path(__file__).parents[1] / "docs/adding-a-device.md").read_text(encoding="utf-8")
    found = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return ServoProfile.model_validate(tomllib.loads(textwrap.dedent(found[1])))


GUIDE = guide()
