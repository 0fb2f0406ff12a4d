"""One drive of a draft, to be asked while the rest of it need not be valid yet."""

from pathlib import Path

from pydantic import ValidationError

from rig.commissioning.draft import Draft
from rig.commissioning.driver_settings import has_profile
from rig.commissioning.probe import DriveKind
from rig.config import LegDrive, leg_section, resolve_name
from rig.engine import loop_mode
from rig.errors import ConfigError


def drafted_drive(draft: Draft, leg: int, path: Path) -> tuple[LegDrive, DriveKind]:
    """Where the drive of leg 1 to 6 is, and of what kind, by the draft as the file `path`.

    Raises ConfigError: there can be none of its driver; what is wrong with it.
    """
    entry = {key: value for key, value in draft.drives[leg - 1].entry.items() if value != ""}
    try:
        address = leg_section(draft.driver).model_validate(entry)
    except ValidationError as error:
        faults = [
            ": ".join([*map(str, fault["loc"]), fault["msg"].removeprefix("Value error, ")])
            for fault in error.errors(include_url=False)
        ]
        raise ConfigError(f"leg {leg}:", faults) from None
    profile = {"profile": str(resolve_name(path.parent, draft.profile))} if has_profile(draft.driver) else {}
    mode = loop_mode(own=draft.mode == "position")
    return address, DriveKind(
        draft.driver, {**draft.settings, **profile}, draft.watchdog, mode=mode, virtual=draft.virtual
    )
