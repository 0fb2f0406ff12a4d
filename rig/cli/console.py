"""The console of `rig operate`: reads and executes commands line by line, and ends with the rig at rest."""

import contextlib
import shlex
import sys
from collections.abc import Iterator

import typer
from typer.main import get_command

from kinematics import KinematicsError
from rig.cli.console_commands import app
from rig.cli.options import error_text, print_error, print_styled
from rig.client import Interruption, Rig, RigClient, leave, stop, stop_finding
from rig.engine import TORQUE_STATES, Event
from rig.errors import InputError, InterruptedRunError, RigError, RunFaultError
from rig.findings import Code, Finding, Value
from rig.states import State

_COLOURS = {"info": None, "warning": "yellow", "error": "red"}
_USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""Any usage error; of Typer's own kinds only this subclass is exported in all its versions."""


class Console:
    """One session with a rig.

    Args:
        rig: in state OFF; after `serve` at rest, with its engine ended.
        interruption: handler of Ctrl-C.
        terminal: interactive input: there is a prompt, and errors and Ctrl-C do not end the session.
        commands: the console's commands.
    """

    def __init__(self, rig: Rig, interruption: Interruption, *, terminal: bool, commands: typer.Typer = app) -> None:
        self._rig = rig
        self._client = RigClient(rig, interruption)
        self._interruption = interruption
        self._terminal = terminal
        self._commands = get_command(commands)
        self._prompt = ""
        self._reading = False

    def serve(self) -> None:
        """Execute lines from the standard input until `quit` or end of input.

        Raises:
            RigError: why a script ends early, with the number of its line; the rig must then be brought to rest.
            InterruptedRunError: Ctrl-C in a script; likewise.
            RunFaultError: the rig was left in a fault; likewise.
        """
        if self._terminal:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  # history and editing
            typer.echo("help lists the commands, quit ends; Ctrl-C stops the rig")
        with self._attended():
            number = 0
            while (line := self._next_line()) is not None:
                number += 1
                line = line.removeprefix("\ufeff")  # byte-order mark of a script file
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                if not self._terminal:
                    typer.echo(f"> {line.strip()}")
                try:
                    self._carry_out(line)
                except EOFError:
                    break
                except InterruptedRunError as error:
                    self._interrupted(error)
                except RigError as error:
                    if not self._terminal:
                        raise type(error)(f"line {number}: {error_text(error)}") from error
                    print_error(error_text(error))
        self._end()

    def _carry_out(self, line: str) -> None:
        """Execute one command. Raises RigError; EOFError for `quit`."""
        try:
            words = _words(line)
            if words[0] == "help":
                words = [*words[1:], "--help"]
            with self._commands.make_context("", words, obj=self._client) as context:
                self._commands.invoke(context)
        except typer.Exit:
            pass  # --help
        except _USAGE_ERROR as error:
            raise InputError(error.format_message()) from None  # type: ignore[attr-defined]
        except RigError:
            self._interruption.check()  # a stop by Ctrl-C takes precedence over its consequences
            raise
        except KinematicsError as error:
            raise InputError(str(error)) from error
        self._interruption.check()

    def _next_line(self) -> str | None:
        """Return the next line, None at the end."""
        while True:
            if self._terminal:
                status = self._rig.status()
                paused = ", paused" if status.resumable else ""
                away = ", away from home" if status.state is State.PARKED and status.away else ""
                self._prompt = f"{status.state.name}{paused}{away}> "
            try:
                self._reading = True
                self._interruption.check()  # Ctrl-C just before
                return input(self._prompt)
            except EOFError:
                if self._terminal:
                    typer.echo()  # end the prompt's line
                return None
            except UnicodeDecodeError as error:
                raise InputError(f"the script is not UTF-8 text: {error}") from error
            except (KeyboardInterrupt, InterruptedRunError):
                self._reading = False
                self._interrupted(InterruptedRunError("interrupted; the rig was stopped"))
            finally:
                self._reading = False

    def _interrupted(self, error: InterruptedRunError) -> None:
        """Handle a first Ctrl-C: a script ends; an interactive session continues once the rig is at rest."""
        if not self._terminal:
            raise error
        print_styled("\ninterrupted: stopping, category 1", fg="yellow", err=True)
        try:
            stop(self._rig)
        except RigError as failure:
            print_error(str(failure))
        self._interruption.forget()

    def _end(self) -> None:
        if self._rig.status().state in TORQUE_STATES:
            print_styled("the drives still have torque: stopping, category 1", fg="yellow", err=True)
            stop(self._rig)
        status = self._rig.status()
        if status.state is State.FAULT:
            where: dict[str, Value] = {"time": status.cause_t}
            raise RunFaultError(Finding(Code.LEFT_IN_FAULT, details=where, within=(stop_finding(status),)))
        leave(self._rig)

    @contextlib.contextmanager
    def _attended(self) -> Iterator[None]:
        """Within the block, a first Ctrl-C stops the rig at once, and events are printed."""
        self._interruption.at_first = self._stop_now
        self._rig.listen(self._print_event)
        try:
            yield
        finally:
            self._rig.listen(None)
            self._interruption.at_first = None

    def _stop_now(self) -> None:
        """Stop the rig; runs in the signal handler."""
        self._rig.raise_stop_flag(1)
        if self._reading:
            raise KeyboardInterrupt

    def _print_event(self, event: Event | str) -> None:
        """Print an event on its own line and redraw the unfinished input below it."""
        level, text = ("error", event) if isinstance(event, str) else (event.level, f"{event.t:.3f} s: {event.text}")
        again = self._terminal and self._reading
        print_styled(text, fg=_COLOURS[level], control="\r\033[K" if again else "")
        if again:
            readline = sys.modules.get("readline")
            typed = readline.get_line_buffer() if readline is not None else ""
            typer.echo(self._prompt + typed, nl=False)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise InputError(f"{line.strip()!r}: {error}") from None
