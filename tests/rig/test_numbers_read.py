"""Numbers of commands, of the console and of files: comma or point, no groups of digits, whatever the locale."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from calibration import CalibrationFileError, read_cell_measurements
from kinematics import (
    NumberTextError,
    Quantity,
    TrajectoryError,
    read_list,
    read_number,
    read_numbers,
    read_quantity,
    read_whole,
)
from kinematics.trajectories.files import read_poses
from rig.cli.help import command_group
from rig.commissioning import setting_value
from rig.config import parse_thresholds
from rig.config.sections import Validation
from rig.csvio import read_table
from rig.errors import ConfigError, InputError

GOOD = {
    "3,5": 3.5,
    "3.5": 3.5,
    " 3.5 ": 3.5,
    "\t-3,5": -3.5,
    "+.5": 0.5,
    ",5": 0.5,
    "5,": 5.0,
    "1e9": 1e9,
    "\u22123": -3.0,
}
BAD = ("", " ", "-", "nan", "inf", "-Infinity", "1.000,5", "1,000.5", "1,000,000", "1 000", "1'000", "1_000", "0x10",
       "1e999", "3.5.", "\u0663", "e5", "3;5")  # fmt: skip
LENGTHS = {"2 in": 0.0508, "0.05 m": 0.05, "0,05 m": 0.05, "3.5mm": 0.0035, "3,5 mm": 0.0035, "3,5": 3.5}


@pytest.mark.parametrize(("text", "number"), GOOD.items())
def test_a_number_is_read(text: str, number: float) -> None:
    assert read_number(text) == number and read_numbers([text, "1"]) == [number, 1.0]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_number_is_refused(text: str) -> None:
    for read in (
        read_number,
        read_whole,
        lambda text: read_numbers(["1", text]),
        lambda text: read_quantity(text, ("m",)),
    ):
        with pytest.raises(NumberTextError):
            read(text)


@pytest.mark.parametrize(("text", "length"), LENGTHS.items())
def test_a_quantity_is_read_with_its_unit(text: str, length: float) -> None:
    assert read_quantity(text, ("m",)) == pytest.approx(length, rel=1e-15)
    assert Quantity("length", "m").read(text) == pytest.approx(length, rel=1e-15)


def test_one_per_second_is_no_part_of_a_number() -> None:
    with pytest.raises(ValueError, match="not a number"):
        Quantity("frequency", "Hz").parse("51/s")
    assert Quantity("frequency", "Hz").parse("5 1/s") == 5.0


@given(st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_every_number_that_is_written_is_read_back(number: float, comma: bool) -> None:
    text = repr(number).replace(".", ",") if comma else repr(number)
    assert read_number(text) == number and read_numbers([text]) == [number]


@given(st.lists(st.text("0123456789.,-+e_ n", max_size=8), max_size=4))
def test_a_table_s_cells_are_read_as_each_is(texts: list[str]) -> None:
    def result(read: Callable[[], list[float]]) -> list[float] | None:
        try:
            return read()
        except NumberTextError:
            return None

    assert result(lambda: read_numbers(texts)) == result(lambda: [read_number(text) for text in texts])


def test_in_a_list_a_comma_separates() -> None:
    assert read_list("0,2.5, 5") == [0.0, 2.5, 5.0]
    with pytest.raises(ValueError, match="has 4 numbers, not 3: commas separate them, decimals have a point"):
        read_list("1,5,0,0", 3)


def _told(text: str) -> str:
    """What a command with one option of each kind makes of a text, or says."""
    app = command_group()

    @app.command()
    def one(
        factor: Annotated[float, typer.Option(min=0.0, max=100.0)] = 1.0,
        length: Annotated[float, typer.Option(metavar="M")] = 1.0,
        count: Annotated[int, typer.Option(min=1)] = 1,
    ) -> None:
        typer.echo(f"{factor!r} {length!r} {count!r}")

    @app.command()
    def other() -> None: ...

    found = []
    for option in ("--factor", "--length", "--count"):
        result = CliRunner().invoke(app, ["one", f"{option}={text}"])
        found.append(result.output.strip() if result.exit_code == 0 else "refused")
    return " | ".join(found)


def test_options_are_read_alike() -> None:
    assert _told("3,5") == _told("3.5") == _told(" 3.5 ") == "3.5 1.0 1 | 1.0 3.5 1 | refused"
    assert _told("0.05 m") == "refused | 1.0 0.05 1 | refused"
    assert _told("2 in") == "refused | 1.0 0.0508 1 | refused"
    assert _told("4") == "4.0 1.0 1 | 1.0 4.0 1 | 1.0 1.0 4"
    assert _told("1e9") == "refused | 1.0 1000000000.0 1 | 1.0 1.0 1000000000"
    for text in BAD:
        assert _told(text) == "refused | refused | refused", text


def test_every_number_of_every_command_is_read_by_us() -> None:
    from rig.cli.application import commands
    from rig.cli.console_commands import app

    def parameters(command: object) -> list[object]:
        below = getattr(command, "commands", {}).values()
        return [*getattr(command, "params", []), *(each for one in below for each in parameters(one))]

    found = [*parameters(commands()), *parameters(typer.main.get_command(app))]
    numbers = [
        each for each in found if getattr(getattr(each, "type_descriptor", None), "annotation", None) in (int, float)
    ]
    assert len(numbers) > 40
    assert [each for each in numbers if each.type_descriptor.parameter_info.parser is None] == []  # type: ignore[attr-defined]


ROW = "0,0,0.45,1,0,0,0"


def _poses(path: Path, cell: str) -> float:
    rows = [f"0,{ROW}", f"1,{cell},0,0.45,1,0,0,0"]
    path.write_text("t,x,y,z,qw,qx,qy,qz\n" + "\n".join(rows) + "\n")
    return float(read_poses(path)[1][1, 0])


def _table(path: Path, cell: str) -> float:
    path.write_text(f"t,l1\n0,{cell}\n")
    return float(read_table(path, ("l1",)).values[0, 1])


def _masses(path: Path, cell: str) -> float:
    phases = (("tare_before", "", "0"), ("load", "5", cell), ("tare_after", "", "0"))
    rows = [f"{leg},{mass},{reading},{phase}" for leg in range(1, 7) for phase, mass, reading in phases]
    path.write_text("cell,mass,reading,phase\n" + "\n".join(rows) + "\n")
    return float(read_cell_measurements(path).loads[0].readings[0])


@pytest.mark.parametrize("read", [_poses, _table, _masses])
def test_cells_of_tables_are_read_alike(read: Callable[[Path, str], float], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for cell, number in {"0.35": 0.35, " 0.35 ": 0.35, '"0,35"': 0.35, "3.5e-1": 0.35}.items():
        assert read(path, cell) == pytest.approx(number)
    for cell in ("0,35", "-", "nan", "inf", "1_000", '"1.000,5"', '"1,000.5"', "2 in", "0.05 m", "3.5mm"):
        with pytest.raises((TrajectoryError, InputError, CalibrationFileError)):
            read(path, cell)


def test_a_table_with_commas_for_decimals_says_how_numbers_are_written(tmp_path: Path) -> None:
    path = tmp_path / "german.csv"
    path.write_text("t;l1\n0;3,5\n")
    with pytest.raises(InputError) as told:
        read_table(path, ("l1",))
    assert "separated by semicolons, must be by commas; decimals have a point" in str(told.value)
    path.write_text("t,l1\n0,3,5\n")
    with pytest.raises(InputError) as told:
        read_table(path, ("l1",))
    assert "3 fields, not 2; commas separate columns, decimals have a point" in str(told.value)


def test_thresholds_and_settings_are_read_alike() -> None:
    for text in ("0,5", "0.5", "500 mN", "0,5 N"):
        assert parse_thresholds({"bias": text}, Validation).bias == pytest.approx(0.5)
    for text in ("1.000,5", "1,000.5", "1_000", "nan", "-"):
        with pytest.raises(ConfigError):
            parse_thresholds({"bias": text}, Validation)
    assert (setting_value("0,05"), setting_value("3"), setting_value("0.2"), setting_value("true")) == (
        0.05,
        3,
        0.2,
        True,
    )
    assert (setting_value("1_000"), setting_value("1.000,5"), setting_value("0012")) == ("1_000", "1.000,5", "0012")


@pytest.mark.parametrize("name", ["C", "en_US.UTF-8", "de_DE.UTF-8"])
def test_no_locale_changes_what_is_read(name: str) -> None:
    code = "import locale, sys\ntry: locale.setlocale(locale.LC_ALL, '')\nexcept locale.Error: pass\n" \
           "from kinematics import read_number, read_quantity\n" \
           "print(read_number('3,5'), read_number('3.5'), read_quantity('0,05 m', ('m',)))"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"LC_ALL": name, "LANG": name}, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["3.5", "3.5", "0.05"]
