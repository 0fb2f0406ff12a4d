"""Pedrammehr et al. (2012): the compact equations as printed beside the mended ones."""

from collections.abc import Collection

import numpy as np

from dynamics import EVERY_TERM, Mend, compact_forces, tangential_accelerations
from rig.papers.claims import Between, Claim, Threshold, number
from rig.papers.paths import force_error, manipulator, rms, run_path
from rig.papers.study import Numbers, Sheet

_OWN = "pedrammehr-2012"
_ROUNDING = 1e-9


def equation_claims() -> list[Claim]:
    """Whether eqs. 25, 42 and 43 are what they are derived from."""
    printed, mended = _spin_error(False), _spin_error(True)
    return [
        Claim(
            "tangential-acceleration",
            "Eq. 25 gives the pods' angular acceleration along themselves, α_l·n of eq. 18",
            "§5, eq. 25",
            Between(None, _ROUNDING),
            printed,
            "%",
            measure="RMS difference on path 3, relative to α_l·n",
            why=f"the last term is −ω_u ω_v/√(1−(u·n)²); with it the difference is {number(mended, '%')}",
            threshold=Threshold.OURS,
        ),
        Claim(
            "compact-form",
            "Eqs. 42 and 43 are eq. 40, written compactly",
            "§7, eqs. 40–43",
            Between(None, _ROUNDING),
            _difference("II", ())[0],
            "%",
            measure="RMS difference of the actuator forces on path 3, the paper's own inertias in both",
            why=f"terms of eqs. 36 and 39 are lost on the way: at most {_difference('II', ())[1]:.1f} N; with them the "
            f"difference is {number(_difference('II', EVERY_TERM)[0], '%')}",
            threshold=Threshold.OURS,
        ),
    ]


def errata_sheet() -> Sheet:
    """What each term that eqs. 42 and 43 lack is worth."""
    header = ("Eqs. 42 and 43", "Path 2: RMS", "largest", "Path 3: RMS", "largest", "What is left as printed")
    everything = tuple(Mend)
    cases: list[tuple[str, Collection[Mend], str]] = [("as printed", (), "everything")]
    cases += [
        (f"mended but for ({place})", tuple(other for other in EVERY_TERM if other is not mend), mend.value)
        for place, mend in enumerate(EVERY_TERM, 1)
    ]
    cases += [("mended", EVERY_TERM, "only the inertias, as in eq. 40")]
    rows = [(name, *_difference("I", mends), *_difference("II", mends), text) for name, mends, text in cases]
    exact = [_difference(path, everything, exact=True) for path in ("I", "II")]
    rows.append(("mended, and the inertias, against the exact model", *exact[0], *exact[1], f"nothing: {Mend.INERTIA}"))
    return Sheet(
        "Eqs. 42 and 43, printed and mended",
        "Actuator forces by eqs. 41 to 43, 48 and 51 against those by eq. 40 with the paper's own inertias and L_uo: "
        "RMS difference over all pods and samples, relative to the forces, and the largest.",
        header,
        tuple((row[0], *_shown(row[1:3]), *_shown(row[3:5]), row[5]) for row in rows),
        Numbers(
            "eqs-42-and-43",
            ("case", "path2_rms_percent", "path2_N", "path3_rms_percent", "path3_N", "what"),
            tuple(rows),
        ),
    )


def _shown(error: tuple[float, float]) -> tuple[str, str]:
    share, largest = number(error[0], "%"), number(error[1], "N")
    return share.replace(" ", "\u00a0"), largest.replace(" ", "\u00a0")


def _spin_error(mended: bool) -> float:
    ours, expected = tangential_accelerations(manipulator(_OWN), run_path("II", _OWN).motions, mended=mended)
    return 100.0 * rms(ours - expected) / rms(expected)


def _difference(path: str, mends: Collection[Mend], *, exact: bool = False) -> tuple[float, float]:
    run = run_path(path, _OWN)
    forces = compact_forces(manipulator(_OWN), run.motions, mends=mends)
    return force_error(np.asarray(forces), run.exact if exact else run.pedrammehr)
