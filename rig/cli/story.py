"""What `rig demo` says of identification: what it would leave of the forces, or the whole story with --identify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from kinematics import Trajectory
    from rig.client import RunResult, Story
    from rig.config import RigConfig


def outlook_of(result: RunResult) -> dict[str, Any]:
    """What identification from a run's own motion would leave of its last quarter, in numbers and in words."""
    from calibration import CalibrationError
    from rig.analysis import identify_recordings
    from rig.errors import InputError
    from rig.recording import RecordingFile

    try:
        held = identify_recordings([RecordingFile(result.recording)]).held_out
    except (CalibrationError, InputError) as error:
        text = str(error).splitlines()[-1].strip()
        return {
            "holdout": None,
            "text": f"outlook    nothing can be identified from this motion ({text}); see --identify",
        }
    numbers = {"residual_before_n": held.before, "residual_after_n": held.after, "noise_n": held.noise}
    text = (
        f"outlook    the model of the drawing leaves {held.before:.2f} N of the last quarter; with parameters from the "
        f"rest {held.after:.2f} N, noise is {held.noise:.2f} N: see --identify"
    )
    return {"holdout": numbers, "text": text}


def tell_story(config: RigConfig, trajectory: Trajectory, output: Path | None, lockstep: bool, as_json: bool) -> None:
    """Run, excite, identify, run again, and say what came of it."""
    from rig.cli.identify import print_identified
    from rig.cli.progress import progress_display
    from rig.client import describe, identify_on

    with progress_display() as report:
        story = identify_on(config, trajectory, "demo", output, lockstep=lockstep, report=report)
    last = story.last
    if as_json:
        typer.echo(json.dumps(_summary(story), indent=2))
    elif story.identified is not None and story.after is not None:
        typer.echo(f"with the model of the drawing\n{describe(story.before)}\n")
        print_identified(story.identified)
        typer.echo(f"parameters {story.parameters}\n\nthe same motion with them\n{describe(last)}")
    elif last.summary:
        typer.echo(describe(last))
    if last.error is not None:
        raise last.error


def _summary(story: Story) -> dict[str, Any]:
    summary = dict(story.last.summary)
    paths = dict(summary.get("paths", {}))
    paths["before"] = str(story.before.recording)
    if story.excited is not None:
        paths["excitation"] = str(story.excited.recording)
    if story.identified is not None:
        paths["parameters"] = str(story.parameters)
        summary["identification"] = story.identified.summary()
        summary["before"] = {"force": story.before.summary["force"]}
    return summary | {"paths": paths}
