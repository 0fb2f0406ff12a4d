"""The desktop app: operate the rig, and see model and measurement side by side."""


def main(config: str = "virtual") -> int:
    """Run the app for a configuration (a file, or the name of a shipped one); returns the exit code.

    Raises ConfigError for a configuration that cannot be used; nothing is shown then.
    """
    from gui.application import run  # Qt is loaded by whoever shows a window, not by whoever looks for the app

    return run(config)


__all__ = ["main"]
