"""`rig paper`, as a user meets it."""

import base64
import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from exploration import LONG
from reproduced import study

from rig.cli import main
from rig.errors import ExitCode
from rig.papers import Study
from rig.papers.study import Report

STUDIES = ("dasgupta-1998", "pedrammehr-2012", "turney-1980", "lee-1982", "iterative-newton-euler")
OUTCOME = (
    r"(\d+) claims: (\d+) reproduced, (\d+) erratum, (\d+) contradicted, (\d+) not decidable; (\d+) not counted; "
    r"(\d+) errata listed"
)
EMBEDDED = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


@pytest.fixture(scope="module", autouse=True)
def reproduced_once() -> Iterator[None]:
    """The command prints and writes the studies as they are, without computing each of them again."""

    def given(names: Sequence[str], report: Report) -> tuple[Study, ...]:
        for place, name in enumerate(names):
            report(name, place / len(names))
        return tuple(map(study, names))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.papers.reproduce", given)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, reproduced_once: None) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("papers") / "not" / "there"
    with redirect_stdout(StringIO()) as out:
        assert main(["paper", "all", "-o", str(folder)]) == 0
    return folder, out.getvalue()


@pytest.fixture(scope="module")
def everything(run: tuple[Path, str]) -> Path:
    return run[0]


@pytest.fixture(scope="module")
def printed(run: tuple[Path, str]) -> str:
    return run[1]


def test_one_page_and_its_numbers(everything: Path) -> None:
    assert sorted(path.name for path in everything.iterdir()) == sorted([*STUDIES, "papers.html"])
    text = (everything / "papers.html").read_text(encoding="utf-8")
    named = re.findall(r"<code>([^<]+\.csv)</code>", text)
    assert sorted(named) == sorted(str(path.relative_to(everything)) for path in everything.glob("*/*.csv"))
    for name in STUDIES:
        assert f'id="{name}"' in text
        assert (everything / name / "claims.csv").exists()


def test_the_counts_by_class_head_command_and_page(everything: Path, printed: str) -> None:
    total, *found = (list(map(int, numbers)) for numbers in re.findall(rf"^ *{OUTCOME}$", printed, re.MULTILINE))
    assert len(found) == len(STUDIES)
    assert total == [sum(column) for column in zip(*found, strict=True)]
    head = printed.splitlines()[0]
    assert re.fullmatch(OUTCOME, head)
    page = (everything / "papers.html").read_text(encoding="utf-8")
    assert f"<p><b>{head}.</b></p>" in page[: page.index("<main>")]


def test_the_page_needs_nothing_else(everything: Path) -> None:
    text = (everything / "papers.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "http:" not in text
    assert "https:" not in text
    assert re.findall(r'<script|<link|@import|url\(|src="(?!data:)', text) == []
    pictures = EMBEDDED.findall(text)
    assert len(pictures) == 8 + 1 + 8 + 1 + 1 + 2
    for picture in pictures:
        assert ElementTree.fromstring(base64.b64decode(picture)).tag.endswith("svg")
    drawn = sorted(path.with_suffix("") for path in everything.glob("*/*.svg"))
    assert len(drawn) == len(pictures)
    assert drawn == sorted(path.with_suffix("") for path in everything.glob("*/*.pdf"))
    printed = [path.with_suffix(".pdf").read_bytes() for path in drawn]
    assert all(content.startswith(b"%PDF") for content in printed)
    assert len(set(printed)) == (len(drawn) if LONG else len(STUDIES))  # see `reproduced`


def test_tables_read_back(everything: Path) -> None:
    for path in everything.glob("*/*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert len(set(header)) == len(header)
        assert rows
        assert {len(row) for row in rows} == {len(header)}
    with (everything / "dasgupta-1998" / "fig-4.csv").open(newline="", encoding="utf-8") as file:
        times = [float(row["t"]) for row in csv.DictReader(file)]
    assert times == pytest.approx([0.1 * k for k in range(61)])


def test_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "pedrammehr-2012", "-o", str(tmp_path), "--json"]) == 0
    result = json.loads(capfd.readouterr().out)
    assert list(result["claims"]) == ["pedrammehr-2012"]
    spin = next(claim for claim in result["claims"]["pedrammehr-2012"] if claim["key"] == "path-1-spin")
    assert (spin["computed"], spin["verdict"], spin["origin"]) == ([4], "not counted", "reproduction")
    assert result["counts"]["contradicted"] == 2
    velocities = next(claim for claim in result["claims"]["pedrammehr-2012"] if claim["key"] == "path-1-velocities")
    assert velocities["ranges"][1]["computed"][1] == [1, 2, 6]
    assert {"place", "printed", "meant", "shown"} == set(result["errata"]["pedrammehr-2012"][0])
    assert result["paths"]["page"] == str(tmp_path / "pedrammehr-2012.html")
    assert all(Path(path).exists() for path in result["paths"]["tables"])


def test_the_text_of_one_study(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "pedrammehr-2012", "-o", str(tmp_path)]) == 0
    out = capfd.readouterr().out
    assert "not counted   Path 1: leg 4 has no axial spin at all, the others have" in out
    assert "expected 5.62 % (±0.005 %); computed 5.618 %" in out
    assert "erratum       Eqs. 42 and 43 are eq. 40, written compactly" in out
    assert "mended: the terms of eqs. 36 and 39 that are lost on the way: " in out
    assert "eq. 43, one term: m_d L_d×[ω_l×(ω_l×L_u)]; meant: L_d at its end (compact-form)" in out
    assert "not printed: The fixed axes u are not printed" in out
    assert "8 figures, each as SVG and PDF" in out
    assert f"page: {tmp_path / 'pedrammehr-2012.html'}" in out


def test_an_unknown_study(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "euler-1776", "-o", str(tmp_path / "out")]) == ExitCode.INPUT
    printed = capfd.readouterr()
    words = " ".join(printed.err.replace("│", " ").split())
    assert "'euler-1776' must be one of dasgupta-1998, pedrammehr-2012" in words
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("below", ["", "deep/er"])
def test_a_file_in_the_way(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    monkeypatch.setattr("rig.papers.reproduce", lambda *_: pytest.fail("worked before it looked"))
    (tmp_path / "out").write_text("mine")
    assert main(["paper", "pedrammehr-2012", "-o", str(tmp_path / "out" / below)]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert f"{tmp_path / 'out'} is a file" in printed.err
    assert printed.out == ""
    assert (tmp_path / "out").read_text() == "mine"
