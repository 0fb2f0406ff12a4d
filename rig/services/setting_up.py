"""Setup of a new rig: write its configuration, query its drives, move its legs one at a time."""

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from rig.client import Interruption
from rig.commissioning import (
    Draft,
    LatchedFaultError,
    LegMove,
    LegResult,
    NotHomedError,
    Probe,
    check_move,
    draft_config,
    draft_text,
    leg_recording,
    placed_mechanism,
    placed_profile,
    probe_rig,
    put_on_record,
    run_leg_test,
    save_draft,
    served,
    strike_from_record,
    with_patience,
    with_reply_delays,
    with_serials,
    with_stable_gains,
)
from rig.config import LegDrive, load_config
from rig.csvio import check_output
from rig.engine import check_buses
from rig.errors import HardwareError, InputError
from rig.findings import Code, Finding
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

__all__ = ["Draft", "LatchedFaultError", "LegResult", "NotHomedError"]


@request
class SetupRequest:
    """A configuration to write."""

    draft: Draft
    """its content; its paths are relative to this folder"""
    output: Path
    """TOML file"""
    ask: bool = False
    """query the drives, and store their serial numbers in the file"""
    overwrite: bool = False
    """replace an existing file"""


@dataclass(frozen=True, slots=True)
class SetupResult:
    """Result: the file, its text, the rig's name, and a finding for every line that does not carry its rate."""

    config: Path
    name: str
    text: str
    slow: tuple[Finding, ...]


@request
class ProbeRequest:
    """The rig whose drives are queried."""

    config: str
    """a configuration's file, or the name of a shipped one; one with a [virtual] table starts its virtual rig"""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Replies of the drives, and what the configuration lacks, by leg, 1 to 6: serial numbers, reply delays.

    Reply delays include those that are more than twice the configured ones.
    """

    probe: Probe
    new_serials: dict[int, Any]
    new_delays: dict[int, float]


@request
class LegRequest:
    """A short test move of one leg, forth and back."""

    config: str
    """a configuration's file, or the name of a shipped one; one with a [virtual] table starts its virtual rig"""
    leg: Annotated[int, Field(ge=1, le=6)]
    travel: float = 0.002
    """m; negative retracts"""
    speed: float = 0.005
    """m/s, maximum"""
    home: bool = False
    """home the leg first if its drive has no reference"""
    clear: bool = False
    """clear latched drive faults"""


@dataclass(frozen=True, slots=True)
class LegTested:
    """Result: the leg's motion, the recording, and whether it can prove the wiring."""

    result: LegResult
    recording: Path
    provable: bool


@request
class ProofRequest:
    """The user's observation of a leg's test move."""

    config: str
    """the configuration used for it"""
    result: LegResult
    """of the leg, which passed"""
    seen: bool
    """whether that leg moved; else its proof is deleted"""


def set_up(request: SetupRequest, progress: OnEvent = no_progress) -> SetupResult:
    """Write a new rig's configuration. Only a valid one is written; otherwise every fault is listed.

    Default gains that are unstable at its rate are written smaller, with a notice.

    Raises:
        InputError: its faults, or an existing file.
        HardwareError: a queried drive does not answer as it should.
    """
    output = request.output
    check_output(output)
    for given in (request.draft.mechanism, request.draft.profile):
        if Path(given).exists() and output.exists() and output.samefile(given):
            raise InputError(f"{output} is read as {given}: give the configuration another name")
    if output.exists() and not request.overwrite:
        raise InputError(f"{output} exists already; --overwrite replaces it")
    draft = _placed(request.draft, output.parent)
    draft, fitted = with_stable_gains(draft, draft_config(draft, output))
    if fitted is not None:
        Notices(progress).add("gains", fitted.text)
    if request.ask:
        draft = _asked(draft, output, Notices(progress))
    config = save_draft(draft, output, overwrite=request.overwrite)
    return SetupResult(output, config.name, draft_text(draft), check_buses(config).summary)


def _placed(draft: Draft, folder: Path) -> Draft:
    """Return the draft with paths relative to the folder of the output file."""
    amplifier = draft.amplifier
    if amplifier is not None:
        amplifier = replace(amplifier, profile=placed_profile(amplifier.profile, folder))
    return replace(
        draft,
        mechanism=placed_mechanism(draft.mechanism, folder),
        profile=placed_profile(draft.profile, folder),
        amplifier=amplifier,
    )


def _asked(draft: Draft, output: Path, notices: Notices) -> Draft:
    """Return the draft with the serial numbers read from its drives, and the times of their replies.

    Raises HardwareError for a bad answer.
    """
    with served(draft_config(with_patience(draft), output)) as rig:
        found = probe_rig(rig)
    if not found.passed:
        raise HardwareError(Finding(Code.CONFIG_NOT_WRITTEN, details={"path": str(output)}, within=found.faults))
    draft = with_serials(draft, found.serials)
    if draft.virtual:  # on a pseudo-terminal a twin answers when this computer has time: no measure of a drive
        return draft
    timed = with_reply_delays(draft, found.reply_delays)
    if timed.settings != draft.settings:
        slowest, timeout = 1e3 * max(found.reply_delays.values()), 1e3 * timed.settings["reply_timeout"]
        notices.add("reply_timeout", f"the drives answer after up to {slowest:.3g} ms: reply_timeout = {timeout:g} ms")
    return timed


def probe(request: ProbeRequest, progress: OnEvent = no_progress) -> ProbeResult:
    """Query the six drives: connect, identify, configure the watchdog, read, close. Nothing moves.

    Raises:
        InputError: the configuration.
        HardwareError: something else commands them, or a process cannot be started.
    """
    del progress  # no stages
    settings = load_config(request.config)
    with served(settings) as rig:
        found = probe_rig(rig)
    missing = {n: serial for n, serial in found.serials.items() if settings.drives.legs[n - 1].serial is None}
    legs = settings.drives.legs
    real = settings.virtual is None
    delays = {n: delay for n, delay in found.reply_delays.items() if real and _longer(delay, legs[n - 1])}
    return ProbeResult(found, missing, delays)


def _longer(delay: float, address: LegDrive) -> bool:
    """Whether a measured reply delay (s) is missing in the drive's address, or more than twice what it says."""
    stated = address.given["reply_delay"]
    return stated is None or delay > max(2.0 * stated, stated + 1e-3)


def move_leg(request: LegRequest, progress: OnEvent = no_progress) -> LegTested:
    """Move one leg a little, forth and back; brakes hold the other five, torque off.

    Ctrl-C stops the leg by its drive's quick stop, a second one switches the torque off at once.

    Events: a notice of checks that are off; `moving` with `leg` and `travel`, m, before the move.

    Raises:
        InputError: the configuration, or the move.
        NotHomedError, LatchedFaultError: see `home` and `clear` of the request.
        HardwareError: a drive does not answer, or something else commands it.
    """
    settings = load_config(request.config)
    move = LegMove(request.leg, request.travel, request.speed, request.home, request.clear)
    check_move(settings, move)
    if settings.safety.off:
        Notices(progress).add("checks-off", f"checks {settings.safety.disabled_text}")
    progress(Progress("moving", values={"leg": request.leg, "travel": request.travel}))
    interruption = Interruption()
    with interruption.installed(), contextlib.ExitStack() as stack:
        with interruption.nothing_moving():
            rig = stack.enter_context(served(settings))
        recording = leg_recording(rig, move)
        result = run_leg_test(rig, move, interruption, lambda _test: None, recording)
    return LegTested(result, recording, result.passed and settings.virtual is None)


def record_proof(request: ProofRequest, progress: OnEvent = no_progress) -> Path | None:
    """Record a leg's test as proof of its wiring, or delete its proof if another leg moved.

    Returns:
        The record; None if it was deleted.
    """
    del progress  # no stages
    settings = load_config(request.config)
    if request.seen:
        return put_on_record(settings, request.result)
    strike_from_record(settings, request.result.leg)
    return None
