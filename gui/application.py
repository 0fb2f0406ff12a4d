"""Starting the app: configuration, session, window."""

import contextlib
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from pyqtgraph.Qt import QtCore
from pyqtgraph.util.garbage_collector import GarbageCollector

from actuators import TcpEndpoint
from gui.screen import make_application
from gui.session import RigSession
from gui.settings import NAME, app_settings
from gui.shell import MainWindow
from gui.texts import tr
from rig.client import on_free_ports, on_ports, with_demo_thresholds
from rig.config import RigConfig, in_real_time, load_config, relaxed_timing
from rig.engine import find_engine
from rig.errors import RigError
from rig.runtime import return_large_blocks

_PORTS = "virtual ports"


def app_config(name: str, settings: QtCore.QSettings | None = None) -> RigConfig:
    """The app's configuration: the shipped virtual rig on free ports, with demonstration timeouts and thresholds.

    If the last app with these settings crashed and its engine still controls the virtual rig, that rig is reused.
    """
    config = load_config(name)
    if name != "virtual":
        return config
    rig = relaxed_timing(_left_behind(config, settings) or on_free_ports(config))
    rig = with_demo_thresholds(rig, timing=False)
    if settings is not None:
        amplifier = rig.load_cells.amplifier
        places = [*rig.drives.legs, amplifier]
        ports = [one.endpoint.port if one and isinstance(one.endpoint, TcpEndpoint) else 0 for one in places]
        settings.setValue(_PORTS, ",".join(map(str, ports)))
    return rig


def _left_behind(config: RigConfig, settings: QtCore.QSettings | None) -> RigConfig | None:
    """Return the configuration of a crashed app's virtual rig while an engine still controls it, else None."""
    try:
        ports = [int(port) for port in str(settings.value(_PORTS, "")).split(",")] if settings is not None else []
    except ValueError:
        return None  # no file yet, or edited by the user
    if len(ports) != 7:
        return None
    with contextlib.suppress(RigError):  # the ports are missing or invalid
        left = on_ports(config, ports)
        engine = find_engine(left)
        if engine is not None and not engine.owner_alive:
            return left
    return None


def make_window(config: RigConfig, settings: QtCore.QSettings) -> MainWindow:
    """Create the main window with its own session. Needs a QApplication."""
    return_large_blocks()  # curves come and go in megabytes
    return MainWindow(RigSession(config, Path(config.recording.directory)), settings)


@contextlib.contextmanager
def errors_logged(session: RigSession) -> Iterator[None]:
    """Log exceptions that leave a slot within the `with` block: the first of each type and code line.

    The previous exception hook still gets the traceback.
    """
    before = sys.excepthook
    seen: set[tuple[type[BaseException], str]] = set()

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        last = trace
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = "" if last is None else f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
        if issubclass(kind, Exception) and (kind, place) not in seen:
            seen.add((kind, place))  # before logging: the log view itself may have raised
            session.log(
                "error",
                "app",
                tr("internal error at {place}: {name}: {error}").format(place=place, name=kind.__name__, error=error),
            )

    sys.excepthook = hook
    try:
        yield
    finally:
        sys.excepthook = before


@contextlib.contextmanager
def garbage_searched_here() -> Iterator[None]:
    """Restrict garbage collection to this thread's event loop within the `with` block.

    Otherwise it runs in whichever thread allocates, and Qt may crash when one thread destroys another's widgets.
    Needs a QApplication in this thread.
    """
    before = gc.isenabled()
    collector = GarbageCollector()
    try:
        yield
    finally:
        collector.timer.stop()
        if before:
            gc.enable()


def run(config: str, *, real_time: bool = False) -> int:
    """Run the app until its window is closed, then again for each rig opened in its place.

    Returns the exit code. Raises ConfigError before anything is shown.
    """
    settings = app_settings()
    rig: RigConfig | None = in_real_time(app_config(config, settings)) if real_time else app_config(config, settings)
    application = make_application()
    application.setApplicationName(NAME)
    application.setOrganizationName(NAME)
    code = 0
    gc.freeze()  # loaded modules stay: the collector can skip them
    with garbage_searched_here():
        while rig is not None and code == 0:
            window = make_window(rig, settings)
            window.show()
            with errors_logged(window.session):
                code = int(application.exec())
            rig = window.menus.other.following
            window.deleteLater()  # while the application exists: destruction order at interpreter exit is undefined
            application.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    return code
