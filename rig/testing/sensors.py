"""The conformance suite of a reader of sensors."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from rig.config import SensorDevice, SensorOptions, find_sensor
from rig.testing.failure import Failure, run_checks

_TIMEOUT = 0.1  # s, as the reader's process gives
_LATE = 0.5  # s, by which a call may be longer than its time-out
_READINGS = 3
_PATIENCE = 10.0  # s for so many
_OFF = 10.0  # s, between a measurement and now

Open = Callable[[], SensorDevice]


def _readings(device: SensorDevice) -> list[tuple[float | None, list[float]]]:
    found: list[tuple[float | None, list[float]]] = []
    end = time.monotonic() + _PATIENCE
    while len(found) < _READINGS and time.monotonic() < end:
        found += [(stamp, list(values)) for stamp, values in device.read(_TIMEOUT)]
    return found


def _reads(opened: Open, options: SensorOptions) -> Iterator[str]:
    device, count = opened(), len(options.meaning.names)
    try:
        found = _readings(device)
        if len(found) < _READINGS:
            yield f"it gave {len(found)} readings within {_PATIENCE:g} s"
        for _, values in found:
            if len(values) != count or not np.isfinite(np.array(values, dtype=np.float64)).all():
                yield f"a reading is {values}, must be {count} finite numbers"
    finally:
        device.close()


def _stamps(opened: Open, options: SensorOptions) -> Iterator[str]:
    device, before = opened(), -np.inf
    try:
        for stamp, _ in _readings(device):
            if stamp is None and options.clock == "machine":
                yield 'a reading has no time, with clock = "machine"'
            if stamp is None:
                continue
            if abs(time.monotonic() - stamp) > _OFF:
                yield f"a reading is of {stamp:g} s, time.monotonic() is {time.monotonic():g} s"
            if stamp < before:
                yield f"a reading of {stamp:g} s comes after one of {before:g} s"
            before = stamp
    finally:
        device.close()


def _returns(opened: Open, _options: SensorOptions) -> Iterator[str]:
    device = opened()
    try:
        for _ in range(_READINGS):
            begun = time.monotonic()
            device.read(_TIMEOUT)
            if time.monotonic() - begun > _TIMEOUT + _LATE:
                yield f"read({_TIMEOUT:g}) took {time.monotonic() - begun:.2f} s"
    finally:
        device.close()


def _opens_again(opened: Open, _options: SensorOptions) -> Iterator[str]:
    for _ in range(2):
        device = opened()
        if not _readings(device):
            yield "opened a second time, it gives no readings"
        device.close()


SENSOR_CHECKS: Mapping[str, Callable[[Open, SensorOptions], Iterator[str]]] = {
    "reads": _reads,
    "stamps": _stamps,
    "returns": _returns,
    "opens again": _opens_again,
}
"""The checks of a reader of sensors by name.

It gives finite values of all channels; its times are of the machine's monotonic clock, and increase; it returns within
the time-out; closed, it can be opened again.
"""


def check_sensor(name: str, options: SensorOptions) -> tuple[Failure, ...]:
    """Check the installed reader called `name` with a sensor's options, on the device itself; () if none failed.

    Raises:
        ConfigError: no such reader, or unusable settings.
    """
    declared, settings = find_sensor(name), options.reader_settings()

    def opened() -> SensorDevice:
        return declared.open(settings, options.meaning)

    return run_checks({check: partial(found, opened, options) for check, found in SENSOR_CHECKS.items()})
