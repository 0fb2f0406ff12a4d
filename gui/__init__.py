"""The desktop app: operate the rig, and compare model and measurement."""


def main(config: str = "virtual", *, real_time: bool = False) -> int:
    """Run the app for a configuration (a file or the name of a shipped one); returns the exit code.

    real_time: run a virtual rig in real time.
    Raises ConfigError for an unusable configuration, before anything is shown.
    """
    from gui.screen import make_application  # deferred: only a process that opens a window needs Qt

    _application = make_application()  # exits here without a screen, before anything else is loaded
    from rig.runtime import begin_server

    begin_server()  # the fork server loads in parallel
    from gui.application import run

    return run(config, real_time=real_time)


__all__ = ["main"]
