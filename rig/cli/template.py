"""`rig template`: packages of one's own to begin with."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rig.cli.help import command_group

app = command_group(help="Write a package of your own to begin with.", no_args_is_help=True)


@app.command("driver")
def driver(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the driver, for `drives.driver` of a configuration."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Folder to write; left out: one of the driver's name."),
    ] = None,
    example: Annotated[
        Literal["ascii", "ethercat"],
        typer.Option(help="What to begin with: frames of a made-up ASCII protocol, or CiA 402 drives on EtherCAT."),
    ] = "ascii",
) -> None:
    """Write a package with a driver for drives of another protocol: frames, drive, simulator, declaration.

    It is a worked example of the guide and passes the conformance suite as it is. Change it step by step to the
    protocol of your drive, and run the suite after each.
    """
    from rig.services import DriverPackageRequest, write_driver_package

    result = write_driver_package(DriverPackageRequest(name, output, example))
    for file in result.files:
        typer.echo(file)
    typer.echo(f"next: pip install -e {result.files[0].parent} && pytest --rig-driver {name}")
