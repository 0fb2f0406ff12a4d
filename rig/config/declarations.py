"""Settings of control laws, references and sensor readers, whose models are declared with them."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rig.config.faulty_values import config_faults
from rig.errors import ConfigError


class ExtensionSettings(BaseModel):
    """Base of the settings of a law ([laws.NAME]), a reference or a reader: finite, no unknown keys, with defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)


_Settings = TypeVar("_Settings", bound=ExtensionSettings)


def read_settings(model: type[_Settings], given: Mapping[str, Any]) -> _Settings:
    """Validate `given` by the declared model.

    Raises:
        ConfigError: with all faults and their keys.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        faults = config_faults(error)
        raise ConfigError("; ".join(fault.text for fault in faults), faults) from error
