"""Names that are none are refused, and nothing that somebody else wrote controls a terminal."""

import sys
from pathlib import Path

import numpy as np
import pytest
import tomlkit
from configured import VIRTUAL
from recorded_runs import make_runs

import rig
from dynamics import format_mechanism
from rig.cli import main
from rig.cli.options import print_error, print_styled
from rig.csvio import MOTION, write_table
from rig.errors import ExitCode, InputError
from rig.findings import elided
from rig.names import as_name, check_name, printable, printable_streams, valid_line

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "must not be empty"),
        (" ", "must not be empty"),
        ("x" * 256, "256 characters, must be at most 255"),
        ("a\x1b", r"character 2 is \\x1b"),
        ("a\nb", r"character 2 is \\n"),
        ("\u2066a", r"character 1 is \\u2066"),
        ("a\udcff", r"character 2 is \\udcff"),
    ],
)
def test_what_is_no_name(name: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^client: .*{said}"):
        check_name("client", name)


def test_what_is_one() -> None:
    for name in ("rig gui", "Überprüfung 3", "运动", "👩‍🔬 a", "x" * 255):
        assert check_name("client", name) == name == as_name(name, "motion")
    assert valid_line("") == ""
    assert (
        as_name(HOSTILE, "motion").isprintable() and as_name("\t\n", "") == "??" and as_name("  ", "motion") == "motion"
    )


def test_layout_stays_and_control_goes() -> None:
    assert printable("a\tb\nc\r\nd") == "a\tb\nc\r\nd"
    assert printable("a\rb" + HOSTILE) == r"a\x0db\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
    assert elided("short") == "short" and len(elided("x" * 100_000, 400)) < 450


def test_a_client_without_a_name_is_refused_before_anything_is_started() -> None:
    with pytest.raises(InputError, match="client: must not be empty"):
        rig.open("virtual", client="")


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize("lines", [["runs"], ["runs", "--json"], ["report", "a.mcap"]], ids=" ".join)
def test_a_recording_of_somebody_elses_controls_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], lines: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_runs(tmp_path / "a.mcap", (0.0,), called=HOSTILE, operator=HOSTILE, note=HOSTILE)
    main([*lines, str(tmp_path)] if lines[0] == "runs" else lines)
    printed = capfd.readouterr()
    assert printed.out
    assert not set("\x1b\x07\x9b\u202e") & set(printed.out + printed.err)


def test_what_a_file_is_called_controls_no_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    motion = tmp_path / f"{HOSTILE.replace('/', '')}.toml"
    motion.write_text("frame = 'home'\n[[parts]]\ntype = 'hold'\nduration = 1.0\n")
    assert main(["run", "virtual", str(motion), "--lockstep", "-o", str(tmp_path)]) == ExitCode.INPUT
    assert main(["report", str(tmp_path / f"none{HOSTILE}.mcap")]) != ExitCode.OK
    assert main(["runs", "x" * 90_000]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert not set("\x1b\x07\x9b\u202e") & set(printed.out + printed.err)
    assert "control characters" in printed.err and len(printed.err) < 10_000


def test_a_name_in_a_table_is_shown_as_it_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mechanism = tmp_path / "foreign.toml"
    name = "arm [/red] \x1b[2J\x9b31m\u202e"
    document = tomlkit.parse(format_mechanism(VIRTUAL.machine)).unwrap() | {"name": name}
    mechanism.write_text(tomlkit.dumps(document))
    rest = np.hstack([[0.0], VIRTUAL.machine.geometry.home_pose, np.zeros(12)])
    write_table(tmp_path / "motion.csv", ["t", *MOTION], rest[None])
    code = main(
        ["inverse", str(mechanism), str(tmp_path / "motion.csv"), "--peaks", "-o", str(tmp_path / "forces.csv")]
    )
    printed = capfd.readouterr()
    assert code == ExitCode.OK, printed.err
    assert " ".join(printable(name).split()) in " ".join(printed.out.split())
    assert not set("\x1b\x07\x9b\u202e") & set(printed.out + printed.err)


def test_the_programs_own_colours_stay_and_what_is_in_them_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with printable_streams():
        print_styled(f"a{HOSTILE}", fg="red", control="\r")
        print_error("e" * 9000 + "\nsecond line")
        sys.stderr.writelines(["\x1bl", "\n"])
    printed = capsys.readouterr()
    assert printed.out == "\ra" + printable(HOSTILE) + "\n"
    assert "second line" in printed.err and len(printed.err) < 5000 and "\x1b" not in printed.err
