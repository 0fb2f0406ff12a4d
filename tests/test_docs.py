"""The user guide says what is so: its links and pictures exist, its commands parse, its configuration is valid."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import tomlkit
import typer

from kinematics import parse_specification
from rig.cli.application import commands as tree
from rig.config.rig_config import load_config
from rig.engine import check_buses

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = ROOT / "docs" / "decisions"
FOR_DEVELOPERS = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md", *sorted(DECISIONS.glob("*.md"))]
_LINK = re.compile(r"!?\[[^\]]*\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
_COMMAND = re.compile(r"^ {4,}(rig [^#\n]+)", re.MULTILINE)
_INLINE = re.compile(r"`(rig [^`]+)`")
_TARGET = re.compile(r"(?:^    |`)make ([a-z]+)", re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """Command lines that can be typed as they stand, with their page; in running text only those with arguments."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found += [(page.name, line.strip(" \\")) for line in _COMMAND.findall(text)]
        found += [(page.name, line) for line in _INLINE.findall(text)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    assert targets or page.parent == DECISIONS
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_heading_finds_it(page: Path) -> None:
    """By the anchor that a heading gets where the pages are shown: its words, small, joined by hyphens."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        there = page.parent / target if target else page
        headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, f"{target}#{anchor}"


@pytest.mark.parametrize("page", FOR_DEVELOPERS, ids=lambda page: page.name)
def test_every_file_that_developers_are_told_of_exists(page: Path) -> None:
    named = re.findall(r"`((?:\w+/)+[\w.-]*)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("package", ["rig", "gui"])
def test_every_package_is_in_the_architecture(package: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (ROOT / package).glob("*/__init__.py")]
    assert [room for room in rooms if f"`{room}`" not in text] == []


def test_every_decision_is_in_their_list() -> None:
    listed = _LINK.findall((DECISIONS / "README.md").read_text(encoding="utf-8"))
    records = sorted(path.name for path in DECISIONS.glob("*.md") if path.name != "README.md")
    assert listed == records
    assert [int(name[:3]) for name in records] == list(range(1, len(records) + 1))


def test_every_picture_is_shown() -> None:
    shown = {
        (page.parent / target).resolve() for page in PAGES for target in _LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert set((ROOT / "docs" / "images").iterdir()) <= shown


@pytest.mark.parametrize(("page", "line"), commands())
def test_every_command_exists(page: str, line: str) -> None:
    """As far as it goes: the command is found, and takes the options and arguments that are given."""
    command = tree()
    words = shlex.split(line)[1:]
    with typer.Context(command, info_name="rig") as context:
        while hasattr(command, "get_command") and words and not words[0].startswith("-"):
            command, words = command.get_command(context, words[0]), words[1:]
            assert command is not None, f"{page}: {line}"
        given = {word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1}
        known = {name for parameter in command.get_params(context) for name in parameter.opts}
        assert given <= known, f"{page}: {line}"


def test_every_target_exists() -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {target for page in PAGES for target in _TARGET.findall(page.read_text(encoding="utf-8"))}
    assert "gui" in named
    assert named <= known


def test_the_table_of_faults_is_whole() -> None:
    """One table; its numbers rise, each missing one is explained, and each that the text names is there."""
    text = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    table = text[text.index("| # | fault") :].partition("\n\n")[0]
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert len(numbers) == len(re.findall(r"^\| \d+ \|", text, re.MULTILINE)) > 50
    assert numbers == sorted(set(numbers))
    (unused,) = re.findall(r"Not used are ([^|]*?)\.\n", text)
    free = {
        number for first, last in re.findall(r"(\d+) to (\d+)", unused) for number in range(int(first), int(last) + 1)
    }
    assert free == set(range(1, numbers[-1] + 1)) - set(numbers)
    rows = re.findall(r"\bas (\d+)\b|\brows? (\d+)(?: and (\d+))?", text)
    named = {int(number) for found in rows for number in found if number}
    assert len(named) > 5
    assert named <= set(numbers)


def test_the_configuration_shown_is_a_valid_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "your-own-rig.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    block, motion, gains, kinds, lines, motors, nodes, numbers, _, modules, steps, shapes = blocks
    path = tmp_path / "my-rig.toml"
    path.write_text(block, encoding="utf-8")
    config = load_config(path)
    assert config.virtual is None
    assert parse_specification(motion).validation.named == {"residual_rms": 0.8, "lag": 0.001}
    assert config.drives.legs[5].serial == "A1046"
    assert config.changed(tomllib.loads(gains)).task_gains.damping[4, 0] == 15.0
    legs = [*tomllib.loads(lines)["legs"], *tomllib.loads(block)["drives"]["legs"][4:]]
    on_lines = config.changed({"rate": 80.0, "drives": {"legs": legs}})
    assert [leg.place for leg in on_lines.drives.legs[1:3]] == [legs[1]["device"]] * 2
    assert check_buses(on_lines).passed
    own = [*tomllib.loads(kinds)["drives"]["legs"], *tomllib.loads(block)["drives"]["legs"][2:]]
    mixed = config.changed({"rate": 100.0, "drives": {"legs": own}})
    assert mixed.own_loops == (False, True, False, False, False, False)
    assert mixed.drives.settings_of(1)["acceleration"] == 5.0
    cells = tomllib.loads(modules)["load_cells"]
    places = [cells["devices"][0] | {"device": f"/dev/cell-{leg}"} for leg in range(1, 7)]
    read = config.changed({"load_cells": cells | {"amplifier": None, "devices": places}})
    assert read.load_cells.places["devices[6]"].unit == 1
    assert config.changed(tomllib.loads(steps)).load_cells.resolution == (1.0,) * 6
    picture = tomllib.loads(shapes)["picture"]
    for body in ("platform", "base"):
        (tmp_path / picture[body]).touch()
    assert config.changed({"picture": picture}).picture.unit == "mm"
    drives = tomllib.loads(motors)["drives"]
    drives["legs"] = [drives["legs"][0] | {"device": f"/dev/motor-{leg}", "serial": str(leg)} for leg in range(1, 7)]
    written = {name: value for name, value in tomllib.loads(block).items() if name != "drives"} | {"drives": drives}
    path.write_text(tomlkit.dumps(written), encoding="utf-8")
    motors_at = load_config(path).changed
    of_can = tomllib.loads(nodes)["drives"]
    of_can["legs"] = [of_can["legs"][0] | {"unit": node} for node in range(1, 7)]
    path.write_text(tomlkit.dumps(written | {"drives": of_can, "rate": 200.0, "mode": "position"}), encoding="utf-8")
    (plan,) = check_buses(load_config(path)).plans
    assert 2.3e-3 < plan.time < 2.45e-3
    jrks = tomllib.loads(numbers)["drives"]
    jrks["legs"] = [one | {"device": f"/dev/line-{line}"} for line in range(3) for one in jrks["legs"]]
    for rate, passed in ((50.0, True), (60.0, False)):
        path.write_text(tomlkit.dumps(written | {"drives": jrks, "rate": rate, "mode": "position"}), encoding="utf-8")
        assert check_buses(load_config(path)).passed is passed
    assert motors_at({}).drives.driver == "orca"
    slower = {"turnaround": 2e-3, "watchdog": 0.2}
    for rate, baud, settings, passed in (
        (700.0, 1_000_000, {}, True),
        (800.0, 1_000_000, {}, False),
        (50.0, 115_200, slower, True),
        (60.0, 115_200, slower, False),
        (50.0, 19_200, slower, False),
    ):
        at_baud = [leg | {"baud": baud} for leg in drives["legs"]]
        assert check_buses(motors_at({"rate": rate, "drives": {**settings, "legs": at_baud}})).passed is passed
