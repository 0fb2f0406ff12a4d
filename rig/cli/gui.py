"""`rig gui`: the desktop app, found by entry point; this package does not depend on it."""

from importlib.metadata import EntryPoint, entry_points

import typer

from rig.cli.live import RealTimeOption
from rig.cli.options import ConfigArgument
from rig.errors import InputError

_GROUP = "stewart_rig.apps"
"""Entry-point group: name of the app → function of a configuration's name and `real_time` that returns an exit code."""

_EXTRA = ("PyQt5", "pyqtgraph", "OpenGL", "qtawesome")
"""Modules of the extra `gui`."""

_BUILT_IN = EntryPoint("gui", "gui:main", _GROUP)
"""Default for a source checkout without installed metadata; an installation declares the same."""


def gui(config: ConfigArgument = "virtual", real_time: RealTimeOption = False) -> None:
    """Open the desktop app: operate a rig, run motions, compare model and measurement.

    Left out, CONFIG is the virtual rig, on free ports of this machine: Connect, Home, Engage, and run the demo.
    Esc and the red button stop the rig from anywhere.
    """
    app = next(iter(entry_points(group=_GROUP, name="gui")), _BUILT_IN)
    try:
        code = app.load()(config, real_time=real_time)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _EXTRA and isinstance(error, ModuleNotFoundError):
            raise InputError(
                f"the desktop app needs {error.name}, which is not installed: pip install 'stewart-rig[gui]' (in a "
                "checkout: make install); every other command works without it"
            ) from error
        from rig.runtime import NEEDED, missing_packages

        missing = " ".join(missing_packages(*NEEDED))
        way_out = f"type: sudo apt-get install {missing}" if missing else "see `rig doctor`"
        raise InputError(f"the desktop app ({app.value}) cannot be loaded: {error}; {way_out}") from error
    raise typer.Exit(code)
