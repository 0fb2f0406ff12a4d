"""`rig import`: logs of a machine whose motion and forces are known at every instant, made into recordings."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from actuators import Mode
from dynamics import Dynamics
from kinematics import coordinates_to_motion, leg_kinematics
from rig.analysis import identify_recordings
from rig.cli import main
from rig.config import load_config
from rig.engine import ClockPair, recording_header
from rig.errors import ExitCode, InputError
from rig.importing import ImportedLog, import_log, load_mapping, parse_mapping
from rig.recording import Finding, Recording, RecordingFile, caveats
from rig.report import summarize, write_report
from rig.states import State
from rig.telemetry import ROW

Floats = npt.NDArray[np.float64]

CONFIG = load_config("virtual")
MACHINE = CONFIG.machine
HEAVIER = replace(MACHINE, mass=1.12 * MACHINE.mass)
"""What is logged: no mechanism's file has it."""
RATE = 200.0
SIZES = np.array([0.012, 0.011, 0.010, 0.06, 0.06, 0.08])
"""m and rad of each coordinate's slowest sine"""
LEGS = range(1, 7)
MAPPING: dict[str, Any] = {
    "time": {"column": "t"},
    "lengths": {"columns": [f"l{leg}" for leg in LEGS]},
    "forces": {"columns": [f"f{leg}" for leg in LEGS]},
}


def motion_at(t: Floats, sizes: Floats = SIZES) -> Floats:
    """The motion (n, 19) at times (n,), s: four sines in each coordinate about home."""
    random = np.random.default_rng(0)
    state = np.zeros((3, len(t), 6))
    for slowest, part in ((0.3, 1.0), (0.9, 0.8), (1.6, 0.5), (2.3, 0.3)):
        f, p = 2.0 * np.pi * (slowest + random.uniform(0.0, 0.4, 6)), random.uniform(0.0, 2.0 * np.pi, 6)
        angle = f * t[:, np.newaxis] + p
        state += part * sizes * np.array([np.sin(angle), f * np.cos(angle), -f * f * np.sin(angle)])
    state[0, :, :3] += MACHINE.geometry.home_pose[:3]
    return coordinates_to_motion(*state)


def lengths_at(t: Floats, sizes: Floats = SIZES) -> Floats:
    return leg_kinematics(MACHINE.geometry, motion_at(t, sizes)).length


def sampled_at(t: Floats, seed: int, sizes: Floats = SIZES) -> tuple[Floats, Floats]:
    """Lengths (n, 6) m and forces (n, 6) N at times t (n,), s, with the noise of encoders and cells."""
    random = np.random.default_rng(seed)
    forces = Dynamics(HEAVIER, CONFIG.control.coulomb_speed).cells(motion_at(t, sizes))
    return lengths_at(t, sizes) + random.normal(0, 2e-6, (len(t), 6)), forces + random.normal(0, 0.5, (len(t), 6))


def write(path: Path, names: list[str], columns: Floats, head: str = "", mark: str = ".", between: str = ",") -> Path:
    lines = [between.join(f"{value:.9g}".replace(".", mark) for value in row) for row in columns]
    path.write_text(head + "\n".join([between.join(names), *lines]) + "\n", encoding="utf-8")
    return path


def plain(folder: Path, t: Floats, *tables: Floats) -> Path:
    """A log of lengths, and forces where there are some, under this program's own names."""
    names = [f"{letter}{leg}" for letter, _ in zip("lf", tables, strict=False) for leg in LEGS]
    return write(folder / "log.csv", ["t", *names], np.column_stack([t, *tables]))


def found(log: ImportedLog) -> dict[str, dict[str, Any]]:
    return {each.code: dict(each.figures) for each in log.findings}


def test_a_foreign_log_identifies_what_the_original_recording_does(tmp_path: Path) -> None:
    """Irregular stamps, gaps, an unknown delay of the commands, other units, names, order, sign and decimal mark."""
    random, even = np.random.default_rng(1), np.arange(0.0, 26.0, 1.0 / RATE)
    lengths, forces = sampled_at(even, 2)
    rows = np.zeros(len(even), ROW)
    rows["t"], rows["cycle"], rows["state"], rows["mode"] = even, np.arange(len(even)), State.RUNNING, Mode.POSITION
    rows["pose"], rows["force_measured"] = motion_at(even)[:, :7], forces
    header = recording_header(CONFIG, None, ClockPair(0, 0)) | {"rate": RATE}
    original = Recording(tmp_path / "original.mcap", header, rows, (), 0, True, {})

    t = even + random.normal(0, 3e-4, len(even))
    kept = np.ones(len(t), bool)
    kept[3700:3760] = False
    t = t[kept]
    lengths, forces = sampled_at(t, 3)
    delay, order = 0.0312, [3, 1, 2, 6, 5, 4]
    names = ["Zeit", *(f"{name}{leg}" for name in ("Ist", "Soll", "Kraft") for leg in order)]
    place = np.array(order) - 1
    table = [
        1e3 * (t + 777.0),
        1e3 * lengths[:, place],
        1e3 * lengths_at(t + delay)[:, place],
        -1e-3 * forces[:, place],
    ]
    columns = np.column_stack(table)
    columns = np.insert(columns, 500, columns[499], axis=0)  # a row twice
    columns[[40, 41]] = columns[[41, 40]]  # and two that came in another order
    log = write(tmp_path / "foreign.csv", names, columns, "Machine 4\nof a Tuesday\n", ",", ";")
    given = [
        "time=Zeit [ms]",
        *(
            f"{group}={','.join(f'{name}{leg}' for leg in LEGS)} [{unit}]"
            for group, name, unit in (
                ("lengths", "Ist", "mm"),
                ("commanded_lengths", "Soll", "mm"),
                ("forces", "Kraft", "kN"),
            )
        ),
    ]
    toml = tmp_path / "mapping.toml"
    toml.write_text('[forces]\npositive = "tension"\n')
    told = import_log(log, CONFIG, load_mapping(toml, given))
    summary = told.summary()
    assert (summary["rate_hz"], summary["gaps"], summary["duplicates"], summary["disordered"]) == (RATE, 1, 1, 1)
    assert 58 <= summary["missing_cycles"] <= 62 and summary["stamps"] == "sampled"
    assert summary["jitter_s"] == pytest.approx(3e-4, rel=0.05) and told.begin == pytest.approx(777.0, abs=2e-3)
    assert told.delay is not None and told.delay.delay == pytest.approx(delay, abs=3.5 * told.delay.sigma)
    assert told.delay.sigma < 2e-5
    assert set(found(told)) == {Finding.GAPS, Finding.DELAY}
    told.write(tmp_path / "foreign.mcap")
    imported = RecordingFile(tmp_path / "foreign.mcap")
    assert imported.complete and imported.dropped == summary["missing_cycles"] and imported.count == len(told.cycles)
    assert imported.header["imported"]["sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()
    assert imported.header["config_sha256"] == header["config_sha256"]
    one, other = (identify_recordings([each]) for each in (original, imported))
    before = {each.name: each for each in one.parameters}
    for each in other.parameters:
        apart = np.hypot(each.sigma, before[each.name].sigma)
        assert abs(each.value - before[each.name].value) < 3.0 * apart, each.name
    mass = next(each for each in other.parameters if each.name == "platform.mass")
    assert abs(mass.value - HEAVIER.mass) < 2.5 * mass.sigma and mass.sigma < 0.3 * (HEAVIER.mass - MACHINE.mass)


@pytest.mark.parametrize("sampled", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_motion_shows_whether_samples_have_the_jitter_of_their_stamps(
    tmp_path: Path, sampled: bool, seed: int
) -> None:
    even = np.arange(0.0, 10.0, 1.0 / RATE)
    stamps = even + np.random.default_rng(seed).normal(0, 4e-4, len(even))
    taken = stamps if sampled else even
    log = import_log(plain(tmp_path, stamps, lengths_at(taken)), CONFIG)
    told = log.summary()
    assert told["jitter_s"] == pytest.approx(4e-4, rel=0.08)
    sigma = np.hypot(told["jitter_followed_sigma"], 0.005)  # of even times, which are known to a tenth of the jitter
    assert abs(told["jitter_followed"] - sampled) < 4.0 * sigma
    assert told["stamps"] == ("sampled" if sampled else "even")
    assert (Finding.STAMPS_LATE in found(log)) is not sampled
    true = lengths_at(log.begin + log.cycles / log.rate)
    assert np.abs(log.measured.lengths[log.cycles] - true).max() < 2e-4 * (0.01 if sampled else 1.0)
    assert told["time_noise_s"] < 6e-5


def test_wrong_time_stamps_are_found_as_time_noise(tmp_path: Path) -> None:
    even = np.arange(0.0, 10.0, 1.0 / RATE)
    random = np.random.default_rng(4)
    lengths = lengths_at(even + random.normal(0, 5e-4, len(even))) + random.normal(0, 2e-6, (len(even), 6))
    log = import_log(plain(tmp_path, even, lengths), CONFIG)
    assert found(log)[Finding.TIME_NOISE]["time_noise"] == pytest.approx(5e-4, rel=0.2)


@pytest.mark.parametrize("delay", [-0.0137, 0.0004, 0.25])
def test_the_delay_of_commands_is_found_to_a_part_of_a_sample(tmp_path: Path, delay: float) -> None:
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    noise = np.random.default_rng(5).normal(0, 2e-5, (len(t), 6))
    names = ["t", *(f"{letter}{leg}" for letter in "lc" for leg in LEGS)]
    path = write(tmp_path / "log.csv", names, np.column_stack([t, lengths_at(t) + noise, lengths_at(t + delay)]))
    mapping = {"lengths": MAPPING["lengths"], "commanded_lengths": {"columns": names[7:]}}
    log = import_log(path, CONFIG, parse_mapping(mapping, "mapping"))
    assert log.delay is not None and 0.0 < log.delay.sigma < 1e-5
    assert log.delay.delay == pytest.approx(delay, abs=4.0 * log.delay.sigma)
    aligned = import_log(path, CONFIG, parse_mapping(mapping, "mapping"), align=True)
    inner = slice(200, -200)
    left = (aligned.reference.lengths - aligned.measured.lengths)[inner]
    assert np.sqrt(np.nanmean(left**2)) < 2.2e-5


def test_poses_in_any_rotation_are_those_of_the_lengths(tmp_path: Path) -> None:
    t = np.arange(0.0, 1.0, 1.0 / RATE)
    pose = motion_at(t)[:, :7]
    turn = Rotation.from_quat(pose[:, 3:], scalar_first=True)
    home = MACHINE.geometry.home_pose
    cases: list[tuple[Floats, dict[str, Any]]] = [
        (pose[:, 3:], {}),
        (-pose[:, [4, 5, 6, 3]] * np.where(np.arange(len(t)) % 2, 1.0, -1.0)[:, np.newaxis], {"rotation": "xyzw"}),
        (turn.as_rotvec(), {"rotation": "vector"}),
        (turn.as_euler("xyz", degrees=True), {"angle": "deg"}),
        (turn.as_euler("XYZ", degrees=True), {"rotation": "XYZ", "angle": "deg"}),
        (turn.as_euler("zxz"), {"rotation": "zxz"}),
    ]
    for rotation, more in cases:
        names = ["t", "x", "y", "z", *(f"r{k}" for k in range(rotation.shape[1]))]
        for frame, origin in (("base", np.zeros(3)), ("home", home[:3])):
            path = write(tmp_path / "log.csv", names, np.column_stack([t, 1e3 * (pose[:, :3] - origin), rotation]))
            table = {"columns": names[1:], "unit": "mm", "frame": frame, **more}
            log = import_log(path, CONFIG, parse_mapping({"pose": table}, "mapping"))
            np.testing.assert_allclose(log.measured.lengths[log.cycles], lengths_at(t), atol=2e-9)


def test_lengths_and_poses_are_checked_against_each_other(tmp_path: Path) -> None:
    t = np.arange(0.0, 2.0, 1.0 / RATE)
    pose, lengths = motion_at(t)[:, :7], lengths_at(t)
    names = ["t", *(f"l{leg}" for leg in LEGS), "x", "y", "z", "qw", "qx", "qy", "qz"]

    def imported(legs: Floats) -> ImportedLog:
        return import_log(write(tmp_path / "log.csv", names, np.column_stack([t, legs, pose])), CONFIG)

    log = imported(lengths)
    assert log.differ is not None and log.differ < 1e-8 and Finding.LENGTHS_DIFFER not in found(log)
    log = imported(lengths + 1e-4)
    assert log.differ == pytest.approx(1e-4, rel=1e-3) and found(log)[Finding.LENGTHS_DIFFER]["rms"] == log.differ
    with pytest.raises(InputError, match=r"in another order they fit: column 2 is leg 5, column 5 is leg 2"):
        imported(lengths[:, [0, 4, 2, 3, 1, 5]])


def test_a_lower_rate_lets_nothing_through_that_it_cannot_hold(tmp_path: Path) -> None:
    t = np.arange(0.0, 6.0, 1.0 / 400.0)
    lengths, forces = sampled_at(t, 6)
    forces += 20.0 * np.sin(2.0 * np.pi * 90.0 * t)[:, np.newaxis]  # at 100 Hz it would be 10 Hz
    path = plain(tmp_path, t, lengths, forces)
    log = import_log(path, CONFIG, rate=100.0)
    true = Dynamics(HEAVIER, CONFIG.control.coulomb_speed).cells(motion_at(log.cycles / 100.0 + log.begin))
    assert np.sqrt(np.mean((log.forces[log.cycles] - true)[20:-20] ** 2)) < 0.6
    with pytest.raises(InputError, match=r"rate: 500 Hz, must be at most 400 Hz"):
        import_log(path, CONFIG, rate=500.0)


def test_stamps_that_are_rounded_make_no_gaps(tmp_path: Path) -> None:
    t = np.arange(0.0, 4.0, 1.0 / 300.0)
    log = import_log(plain(tmp_path, np.round(t, 3), lengths_at(t)), CONFIG)
    assert log.rate == 300.0 and log.missing == 0 and found(log).keys() & {Finding.GAPS, Finding.BRIDGED} == set()
    assert log.stamps.jitter == pytest.approx(1e-3 / np.sqrt(12.0), rel=0.15)


def test_a_gap_is_bridged_only_where_the_mapping_says_so(tmp_path: Path) -> None:
    t = np.delete(np.arange(0.0, 4.0, 1.0 / RATE), [100, 300, 301, 302])
    path = plain(tmp_path, t, lengths_at(t))
    log = import_log(path, CONFIG)
    assert log.missing == 4 and found(log)[Finding.GAPS] == {"gaps": 2, "missing": 4, "longest": pytest.approx(0.02)}
    assert set(np.flatnonzero(~np.isin(np.arange(800), log.cycles))) == {100, 300, 301, 302}
    mapping = {"time": {"column": "t", "gap": "12 ms"}, "lengths": MAPPING["lengths"]}
    log = import_log(path, CONFIG, parse_mapping(mapping, "mapping"))
    assert log.missing == 3
    assert found(log)[Finding.BRIDGED] == {"bridged": 1, "longest": pytest.approx(0.01)}


def test_tables_of_different_spans_are_used_where_they_overlap(tmp_path: Path) -> None:
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    lengths, forces = sampled_at(t, 11)
    lengths[:200], forces[100:120], forces[600:] = np.nan, np.nan, np.nan
    log = import_log(plain(tmp_path, t, lengths, forces), CONFIG)
    assert (log.begin, len(log.cycles), log.summary()["forces_missing"]) == (1.0, 600, 200)
    known = np.asarray(np.isfinite(log.forces[log.cycles]).all(axis=1))
    assert known[:400].all() and not known[400:].any()
    np.testing.assert_allclose(log.forces[log.cycles][:400], forces[200:600], atol=1e-6)


def test_exchanged_and_reversed_forces_are_found(tmp_path: Path) -> None:
    t = np.arange(0.0, 6.0, 1.0 / RATE)
    lengths, forces = sampled_at(t, 7)
    turned = forces * np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    assert found(import_log(plain(tmp_path, t, lengths, turned), CONFIG))[Finding.FORCES_TURNED] == {"legs": [3, 6]}
    swapped = found(import_log(plain(tmp_path, t, lengths, forces[:, [0, 1, 4, 3, 2, 5]]), CONFIG))
    assert swapped[Finding.FORCES_EXCHANGED] == {"pairs": [[3, 5], [5, 3]]}
    held = np.repeat(forces[::4], 4, axis=0)
    repeated = found(import_log(plain(tmp_path, t, lengths, held), CONFIG))[Finding.FORCES_REPEATED]
    assert repeated["share"] == pytest.approx(0.75, abs=0.01)
    assert set(found(import_log(plain(tmp_path, t, lengths, forces), CONFIG))) == {Finding.NO_COMMANDS}


def test_too_little_motion_is_found(tmp_path: Path) -> None:
    t = np.arange(0.0, 4.0, 1.0 / 50.0)
    log = import_log(plain(tmp_path, t, *sampled_at(t, 8, SIZES * [1, 0, 0, 0, 0, 0] * 0.05)), CONFIG)
    told = found(log)
    assert told[Finding.STILL]["coordinates"] == ["y", "z", "rx", "ry", "rz"]
    assert {Finding.SLOW_RATE, Finding.SHORT, Finding.LEG_INERTIA_LOST} <= told.keys()


NAMES = ["t", *(f"l{leg}" for leg in LEGS), *(f"f{leg}" for leg in LEGS)]


def _changed(row: int, column: int, value: float) -> Any:
    def change(columns: Floats) -> Floats:
        columns[row, column] = value
        return columns

    return change


@pytest.mark.parametrize(
    ("change", "mapping", "match"),
    [
        (lambda c: c, {"lengths": {"columns": ["a1", *NAMES[2:7]]}}, r"there is no column 'a1'; there are 't', 'l1'"),
        (lambda c: c, {"time": {"column": "t", "unit": "mm"}}, r"time\.unit: 'mm' is no unit for s"),
        (lambda c: c, {"time": {"column": "t", "rate": 100.0}}, r"time: needs either column or rate"),
        (lambda c: c, {"lengths": {"columns": NAMES[1:6]}}, r"lengths\.columns"),
        (lambda c: c, {"forces": {"columns": NAMES[1:7]}}, r"column 'l1' is named twice"),
        (lambda c: c, {"forces": {"columns": NAMES[7:], "offset": [1.0, 2.0]}}, r"offset: 2 numbers"),
        (lambda c: c, {"pose": {"columns": NAMES[7:], "rotation": "xxy"}}, r"'xxy' is no rotation"),
        (lambda c: c, {"speeds": {}}, r"speeds: unknown key"),
        (_changed(5, 0, np.nan), {}, r"1 rows have no time, the first in line 7"),
        (lambda c: np.vstack([c, c[:50]]), {}, r"line 402: its time, 0 s, is .* the clock was set back"),
        (lambda c: np.insert(c, 9, c[8] + np.eye(13)[1], axis=0), {}, r"1 rows have the time of the row before"),
        (
            lambda c: c * np.array([1.0] + [1e3] * 6 + [1.0] * 6),
            {},
            r"lengths: leg 1 is \d+.* to .* m, its stroke 0\.4",
        ),
        (lambda c: c[:10], {}, r"lengths: 10 samples, at least 16"),
        (lambda c: c[:, :7], {}, r"there is no column 'f1'"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, change: Any, mapping: dict[str, Any], match: str) -> None:
    t = np.arange(400) / RATE
    columns = change(np.column_stack([t, *sampled_at(t, 9)]))
    path = write(tmp_path / "log.csv", NAMES[: columns.shape[1]], columns)
    with pytest.raises(InputError, match=match):
        import_log(path, CONFIG, parse_mapping(MAPPING | mapping, "mapping"))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"is empty"),
        ("a,b\n1,2\n", r"says nothing of which columns"),
        ("t,l1,l2,l3,l4,l5,l6\n", r"no rows below the names"),
        ("t,l1,l2,l3,l4,l5,l6\n0,1,1,1,1,1\n", r"line 2: 6 cells, the line of names has 7"),
        ("t,l1,l2,l3,l4,l5,l6\n0,1,1,1,x,1,inf\n", r"line 2: l4 = 'x' is not a number"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        import_log(path, CONFIG)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"align": True}, r"align: there is no commanded motion"),
        ({"bandwidth": 100.0}, r"bandwidth: 100 Hz, must be above 0 and at most 28\.28 Hz"),
        ({"span": (7.0, 8.0)}, r"during: 7 to 8 s, the log has rows from 0 to 1\.995 s"),
        ({"rate": float("nan")}, r"rate: nan Hz, must be above 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: dict[str, Any], match: str) -> None:
    t = np.arange(400) / RATE
    with pytest.raises(InputError, match=match):
        import_log(plain(tmp_path, t, lengths_at(t)), CONFIG, **options)


@pytest.fixture
def forceless(tmp_path: Path) -> Path:
    """A recording of a log of lengths alone."""
    t = np.arange(0.0, 7.0, 1.0 / RATE)
    recording = tmp_path / "log.mcap"
    assert main(["import", "virtual", str(plain(tmp_path, t, lengths_at(t)))]) == ExitCode.OK
    return recording


@pytest.mark.parametrize(
    ("command", "lacks"),
    [
        (["identify"], "leg forces"),
        (["weigh"], "leg forces"),
        (["wrench", "-o", "wrench.csv"], "leg forces"),
        (["calibrate", "cells-in-place"], "leg forces"),
        (["respond"], "commanded motion"),
    ],
)
def test_what_needs_more_than_was_logged_is_refused(
    forceless: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str], lacks: str
) -> None:
    monkeypatch.chdir(forceless.parent)
    assert main([*command[:2], str(forceless), *command[2:]] if command[0] == "calibrate" else
                [command[0], str(forceless), *command[1:]]) == ExitCode.INPUT  # fmt: skip
    assert f"log.mcap: imported from log.csv without {lacks}" in capsys.readouterr().err


def test_a_report_says_where_it_comes_from_and_nothing_that_follows_by_construction(forceless: Path) -> None:
    recording = RecordingFile(forceless)
    summary = summarize(recording)
    assert [value for name, value in summary["tracking"].items() if name != "legs"] == [None] * 4
    assert summary["force"]["legs"][0]["rms_measured_n"] is None and summary["force"]["legs"][0]["rms_model_n"] > 0.0
    assert summary["motion"]["outcome"] == "finished" and summary["recording"]["dropped"] == 0
    told = caveats(recording)
    assert told[0].startswith("imported from log.csv") and len(told) == 3
    write_report(recording, forceless.with_suffix(".html"), summary=summary)
    page = forceless.with_suffix(".html").read_text(encoding="utf-8")
    assert "imported from log.csv" in page and recording.header["imported"]["sha256"] in page
    assert "simulated clock" not in page


def test_a_dry_run_writes_nothing_and_no_file_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    t = np.arange(0.0, 2.0, 1.0 / RATE)
    path = plain(tmp_path, t, *sampled_at(t, 10))
    assert main(["import", "virtual", str(path), "--dry-run", "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["rate_hz"] == RATE and told["paths"] == {"recording": None} and list(tmp_path.iterdir()) == [path]
    ranges = {each["name"]: each for each in told["ranges"]}
    assert ranges["length 1"]["limit_most"] == MACHINE.legs[0].limits.length[1]  # type: ignore[union-attr,index]
    assert ranges["force 6"]["most"] > ranges["force 6"]["least"]
    assert main(["import", "virtual", str(path)]) == ExitCode.OK
    before = (tmp_path / "log.mcap").read_bytes()
    assert main(["import", "virtual", str(path)]) == ExitCode.INPUT
    assert "recordings are never overwritten" in capsys.readouterr().err
    assert (tmp_path / "log.mcap").read_bytes() == before


def test_an_exported_recording_is_imported_as_it_was(tmp_path: Path, forceless: Path) -> None:
    table = tmp_path / "exported.csv"
    assert main(["export", str(forceless), "-o", str(table)]) == ExitCode.OK
    rows = np.concatenate([rows.copy() for rows in RecordingFile(forceless).blocks()])
    mapping = {"lengths": {"columns": [f"length_{leg}" for leg in LEGS]}}
    for again in (import_log(table, CONFIG, parse_mapping(mapping, "mapping")), import_log(table, CONFIG)):
        np.testing.assert_allclose(again.measured.lengths[again.cycles], rows["length"], atol=1e-9)
    part = import_log(table, CONFIG, span=(2.0, 3.0))
    np.testing.assert_allclose(part.measured.lengths[part.cycles], rows["length"][400:601], atol=1e-9)
