"""What the app says of findings, faults and steps, in the language that the environment says: printed as JSON.

A program of its own, since texts are taken when modules are loaded. It makes the widgets that say it, and no window.
"""

import json
import sys
from pathlib import Path
from typing import Any

from filled_findings import filled
from pyqtgraph.Qt import QtWidgets
from shell_support import VIRTUAL, FakeSession, make_status

from gui.models import STATE_WORDS, Action, Phase, Situation, repair_of
from gui.operate import OperatePanel
from gui.screen import make_application
from gui.session import StopButton
from gui.shell.banner import Banner
from gui.texts import cause_text, fault_text, finding_text, tr
from rig.findings import Code, Finding
from rig.states import FaultCode, State, StopSeverity

FAULT = Finding(Code.FOLLOWING_ERROR, 3, 0.0123, 0.01)


def said(folder: Path) -> dict[str, Any]:
    """Everything of interest, by subject."""
    session = FakeSession(VIRTUAL, folder)
    stop = StopButton(lambda: None)
    panel, banner = OperatePanel(session), Banner(stop, virtual=True, off=["residual"])
    fault = make_status(State.FAULT, finding=FAULT, cause_t=9.0, stop=StopSeverity.CATEGORY_1)
    banner.show_situation(Situation(phase=Phase.UP, status=fault))
    refusals = {}
    for code in Code:
        banner.notice.refuse("home", filled(code))
        repair = repair_of(filled(code))
        refusals[code.value] = (banner.notice.text(), banner.notice.remedy_button.text() if repair else "")
    steps = {action.name: button.text() for action, button in panel.buttons.items()}
    return {
        "findings": {code.value: finding_text(filled(code)) for code in Code},
        "cause": cause_text(FAULT),
        "faults": {code.name: fault_text(code) for code in FaultCode if code},
        "actions": {action.name: tr(action.value) for action in Action},
        "states": {state.name: word for state, word in STATE_WORDS.items()},
        "steps": {**steps, "ARM": panel.arm.text()},
        "banner": (banner.state_text, banner.detail, banner.remedy_button.text()),
        "refusals": refusals,
        "stop": stop.toolTip(),
        "hints": [button.toolTip() for button in panel.findChildren(QtWidgets.QAbstractButton) if button.toolTip()],
    }


if __name__ == "__main__":
    application = make_application()
    json.dump(said(Path(sys.argv[1])), sys.stdout)
