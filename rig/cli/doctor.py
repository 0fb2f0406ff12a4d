"""`rig doctor`: checks whether this computer can run the rig, with remedies."""

import json

import typer

from rig.cli.options import ConfigArgument, JsonOption, print_styled
from rig.errors import ExitCode

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(config: ConfigArgument = "virtual", as_json: JsonOption = False) -> None:
    """Check this machine and report what is missing: versions, real-time rights, ports, Qt, serial ports, disk.

    It also reports whether this computer or the drives close the rig's control loop, and whether it is stable. Every
    line is ok, warn (works with restrictions) or fail (does not work), with the remedy below. Nothing is changed. Ends
    with 0 if nothing failed, 2 if the configuration cannot be used, 3 for anything else that failed.
    """
    from rig.services import DoctorRequest
    from rig.services import doctor as look

    found = look(DoctorRequest(config))
    findings = found.findings
    if as_json:
        typer.echo(json.dumps({"findings": [finding.as_dict() for finding in findings]}, indent=2))
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            print_styled(f"{finding.status:5}", fg=_COLOURS[finding.status], bold=True, nl=False)
            first, *more = finding.detail.splitlines()
            typer.echo(f" {finding.name:{width}}  {first}")
            for line in more + ([f"→ {finding.fix}"] if finding.fix else []):
                typer.echo(f"      {'':{width}}  {line}")
    if found.failed:
        raise typer.Exit(ExitCode.INPUT if "configuration" in found.failed else ExitCode.HARDWARE)
