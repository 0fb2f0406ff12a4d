"""The closed loop offline from the app: controllers side by side, and the command's plot."""

from pathlib import Path
from typing import Any

from fit_support import compute, opened, save

from gui.calibrate import CalibrateMenu

SMALL = """
frame = "home"
parts = [{ type = "harmonic", duration = 0.5, fade = 0.1, terms = [{ dof = "z", amplitude = 0.002, frequency = 4.0 }] }]
"""
NAMES = ["none", "pd", "force", "computed-torque", "position", "observer"]


def test_controllers_are_compared_and_what_loses_the_platform_is_named(
    menu: CalibrateMenu, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    wizard = opened(menu.closed_loop, tmp_path / "small.toml", qtbot)
    wizard.request_page["mass_error"].set_si(10.0)
    wizard.request_page["bandwidth"].set_si(8.0)
    steps: list[str] = []
    wizard.runner.stepped.connect(steps.append)
    said = compute(wizard, qtbot)
    outcome = wizard.outcome
    assert outcome is not None, said
    assert steps[0] == "none, as modelled: 0 %" and len(steps) == 18
    assert said.splitlines()[0] == f"lab-hexapod: {tmp_path / 'small.toml'}, 0.5 s at 500 Hz."
    runs = outcome.result["runs"]
    worst = {
        name: max(run["position_rms_mm"] for run in runs if run["controller"] == name)
        for name in NAMES
        if not any(run["end"] for run in runs if run["controller"] == name)
    }
    best = min(worst, key=worst.__getitem__)
    assert f"Best controller on its worst plant: {best}, {worst[best]:.3g} mm RMS." in said
    assert all(f"{name}: " in said for name in set(NAMES) - set(worst))
    table = wizard.results.shown.table
    loops = [[table.item(row, column).text() for column in (2, 3)] for row in range(0, table.rowCount(), 3)]
    leg_law = ["2.2–8", "2.24"]
    assert loops == [["", ""], leg_law, leg_law, ["8", "3.51"], ["2.2–8", ""], ["2.2–8", "2.15"]]
    assert [table.item(row, 0).text() for row in range(0, table.rowCount(), 3)] == NAMES
    assert [table.item(row, 1).text() for row in range(3)] == ["as modelled", "masses +10 %", "masses -10 %"]
    target = save(wizard, qtbot)
    assert target == tmp_path / "small-loops.svg" and "</svg>" in target.read_text()
    wizard.request_page["trajectory"].choose(tmp_path / "none.toml")
    assert "none.toml" in compute(wizard, qtbot) and wizard.outcome is None
