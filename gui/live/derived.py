"""Pages whose plots show what no row has: what published models say of it, and what follows from the mechanism."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gui.live.plot_page import Plots
from gui.live.series import Differences, Panel, panels_by_page
from kinematics import Geometry


def _no_geometry() -> Geometry | None:
    return None


@dataclass(frozen=True, slots=True)
class Sources:
    """What series are worked out with beside the rows; without it they are not numbers."""

    differences: Differences | None = None
    geometry: Callable[[], Geometry | None] = _no_geometry


class DerivedPlots(Plots):
    """Says which published models it needs now, and has them computed by the view that it is a page of."""

    def __init__(self) -> None:
        super().__init__()
        self.sources = Sources()
        """for plots that are made from now on"""

    @property
    def needed_models(self) -> tuple[str, ...]:
        """Published models that a plot shows something of, of `dynamics.MODELS`."""
        raise NotImplementedError

    def panels_with(self) -> Callable[[Sources], Sequence[Panel]]:
        """What makes the panels that are shown now, of other sources and in whatever thread."""
        raise NotImplementedError


def panels_to_write(
    name: str, page: Plots, complete: Callable[[], Differences] | None, geometry: Geometry | None
) -> Callable[[], Sequence[Panel] | None]:
    """What gives, in any thread, the panels of a page whose numbers are written; None: those that it has itself.

    Args:
        name: of the page. page: as it is now.
        complete: computes what the models lack of the rows; None where the page shows none of them.
        geometry: of the mechanism, None where that is not known.
    """
    made = page.panels_with() if isinstance(page, DerivedPlots) else None

    def panels() -> Sequence[Panel] | None:
        differences = None if complete is None else complete()
        if made is not None:
            return made(Sources(differences, lambda: geometry))
        return panels_by_page(differences, lambda: geometry).get(name)

    return panels
