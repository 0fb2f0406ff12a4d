"""Claims of Pedrammehr et al. (2012) about the pods' forces: the paper's own L_uo first, that of 1998 beside it."""

import numpy as np

from dynamics import EVERY_TERM, Mend, compact_forces, variant_forces
from rig.papers.claims import Between, Claim, Criterion, Near, Origin, Threshold, Unquantified, number
from rig.papers.error_table import error_claims
from rig.papers.paths import PathRun, force_error, manipulator, run_path

OWN = "pedrammehr-2012"
"""The paper's manipulator: z of L_uo is −0.08 m; +0.08 m in 1998."""
_TWICE = (
    "eqs. 32, 33 and 50 count inertia twice beside eqs. 31 and 49. At low speed this hardly shows, ten times as fast "
    "it is as large as all the errors of 1998 together"
)
_STATIC = (
    "slowly, what counts is not the spin but how the universal joint bears the weight of a leg that is not balanced: "
    "with a moment along u×v, which 2012 has right"
)
_PATHS = (("2", "I", "fig. 9"), ("3", "II", "fig. 10"))


def force_claims() -> list[Claim]:
    """All of them."""
    found = []
    for path, name, figure in _PATHS:
        own, other = run_path(name, OWN), run_path(name)
        found += [trend(path, figure, own), _significance(path, figure, own, other), accuracy(path, figure, own, other)]
    return [*found, parallel_axes(), *_at_rest(run_path("I", OWN)), *_errors()]


def trend(path: str, figure: str, run: PathRun) -> Claim:
    """Whether the two models' forces rise and fall together."""
    least = min(np.corrcoef(run.pedrammehr[:, leg], run.dasgupta[:, leg])[0, 1] for leg in range(6))
    return Claim(
        f"path-{path}-trends",
        f"Path {path}: both models show similar trends of change",
        f"§9, {figure}",
        Between(0.99, None),
        float(least),
        measure="least correlation over time of the two models' forces, by pod",
        threshold=Threshold.OURS,
    )


def _significance(path: str, figure: str, own: PathRun, other: PathRun) -> Claim:
    apart, largest = force_error(own.dasgupta, own.pedrammehr)
    beside, beside_largest = force_error(other.dasgupta, other.pedrammehr)
    return Claim(
        f"path-{path}-significant",
        f"Path {path}: the differences between the improved and the simplified forces are significant",
        f"§9, {figure}",
        Unquantified("significant"),
        apart,
        "%",
        measure=f"RMS difference of the forces relative to the improved ones, at most {largest:.1f} N, with the "
        f"paper's own L_uo; with that of 1998 {beside:.2f} % and {beside_largest:.1f} N",
        why="the paper gives no number that would be significant, and none for its differences",
    )


def accuracy(path: str, figure: str, own: PathRun, other: PathRun) -> Claim:
    """Whether 2012 is nearer to the exact model than 1998: by both measures, by neither, or it cannot be said."""
    ours, theirs = force_error(own.pedrammehr, own.exact), force_error(own.dasgupta, own.exact)
    beside = force_error(other.pedrammehr, other.exact), force_error(other.dasgupta, other.exact)
    by_rms, by_peak = ours[0] < theirs[0], ours[1] < theirs[1]
    criterion: Criterion = Between(None, 1.0) if by_rms == by_peak else Unquantified("more accurate")
    split = (
        "by the RMS error it is, by the largest error it is not, and the paper says of neither that it is meant. "
        if by_rms != by_peak
        else ""
    )
    return Claim(
        f"path-{path}-accuracy",
        f"Path {path}: the improved formulation is more accurate than the previous one",
        f"abstract, §9, {figure}",
        criterion,
        ours[0] / theirs[0],
        measure="RMS error against the exact model over that of 1998, with the paper's own L_uo: "
        f"{_against(ours, theirs)}; with that of 1998: {_against(*beside)}",
        why=split + (_TWICE if path == "3" else _STATIC),
    )


def _against(ours: tuple[float, float], theirs: tuple[float, float]) -> str:
    return f"{ours[0]:.2f} against {theirs[0]:.2f} % RMS, {ours[1]:.1f} against {theirs[1]:.1f} N at most"


def parallel_axes() -> Claim:
    """Whether the parallel-axis terms bring the forces nearer to the exact ones."""
    run, machine = run_path("II", OWN), manipulator(OWN)
    printed, without = (
        force_error(compact_forces(machine, run.motions, mends=mends), run.exact) for mends in (EVERY_TERM, tuple(Mend))
    )
    return Claim(
        "parallel-axes",
        "Considering the theorem of parallel axes makes the inertia tensors, and the forces, more accurate",
        "§7, §9, eqs. 32, 33, 50",
        Between(0.0, None),
        without[0] - printed[0],
        "% points",
        measure="RMS error of path 3 without the terms less that with them, all other equations the same "
        f"({number(without[0])} and {printed[0]:.2f} %; largest {number(without[1])} and {printed[1]:.1f} N)",
        why=f"{_TWICE}; without the terms the equations are exact",
    )


def _at_rest(run: PathRun) -> list[Claim]:
    still = run.motions.copy()
    still[:, 7:] = 0.0
    exact, dasgupta, pedrammehr = (
        variant_forces(model, manipulator(OWN), still) for model in ("exact", "dasgupta-1998", "pedrammehr-2012")
    )
    before, now = force_error(dasgupta, exact), force_error(pedrammehr, exact)
    return [
        Claim(
            "reaction-direction",
            "The reaction moment of the universal joint along u×v is justifiable (eq. 34), that along the pod is not",
            "§7, §9",
            Between(None, 1e-9),
            now[0],
            "%",
            measure="RMS error of the 2012 forces against the exact ones, standing still in the poses of path 2; those "
            f"of 1998 {before[0]:.2f} %, at most {before[1]:.1f} N",
            threshold=Threshold.OURS,
            apart="by construction: the exact model has the same joint, which does no work about u and v",
        ),
        Claim(
            "reaction-share",
            "… and makes the difference to 1998 on path 2: share of that model's error that it has standing still",
            "§7, fig. 9",
            Near(1.0, 0.1),
            before[0] / force_error(run.dasgupta, run.exact)[0],
            measure=f"RMS error at rest ({before[0]:.2f} %, at most {before[1]:.1f} N) over that in motion",
            why=_STATIC,
            origin=Origin.REPRODUCTION,
        ),
    ]


def _errors() -> list[Claim]:
    """The table of errors, which is of the 1998 L_uo."""
    found: list[Claim] = []
    for name, share, peak in (("I", 0.07, 1.2), ("II", 5.62, 118.5)):
        run, own = run_path(name), run_path(name, OWN)
        error, beside = force_error(run.pedrammehr, run.exact), force_error(own.pedrammehr, own.exact)
        why = f"{_TWICE}. With this paper's own L_uo: {beside[0]:.2f} % and {beside[1]:.1f} N"
        subject = f"Path {name} of 1998: the 2012 model as printed"
        found += error_claims(f"path-{len(name)}", subject, error, share, peak, why)
    return found
