"""How many kernels are there is told as they are compiled, and nothing where none is."""

from typing import Any

from kinematics import Kernel, report_compilation, with_callees

_inner: Any = Kernel(lambda x: x + 1.0)
outer: Any = Kernel(lambda x: _inner(x) * 2.0)
other: Any = Kernel(lambda x: x - 1.0)
_ROOTS = [f"{__name__}.outer", f"{__name__}.other"]


def test_each_is_counted_once_it_is_there() -> None:
    told: list[tuple[int, int]] = []
    with report_compilation(_ROOTS, lambda done, total: told.append((done, total))):
        assert outer(1.0) == 4.0
        assert told == [(0, 3), (1, 3), (2, 3)]
        assert other(1.0) == 0.0
        assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
        assert outer(1) == 4.0 and len(told) == 4  # another signature is no other kernel
    del told[:]
    with report_compilation(_ROOTS, lambda done, total: told.append((done, total))):
        outer(2.0)
    assert told == []


def test_what_a_kernel_calls_belongs_to_it() -> None:
    assert set(with_callees([outer])) == {outer, _inner}
