"""`rig setup`: write a new rig's configuration, query its drives, test its legs one at a time."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.help import command_group
from rig.cli.options import ConfigArgument, JsonOption, named_values, parse_quantity, print_styled

if TYPE_CHECKING:
    from rig.commissioning import CellAmplifier, DriveAddress, LegResult

app = command_group(
    name="setup",
    help="Set up a new rig: write its configuration, ask its drives, test its legs one at a time. Then "
    "`rig calibrate zero`.",
    no_args_is_help=True,
)

_ADDRESS = re.compile(r"(?P<host>\[[^\]]+\]|[^:\s/@]+):(?P<port>\d{1,5})(?::(?P<unit>\d{1,3}))?")
_SERIAL = re.compile(
    r"(?P<device>/[^@\s]+|can://[^@\s:]+)"
    r"(?:@(?P<baud>\d{3,7})(?:-8(?P<parity>[ENOeno])(?P<stop_bits>[12]))?)?(?::(?P<unit>\d{1,3}))?"
)


@app.callback()
def _setup() -> None:
    """Set up a new rig."""


@app.command()
def new(
    output: Annotated[Path, typer.Argument(metavar="OUT.toml", help="Configuration to write.")],
    drive: Annotated[
        list[str],
        typer.Option(
            metavar="HOST:PORT[:UNIT]",
            help="Address of a drive, or its serial port, /dev/…@BAUD[-8E1][:UNIT], or its CAN bus, "
            "can://…[@BITRATE][:NODE]; six times, legs 1 to 6 in this order.",
        ),
    ],
    mechanism: Annotated[
        str, typer.Option(metavar="MECHANISM", help="A mechanism file (TOML), or the name of a shipped one.")
    ] = "lab-hexapod",
    name: Annotated[str | None, typer.Option(help="Name of the rig; left out: the file's.")] = None,
    mode: Annotated[
        str,
        typer.Option(metavar="MODE", help="Control: force, computed-torque, observer, position, or an installed law."),
    ] = "force",
    rate: Annotated[float, typer.Option(metavar="HZ", help="Cycles per second.")] = 500.0,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            metavar="HZ",
            min=0.01,
            max=1000.0,
            help="Natural frequency of the error in mode computed-torque; left out: 10 Hz, or less at low rates.",
        ),
    ] = None,
    driver: Annotated[str, typer.Option(help="Driver of the drives.")] = "servo",
    profile: Annotated[
        str, typer.Option(metavar="PROFILE", help="The drives' register map: a shipped one's name, or a TOML file.")
    ] = "generic-servo",
    watchdog: Annotated[float, typer.Option(metavar="S", help="Silence after which a drive stops by itself.")] = 0.05,
    offset: Annotated[
        str,
        typer.Option(
            metavar="L1,…,L6", help="Length of each leg at drive position zero, m or with a unit; or one for all."
        ),
    ] = "0",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the driver, for example stroke=0.2; may be repeated.",
        ),
    ] = None,
    serials: Annotated[
        str, typer.Option(metavar="S1,…,S6", help="Expected serial numbers; other drives are refused.")
    ] = "",
    ask: Annotated[
        bool, typer.Option("--ask", help="Query the drives now, and store their serial numbers in the file.")
    ] = False,
    amplifier: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Load-cell amplifier, as HOST:PORT[:UNIT] or /dev/…@BAUD-8E1:UNIT; left out: the drives read the "
            "cells.",
        ),
    ] = None,
    amplifier_profile: Annotated[str, typer.Option(metavar="PROFILE", help="The amplifier's register map.")] = (
        "generic-amplifier"
    ),
    cell_noise: Annotated[
        float | None,
        typer.Option(metavar="N", help="Expected standard deviation of a reading; left out: by the machine's size."),
    ] = None,
    cell_range: Annotated[
        float | None, typer.Option(metavar="N", help="Full scale of the cells; left out: by the machine's size.")
    ] = None,
    calibration: Annotated[str, typer.Option(metavar="FILE", help="Calibration file next to OUT.toml, if any.")] = "",
    recordings: Annotated[str, typer.Option(metavar="DIR", help="Folder of recordings.")] = "recordings",
    sensors: Annotated[
        list[str] | None,
        typer.Option(
            "--sensor",
            metavar="NAME:KIND:SOURCE",
            help="An external sensor of kind imu, pose or scalar, for example imu:imu:udp://127.0.0.1:9873; may be "
            "repeated.",
        ),
    ] = None,
    sensor_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--sensor-set",
            metavar="NAME.KEY=VALUE",
            help="A key of such a sensor, for example imu.rate=500; may be repeated.",
        ),
    ] = None,
    virtual: Annotated[
        bool, typer.Option("--virtual", help="For a rehearsal: virtual drives on these addresses of this machine.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.toml if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a new rig's configuration. An invalid one is not written; all its faults are listed.

    Example: rig setup new my-rig.toml --mechanism my-hexapod.toml --drive 10.0.0.1:502 … (six times) --ask
    """
    from kinematics import Quantity
    from rig.cli.progress import show_notices
    from rig.services import Draft, SetupRequest, set_up

    given = [part.strip() for part in serials.split(",")] if serials else [""] * 6
    if len(drive) != 6 or len(given) != 6:
        raise typer.BadParameter(f"{len(drive)} drives and {len(given)} serial numbers, must be six each")
    if bandwidth is not None and mode != "computed-torque":
        raise typer.BadParameter("goes with --mode computed-torque", param_hint="'--bandwidth'")
    lengths = [parse_quantity(part, Quantity("length", "m"), "--offset") for part in offset.split(",")]
    if len(lengths) not in (1, 6):
        raise typer.BadParameter(f"{len(lengths)} lengths, must be one or six", param_hint="--offset")
    drives = [
        replace(_drive_address(text, driver), serial=serial, position_offset=length)
        for text, serial, length in zip(drive, given, lengths * (6 // len(lengths)), strict=True)
    ]
    draft = Draft(
        name=output.stem if name is None else name,
        mechanism=mechanism,
        mode=mode,
        rate=rate,
        task_bandwidth=bandwidth,
        driver=driver,
        profile=profile,
        watchdog=watchdog,
        settings=_settings(driver, settings or []),
        drives=tuple(drives),
        amplifier=None if amplifier is None else _amplifier(amplifier, amplifier_profile),
        noise=cell_noise,
        range=cell_range,
        calibration=calibration,
        recording=recordings,
        sensors=_sensors(sensors or [], sensor_settings or []),
        virtual=virtual,
    )
    made = set_up(SetupRequest(draft, output, ask, overwrite), show_notices)
    if as_json:
        slow = [found.as_dict() for found in made.slow]
        typer.echo(json.dumps({"config": str(made.config), "text": made.text, "slow_lines": slow}, indent=2))
    else:
        for found in made.slow:
            print_styled(f"warning: {found.text}", fg="yellow")
        typer.echo(f"configuration {made.name!r}: {output}\nnext: rig setup probe {output}, rig setup leg {output} 1")


@app.command()
def probe(config: ConfigArgument, as_json: JsonOption = False) -> None:
    """Identify the six drives: connect, identify, configure the watchdog, read, close. Nothing moves.

    Reports which drives answer, which do not and why, and exchanged drives by their serial numbers. Ends with 3 if a
    drive does not answer correctly, or is commanded by an engine. A virtual configuration's rig is started with it.
    """
    from kinematics import toml_item
    from rig.errors import ExitCode
    from rig.services import ProbeRequest
    from rig.services import probe as ask_drives

    answer = ask_drives(ProbeRequest(config))
    found = answer.probe
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
    else:
        for one in found.legs:
            good = one.fault is None
            print_styled(f"{'ok  ' if good else 'FAIL'} ", fg="green" if good else "red", bold=True, nl=False)
            typer.echo(f"leg {one.leg}  {one.address}  {one.finding}")
        for finding in found.findings:
            print_styled(finding.text, fg="red")
        if answer.new_serials and not found.findings:
            typer.echo("serial numbers for the configuration, to refuse exchanged cables:")
            for place, serial in answer.new_serials.items():
                typer.echo(f"  drives.legs, leg {place}: serial = {toml_item(serial).as_string()}")
        if answer.new_delays and not found.findings:
            typer.echo("reply delays for the configuration, for the plan of the lines:")
            for place, delay in answer.new_delays.items():
                typer.echo(f"  drives.legs, leg {place}: reply_delay = {delay:g}")
    if not found.passed:
        raise typer.Exit(ExitCode.HARDWARE)


@app.command()
def leg(
    config: ConfigArgument,
    number: Annotated[int, typer.Argument(metavar="LEG", min=1, max=6, help="Leg 1 to 6.")],
    travel: Annotated[
        str, typer.Option(metavar="LENGTH", help='Travel out and back, m or "2 mm"; negative retracts.')
    ] = "2 mm",
    speed: Annotated[str, typer.Option(metavar="SPEED", help='Peak speed, m/s or "5 mm/s".')] = "5 mm/s",
    home: Annotated[bool, typer.Option("--home", help="Home this leg first if its drive has no reference.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Clear latched drive faults.")] = False,
    seen: Annotated[
        bool,
        typer.Option(
            "--seen",
            help="An observer stops the test (Ctrl-C) if another leg moves: a pass is stored as proof of this leg's "
            "wiring. At a terminal this is asked afterwards.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Move ONE leg a little, there and back; the other five are held by their brakes, torque off.

    Watch that this leg moves: the program cannot see it. If it passes and was seen to move, its wiring is stored as
    proven; homing requires that of all six legs. Reports whether the leg reached its target, other encoders that moved,
    and its load cell's reading. Ctrl-C stops the leg by its drive's quick stop, a second one takes the torque off at
    once. A virtual configuration's rig is started with it. Ends with 1 if the leg does not pass, 3 if a drive does not
    answer or is commanded otherwise, 4 if refused, 130 after Ctrl-C.
    """
    from kinematics import Quantity
    from rig.cli.progress import show_notices
    from rig.errors import InterruptedRunError, RefusedError, RunFaultError
    from rig.services import Event, LatchedFaultError, LegRequest, NotHomedError, Progress, move_leg

    request = LegRequest(
        config,
        number,
        parse_quantity(travel, Quantity("length", "m"), "--travel"),
        parse_quantity(speed, Quantity("speed", "m/s"), "--speed"),
        home,
        clear,
    )

    def show(event: Event) -> None:
        show_notices(event)
        if isinstance(event, Progress):
            typer.echo(
                f"leg {number} is going to move {request.travel * 1e3:+g} mm and back: watch that it is leg {number}, "
                "and measure at its rod that it moves this far",
                err=True,
            )

    try:
        tested = move_leg(request, show)
    except NotHomedError as error:
        raise RefusedError(f"{error} (see --home)") from None
    except LatchedFaultError as error:
        raise RefusedError(f"{error} (see --clear)") from None
    result = tested.result
    if as_json:
        typer.echo(json.dumps(result.as_dict() | {"recording": str(tested.recording)}, indent=2))
    else:
        typer.echo(f"{_described(result)}\nrecording   {tested.recording}")
    if tested.provable:
        _prove(config, result, seen=seen, ask=not as_json)
    if result.stopped:
        raise InterruptedRunError("; ".join(map(str, result.faults)))
    if not result.passed:
        raise RunFaultError("\n  ".join([f"leg {number} does not pass:", *map(str, result.faults)]))


def _prove(config: str, result: "LegResult", *, seen: bool, ask: bool) -> None:
    """Record a test as proof if the user saw that leg move. Raises RunFaultError if another one moved."""
    import sys

    from rig.errors import RunFaultError
    from rig.services import ProofRequest, record_proof

    if not seen and ask and sys.stdin is not None and sys.stdin.isatty():
        seen = typer.confirm(f"Was it leg {result.leg} that moved?", err=True)
        if not seen:
            record_proof(ProofRequest(config, result, seen=False))
            raise RunFaultError(
                f"another leg than leg {result.leg} moved: its drive is wired, or addressed, as leg {result.leg}'s; "
                "correct drives.legs or the cables, and test again"
            )
    if seen:
        typer.echo(f"on record   {record_proof(ProofRequest(config, result, seen=True))}", err=True)
    else:
        typer.echo("wiring proof not stored: the move was not confirmed as seen (--seen)", err=True)


def _described(result: "LegResult") -> str:
    """Describe the test of a leg line by line, with a dash for a value that was not measured."""

    def shown(value: float, form: str, unit: str) -> str:
        return f"{value:{form}} {unit}" if math.isfinite(value) else "–"

    moved = ", ".join(f"{leg}: {value * 1e6:.0f} µm" for leg, value in result.others.items())
    lag = f", {result.lag * 1e3:.0f} ms at {result.peak * 1e3:.3g} mm/s" if result.passed else ""
    lines = [
        f"commanded   {result.travel * 1e3:+.3f} mm and back",
        f"measured    {shown(result.reached * 1e3, '+.3f', 'mm')}, "
        f"then {shown(result.returned * 1e3, '+.3f', 'mm')} from the start",
        f"following   {shown(result.following * 1e3, '.3f', 'mm')} at most{lag}",
        f"load cell   {shown(result.force_before, '.1f', 'N')} before, {shown(result.force_after, '.1f', 'N')} after",
        f"other legs  {moved}",
    ]
    if math.isfinite(result.by_speed):
        doubt = ": a scale or word_order is wrong, or the drive moves in steps; measure at the rod"
        doubt = doubt if result.doubtful else ""
        lines.insert(2, f"by speed    {result.by_speed * 1e3:+.3f} mm{doubt}")
    if result.homed is not None:
        lines.insert(0, f"reference   found, {result.homed * 1e3:+.3f} mm from the leg's length at home")
    return "\n".join([*lines, f"verdict     {'passed' if result.passed else 'does not pass'}"])


def _drive_address(text: str, driver: str) -> "DriveAddress":
    from rig.commissioning import usual_unit

    return _device_address(text, "--drive", usual_unit(driver))


def _device_address(text: str, option: str, usual: int) -> "DriveAddress":
    """Address of a device; usual: unit of one that names none."""
    from actuators import CAN_SCHEME, PARITIES
    from rig.commissioning import DriveAddress

    if not text.strip().startswith(("/", CAN_SCHEME)):
        return DriveAddress(*_address(text, option, usual))
    match = _SERIAL.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not /dev/… or can://…, @BAUD, -8E1 and :UNIT", param_hint=option)
    unit = re.search(r":(\d{1,3})$", match["device"])
    if unit is not None and not match["baud"]:
        port = match["device"][: unit.start()]
        raise typer.BadParameter(f"{text!r} has no baud rate: {port}@19200-8E1:{unit[1]}", param_hint=option)
    return DriveAddress(
        unit=int(match["unit"] or usual),
        device=match["device"],
        baud=int(match["baud"] or 0),
        parity={name[0]: name for name in PARITIES}[match["parity"].lower()] if match["parity"] else "",
        stop_bits=int(match["stop_bits"] or 0),
    )


def _settings(driver: str, given: list[str]) -> dict[str, object]:
    """Return the values of --set by name; they are validated with the rest."""
    from actuators import find_driver
    from rig.commissioning import own_settings
    from rig.errors import InputError

    find_driver(driver)
    known = [setting.name for setting in own_settings(driver)]
    found = named_values(given, "--set")
    for name in found:
        if name not in known:
            other = "; the option is --profile" if name == "profile" else f" has no {name!r}; it has {', '.join(known)}"
            raise InputError(f"--set {name}: driver {driver}{other}")
    return found


def _sensors(given: list[str], settings: list[str]) -> tuple[dict[str, object], ...]:
    """Return the tables of --sensor with the values of --sensor-set; they are validated with the rest."""
    from rig.commissioning import setting_value
    from rig.errors import InputError

    tables: dict[str, dict[str, object]] = {}
    for text in given:
        name, kind, source = [part.strip() for part in (*text.split(":", 2), "", "")[:3]]
        if not (name and kind and source):
            raise InputError(f"--sensor {text!r}: give NAME:KIND:SOURCE")
        if name in tables:
            raise InputError(f"--sensor {text!r}: {name} is given twice")
        tables[name] = {"name": name, "kind": kind, "source": source}
    for text in settings:
        key, equals, value = (part.strip() for part in text.partition("="))
        name, dot, key = key.partition(".")
        if not equals or not value or not dot or not key:
            raise InputError(f"--sensor-set {text!r}: give NAME.KEY=VALUE")
        if name not in tables:
            raise InputError(f"--sensor-set {text!r}: no --sensor is called {name!r}")
        if key in tables[name]:
            raise InputError(f"--sensor-set {text!r}: {name}.{key} is given twice")
        tables[name][key] = setting_value(value)
    return tuple(tables.values())


def _address(text: str, option: str, unit: int = 1) -> tuple[str, int, int]:
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT or HOST:PORT:UNIT", param_hint=option)
    return match["host"].strip("[]"), int(match["port"]), int(match["unit"] or unit)


def _amplifier(text: str, profile: str) -> "CellAmplifier":
    from rig.commissioning import CellAmplifier

    found = _device_address(text, "--amplifier", 1)
    line = (found.device, found.baud, found.parity, found.stop_bits)
    return CellAmplifier(found.host, found.port, found.unit, profile, *line)
