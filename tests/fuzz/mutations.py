"""Structure-aware mutations of TOML and CSV files: one seed gives one mutant, always the same."""

import copy
import datetime
import json
import math
import random
import re
import tomllib
from typing import Any

NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 100, 10**6, -(10**6), 2**31, -(2**31), 2**63 - 1, 2**63, 10**30, 10**400),
    *(0.0, -0.0, 0.5, -0.5, 1e-3, 1e-9, -1e-9, 5e-324, 1e-300, 1e9, 1e17, 1e99, -1e99, 1e299, 1e308, -1e308),
    *(math.inf, -math.inf, math.nan),
)
TEXTS = (
    *("", " ", "x", "lab-hexapod", "generic-servo", "virtual", "demo", "../../../etc/passwd", "/dev/zero", "/dev/null"),
    *(
        "\0",
        "a\0b.toml",
        "naïve ünïcode ☃.toml",
        "\u202e",
        "😀" * 50,
        "x" * 5000,
        "a.toml",
        "/" * 300,
        ".",
        "%s{}",
        "\n",
    ),
    *(
        "5 mm",
        "-5 mm",
        "1e308 m",
        "1e400 m",
        "nan m",
        "inf N",
        "3 kg",
        "3 furlong",
        "9" * 400 + " m",
        "1 m^9999",
        "5 °",
    ),
    *("500 Hz", "1 ms", "0 s", "-1 s", "1e9 s", "30 N", "1 m/s", "true", "1__0 m", "0x10 m", "((((((m", "1 m**m"),
)
OTHERS: tuple[Any, ...] = (True, False, [], {}, [[]], [{}], datetime.date(2026, 2, 28), datetime.time(1, 2, 3))

_MOST_ITEMS = 5000  # of one list, its own parts counted: the mutator is not what is to run out of memory
_DEEPEST = 150  # of what is mutated once more, for the same reason
_TOKENS = ("[", "]", "{", "}", '"', "'''", '"""', "=", ",", ".", "#", "\n", "\r\n", "\\", "\\u0000", "[[a]]", "\ufeff")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d_.]*(?:[eE][-+]?\d+)?(?![\w.])")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")

Path = tuple[Any, ...]


def dump_toml(data: dict[str, Any]) -> str:
    """Data as TOML, one line a top-level key."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in data.items())


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(_character(c) for c in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    return str(value.isoformat())


def _character(c: str) -> str:
    return f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c


def _paths(value: Any, path: Path = ()) -> list[Path]:
    """Every place in nested tables and lists, the root first."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _paths(item, (*path, key))
    return found


class Mutator:
    """Mutants of some TOML texts.

    Args:
        seeds: valid files, of which the mutants are made.
    """

    def __init__(self, seeds: list[str]) -> None:
        self.texts = seeds
        self._data = [tomllib.loads(text) for text in seeds]

    def mutant(self, seed: int) -> bytes:
        """The file of that number."""
        chance = random.Random(seed)
        which = chance.randrange(len(self.texts))
        if chance.random() < 0.75:
            data = copy.deepcopy(self._data[which])
            for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
                self._mutate(data, chance)
            text = dump_toml(data)
        else:
            text = self.texts[which]
        if text == self.texts[which] or chance.random() < 0.15:
            return mutate_text(text, chance)
        return text.encode()

    def _mutate(self, data: dict[str, Any], chance: random.Random) -> None:
        places = _paths(data)[1:]
        if not places or max(map(len, places)) > _DEEPEST:
            return
        # a kind of place first, then one of that kind: a table of registers must not hide the rest
        depth = chance.choice(sorted({len(place) for place in places}))
        place = chance.choice([place for place in places if len(place) == depth])
        parent: Any = data
        for key in place[:-1]:
            parent = parent[key]
        key = place[-1]
        match chance.randrange(10):
            case 0:
                del parent[key]
            case 1:
                if isinstance(parent, dict):
                    parent[chance.choice((str(key) + "s", str(key).upper(), *TEXTS))] = parent.pop(key)
                else:
                    parent.insert(0, copy.deepcopy(parent[key]))
            case 2:
                other: Any = data
                for part in chance.choice(places):
                    if not isinstance(other, (dict, list)) or (isinstance(other, list) and part >= len(other)):
                        break
                    other = other[part]
                parent[key] = copy.deepcopy(other)
            case 3:
                parent[key] = copy.deepcopy(chance.choice((*TEXTS, *OTHERS)))
            case 4:
                parent[key] = nested(chance)
            case 5:
                old, times = parent[key], chance.choice((2, 7, 100, 2000))
                parent[key] = [copy.deepcopy(old) for _ in range(min(times, 1 + _MOST_ITEMS // len(_paths(old))))]
            case _:
                parent[key] = self._number(parent[key], chance)

    @staticmethod
    def _number(old: Any, chance: random.Random) -> Any:
        if isinstance(old, (int, float)) and not isinstance(old, bool) and abs(old) < 1e15 and chance.random() < 0.5:
            factor = chance.choice((-1.0, 0.5, 0.9, 1.1, 2.0, 10.0, 1e3, 1e-3, 1e-6, 1e6))
            return int(old * factor) if isinstance(old, int) and chance.random() < 0.7 else old * factor
        if isinstance(old, str) and (match := _NUMBER.search(old)):
            return old.replace(match[0], str(chance.choice(NUMBERS)), 1)
        return chance.choice(NUMBERS)


def nested(chance: random.Random) -> Any:
    """Lists or tables within each other, up to a thousand deep."""
    value: Any = chance.choice(NUMBERS)
    for _ in range(chance.choice((1, 3, 20, 90))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def mutate_text(text: str, chance: random.Random) -> bytes:
    """A text cut, stirred, or with something in it that does not belong there."""
    at = chance.randrange(len(text) + 1)
    lines = text.splitlines(keepends=True) or [""]
    line = chance.randrange(len(lines))
    raw = text.encode()
    match chance.randrange(10):
        case 0:
            return raw[: chance.randrange(len(raw) + 1)]
        case 1:
            flipped = bytearray(raw or b"\0")
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            return bytes(flipped)
        case 2:
            return (text[:at] + chance.choice(_TOKENS) + text[at:]).encode()
        case 3:
            return "".join(
                [*lines[:line], *lines[line : line + 1] * chance.choice((0, 2, 500)), *lines[line + 1 :]]
            ).encode()
        case 4:
            depth = chance.choice((10, 100, 1000, 50_000))
            opening, closing = chance.choice((("[", "]"), ("{a = ", "}")))
            return (text[:at] + "\nz = " + opening * depth + closing * depth + "\n" + text[at:]).encode()
        case 5:
            return (text + "\n" + "a." * chance.choice((5, 50, 20_000)) + "a = 1\n").encode()
        case 6:
            numbers = list(_NUMBER.finditer(text))
            if not numbers:
                return raw
            match = chance.choice(numbers)
            token = chance.choice((*map(str, NUMBERS), "9" * 5000, "0x" + "f" * 3000, "1" + "_1" * 3000, "1e99999"))
            return (text[: match.start()] + token + text[match.end() :]).encode()
        case 7:
            chance.shuffle(lines)
            return "".join(lines).encode()
        case 8:
            return b"\xef\xbb\xbf" + text.replace("\n", chance.choice(("\r\n", "\r", "\n\n"))).encode()
        case _:
            return raw[:at] + chance.choice((b"\0", b"\xff", b"\xed\xa0\x80", b"\x1b[2J", b"\xc3")) + raw[at:]
