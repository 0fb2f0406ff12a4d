"""The command `rig`: its commands, and conversion of errors to a message and an exit code."""

import atexit
import errno
import gc
import resource
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from rig import __version__
from rig.cli import (
    accept,
    arm,
    arm_identify,
    calibrate,
    check,
    cue,
    doctor,
    drive,
    engine,
    export,
    export_fmu,
    follow,
    gui,
    identify,
    import_log,
    live,
    monitor,
    motion,
    offline,
    operate,
    paper,
    path,
    report,
    respond,
    runs,
    scan,
    setup,
    simulate,
    stream,
    study,
    template,
    twin,
    weigh,
    workspace,
    wrench,
)
from rig.cli.help import command_group
from rig.cli.options import error_text, print_error
from rig.errors import ExitCode, exit_code_of
from rig.names import printable_streams

_HELP = """
Operate a 6-UPS Stewart platform test rig, real or virtual, and compute its exact kinematics and dynamics.

Begin with `rig demo`: a virtual rig, a trajectory, a recording and a report, with no hardware at all.
`rig COMMAND --help` explains a command. Units are SI, poses are x,y,z,qw,qx,qy,qz.
"""

_EPILOG = """
Exit codes: 0 done · 1 the run ended in a fault · 2 wrong usage or input file · 3 hardware or communication
(port taken, drive silent) · 4 refused by a guard or limit · 5 recording or report unreadable, recording damaged ·
6 residual of a fit exceeds the noise, or an acceptance test failed · 70 internal error · 130 interrupted.
"""

_GC_THRESHOLD = 20_000
"""Allocations before garbage collection: loading makes some 100,000 objects, none of them garbage."""

app = command_group(
    name="rig",
    help=_HELP,
    epilog=" ".join(_EPILOG.split()),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_RUN = "The rig"
_MODEL = "The model, offline"
_TOOLS = "Checks, calibration and reports"

app.command("demo", rich_help_panel=_RUN)(live.demo)
app.add_typer(engine.app, name="engine", rich_help_panel=_RUN)
app.command("drive", rich_help_panel=_RUN)(drive.drive)
app.command("gui", rich_help_panel=_RUN)(gui.gui)
app.command("operate", rich_help_panel=_RUN)(operate.operate)
app.command("follow", rich_help_panel=_RUN)(follow.follow)
app.command("run", rich_help_panel=_RUN)(live.run)
app.command("virtual", rich_help_panel=_RUN)(live.virtual)
app.command("twin", rich_help_panel=_RUN)(twin.twin)
app.command("stream", rich_help_panel=_RUN)(stream.stream)
app.command("accept", rich_help_panel=_TOOLS)(accept.accept)
app.command("check", rich_help_panel=_TOOLS)(check.check)
app.command("doctor", rich_help_panel=_TOOLS)(doctor.doctor)
app.command("scan", rich_help_panel=_TOOLS)(scan.scan)
app.command("monitor", rich_help_panel=_TOOLS)(monitor.monitor)
app.command("report", rich_help_panel=_TOOLS)(report.report)
app.command("runs", rich_help_panel=_TOOLS)(runs.runs)
app.command("wrench", rich_help_panel=_TOOLS)(wrench.wrench_command)
app.command("identify", rich_help_panel=_TOOLS)(identify.identify_command)
app.command("excite", rich_help_panel=_TOOLS)(identify.excite_command)
app.command("motion", rich_help_panel=_TOOLS)(motion.motion)
app.command("cue", rich_help_panel=_TOOLS)(cue.cue)
app.command("multisine", rich_help_panel=_TOOLS)(respond.multisine_command)
app.command("respond", rich_help_panel=_TOOLS)(respond.respond_command)
app.command("weigh", rich_help_panel=_TOOLS)(weigh.weigh_command)
app.command("export", rich_help_panel=_TOOLS)(export.export)
app.command("import", rich_help_panel=_TOOLS)(import_log.import_log)
app.add_typer(calibrate.app, name="calibrate", rich_help_panel=_TOOLS)
app.add_typer(setup.app, name="setup", rich_help_panel=_TOOLS)
app.add_typer(template.app, name="template", rich_help_panel=_TOOLS)
app.command("inverse", rich_help_panel=_MODEL)(offline.inverse)
app.command("simulate", rich_help_panel=_MODEL)(simulate.simulate)
app.command("ik", rich_help_panel=_MODEL)(offline.ik)
app.command("fk", rich_help_panel=_MODEL)(offline.fk)
app.command("path", rich_help_panel=_MODEL)(path.path)
app.command("export-fmu", rich_help_panel=_MODEL)(export_fmu.export_fmu)
app.command("paper", rich_help_panel=_MODEL)(paper.paper)
arm.app.command("identify")(arm_identify.arm_identify_command)
app.add_typer(arm.app, name="arm", rich_help_panel=_MODEL)
app.command("study", rich_help_panel=_MODEL)(study.study)
app.command("workspace", rich_help_panel=_MODEL)(workspace.workspace)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"stewart-rig {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    # `debug` is read by main(), since it applies beyond the commands; here it is only declared for Typer.
    del debug, version


@cache
def commands() -> Any:
    """Return all commands as Click commands, cached: Typer inspects every parameter to build them."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (see `rig.errors.ExitCode`). Never raises, unless with --debug."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)  # avoids a second of garbage collection at exit
    with printable_streams():
        return _run(arguments, debug=debug)


def _run(arguments: Sequence[str], *, debug: bool) -> int:
    try:
        commands()(arguments, prog_name="rig")
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if debug:
            raise
        code = exit_code_of(error)
        print_error(_text(error, code))
        return code
    return ExitCode.OK


def _text(error: Exception, code: ExitCode) -> str:
    if getattr(error, "errno", None) == errno.EMFILE:
        most, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        return f"too many open files: a process may open {most} here (ulimit -n)"
    if code != ExitCode.INTERNAL:
        return error_text(error)
    return f"internal error: {type(error).__name__}: {error}\n  `rig --debug …` shows where; please report it"
