"""Servos of other makes, as their profiles describe them."""

import copy
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


def changed(base: ServoProfile, changes: dict[str, Any]) -> dict[str, Any]:
    """A profile's content with entries at a path replaced, None to leave one out."""
    content = copy.deepcopy(base.model_dump(exclude_unset=True))
    for path, value in changes.items():
        *tables, key = path.split(".")
        table = content
        for name in tables:
            table = table.setdefault(name, {})
        if value is None:
            del table[key]
        else:
            table[key] = value
    return content


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


def guide(name: str) -> ServoProfile:
    """A worked example of the guide to devices, out of its page."""
    page = (Path(__file__).parents[1] / "docs/adding-a-device.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```toml\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    (found,) = (block for block in map(textwrap.dedent, blocks) if block.startswith(f'name = "{name}"'))
    return ServoProfile.model_validate(tomllib.loads(found))


GUIDE, UGLY_GUIDE = guide("cylinder"), guide("press")

UGLY_TOML = """
name = "ugly"
word_order = "little"
functions = { exchange = "separate", gap = 2, coils = 15 }

[feedback]
status = { address = 0x3000 }
error = { address = 0x3002 }
sequence = { address = 7, table = "input" }
position = { address = 0x1002, type = "i64", scale = -1e-9, invalid = -9223372036854775808 }
velocity = { address = 0x1100, type = "f64", word_order = "big" }
force = { address = 8, table = "input", type = "i32", scale = -1e-3, word_order = "little-swapped" }
auxiliary = { temperature = { address = 20, table = "input", type = "i16", scale = 0.1 } }
words = { io = { address = 0x2000 } }

[command]
control = { address = 100 }
mode = { address = 102, type = "i16" }
sequence = { address = 300 }
force = { address = 104, type = "f32" }
position = { address = 200, type = "i64", scale = -1e-9 }
velocity = { address = 204, type = "i32", scale = 1e-6 }
constants = [{ address = 101, value = 0xBEEF }, { address = 103, value = 0 }]
handover = { toggle = 9 }

[parameters]
watchdog = { address = 400, type = "u32", scale = 1e-3 }

[parameters.startup]
quick_stop_option = { address = 500, type = "i16", value = 2 }
ramp = { address = 502, type = "f32", value = 2.5 }
firmware_mode = { address = 510, type = "u32", value = 0x12345678, write = false }

[identity]
vendor = "Nobody & Sons"
product = { address = 600, type = "u16", mask = 0xFF00, expect = 0x4200, base = 16 }
serial = { address = 700, type = "u32" }
firmware = { address = 704, length = 2 }

[power]
enable = [
    { word = 0x06, mask = 0x87, state = "ready", timeout = 0.5 },
    { word = 0x07, mask = 0x8F, state = "on", timeout = 0.5 },
    { word = 0x0F, mask = 0x8F, state = "running", timeout = 0.5 },
]
disable = { word = 0x00, mask = 0x82 }
quick_stop = { word = 0x02, mask = 0x86 }
reset = 7

[power.states]
idle = { mask = 0x4F, value = 0x40, flags = ["ready"] }
ready = { mask = 0x6F, value = 0x21, flags = ["ready"] }
on = { mask = 0x6F, value = 0x23, flags = ["ready"] }
running = { mask = 0x6F, value = 0x27, flags = ["ready", "enabled"] }
stopping = { mask = 0x6F, value = 0x07, flags = ["ready", "enabled", "quick_stop"] }
reaction = { mask = 0x4F, value = 0x0F, flags = ["enabled", "fault", "quick_stop"] }
fault = { mask = 0x4F, value = 0x08, flags = ["fault"] }

[status]
homed = { word = "io", bit = 3, active = "low" }
homing = { word = "io", mask = 0x0700, value = 0x0500 }
brake = { discrete = 12 }
watchdog = { discrete = 14, active = "low" }
standstill = { coil = 40 }

[modes]
off = 0
force = -3
position = 8
homing = { value = 6, control = 0x10 }

[errors]
watchdog = { code = 0x8130, text = "life guard" }
"""
UGLY = ServoProfile.model_validate(tomllib.loads(UGLY_TOML))
"""One with all that a bought drive may have: see what each entry says."""

COILS_TOML = """
name = "coils"
functions = { exchange = "together", read = 4, gap = 0, coils = 5 }

[feedback]
position = { address = 10, type = "i32", scale = -1e-6 }
velocity = { address = 14, table = "holding", type = "i32", scale = -1e-6 }

[command]
mode = { address = 52 }
position = { address = 50, type = "i32", scale = -1e-6 }

[control]
enable = { coil = 0 }
quick_stop = { coil = 1, active = "low" }
clear = { coil = 7 }

[status]
enabled = { discrete = 3 }
ready = { discrete = 4, active = "low" }
fault = { discrete = 4 }
homed = { discrete = 9 }
homing = { discrete = 200 }

[modes]
off = 0
position = 1
homing = 2
"""
COILS = ServoProfile.model_validate(tomllib.loads(COILS_TOML))
"""One that is switched by coils and says its state by discrete inputs, without a word of control or status."""

POINTS = profile(
    inputs={"chain": {"discrete": 12}, "sto": {"bit": 14, "active": "low"}},
    outputs={"lamp": {"coil": 40}, "brake": {"bit": 9}},
)
"""One with digital inputs and outputs: bits of its words, a coil, a discrete input."""

SHIPPED = {name: load_profile(name, ServoProfile) for name in ("lexium-32", "oriental-az", "delta-asda-a2")}
"""Those of drives that are bought, by name."""
