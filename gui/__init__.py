"""The desktop app: operate the rig, and see model and measurement side by side."""


def main(config: str = "virtual", *, real_time: bool = False) -> int:
    """Run the app for a configuration (a file, or the name of a shipped one); returns the exit code.

    real_time: whether a virtual rig keeps to the wall clock.
    Raises ConfigError for a configuration that cannot be used; nothing is shown then.
    """
    from gui.screen import make_application  # Qt is loaded by whoever shows a window, not by whoever looks for the app

    _kept = make_application()  # without a screen it ends here, before anything else has loaded
    from rig.runtime import begin_server

    begin_server()  # which loads while the app does
    from gui.application import run

    return run(config, real_time=real_time)


__all__ = ["main"]
