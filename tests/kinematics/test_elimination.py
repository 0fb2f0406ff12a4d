"""The one elimination behind every system of equations solved in a kernel: real or complex, any place, any columns."""

import numpy as np
import pytest

from kinematics import eliminate, kernel


@kernel
def _solve(system, start, stride, unknowns, columns, least):
    return eliminate(system, start, stride, unknowns, columns, least)


@pytest.mark.parametrize(("unknowns", "columns", "imaginary"), [(6, 1, 0.0), (6, 5, 0.0), (8, 1, 1j), (3, 2, 1j)])
def test_it_solves_wherever_the_system_stands(unknowns: int, columns: int, imaginary: complex) -> None:
    draws, start, stride = np.random.default_rng(unknowns), 5, unknowns + columns + 3
    for _ in range(20):
        rows = draws.normal(size=(unknowns, stride)) + imaginary * draws.normal(size=(unknowns, stride))
        flat = np.concatenate([np.full(start, 7.0), rows.ravel(), np.full(4, 7.0)])
        sign = _solve(flat, start, stride, unknowns, columns, 0.0)
        after = flat[start:-4].reshape(unknowns, stride)
        matrix, right = rows[:, :unknowns], rows[:, unknowns : unknowns + columns]
        np.testing.assert_allclose(after[:, unknowns : unknowns + columns], np.linalg.solve(matrix, right), rtol=1e-9)
        np.testing.assert_allclose(sign * np.prod(np.diag(after)), np.linalg.det(matrix), rtol=1e-10)
        np.testing.assert_array_equal(after[:, unknowns + columns :], rows[:, unknowns + columns :])
        assert (flat[:start] == 7.0).all() and (flat[-4:] == 7.0).all()


def test_a_pivot_that_is_too_small_is_said() -> None:
    for least, sign in ((1e-12, 0.0), (1e-13, 1.0)):
        assert _solve(np.array([1.0, 2.0, 1.0, 0.0, 1e-12, 1.0]), 0, 3, 2, 1, least) == sign
    assert _solve(np.array([0.0, 1.0, 2.0, 1.0, 0.0, 3.0]), 0, 3, 2, 1, 0.0) == -1.0
    assert _solve(np.array([1.0, np.nan, 2.0, np.nan, 0.0, 3.0]), 0, 3, 2, 1, 0.0) == 0.0
    assert _solve(np.zeros(6, complex), 0, 3, 2, 1, 0.0) == 0.0
