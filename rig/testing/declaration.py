"""What the suites of all drivers look at: the declaration, options that there are not, the identity."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from actuators import CellDriver, ConfigurationError, DriveAddress, Driver, Identity, IoDriver


def refusal(kind: type[Exception], words: str, call: Callable[[], object]) -> str:
    """What is wrong where `call` does not raise such an error with these words; "" if it does."""
    try:
        call()
    except kind as error:
        return "" if words in str(error) else f"raises {type(error).__name__} without {words!r}: {error}"
    except Exception as error:  # of whatever kind, where what is checked is somebody else's
        return f"raises {type(error).__name__}, must be {kind.__name__}: {error}"
    return f"raises nothing, must be {kind.__name__}"


def wrong_kind(what: str, value: object, kind: type) -> str:
    """What is wrong where `value` is no `kind`; "" if it is."""
    return "" if isinstance(value, kind) else f"{what} is a {type(value).__name__}, must be a {kind.__name__}"


def lacking(
    driver: Driver | CellDriver | IoDriver,
    addresses: Sequence[type[DriveAddress]],
    given: type[BaseModel],
    settings: Sequence[type[BaseModel]] = (),
    files: Collection[str] = (),
) -> Iterator[str]:
    """What the declaration of a driver lacks.

    addresses, settings: its own. given: what every driver of its kind is given. files: fields that name a file.
    """
    fields = {field for address in addresses for field in address.model_fields}
    own = fields | {field for model in settings for field in model.model_fields}
    for text, there in (
        ("an address with fields of its own", fields - {"unit"}),
        (f"the fields that name a file: {', '.join(files)}", own.issuperset(files)),
        (
            f"options with the fields of its address, its settings and {given.__name__}",
            {*own, *given.model_fields} <= set(driver.options.model_fields),
        ),
        (
            "the defaults of its address and settings in its options",
            all(_alike(model, driver.options) for model in (driver.address, *settings)),
        ),
        ("identity, in its address", all(address.identity is not DriveAddress.identity for address in addresses)),
        ("place, in its address", all(address.place is not DriveAddress.place for address in addresses)),
        ("a virtual twin", driver.twin),
        (
            "docstrings of address, settings and options",
            all(model.__doc__ for model in (*addresses, *settings, driver.options)),
        ),
    ):
        if not there:
            yield f"the driver lacks {text}"


def unknown_option(*makers: Callable[[Mapping[str, Any]], object]) -> Iterator[str]:
    """What is wrong with what a driver makes of an option that there is not."""
    for make in makers:
        if text := refusal(ConfigurationError, "no_such_option", partial(make, {"no_such_option": 1})):
            yield f"an option that there is not {text}"


def incomplete(identity: Identity, lacks: Collection[str]) -> Iterator[str]:
    """What is wrong with an identity. lacks: of the bench, "identity" where maker or serial number is not known."""
    if wrong := wrong_kind("what identify gives", identity, Identity):
        yield wrong
    if not identity.product:
        yield f"identify() is {identity}, without a product"
    elif not (identity.vendor and identity.serial) and "identity" not in lacks:
        yield f"identify() is {identity}, without vendor or serial: its bench must lack 'identity'"


def _alike(part: type[BaseModel], options: type[BaseModel]) -> bool:
    """Whether the options have the defaults of a part of theirs."""
    whole = options.model_fields
    return all(
        field.get_default(call_default_factory=True) == whole[name].get_default(call_default_factory=True)
        for name, field in part.model_fields.items()
        if name in whole
    )
