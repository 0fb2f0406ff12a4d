"""`rig twin`: one virtual device for a third-party client."""

from typing import Annotated

import typer


def twin(
    device: Annotated[
        str,
        typer.Argument(
            metavar="DEVICE",
            help="A driver, of drives or of load cells (servo, orca, iai, modbus, …), or a rig's configuration, "
            "with or without a [virtual] table.",
        ),
    ],
    leg: Annotated[
        int | None,
        typer.Option("--leg", metavar="N", help="Leg of the drive or load cell, 1 to 6; left out: 1.", min=1, max=6),
    ] = None,
    cell: Annotated[
        int | None,
        typer.Option(
            "--cell",
            metavar="N",
            help="Load cell of a configuration, 1 to 6, in place of a drive; of an amplifier, any of its cells.",
            min=1,
            max=6,
        ),
    ] = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Serve it at a TCP port; port 0 is any free one.")
    ] = "",
    pty: Annotated[bool, typer.Option("--pty", help="Serve it on a pseudo-terminal.")] = False,
) -> None:
    """Serve one virtual device by itself until Ctrl-C: for your own client, or the manufacturer's.

    It prints its address. The drive moves its leg of the simulated platform; the other brakes stay closed. Watchdog,
    errors and transmission times are those of the virtual rig. In the first second after the first connection nothing
    moves yet: the compiled model is loaded then.
    """
    from rig.client import serve_twin

    serve_twin(device, leg, listen, terminal=pty, print_line=typer.echo, cell=cell)
