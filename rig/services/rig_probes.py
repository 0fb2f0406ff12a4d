"""Rig checks of `rig doctor`: configuration, drive addresses, recordings' folder."""

import os
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from actuators import (
    CAN_SCHEME,
    LOWEST_LATENCY,
    ActuatorError,
    DriveAddress,
    SerialEndpoint,
    TcpEndpoint,
    latency_timer,
)
from calibration import CalibrationError
from dynamics import DynamicsError
from rig.commissioning import Steadiness, check_devices, measure
from rig.config import RigConfig, load_config
from rig.engine import check_buses, loop_mode
from rig.errors import ConfigError, HardwareError
from rig.findings import statement
from rig.safety import check_loop
from rig.services.finding import Finding
from rig.services.machine_probes import writable

_CONNECT_TIMEOUT = 1.0  # s, connection timeout
_MIN_DISK = 2e9  # bytes
_UDEV_RULE = (
    'put ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1" into '
    "/etc/udev/rules.d/99-stewart-rig.rules, run `sudo udevadm control --reload`, plug the adapter in again"
)


def all_findings(path_or_name: str) -> Iterator[Finding]:
    """Yield all findings on the rig of a configuration."""
    try:
        config = load_config(path_or_name)
        check_devices(config)
    except ConfigError as error:
        fix = "correct the file; `rig check` shows the same"
        yield Finding("configuration", "fail", str(error), fix, error.found)
        return
    yield Finding("configuration", "ok", f"{config.name}: {config.path}")
    yield control_loop(config)
    yield checks(config)
    yield serials(config)
    yield cycle(config)
    yield from lines(config)
    yield from addresses(config)
    yield recordings(config)


def control_loop(config: RigConfig) -> Finding:
    """Check who closes the control loop, in which drive mode, and whether it may be closed."""
    modes: dict[str, list[str]] = {}
    for leg, own in enumerate(config.own_loops, start=1):
        modes.setdefault(loop_mode(own=own).name, []).append(str(leg))
    drives = ", ".join(f"{mode} (leg {', '.join(legs)})" if len(modes) > 1 else mode for mode, legs in modes.items())
    try:
        loop = check_loop(config)
    except DynamicsError as error:
        return Finding("control loop", "fail", f"mode {config.mode}: {error}", "correct the mechanism, or its home")
    if not loop.at_host:
        return Finding("control loop", "ok", f"{config.gains_unused}; the drives are in mode {drives}")
    if loop.message:
        fix = "change the gains in [control], or `rate`, as it says; `rig check` shows the same"
        return Finding("control loop", "warn" if loop.passed else "fail", loop.message, fix)
    closed = f"this computer closes the loop, over the wire at {loop.rate:g} Hz, and bears {loop.gain_margin:.3g} times"
    return Finding("control loop", "ok", f"mode {config.mode}: {closed} its gains; the drives are in mode {drives}")


def checks(config: RigConfig) -> Finding:
    """Check whether every check of the engine is on."""
    if not config.safety.off:
        return Finding("checks", "ok", "every check is on")
    return Finding("checks", "warn", config.safety.disabled_text, "take out of safety.off what the rig can do with")


def serials(config: RigConfig) -> Finding:
    """Check whether every drive's identity is verified."""
    text = config.drives.unidentified
    if not text:
        return Finding("serial numbers", "ok", "each drive must have its own")
    return Finding("serial numbers", "warn", text, "`rig setup probe` tells them: write them into drives.legs")


def cycle(config: RigConfig) -> Finding:
    """Check whether the computer keeps the configured cycle under its present load; takes a second, and the start."""
    try:
        return judged_cycle(measure(config))
    except HardwareError as error:
        return Finding("cycle", "warn", str(error), "try again when the machine is idle")


def judged_cycle(found: Steadiness) -> Finding:
    """Describe the measured cycle; `fix` suggests remedies."""
    longest = f"the longest delay was {found.longest * 1e3:.2g} ms, 99 % were below {found.usual * 1e3:.2g} ms"
    carried = "no rate" if found.carries is None else f"up to {found.carries:g} Hz"
    if found.carries is not None and found.carries >= found.rate:
        return Finding("cycle", "ok", f"{found.rate:g} Hz: {longest}; this machine carries {carried} now")
    lower = "" if found.carries is None else f"set `rate` to {found.carries:g} or lower, or "
    return Finding(
        "cycle",
        "warn",
        f"{found.rate:g} Hz is too fast now: {found.late} of {found.cycles} cycles late, {longest}; "
        f"this machine carries {carried}",
        f"end other programs; get real-time rights (SCHED_FIFO above) and set realtime.priority; {lower}let the rig "
        "bear more: drives.watchdog, safety.stale_time, safety.overruns_in_a_row",
    )


def lines(config: RigConfig) -> Iterator[Finding]:
    """Check whether every serial line carries the rate."""
    try:
        verdict = check_buses(config)
    except (ActuatorError, CalibrationError) as error:
        yield Finding("line", "fail", str(error), "correct the file; `rig check` shows the same")
        return
    slow = {str(found.details["line"]): found for found in verdict.findings}
    for share in verdict.shares:
        found = slow.get(str(share.details["line"]))
        if found is None:
            yield Finding("line", "ok", share.text)
        else:
            yield Finding("line", "fail", statement(replace(found, within=())), "; ".join(map(str, found.within)))


def addresses(config: RigConfig) -> Iterator[Finding]:
    """Check every address of the configuration: answering for a real rig, free for a virtual one."""
    devices: list[tuple[str, DriveAddress]] = [(f"drive {n}", leg) for n, leg in enumerate(config.drives.legs, start=1)]
    devices += config.load_cells.places.items()
    if config.io is not None and config.io.block is not None:
        devices.append(("I/O block", config.io.block))
    places = [(name, *device.endpoint) for name, device in devices if isinstance(device.endpoint, TcpEndpoint)]
    look = virtual_address if config.virtual is not None else real_address
    with ThreadPoolExecutor(max(len(places), 1)) as pool:
        yield from pool.map(lambda place: look(*place), places)
    if config.virtual is None:  # else they are the virtual rig's own pseudo-terminals
        lines = {device.endpoint.device for _, device in devices if isinstance(device.endpoint, SerialEndpoint)}
        for device in sorted(line for line in lines if not line.startswith(CAN_SCHEME)):
            yield serial_port(device)
            yield from adapter(device)


def serial_port(device: str) -> Finding:
    """Check whether a serial port exists and may be used."""
    name = "serial port"
    if not os.path.exists(device):
        return Finding(name, "fail", f"{device} is not there", "plug it in; /dev/serial/by-id lists what is there")
    if not os.access(device, os.R_OK | os.W_OK):
        owner = Path(device).group()
        return Finding(
            name, "fail", f"{device} may not be used by this user", f"join the group {owner}, then log in again"
        )
    return Finding(name, "ok", f"{device} is there")


def adapter(device: str) -> Iterator[Finding]:
    """Check the latency of a serial port's USB adapter, as far as the system shows one."""
    timer = latency_timer(device)
    if timer is None:
        return
    now = f"{device}: its adapter holds replies back for up to {timer * 1e3:g} ms (latency timer)"
    if timer <= LOWEST_LATENCY:
        yield Finding("USB latency", "ok", now)
    else:
        asked = f"; the rig asks for {LOWEST_LATENCY * 1e3:g} ms when it opens the port, other programs may not"
        yield Finding("USB latency", "warn", now + asked, _UDEV_RULE)


def real_address(name: str, host: str, port: int) -> Finding:
    """Check whether the address accepts connections."""
    refusal = _connect(host, port)
    if refusal:
        fix = "check power, cable and the address in the configuration"
        return Finding(name, "fail", f"{host}:{port} does not answer: {refusal}", fix)
    return Finding(name, "ok", f"{host}:{port} answers")


def virtual_address(name: str, host: str, port: int) -> Finding:
    """Check whether a virtual drive can listen there."""
    if not _connect(host, port):
        fix = "fine for `rig run` if it is `rig virtual`; `rig demo` needs the port free"
        return Finding(name, "warn", f"{host}:{port} is taken: something answers there", fix)
    try:
        with socket.create_server((host, port)):
            return Finding(name, "ok", f"{host}:{port} is free for the virtual rig")
    except OSError as error:
        fix = "name another host or port in the configuration"
        return Finding(name, "fail", f"{host}:{port} cannot be used: {error.strerror or error}", fix)


def recordings(config: RigConfig) -> Finding:
    """Check whether recordings can be written, and for how long."""
    folder = Path(config.recording.directory).resolve()
    fix = "name another folder as recording.directory"
    if not writable(folder):
        return Finding("recordings", "fail", f"{folder} cannot be written", fix)
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < _MIN_DISK:
        return Finding("recordings", "warn", f"{folder}: only {free / 1e9:.1f} GB free", "make room, or " + fix)
    return Finding("recordings", "ok", f"{folder}: {free / 1e9:.0f} GB free")


def _connect(host: str, port: int) -> str:
    """Return the reason a connection failed; empty on success."""
    try:
        socket.create_connection((host, port), _CONNECT_TIMEOUT).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""
