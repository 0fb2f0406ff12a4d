"""The reference pages have every key of the schema and every command, and are as the program is now."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from pydantic import BaseModel
from reference import PAGES, every_command, key_of, part_models, updated

from actuators import cell_driver_names, drive_names, find_cell_driver, find_driver
from dynamics import load_mechanism
from dynamics.mechanism_file import OneLegMechanismTable
from dynamics.serial import arm_names, load_arm
from kinematics import TrajectorySpec, Tuning, load_tuning, tuning_names
from rig.config import RigConfig, load_config, parse_config, shipped_configs

CONFIGURATION, TRAJECTORY, COMMANDS, ARMS, CUEING, _, PROFILES = (page.read_text(encoding="utf-8") for page in PAGES)
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)


_QUANTITY = re.compile(r"length|force|time|speed|frequency|\bmass|stiffness|damping|angle|acceleration|inertia")


def listed(text: str) -> dict[str, set[str]]:
    """The keys in a page's tables, by the words of the heading above each."""
    parts = re.split(r"^(#{2,3} .*)$", text, flags=re.MULTILINE)
    tables: dict[str, set[str]] = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        tables.setdefault(heading.strip("# ").replace("`", ""), set()).update(row[0] for row in ROW.findall(body))
    return tables


def keys(data: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a file's data with the table that it is in; of several tables of one name each."""
    for key, value in data.items():
        yield place, key
        inner = f"{place}.{key}" if place else key
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, Mapping) and key != "registers":
                yield from keys(each, inner)


def table_of(place: str) -> str:
    """The table of the reference that a place in a configuration has."""
    place = place.replace("drives.legs.settings", "drives")
    return re.sub(r"^(io\.(?:in|out)puts)\.\w+$", r"\1.NAME", place)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_as_the_program_is(page: Path) -> None:
    """Else `make reference` writes it anew."""
    text = page.read_text(encoding="utf-8")
    assert updated(text) == text


def test_every_key_of_every_configuration_is_in_the_reference() -> None:
    """What configurations hold once they are read, defaults included, whoever their drivers are."""
    tables = listed(CONFIGURATION)
    known = {name.split(" with ")[0].strip("[]"): set[str]() for name in tables}
    for name, own in tables.items():
        for place in name.split(" with ")[0].split(" and "):
            known.setdefault(place.strip("[]"), set()).update(own)
    known[""] = known.pop("At the top of the file") | set(RigConfig.model_fields)
    read = [load_config(name).resolved() for name in shipped_configs()]
    told = {"virtual": {"faults": [{"fault": "drop_all"}], "plant": {"payload": {"mass": 1.0}}}}
    read.append(load_config().changed(told).resolved())
    missing = {(place, key) for config in read for place, key in keys(config) if key not in known[table_of(place)]}
    assert missing == set()


def test_every_key_of_the_shipped_arms_is_in_the_reference() -> None:
    tables = {name.split(" of ")[0].strip("[]"): own for name, own in listed(ARMS).items()}
    tables[""] = tables.pop("At the top")
    read = [tomllib.loads(load_arm(name).source) for name in arm_names()]
    used = {(place, key) for data in read for place, key in keys(data) if place}
    assert {(place, key) for place, key in used if key not in tables[place] and f"{place}.{key}" not in tables} == set()
    assert {key for data in read for key in data} - {"joints", "coupling", "tip"} <= tables[""]


def test_every_key_of_a_tuning_is_in_the_reference() -> None:
    tables = {name.strip("[]"): own for name, own in listed(CUEING).items()}
    tables[""] = tables.pop("At the top of the file")
    for name in tuning_names():
        assert {
            (place, key) for place, key in keys(load_tuning(name).model_dump()) if key not in Tuning.model_fields
        } <= {(place, key) for place, own in tables.items() for key in own}


def test_every_key_that_a_driver_adds_is_in_the_reference() -> None:
    tables = listed(CONFIGURATION)
    for name in drive_names():
        driver = find_driver(name)
        assert tables[f"[drives] with the driver {name}"] == set(driver.settings.model_fields)
        assert tables[f"[[drives.legs]] with the driver {name}"] == set(driver.address.model_fields)
    for name in cell_driver_names():
        found = [
            own for heading, own in tables.items() if heading.endswith(f" with the driver {name}") and "cell" in heading
        ]
        cells = find_cell_driver(name)
        assert all(own == set(cells.address.model_fields) for own in found[:1])
        assert found[-1] == set(cells.cell_address.model_fields)


def test_every_key_of_a_mechanism_is_in_the_reference() -> None:
    tables = listed(CONFIGURATION.partition("## The mechanism")[2])
    shipped = Path(load_mechanism.__code__.co_filename).parent / "mechanisms" / "lab-hexapod.toml"
    data = tomllib.loads(shipped.read_text(encoding="utf-8"))
    missing = {(place, key) for place, key in keys(data) if place and key not in tables[f"[{place}]"]}
    assert missing == set()
    assert tables["At the top of the file"] | {"base", "platform", "legs"} == set(OneLegMechanismTable.model_fields)


def test_every_key_of_a_trajectory_file_is_in_its_page() -> None:
    tables = listed(TRAJECTORY)
    assert tables["Keys at the top of the file"] | {"validation", "parts"} == set(TrajectorySpec.model_fields)
    assert set(part_models()) == set(tables) & set(part_models())
    for kind, model in part_models().items():
        within = {name for terms in _terms(model) for name in terms.model_fields}
        assert tables[kind] == (set(model.model_fields) - {"type"}) | within, kind


def _terms(model: type[BaseModel]) -> list[type[BaseModel]]:
    if "terms" not in model.model_fields:
        return []
    (inner,) = model.model_fields["terms"].annotation.__args__  # type: ignore[union-attr]
    return key_of(inner, []).variants


def test_every_key_of_the_shipped_profiles_is_in_the_reference() -> None:
    """Those of a table by its heading, those of registers, signals and their like in the tables behind."""
    tables = listed(PROFILES)
    forms = {key for name, own in tables.items() if name.startswith("A ") for key in own}
    by_name = {name.strip("[]").removesuffix(".NAME"): own for name, own in tables.items() if ".NAME" in name}
    known = {name.strip("[]"): own for name, own in tables.items()}
    files = [file for file in resources.files("actuators.profiles").iterdir() if file.name.endswith(".toml")]
    assert len(files) > 5
    for file in files:
        for place, key in keys(tomllib.loads(file.read_text(encoding="utf-8"))):
            table = place.rpartition(".")[0]
            if place in by_name or place in ("feedback.auxiliary", "feedback.words", "inputs", "outputs"):
                continue  # the key is a name
            if not place:
                assert key in known["At the top of the file"] | {name.partition(".")[0] for name in known}, file
            else:
                assert key in (known.get(place) or by_name.get(table) or forms), (file, place, key)


@pytest.mark.parametrize(
    "text", [CONFIGURATION, TRAJECTORY, PROFILES], ids=["configuration", "trajectory file", "profile"]
)
def test_every_key_says_what_it_is(text: str) -> None:
    """A meaning; a unit where it is a quantity; bounds where it is a number of the configuration."""
    rows = ROW.findall(text)
    assert len(rows) > 50
    for key, kind, unit, bounds, _default, meaning in rows:
        assert len(meaning) > 3, key
        if _QUANTITY.search(kind) and '"' not in kind:
            assert unit, (key, kind)
        if text is CONFIGURATION and (unit or "number" in kind) and "table" not in kind:
            assert bounds, (key, kind)


def test_every_command_and_option_is_in_their_page() -> None:
    found = every_command()
    assert len(found) > 30
    for words, command in found.items():
        _before, heading, after = COMMANDS.partition(f"\n### {words}\n")
        assert heading, words
        usage = after.partition("\n### ")[0]
        options = {name for each in command.params for name in (*each.opts, *each.secondary_opts) if name[:1] == "-"}
        assert {name for name in options if name not in usage and name not in ("-h", "--help")} == set(), words


def test_what_the_shipped_configuration_shows_is_the_default() -> None:
    """Its header says so. Keys in its comments are keys of the table that they stand in."""
    path = load_config().path
    text = path.read_text(encoding="utf-8")
    shown = tomllib.loads(text)
    least = {"name": shown["name"], "mechanism": shown["mechanism"], "drives": {"legs": shown["drives"]["legs"]}}
    assert parse_config(tomlkit.dumps(least | {"virtual": {}}), path).resolved() == load_config().resolved()
    tables, place, commented = listed(CONFIGURATION), "", 0
    for line in text.splitlines():
        if found := re.match(r"(?:# )?(\[+[\w.]+\]+)", line):
            place = found[1]
        elif found := re.match(r"# (\w+) = ", line):
            own = {key for name, each in tables.items() if name.split(" with ")[0] == place for key in each}
            assert found[1] in own, line
            commented += 1
    assert commented > 20
