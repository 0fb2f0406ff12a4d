"""Errors of the published models' leg forces against the exact ones."""

from rig.papers.claims import Claim, Origin, Rounded


def error_claims(
    key: str, subject: str, error: tuple[float, float], share: float, peak: float, why: str
) -> tuple[Claim, Claim]:
    """The two entries of the table of a published model's errors against the exact one."""
    return (
        Claim(
            f"{key}-error-rms",
            f"{subject}: error of the leg forces against the exact model",
            "error table",
            Rounded(share, 0.01),
            error[0],
            "%",
            measure="RMS over all legs and samples, relative to the exact RMS",
            why=why,
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            f"{key}-error-peak",
            f"{subject}: largest error of a leg force",
            "error table",
            Rounded(peak, 0.1),
            error[1],
            "N",
            origin=Origin.REPRODUCTION,
        ),
    )
