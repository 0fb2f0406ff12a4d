"""Whether a model is worse than another: right as often as it says, also where residuals remember themselves."""

import numpy as np
import pytest
from validated import RATE, noise

from rig.report.validation import PairedTest, block_numbers

COUNT = 7000
TIMES = np.arange(COUNT) / RATE
DIFFERENCE = 0.3 * np.sin(2 * np.pi * np.array([0.5, 0.7, 0.9, 0.6, 0.8, 1.1]) * TIMES[:, np.newaxis] + np.arange(6))
"""N, of the other model from the exact one."""


def compared(
    seed: int, part: float, *, remembered: float = 0.0, offset: float = 0.0
) -> tuple[dict[str, dict[str, float]], float]:
    """The test where the truth lies that part of the way to the other model, and t as if samples were independent."""
    exact = part * DIFFERENCE + offset + noise(seed, COUNT, remembered)
    test = PairedTest()
    numbers = block_numbers(0, COUNT, COUNT, RATE)
    for start in range(0, COUNT, 3000):
        piece = slice(start, start + 3000)
        test.add(exact[piece], exact[piece] - DIFFERENCE[piece], numbers[piece])
    apart = ((exact - DIFFERENCE) ** 2 - exact**2).mean(axis=1)
    return test.result(), float(apart.mean() / (apart.std() / np.sqrt(COUNT)))


@pytest.mark.parametrize(("part", "verdict"), [(0.0, "worse"), (1.0, "better"), (0.5, "not told apart")])
def test_it_can_come_out_either_way_or_not_at_all(part: float, verdict: str) -> None:
    result, _ = compared(1, part)
    for key in ("as_measured", "without_offset"):
        assert result[key]["verdict"] == verdict
        assert (result[key]["p_no_worse"] < 0.01) == (verdict == "worse")
        assert (result[key]["p_no_better"] < 0.01) == (verdict == "better")


def test_what_is_as_good_is_seldom_called_worse() -> None:
    """Of noise that remembers: an independent sample's test says "worse" at 5 % in nearly every other recording."""
    results = [compared(seed, 0.5, remembered=0.98) for seed in range(60)]
    chances = np.array([result["without_offset"]["p_no_worse"] for result, _ in results])
    assert np.mean(chances < 0.05) <= 0.13  # binomial of 60, 5 %: beyond once in a hundred
    assert 0.3 < chances.mean() < 0.7
    assert np.mean([naive > 1.645 for _, naive in results]) > 0.25


def test_an_offset_of_the_cells_is_held_against_no_model() -> None:
    """As measured, a model that happens to make up for a cell's offset looks better."""
    shifted = DIFFERENCE + 0.2
    exact = noise(3, COUNT) + 0.5
    test = PairedTest()
    test.add(exact, exact - shifted, block_numbers(0, COUNT, COUNT, RATE))
    result = test.result()
    assert result["as_measured"]["verdict"] == "better"
    assert result["without_offset"]["verdict"] == "worse"


def test_few_rows_say_nothing() -> None:
    test = PairedTest()
    test.add(np.ones((40, 6)), np.zeros((40, 6)), block_numbers(0, 40, 40, RATE))
    assert test.result() == {"as_measured": None, "without_offset": None}
    assert PairedTest().result() == {"as_measured": None, "without_offset": None}
