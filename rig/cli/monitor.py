"""`rig monitor`: print the traffic between a device and its client."""

from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import address_of
from rig.errors import InputError


def monitor(
    device: Annotated[
        str,
        typer.Argument(
            metavar="PORT|HOST:PORT", help="Address of the device: a serial port (/dev/serial/by-id/…), or a TCP port."
        ),
    ],
    listen: Annotated[
        str,
        typer.Option("--listen", metavar="HOST:PORT", help="Address for its client; port 0: any free one."),
    ] = "",
    pty: Annotated[bool, typer.Option("--pty", help="Serve its client at a pseudo-terminal.")] = False,
    baud: Annotated[
        int, typer.Option("--baud", metavar="N", help="Baud rate of a serial port.", min=300, max=4_000_000)
    ] = 19200,
    parity: Annotated[
        str, typer.Option("--parity", metavar="NAME", help="Parity of a serial port: even, none, odd.")
    ] = "even",
    rtu: Annotated[bool, typer.Option("--rtu", help="Frames of a serial line behind a TCP port.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the frames to a file, which must not exist."),
    ] = None,
) -> None:
    """Relay everything between a device and its client, unchanged, and print each frame decoded.

    Point your client, or a leg's address in a configuration, at the printed address. Each line is a frame: seconds
    since the first one, > to the device or < from it, the bytes, and their meaning in Modbus. By default the client
    connects like the device: at a TCP port, or at a pseudo-terminal. Ends with Ctrl-C, or when the device closes.
    """
    from actuators import PARITIES, Endpoint, Frame, SerialEndpoint, TcpEndpoint, rtu_frame_text, tcp_frame_text
    from rig.client import monitor_device

    serial = device.startswith("/")
    parities = {str(name): name for name in PARITIES}
    if parity not in parities:
        raise InputError(f"--parity {parity!r}: one of {', '.join(PARITIES)}")
    if listen and pty:
        raise InputError("--listen and --pty: give one of them")
    place: Endpoint = (
        SerialEndpoint(device, baud, parities[parity]) if serial else TcpEndpoint(*address_of(device, "device"))
    )
    at = TcpEndpoint(*address_of(listen, "--listen", least=0)) if listen else None
    if at is None and not pty and not serial:
        at = TcpEndpoint("127.0.0.1", 0)
    tcp = not (serial or rtu)

    def describe(frame: Frame) -> str:
        return (tcp_frame_text if tcp else rtu_frame_text)(frame.data, sent=frame.sent)

    def ready(endpoint: Endpoint) -> None:
        typer.echo(f"{place} at {endpoint}; Ctrl-C ends it")

    def print_frame(frame: Frame) -> None:
        typer.echo(frame.line(describe(frame)))

    monitor_device(place, at, tcp=tcp, ready=ready, on_frame=print_frame, output=output, describe=describe)
