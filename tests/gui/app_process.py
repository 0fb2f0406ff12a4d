"""The app in a process of its own, brought to a running motion without a hand: to be killed by a test."""

import sys
from multiprocessing.connection import Connection
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models.rules import Action
from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from kinematics import TrajectorySpec, build_trajectory
from rig.client.motions import prepare_motion
from rig.config.rig_config import RigConfig
from rig.engine import Connect, Engage, Follow, Home, RigCommand, Snapshot
from rig.states import State

_RUNNING = 1.0  # s of the motion before the test is told
_UP_AND_DOWN = {"dof": "z", "amplitude": 0.01, "frequency": 0.5}
_LONG = {"frame": "home", "parts": [{"type": "harmonic", "duration": 60.0, "fade": 0.5, "terms": [_UP_AND_DOWN]}]}
_STEPS: dict[State, RigCommand] = {State.OFF: Connect(), State.IDLE: Home(), State.PARKED: Engage()}


def run_app(config: RigConfig, folder: Path, told: Connection) -> None:
    """Main function of the process: sends the `EngineAddress` once the motion runs."""
    application = QtWidgets.QApplication([sys.argv[0]])
    settings = QtCore.QSettings(str(folder / "gui.ini"), QtCore.QSettings.Format.IniFormat)
    window = MainWindow(RigSession(config, folder), settings)
    window.views.building.stop()  # nobody looks at it
    session = window.session
    home = config.machine.geometry.home_pose
    table = prepare_motion(config, build_trajectory(TrajectorySpec.model_validate(_LONG), home))
    sent: list[str] = []

    def follow(status: Snapshot) -> None:
        if session.busy:
            return
        command = _STEPS.get(status.state)
        if status.state is State.ENGAGED and "follow" not in sent:
            sent.append("follow")
            session.send("follow", Follow("long", table.step), table.samples)
        elif command is not None and not session.obstacle(Action[command.kind.upper()]):
            session.send(command.kind, command)
        elif status.state is State.RUNNING and status.path_time > _RUNNING and "told" not in sent:
            sent.append("told")
            assert session.engine_address is not None
            told.send(session.engine_address)

    session.statusChanged.connect(follow)
    session.connect_rig()
    window.show()
    application.exec()
