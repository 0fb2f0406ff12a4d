"""A command in a child process, which has loaded what it takes already: an interpreter of its own loads for seconds."""

import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection


def run_child_command(
    arguments: Sequence[str], folder: str, output: Connection, errors: Connection, owner: Connection
) -> None:
    """Main function of a `rig.runtime.ChildProcess` that runs one command and ends with its exit code.

    Args:
        arguments: of `rig`.
        folder: to be in, which the server's may not be.
        output, errors: take what it prints, whoever prints it, as standard output and standard error.
        owner: open as long as whoever started it; what comes of it is standard input.
    """
    from rig.cli.application import main

    for stream, number in ((owner, 0), (output, 1), (errors, 2)):
        os.dup2(stream.fileno(), number)
        stream.close()
    os.chdir(folder)
    with open(0, encoding="utf-8", closefd=False) as sys.stdin:  # multiprocessing has put another in its place
        sys.exit(main(arguments))
