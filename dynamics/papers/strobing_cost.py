"""Cost of strobing (Turney, Mudge & Lee 1980 = 001, §§6–7): printed forms, and counts of the algorithms here.

001 gives k₁ n(n+1)/2 + d₁ n(n+1)/2 for M, k₂ n(n+1)(2n+1)/6 + d₂ n(n+1)/2 for the C^i, and for the simulation's step
k₁ n(n+1)/2 + d₁ n(n+1)/2 + k₂ n + d₂ n, without its elimination: k are kinematic operations per link, d dynamic
ones, here those of its table 4. Multiplications and additions together; modified Newton–Euler, all revolute, principal
axes as there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from dynamics.papers.counting import REST, Operations, count_operations, counted, sum_operations
from dynamics.papers.operation_counts import BEYOND, SAMPLES, TURNEY_4, Law, degree, general_chain, interpolated, law
from dynamics.serial.lagrangian import lagrange_coefficients, lagrange_euler
from dynamics.serial.recursions import modified_newton_euler
from dynamics.serial.torque_control import chain_acceleration, strobed_coriolis, strobed_gravity, strobed_mass_matrix

_OUTWARD = ("ω_i", "α_i", "A_i", "a_i", "m_i ā_i")
"""Terms of table 4 that are formed in the outward pass."""


@dataclass(frozen=True, slots=True)
class StrobingCost:
    """One part of a strobed form: key, description, printed form as text and as a law, counted law.

    `order` is that of the polynomial through the counts at SAMPLES and BEYOND. `printed` is None if 001 has no form.
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


def _moving(joints: int) -> Callable[[], object]:
    """Recursions for the C^i over the moving links: from joint min(j, k) on."""
    chain, posture = general_chain(joints, True), _posture(joints)

    def strobed(first: int, other: int) -> object:
        above = replace(chain, links=chain.links[first:])
        rates = list(counted(float(i in (first, other)) for i in range(first, joints)))
        at_rest = list(counted(0.0 for _ in rates))
        return modified_newton_euler(above, posture[first:], rates, at_rest, gravity=(0.0, 0.0, 0.0))

    return lambda: [strobed(j, k) for j in range(joints) for k in range(j, joints)]


_RUNS: dict[str, Callable[[int], Callable[[], object]]] = {
    "M": lambda n: lambda: strobed_mass_matrix(general_chain(n, True), _posture(n)),
    "C": lambda n: lambda: strobed_coriolis(general_chain(n, True), _posture(n)),
    "C moving": _moving,
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
    """Return the parts of M, of the C^i and of a simulation step, each with the printed form."""
    k, d = _per_link(True), _per_link(False)
    half, pyramid = (law(0, "1/2", "1/2"), law(0, "1/6", "1/2", "1/3"))
    outward, inward = _owners(True), _owners(False)
    both = (*outward, *inward)
    kinematic, dynamic = ("outward, from base to hand", "inward, from hand to base")
    return (
        _cost("mass-outward", f"M: {kinematic}", "k₁ n(n+1)/2", half.times(k), "M", outward),
        _cost("mass-inward", f"M: {dynamic}", "d₁ n(n+1)/2", half.times(d), "M", inward),
        _cost("coriolis-outward", f"C^i: {kinematic}", "k₂ n(n+1)(2n+1)/6", pyramid.times(k), "C moving", outward),
        _cost("coriolis-all", f"C^i: {kinematic}, over all links", "as used here", None, "C", outward),
        _cost("coriolis-inward", f"C^i: {dynamic}", "d₂ n(n+1)/2", half.times(d), "C", inward),
        _cost("coriolis-apart", "C^i: C_jj and C_kk taken off", "not counted", None, "C", (REST,)),
        _cost(
            "step", "step of the simulation: M, C + G", "(k₁ + d₁) n(n+1)/2 + (k₂ + d₂) n",
            half.times(k + d) + law(0, k + d), "step", both,
        ),
        _cost("elimination", "step: elimination", "not counted", None, "step", ("solve_positive_definite",)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class StrobingEffort:
    """Multiplications and additions at n joints.

    M, the C^i and G by strobing over all links; the C^i outward over the moving links only; D, H and G by Lagrange;
    a simulation step with its elimination; and the joint forces by Lagrange, of order n³ as in 001 table 2.
    """

    joints: int
    strobed: int
    strobed_moving: int
    lagrange: int
    step: int
    lagrange_forces: int


@cache
def strobing_effort(joints: int = 6) -> StrobingEffort:
    """Count the operations of the explicit form and a simulation step by strobing, and by Lagrange."""
    chain, posture = general_chain(joints, True), _posture(joints)
    rates = list(counted([0.7] * joints))

    def size(run: Callable[[], object]) -> int:
        whole = sum_operations(count_operations(run))
        return whole.multiplications + whole.additions

    def gravity() -> object:
        return strobed_gravity(chain, posture)

    outward = {cost.key: cost.counted.at(joints) for cost in strobing_costs()}
    strobed = sum(size(run) for run in (_RUNS["M"](joints), _RUNS["C"](joints), gravity))
    return StrobingEffort(
        joints,
        strobed,
        strobed - outward["coriolis-all"] + outward["coriolis-outward"],
        size(lambda: lagrange_coefficients(chain, posture)),
        size(_RUNS["step"](joints)),
        size(lambda: lagrange_euler(chain, posture, rates, rates)),
    )
