"""What a report computes from columns: outlines, percentiles, angles; each against a plain definition."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from rig.angles import rotation_vector
from rig.report.streaming import Angles, Column, Histogram, Outline


@given(
    values=hnp.arrays(np.float64, st.integers(1, 300), elements=st.floats(-1e6, 1e6)),
    bins=st.integers(2, 40),
    block=st.integers(1, 90),
)
def test_an_outline_loses_no_peak(values: npt.NDArray[np.float64], bins: int, block: int) -> None:
    t = np.arange(len(values), dtype=np.float64)
    outline = Outline(len(values), 2, bins)
    for start in range(0, len(values), block):
        part = values[start : start + block]
        outline.add(t[start : start + block], np.stack([part, -part], axis=1))
    for column, sign in ((0, 1.0), (1, -1.0)):
        at, reduced = outline.curve(column)
        assert len(at) == len(reduced) <= max(2 * bins, 1)
        assert (np.min(reduced), np.max(reduced)) == ((sign * values).min(), (sign * values).max())
        assert (np.diff(at) >= 0).all()
    if len(values) <= 2 * bins:
        np.testing.assert_array_equal(outline.curve(0)[1], values)
        return
    edges = np.linspace(0, len(values), bins + 1).astype(int)
    low, high = (reduce.reduceat(values, edges[:-1]) for reduce in (np.minimum, np.maximum))
    np.testing.assert_array_equal(outline.curve(0)[1], np.stack([low, high], axis=1).ravel())


def test_percentiles_of_a_column_on_the_disk_are_those_of_numpy() -> None:
    values = np.random.default_rng(3).normal(size=1234)
    for center, expected in ((None, values), (0.25, np.abs(values - 0.25))):
        column = Column()
        try:
            for start in range(0, len(values), 100):
                column.add(np.append(values[start : start + 100], np.nan))
            assert column.percentiles([50.0, 99.0, 100.0], center) == np.percentile(expected, [50, 99, 100]).tolist()
        finally:
            column.close()


def test_angles_and_rotations_against_scipy() -> None:
    random = np.random.default_rng(5)
    xyz = random.uniform(-1, 1, (50, 3))
    reference = Rotation.from_euler("xyz", xyz)
    small = random.normal(0, 1e-3, (50, 3))
    small[7] = 0
    measured = reference * Rotation.from_rotvec(small)
    quaternion = reference.as_quat(scalar_first=True)
    np.testing.assert_allclose(Angles().add(quaternion), xyz, atol=1e-12)
    sign = random.choice([-1.0, 1.0], (50, 1))
    np.testing.assert_allclose(
        rotation_vector(quaternion, sign * measured.as_quat(scalar_first=True)), small, atol=1e-14
    )


@given(low=st.floats(-1e18, 1e18), part=st.floats(0.0, 1.0) | st.just(0.0) | st.floats(0.0, 1e-14))
def test_a_histogram_counts_whatever_its_range(low: float, part: float) -> None:
    high = low + part * abs(low)
    histogram = Histogram(low, high)
    histogram.add(np.array([low, 0.5 * (low + high), high, np.nan]))
    assert histogram.counts.sum() == 3 and (np.diff(histogram.edges) > 0.0).all()
