"""Recorded accelerations: files, the motion whose displacement is known, and drift."""

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import butter, filtfilt

from kinematics import (
    Accelerations,
    Array,
    Record,
    TrajectoryError,
    corrected,
    load_trajectory,
    read_record,
    synthetic_record,
)

G = 9.80665
HOME = [0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0]


def pulse(t: Array, frequency: float = 2.0, width: float = 0.6) -> tuple[Array, Array]:
    """A sine under a bell about t = 5 s: displacement and acceleration, in closed form."""
    u, w = t - 5.0, 2.0 * np.pi * frequency
    bell = 0.01 * np.exp(-0.5 * (u / width) ** 2)
    slope, curve = -u / width**2, u**2 / width**4 - 1.0 / width**2
    place = bell * np.sin(w * u)
    return place, bell * ((curve - w**2) * np.sin(w * u) + 2.0 * slope * w * np.cos(w * u))


def test_a_record_whose_displacement_is_known_comes_back() -> None:
    """Also with an offset and a trend of the sensor, which integrated twice would be 5 m."""
    t = 0.01 * np.arange(1001.0)
    place, acceleration = pulse(t)
    record = Record("pulse", 0.01, ("y",), (acceleration + 0.1 - 0.02 * t)[:, None])
    made = corrected(record, 0.1, None, 1.0)
    motion = Accelerations(made)
    assert made.start == pytest.approx(20.0)
    assert motion.duration == pytest.approx(10.0 + 2 * 20.0)
    q, speed, found = motion.coordinates(t + made.start)
    np.testing.assert_allclose(q[:, 1], place, atol=1e-3 * 0.01)
    np.testing.assert_allclose(found[:, 1], acceleration, atol=2e-3 * np.abs(acceleration).max())
    assert not q[:, [0, 2, 3, 4, 5]].any()
    np.testing.assert_allclose(np.gradient(q[:, 1], 0.01)[1:-1], speed[1:-1, 1], atol=2e-3)
    assert made.drift[0] < 1e-6


def test_a_motion_rests_at_both_ends_wherever_the_record_was_cut() -> None:
    """A record that begins and ends in the middle of strong motion: velocity and displacement are zero at both ends."""
    record = synthetic_record(3)
    cut = Record("cut", record.step, record.axes, record.accelerations[400:1200])
    made = corrected(cut, 0.3, 10.0, 0.5)
    motion = Accelerations(made, 2.0, [0.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    ends = motion.coordinates([0.0, motion.duration])
    np.testing.assert_allclose(ends[0], [[0.1, 0, 0, 0, 0, 0]] * 2, atol=1e-12)
    np.testing.assert_allclose(ends[1], 0.0, atol=1e-12)
    np.testing.assert_allclose(ends[2], 0.0, atol=1e-9)
    assert np.abs(made.displacement).max() > 100.0 * made.drift.max() > 0.0


def test_filters_are_those_of_butterworth_forwards_and_backwards() -> None:
    record = synthetic_record(1)
    made = corrected(record, 0.5, 8.0, 1.0)
    t = np.arange(len(record.accelerations)) * record.step
    level = record.accelerations[:, 0] - np.polyval(np.polyfit(t, record.accelerations[:, 0], 1), t)
    level *= 0.5 - 0.5 * np.cos(np.pi * np.minimum(np.minimum(t, t[::-1]), 1.0))
    padded = np.pad(level, 400)
    for b, a in (butter(2, 0.5, "high", fs=1.0 / record.step), butter(2, 8.0, "low", fs=1.0 / record.step)):
        padded = filtfilt(b, a, padded, padlen=0)
    found = Accelerations(made).coordinates(made.start + t)[2][:, 0]
    np.testing.assert_allclose(found, padded[400:-400], atol=0.02)  # that of SciPy is warped near 8 Hz
    assert np.abs(found).max() > 2.0


def test_no_phase_is_changed_and_a_scale_is_one_of_everything() -> None:
    t = 0.01 * np.arange(2001.0)
    _, acceleration = pulse(t, 1.0, 1.0)
    made = corrected(Record("pulse", 0.01, ("x",), acceleration[:, None]), 0.5, 4.0, 1.0)
    motion = Accelerations(made, 3.0)
    place = motion.coordinates(made.start + np.linspace(4.0, 6.0, 201))[0][:, 0]
    np.testing.assert_allclose(place, -place[::-1], atol=1e-6)  # the pulse is odd about its middle
    gain = 1.0 / (1.0 + 0.5**4) / (1.0 + 0.25**4)
    assert place.max() == pytest.approx(3.0 * gain * pulse(t, 1.0, 1.0)[0].max(), rel=0.02)


def test_a_synthetic_record_is_the_same_for_the_same_seed_and_has_the_grounds_spectrum() -> None:
    one, other = synthetic_record(1), synthetic_record(2)
    np.testing.assert_array_equal(one.accelerations, synthetic_record(1).accelerations)
    assert not np.allclose(one.accelerations, other.accelerations)
    np.testing.assert_allclose(np.abs(one.accelerations).max(axis=0), [3.0, 2.5, 2.0])
    power = np.zeros(0)
    for seed in range(20):
        spectrum = np.abs(np.fft.rfft(synthetic_record(seed).accelerations[:, 0])) ** 2
        power = spectrum if not len(power) else power + spectrum
    frequency = np.fft.rfftfreq(2001, 0.01)
    ratio = frequency / (15.0 / 2.0 / np.pi)
    theory = (1.0 + 4.0 * 0.36 * ratio**2) / ((1.0 - ratio**2) ** 2 + 4.0 * 0.36 * ratio**2)
    bands = [(frequency > low) & (frequency < 1.5 * low) for low in (1.0, 2.0, 4.0, 8.0)]
    found = np.array([power[band].mean() for band in bands])
    expected = np.array([theory[band].mean() for band in bands])
    np.testing.assert_allclose(found / found[1], expected / expected[1], rtol=0.35)


# -- files -------------------------------------------------------------------------------------------------------------


def peer(values: Array, header: str = "NPTS=   {n}, DT=   .0100 SEC,", quantity: str = "ACCELERATION") -> str:
    """A file as the PEER databases have it, of made-up numbers."""
    lines = ["PEER NGA STRONG MOTION DATABASE RECORD", "Nowhere, 1/1/2000, Station 1, 180"]
    lines += [f"{quantity} TIME SERIES IN UNITS OF G", header.format(n=len(values))]
    lines += ["".join(f"{each:14.7E}" for each in row) for row in np.array_split(values, -(-len(values) // 5))]
    return "\n".join(lines) + "\n"


def test_files_of_all_kinds_have_the_same_record(tmp_path: Path) -> None:
    t = 0.01 * np.arange(1001.0)
    _, acceleration = pulse(t)
    table, old, new, column = (tmp_path / name for name in ("a.csv", "b.at2", "c.AT2", "d.txt"))
    rows = np.column_stack([t + 3.0, acceleration / G, 0.5 * acceleration / G])
    np.savetxt(table, rows, delimiter=",", header="t,az,ax", comments="", fmt="%.9g")
    old.write_text(peer(acceleration / G, "  {n}    0.0100    NPTS, DT"))
    new.write_text(peer(acceleration / G))
    column.write_text("# cm/s^2\n" + "\n".join(f"{100.0 * each:.9g}" for each in acceleration))
    found = read_record(table, "x", "g")
    assert found.axes == ("x", "z") and found.step == pytest.approx(0.01) and found.duration == pytest.approx(10.0)
    np.testing.assert_allclose(found.accelerations, np.column_stack([0.5 * acceleration, acceleration]), atol=1e-6)
    for one in (
        read_record(old, "y"), read_record(new, "y", "g"), read_record(column, "y", "cm/s^2", 0.01),
    ):  # fmt: skip
        assert one.axes == ("y",) and one.step == 0.01
        np.testing.assert_allclose(one.accelerations[:, 0], acceleration, atol=1e-6)


def test_numbers_without_a_space_before_a_minus_are_two(tmp_path: Path) -> None:
    path = tmp_path / "a.AT2"
    values = -0.01 * (1.0 + np.arange(20.0))
    text = peer(values)
    assert "E-02-" in text
    path.write_text(text)
    np.testing.assert_allclose(read_record(path, "x").accelerations[:, 0], G * values, rtol=1e-6)


def test_a_trajectory_file_takes_three_files_of_a_component_each(tmp_path: Path) -> None:
    _, acceleration = pulse(0.01 * np.arange(1001.0))
    for name, factor in (("x", 1.0), ("y", 0.5), ("z", 0.25)):
        (tmp_path / f"{name}.AT2").write_text(peer(factor * acceleration / G))
    part = 'frame = "home"\n[[parts]]\ntype = "accelerations"\nfile = "x.AT2"\nfile_y = "y.AT2"\nfile_z = "z.AT2"\n'
    (tmp_path / "motion.toml").write_text(part + "high_pass = 0.2\nscale = 0.1\n")
    motion = load_trajectory(tmp_path / "motion.toml", HOME)
    q = motion.coordinates(np.linspace(0.0, motion.duration, 1001))[0]
    np.testing.assert_allclose(q[:, 1:3], np.outer(q[:, 0], [0.5, 0.25]), atol=1e-6)
    assert 5e-4 < np.abs(q[:, 0]).max() < 1.1e-3
    (tmp_path / "y.AT2").write_text(peer(acceleration[:500] / G))
    with pytest.raises(TrajectoryError, match=r"y.AT2: 500 samples of 0.01 s, must be 1001 of 0.01 s as in"):
        load_trajectory(tmp_path / "motion.toml", HOME)


ROWS = "t,ax\n" + "".join(f"{0.01 * k:.4f},{np.sin(k):.4f}\n" for k in range(40))


@pytest.mark.parametrize(
    ("name", "text", "options", "says"),
    [
        ("a.csv", "t,ax,gx\n0,0,0\n", {}, "line 1: columns are t, ax, gx, must be t and one to three of ax, ay, az"),
        ("a.csv", "ax\n1\n", {}, "columns are ax, must be t and"),
        ("a.csv", "t,ax\n0,0\n0.01,nan\n", {}, "line 3: '0.01, nan', must be finite numbers"),
        ("a.csv", "t,ax\n0,0,0\n", {}, "line 2: 3 values, must be 2"),
        ("a.csv", ROWS.replace("0.2000", "0.2080"), {}, r"row 22: t = 0.208 s is 0.008 s off even steps of 0.01 s"),
        ("a.csv", ROWS.replace("0.2000", "0.0200"), {}, "off even steps"),
        ("a.csv", "\n".join(ROWS.splitlines()[:10]), {}, "9 samples, must be 20 to 200000"),
        ("a.csv", ROWS.replace("0.8415", "10.5"), {"unit": "g"}, "is 102.97 m/s², must be .* at most 100 m/s²: is"),
        ("a.csv", "t,ax\n" + "".join(f"{k},0\n" for k in range(30)), {}, "greatest acceleration is 0 m/s²"),
        ("a.csv", ROWS, {"step": 0.01}, "step: 0.01 s is given, but the file has times"),
        ("a.txt", "1 2 3", {}, "step: missing"),
        ("a.txt", "1 2\nthree", {"step": 0.01}, "line 2: 'three', must be numbers"),
        ("a.txt", "1 " * 30, {"step": -0.01}, "step: -0.01 s, must be finite"),
        ("a.AT2", "x", {}, "1 lines, an .at2 file begins with 4 of a header"),
        ("a.AT2", peer(np.ones(30), quantity="VELOCITY"), {}, "line 3: 'VELOCITY TIME SERIES .* must be of an accel"),
        ("a.AT2", peer(np.ones(30), "30 samples"), {}, "line 4: '30 samples', must have NPTS and DT"),
        ("a.AT2", peer(np.ones(30), "NPTS= 31, DT= .01 SEC"), {}, "30 samples, must be 31, its NPTS"),
        ("a.AT2", peer(np.ones(30)), {"unit": "cm/s^2"}, 'unit: "cm/s\\^2", an .at2 file is in g'),
        ("a.AT2", peer(np.ones(30)), {"step": 0.02}, "step: 0.02 s is given, but the file has one"),
        ("none.csv", None, {}, "no such file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused(
    tmp_path: Path, name: str, text: str | None, options: dict[str, object], says: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(TrajectoryError, match=says):
        read_record(path, "x", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("corners", "says"),
    [
        ((50.0, None, 1.0), "high_pass: 50 Hz, must be above 0 and below 50 Hz"),
        ((0.0, None, 1.0), "high_pass: 0 Hz"),
        ((0.5, 60.0, 1.0), "low_pass: 60 Hz, must be above the high-pass, 0.5 Hz, and below 50 Hz"),
        ((0.5, 0.4, 1.0), "low_pass: 0.4 Hz"),
        ((0.5, None, 11.0), "fade: 11 s, must be at most half of the record, 10 s"),
    ],
)
def test_corners_that_are_none_are_refused(corners: tuple[float, float | None, float], says: str) -> None:
    with pytest.raises(TrajectoryError, match=says):
        corrected(synthetic_record(1), *corners)
