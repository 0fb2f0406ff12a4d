"""What comes of what a wizard does moves nothing that can be pressed in it; nor do words of the question to quit."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fit_support import opened
from happenings import LONG
from pyqtgraph.Qt import QtWidgets
from setup_support import PASSED, ZERO
from shell_support import FakeSession, asked, make_status
from standing import moved_by

from actuators import Answer, Identity, TcpEndpoint
from gui.calibrate import CalibrateMenu
from gui.models import Phase
from gui.setup.wizard import SetupWizard
from gui.shell.main_window import MainWindow
from gui.steps import StepPage, StepWizard, set_role
from gui.wizard import FitWizard
from rig.commissioning import LegProbe, LegResult, Probe
from rig.findings import Code, Finding
from rig.states import State

_WAITED = "asking leg 3 at 192.168.100.103:502 …"


def _each(*events: Callable[[], object]) -> Callable[[], object]:
    """All of them, in turn."""
    return lambda: [event() for event in events]


def _show(wizard: StepWizard, page: StepPage) -> None:
    number = next(each for each in wizard.pageIds() if QtWidgets.QWizard.page(wizard, each) is page)
    wizard.setStartId(number)
    wizard.restart()
    assert wizard.currentPage() is page


def _of_any(page: StepPage) -> dict[str, Callable[[], object]]:
    return {"missing": lambda: page.show_missing(LONG), "nothing missing": lambda: page.show_missing("")}


def _of_drives(wizard: SetupWizard) -> dict[str, Callable[[], object]]:
    page = wizard.drives
    identity = Identity("a maker of a rather long name", "a drive of a rather long name", "S-0123456789", "1.2.3")
    answer = Answer(TcpEndpoint("192.168.100.103", 502), 3, "generic-servo", identity, LONG)
    fault = Finding(Code.DRIVE_WITHOUT_MODE, details={"modes": LONG})
    probes = tuple(LegProbe(leg, "192.168.100.103:502", fault, identity, "other") for leg in range(1, 7))
    return {
        "searching": lambda: page.search._show("muted", "searching …"),
        "found": lambda: page.search._show_found([answer] * 12, ""),
        "not found": lambda: page.search._show_found(None, LONG),
        "nothing found": lambda: page.search._show_found([], ""),
        "asking": lambda: page.begin(None),
        "all told": lambda: page.show_all(Probe(probes)),
        "asking one": lambda: page.begin(2),
        "one told": lambda: page.show_probe(probes[2]),
        "asking again": lambda: page.begin(None),
        "failure": lambda: page.show_failure(None, LONG),
        "busy": lambda: page.set_busy(LONG),
        "at rest": lambda: page.set_busy(""),
    }


def _of_legs(wizard: SetupWizard) -> dict[str, Callable[[], object]]:
    page = wizard.legs
    found: dict[str, Callable[[], object]] = {}
    nan, others = math.nan, {leg: 1e-3 for leg in range(2, 7)}
    bad = LegResult(
        1, 0.002, (Finding.of_text(LONG), Finding.of_text(LONG)), False, 0.01, nan, nan, nan, nan, nan, others
    )
    for leg in (1, 3, 6):
        found |= {
            f"progress {leg}": partial(page.show_progress, leg, _WAITED),
            f"passed {leg}": partial(page.show_result, leg, PASSED, ""),
            f"failed {leg}": partial(page.show_result, leg, bad, ""),
            f"refused {leg}": partial(page.show_result, leg, None, LONG),
            f"forgotten {leg}": partial(page.invalidate, leg),
        }
    return found | {"busy": lambda: page.set_busy(LONG), "at rest": lambda: page.set_busy("")}


def _of_zero(wizard: SetupWizard) -> dict[str, Callable[[], object]]:
    page = wizard.zeroing
    return {
        "progress": lambda: page.show_progress(_WAITED),
        "zeroed": lambda: page.show_result(ZERO, ""),
        "refused": lambda: page.show_result(None, LONG * 2),
        "busy": lambda: page.set_busy(LONG),
        "at rest": lambda: page.set_busy(""),
    }


def _of_saving(wizard: SetupWizard) -> dict[str, Callable[[], object]]:
    page, there = wizard.saving, Path("there.toml").absolute()

    def exists() -> None:
        there.touch()
        page.path.setText(str(there))
        page.refresh([], "")

    return {
        "content": lambda: page.show_content("a = 1\n" * 100, None, LONG[:80], LONG * 2),
        "faults": lambda: page.refresh([LONG] * 3, ""),
        "the file is there": exists,
        "failure": _each(lambda: page.show_failure(LONG * 2), lambda: page.refresh([], "")),
        "saved": _each(lambda: page.show_saved(there, LONG, page.content), lambda: page.refresh([], "")),
        "other content": _each(lambda: page.show_content("b = 1\n", None, "", ""), lambda: page.refresh([], "")),
    }


_SETUP: dict[str, Callable[[SetupWizard], dict[str, Callable[[], object]]]] = {
    "drives": _of_drives,
    "legs": _of_legs,
    "zeroing": _of_zero,
    "saving": _of_saving,
}


def test_set_up_moves_nothing_by_itself(wizard: SetupWizard) -> None:
    moved = []
    for index, page in enumerate(wizard.pages):
        _show(wizard, page)
        wizard.resize(940, 690)
        size = wizard.size()
        name = next((name for name in _SETUP if getattr(wizard, name) is page), "")
        events = _of_any(page) | (_SETUP[name](wizard) if name else {})
        events |= {"moving": lambda: set_role(wizard.state, "bad", LONG), "still": lambda: wizard.state.clear()}
        moved += [f"page {index + 1}, {each}" for each in moved_by(events, wizard)]
        assert wizard.size() == size, f"page {index + 1}"
    assert not moved, "\n".join(moved)


def _of_fit(wizard: FitWizard) -> dict[StepPage, dict[str, Callable[[], object]]]:
    asking, computing, storing = wizard.request_page, wizard.compute_page, wizard.save_page
    said = [("warning", f"{LONG}\n" * 4), ("good", "✓"), ("warning", f"{LONG}\n" * 6)]
    computing.view.show_outcome = lambda outcome: said.pop(0)  # type: ignore[method-assign]
    there = Path("there.toml").absolute()
    there.touch()
    looked: dict[str, Callable[[], object]] = {}
    if (holding := asking.content_label) is not None:
        looked = {"found": lambda: holding.setText(LONG), "lost": lambda: holding.clear()}

    def exists() -> None:
        storing.path.setText(str(there))
        storing.refresh("", None)

    return {
        asking: looked,
        computing: {
            "computing": lambda: computing.show_progress(f"{LONG} 40 %", 0.4),
            "asked": lambda: computing.show_question(LONG),
            "answered": lambda: computing.show_question(""),
            "done": _each(lambda: computing.show_progress(""), lambda: computing.show_outcome(None)),  # type: ignore[arg-type]
            "changed": lambda: computing.show_nothing(LONG),
            "refused": lambda: computing.show_refusal(f"{LONG}\n" * 3),
            "computed": lambda: computing.show_outcome(None),  # type: ignore[arg-type]
            "computed otherwise": lambda: computing.show_outcome(None),  # type: ignore[arg-type]
        },
        storing: {
            "to be saved": lambda: storing.refresh("", None),
            "the file is there": exists,
            "not saved": _each(lambda: storing.show_failure(LONG * 2), lambda: storing.refresh("", None)),
            "saved": _each(lambda: storing.show_saved(there), lambda: storing.refresh("", None)),
        },
    }


_FITS = (
    "geometry", "in_place", "bench", "identify", "weigh", "respond", "excite", "multisine", "closed_loop",
)  # fmt: skip


@pytest.fixture
def fit(
    menu: CalibrateMenu, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[FitWizard]:
    """A wizard over a command, in view."""
    monkeypatch.chdir(tmp_path)
    yield opened(getattr(menu, request.param), None, qtbot)
    menu.close_wizards()


@pytest.mark.parametrize("fit", _FITS, indirect=True)
def test_wizards_over_commands_move_nothing_by_themselves(fit: FitWizard) -> None:
    moved = []
    for page, events in _of_fit(fit).items():
        _show(fit, page)
        size = fit.size()
        moved += [f"{page.title()}, {each}" for each in moved_by(events | _of_any(page), fit)]
        assert fit.size() == size
    assert not moved, "\n".join(moved)


def test_the_question_to_quit_stays_where_it_is(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    window.close()
    question = asked(window, qtbot)
    events: dict[str, Callable[[], object]] = {
        "parked": lambda: session.take(make_status(State.PARKED)),
        "running": lambda: session.take(make_status(State.RUNNING)),
        "died": lambda: session.enter(Phase.DIED),
    }
    assert moved_by(events, question) == []
