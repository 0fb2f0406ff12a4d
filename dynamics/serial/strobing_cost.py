"""What strobing costs (Turney, Mudge & Lee 1980 = 001, §§6–7): the forms printed, and counts of the algorithms here.

001 gives k₁ n(n+1)/2 + d₁ n(n+1)/2 for M, k₂ n(n+1)(2n+1)/6 + d₂ n(n+1)/2 for the C^i, and for the simulation's step
k₁ n(n+1)/2 + d₁ n(n+1)/2 + k₂ n + d₂ n, without its elimination: k the kinematic operations per link, d the dynamic
ones, here those of its own table 4. Multiplications and additions together; modified Newton–Euler, all
revolute, principal axes as there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from dynamics.counting import REST, Operations, count_operations, counted
from dynamics.serial.laws import BEYOND, SAMPLES, Law, degree, general_chain, interpolated, law
from dynamics.serial.published import TURNEY_4
from dynamics.serial.strobed import chain_acceleration, strobed_coriolis, strobed_mass_matrix

_OUTWARD = ("ω_i", "α_i", "A_i", "a_i", "m_i ā_i")
"""Terms of table 4 that are formed on the way from base to hand."""


@dataclass(frozen=True, slots=True)
class StrobingCost:
    """One part of a strobed form: its key, what it is, the printed form as written and as a law, the counted law.

    `order` is that of the polynomial through the counts at SAMPLES and BEYOND. `printed` is None where 001 has nothing.
    """

    key: str
    part: str
    form: str
    printed: Law | None
    counted: Law
    order: int


def _per_link(outward: bool) -> int:
    rows = [row for row in TURNEY_4.rows if row.published and (row.term in _OUTWARD) is outward]
    return sum(part.at(2) - part.at(1) for row in rows for part in row.published or ())


def _owners(outward: bool) -> tuple[str, ...]:
    rows = [row for row in TURNEY_4.rows if row.published and (row.term in _OUTWARD) is outward]
    return tuple(owner for row in rows for owner in row.owners)


def _posture(joints: int) -> list[object]:
    return list[object](counted(0.1 * k + 0.5 for k in range(joints)))


def _step(joints: int) -> Callable[[], object]:
    chain, rates = general_chain(joints, True), counted([0.7] * joints)
    return lambda: chain_acceleration(chain, _posture(joints), rates, counted([3.0] * joints))


_RUNS: dict[str, Callable[[int], Callable[[], object]]] = {
    "M": lambda n: lambda: strobed_mass_matrix(general_chain(n, True), _posture(n)),
    "C": lambda n: lambda: strobed_coriolis(general_chain(n, True), _posture(n)),
    "step": _step,
}


@cache
def _counts(run: str) -> tuple[dict[str, Operations], ...]:
    """Operations by owner at SAMPLES and BEYOND."""
    owners = (*_owners(True), *_owners(False), "rotation", "joint_force", "solve_positive_definite")
    return tuple(count_operations(_RUNS[run](n), owners=owners) for n in (*SAMPLES, *BEYOND))


def _cost(key: str, part: str, form: str, printed: Law | None, run: str, owners: tuple[str, ...]) -> StrobingCost:
    totals = [
        sum(counts[owner].multiplications + counts[owner].additions for owner in owners if owner in counts)
        for counts in _counts(run)
    ]
    return StrobingCost(key, part, form, printed, interpolated(totals[: len(SAMPLES)]), degree(totals))


@cache
def strobing_costs() -> tuple[StrobingCost, ...]:
    """The parts of M, of the C^i and of a step of the simulation, each beside the printed form."""
    k, d = _per_link(True), _per_link(False)
    half, pyramid = (law(0, "1/2", "1/2"), law(0, "1/6", "1/2", "1/3"))
    outward, inward = _owners(True), _owners(False)
    both = (*outward, *inward)
    kinematic, dynamic = ("outward, from base to hand", "inward, from hand to base")
    return (
        _cost("mass-outward", f"M: {kinematic}", "k₁ n(n+1)/2", half.times(k), "M", outward),
        _cost("mass-inward", f"M: {dynamic}", "d₁ n(n+1)/2", half.times(d), "M", inward),
        _cost("coriolis-outward", f"C^i: {kinematic}", "k₂ n(n+1)(2n+1)/6", pyramid.times(k), "C", outward),
        _cost("coriolis-inward", f"C^i: {dynamic}", "d₂ n(n+1)/2", half.times(d), "C", inward),
        _cost("coriolis-apart", "C^i: C_jj and C_kk taken off", "not counted", None, "C", (REST,)),
        _cost(
            "step", "step of the simulation: M, C + G", "(k₁ + d₁) n(n+1)/2 + (k₂ + d₂) n",
            half.times(k + d) + law(0, k + d), "step", both,
        ),
        _cost("elimination", "step: elimination", "not counted", None, "step", ("solve_positive_definite",)),
    )  # fmt: skip
