"""The studies by name."""

from collections.abc import Callable, Sequence

from rig.papers import dasgupta_1998, iterative_newton_euler, lee_1982, pedrammehr_2012, turney_1980
from rig.papers.study import Report, Study

_STUDIES: dict[str, Callable[[Report], Study]] = {
    "dasgupta-1998": dasgupta_1998.study,
    "pedrammehr-2012": pedrammehr_2012.study,
    "turney-1980": turney_1980.study,
    "lee-1982": lee_1982.study,
    "iterative-newton-euler": iterative_newton_euler.study,
}
STUDIES = tuple(_STUDIES)
"""Names of the studies."""


def reproduce(names: Sequence[str] = STUDIES, report: Report = lambda _what, _fraction: None) -> tuple[Study, ...]:
    """Reproduce the named studies in order; `report` receives the progress, 0 to 1 over all of them.

    Raises KeyError for an unknown name.
    """
    studies = []
    for place, name in enumerate(names):

        def step(what: str, fraction: float, place: int = place) -> None:
            report(what, (place + fraction) / len(names))

        studies.append(_STUDIES[name](step))
    return tuple(studies)
