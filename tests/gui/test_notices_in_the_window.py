"""What the window says of things that are long, or cannot be done now."""

from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, make_status

from gui.shell.main_window import MainWindow
from rig.config import in_real_time
from rig.states import State


def test_a_report_that_cannot_be_made_now_says_why(window: MainWindow, session: FakeSession) -> None:
    session.config = in_real_time(session.config)
    session.take(make_status(State.ENGAGED))
    window.runs.reporting.make(["a.mcap#1"], "validation")
    assert window.banner.notice.text().startswith("report: while the drives have torque")
    window.runs.reporting.make()
    assert window.banner.notice.text() == "report: nothing has been recorded yet"


def test_a_long_name_leaves_stop_in_view(window: MainWindow, session: FakeSession) -> None:
    width = window.minimumSizeHint().width()
    name = "calibration_series_platform_B_with_payload_" * 6
    session.take(make_status(State.RUNNING, motion=name, path_duration=20.0))
    window.motion.transport.show_motion(name, 20.0)
    QtWidgets.QApplication.processEvents()
    assert window.minimumSizeHint().width() <= width + 200
    window.resize(1024, 700)
    QtWidgets.QApplication.processEvents()
    assert window.width() == 1024
    corner = window.stop_button.mapTo(window, window.stop_button.rect().bottomRight())
    assert window.rect().contains(corner)
    assert name in window.motion.run.accessibleName()
