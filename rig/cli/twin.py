"""`rig twin`: one virtual device for a third-party client."""

from typing import Annotated

import typer

from rig.cli.options import named_values


def twin(
    device: Annotated[
        str,
        typer.Argument(
            metavar="DEVICE",
            help="A driver of drives, load cells or inputs and outputs (servo, orca, modbus, modbus-io, …), a shipped "
            "profile (lexium-32, laumas, … or a file), or a rig's configuration, with or without a [virtual] table.",
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
    pty: Annotated[
        bool, typer.Option("--pty", help="Serve it on a pseudo-terminal; what speaks Modbus TCP speaks RTU there.")
    ] = False,
    reply_delay: Annotated[
        float | None,
        typer.Option(
            "--reply-delay",
            metavar="S",
            help="On a serial line, the time from the last byte of a request to the first byte of the reply; left out: "
            "the configuration's, or the silence that ends a frame.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of its driver or address, for example unit=3, baud=9600 or, of a Jrk G2, crc=false; may be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Serve one virtual device by itself until Ctrl-C: for your own client, or the manufacturer's.

    It prints its address, and what a pseudo-terminal cannot do. The drive moves its leg of the simulated platform; the
    other brakes stay closed. Watchdog, errors and transmission times are those of the virtual rig. A profile's device
    is served on Modbus TCP, with --pty on RTU. In the first second after the first connection nothing moves yet: the
    compiled model is loaded then.
    """
    from rig.cli.progress import compile_progress_lines
    from rig.client import serve_twin
    from rig.errors import InputError

    if listen and pty:
        raise InputError("--listen and --pty: one of the two")

    serve_twin(
        device,
        leg,
        None if pty else listen,
        print_line=typer.echo,
        cell=cell,
        settings=named_values(settings or [], "--set"),
        reply_delay=reply_delay,
        report_compiling=compile_progress_lines(),
    )
