"""Errors on their way from one process to another."""

import contextlib
import pickle
import traceback
from typing import Any

from rig.errors import ExitCode, exit_code_of

SentError = tuple[type[Exception], tuple[Any, ...], dict[str, Any], bytes | None]
"""An error that can be sent: class, arguments and fields, and its pickle if it can be restored."""


def describe_error(error: Exception) -> SentError:
    """Return an error in sendable form; an unexpected one has its traceback as a note."""
    if exit_code_of(error) == ExitCode.INTERNAL:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
    whole = None
    with contextlib.suppress(Exception):  # its constructor may take other arguments
        data = pickle.dumps(error)
        if str(pickle.loads(data)) == str(error):
            whole = data
    try:
        pickle.dumps((error.args, vars(error)))
    except Exception:
        return RuntimeError, (f"{type(error).__name__}: {error}",), {"__notes__": getattr(error, "__notes__", [])}, None
    return type(error), error.args, vars(error), whole


def rebuild_error(
    kind: type[Exception], args: tuple[Any, ...], fields: dict[str, Any], whole: bytes | None
) -> Exception:
    """Restore an error of `describe_error`, without its constructor, whose arguments may differ."""
    if whole is not None:
        found: Exception = pickle.loads(whole)
        return found
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(fields)
    return error
