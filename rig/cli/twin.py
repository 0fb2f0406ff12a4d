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
        typer.Option("--leg", metavar="N", help="Whose drive or load cell it is, 1 to 6; 1 unless said.", min=1, max=6),
    ] = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Serve it at a TCP port; port 0 is any free one.")
    ] = "",
    pty: Annotated[bool, typer.Option("--pty", help="Serve it on a pseudo-terminal.")] = False,
) -> None:
    """Serve one virtual device by itself until Ctrl-C: for a client of your own, or the maker's.

    It says where it listens. The drive moves its leg of the simulated platform, whose other brakes stay closed; its
    watchdog, its errors and the time that bytes take on its wire are as in the virtual rig.
    """
    from rig.client import serve_twin

    serve_twin(device, leg, listen, terminal=pty, print_line=typer.echo)
