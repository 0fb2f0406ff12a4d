"""Long files of poses: every number as it is written, every fault with its line."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kinematics.errors import TrajectoryError
from kinematics.trajectories import read_poses

ROWS = 10_000
HEADER = "t,x,y,z,qw,qx,qy,qz"


@pytest.fixture
def numbers() -> np.ndarray:
    """Times and poses, (n,8)."""
    t = np.cumsum(np.resize([1e-3, 0.25, 1.1e-6], ROWS))
    angle = 0.3 * np.sin(t)
    zero = np.zeros(ROWS)
    return np.column_stack([t, 0.1 * np.sin(t), -1e-300 * t, 0.45 + zero, np.cos(angle), np.sin(angle), zero, -zero])


def rows_of(numbers: np.ndarray) -> list[str]:
    return [",".join(map(repr, row)) for row in numbers.tolist()]


def faults_of(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(TrajectoryError) as caught:
        read_poses(path)
    first, *faults = str(caught.value).splitlines()
    assert first == f"{path}: not a usable file of poses:"
    return [fault.strip() for fault in faults]


def test_oddly_written_numbers_are_read_to_the_last_bit(tmp_path: Path, numbers: np.ndarray) -> None:
    names = ["fx", "qz", "x", "t", "vx", "qy", "qw", "z", "y", "qx"]
    ways = ("{!r}", " {!r}\t", '"{!r}"', "{:+.17e}", '" {:.17g} "', '"\n{!r}"')
    lines = ["", ",".join(f" {name} " for name in names)]
    columns = HEADER.split(",")
    for index, row in enumerate(numbers.tolist()):
        cells = dict(zip(columns, (ways[(index + at) % len(ways)].format(n) for at, n in enumerate(row)), strict=True))
        lines.append(",".join(cells.get(name, ("", "nan", "text")[index % 3]) for name in names))
        if index % 97 == 0:
            lines += ["", "  ", ",,,", '"",  ,'][index % 4 :]
    path = tmp_path / "odd.csv"
    path.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    t, poses = read_poses(path)
    assert t.tobytes() == numbers[:, 0].tobytes() and poses.tobytes() == numbers[:, 1:].tobytes()


def test_a_long_file_takes_little_more_memory_than_its_numbers(tmp_path: Path, numbers: np.ndarray) -> None:
    path = tmp_path / "long.csv"
    path.write_text("\n".join([HEADER, *rows_of(numbers)]))
    tracemalloc.start()
    try:
        read_poses(path)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * numbers.nbytes


def test_faults_anywhere_in_a_long_file_come_with_their_lines(tmp_path: Path, numbers: np.ndarray) -> None:
    rows = rows_of(numbers)
    rows[1] = f'"\n{rows[1].replace(",", chr(34) + ",", 1)}'  # takes two lines
    rows[99] += "\n  \n,,"  # is followed by two blank ones
    rows[1500] = "t,x"
    rows[1501] += ",1"
    rows[3000] = "up,inf, ,0,1e999,0,0,0"
    rows[5000] = rows[4999]
    rows[6000] = "-7,0,0,0,1,0,0,0"
    rows[8000] = f"{float(numbers[8000, 0])!r},0,0,0,1.000002,0,0,0"
    rows[9999] = "0,0,0,0,2,0,0,0"
    line = 2 + 1 + 2  # of row 0, and the further lines before each of the rows below
    assert faults_of(tmp_path / "bad.csv", "\n".join([HEADER, *rows])) == [
        f"line {line + 1500}: 2 values, must be 8",
        f"line {line + 1501}: 9 values, must be 8; commas separate columns, decimals have a point",
        f"line {line + 3000}: t is 'up', must be a finite number",
        f"line {line + 3000}: x is 'inf', must be a finite number",
        f"line {line + 3000}: y is '', must be a finite number",
        f"line {line + 3000}: qw is '1e999', must be a finite number",
        f"line {line + 5000}: t is {numbers[4999, 0]:g} s after {numbers[4999, 0]:g} s, must be at least 1e-06 s later",
        f"line {line + 6000}: t is -7 s after {numbers[5999, 0]:g} s, must be at least 1e-06 s later",
        f"line {line + 8000}: quaternion norm is 1.000002, must be 1 within 1e-06",
        f"line {line + 9999}: t is 0 s after {numbers[9998, 0]:g} s, must be at least 1e-06 s later",
        f"line {line + 9999}: quaternion norm is 2, must be 1 within 1e-06",
    ]


def test_a_time_that_stands_still_is_found_at_every_row(tmp_path: Path) -> None:
    faults = faults_of(tmp_path / "still.csv", "\r\n".join([HEADER, *["3,0,0,0,1,0,0,0"] * ROWS]))
    assert faults[:20] == [f"line {n}: t is 3 s after 3 s, must be at least 1e-06 s later" for n in range(3, 23)]
    assert faults[20:] == [f"and {ROWS - 1 - 20} more"]


def test_the_time_before_is_that_of_the_last_row_that_can_be_read(tmp_path: Path, numbers: np.ndarray) -> None:
    rows = rows_of(numbers)
    rows[1000:4000] = ["nan,0,0,0,1,0,0,0"] * 3000
    rows[4000] = rows[999]
    faults = faults_of(tmp_path / "gap.csv", "\n".join([HEADER, *rows]))
    assert faults[0] == "line 1002: t is 'nan', must be a finite number" and faults[-1] == "and 2981 more"
    rows[1000:4000] = [""] * 3000
    (fault,) = faults_of(tmp_path / "gap.csv", "\n".join([HEADER, *rows]))
    assert fault.startswith(f"line 4002: t is {numbers[999, 0]:g} s after {numbers[999, 0]:g} s")


def test_times_as_far_apart_as_numbers_go_are_in_order(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text(f"{HEADER}\n-1e308,0,0,0,1,0,0,0\n1e308,0,0,0,1,0,0,0\n")
    np.testing.assert_array_equal(read_poses(path)[0], [-1e308, 1e308])
    (fault,) = faults_of(path, f"{HEADER}\n0,0,0,0,1e308,1e308,0,0\n")
    assert fault.startswith("line 2: quaternion norm is 1.41421356e+308, must be 1")


@pytest.mark.parametrize(("norm", "good"), [(1 + 0.9999e-6, True), (1 - 0.9999e-6, True), (1 + 1.0001e-6, False)])
def test_a_norm_near_its_bound(tmp_path: Path, norm: float, good: bool) -> None:
    path, text = tmp_path / "near.csv", f"{HEADER}\n0,0,0,0,{norm!r},0,0,0\n"
    path.write_text(text)
    if good:
        assert read_poses(path)[1][0, 3] == norm
    else:
        assert len(faults_of(path, text)) == 1


def test_a_file_broken_at_its_end_is_no_csv_whatever_its_header(tmp_path: Path, numbers: np.ndarray) -> None:
    path = tmp_path / "broken.csv"
    for header in (HEADER, "t,x"):
        path.write_bytes("\n".join([header, *rows_of(numbers)]).encode() + b"\n\xff\n")
        with pytest.raises(TrajectoryError, match=r"not a text file: byte .* is not UTF-8"):
            read_poses(path)


def test_a_cell_as_long_as_a_book_is_quoted_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    for text in (f"t,x,y,z,qw,qx,qy,qz\n{'a' * 100_000},0,0,0,1,0,0,0\n", "b" * 100_000 + "\n"):
        path.write_text(text)
        with pytest.raises(TrajectoryError) as caught:
            read_poses(path)
        assert len(str(caught.value)) < 1000 and ("aaaa…" in str(caught.value) or "bbbb…" in str(caught.value))
