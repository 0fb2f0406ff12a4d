from importlib.metadata import EntryPoint

import pytest

from actuators import (
    ActuatorError,
    Amplifier,
    ConfigurationError,
    ServoTcp,
    cell_driver_names,
    create_cell_device,
    create_cell_twin,
    create_drive,
    drive_names,
    registry,
)


def declare(monkeypatch, *entries, group=registry.GROUP):
    monkeypatch.setattr(registry, "_installed", lambda: [EntryPoint(name, value, group) for name, value in entries])


def test_shipped_driver_is_found_and_made():
    assert "servo-tcp" in drive_names()
    assert isinstance(create_drive("servo-tcp", {"host": "10.0.0.1"}), ServoTcp)


def test_unknown_driver_lists_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"no driver 'servo'; known drivers: .*servo-tcp"):
        create_drive("servo", {})


def test_other_distributions_add_drivers(monkeypatch):
    declare(monkeypatch, ("servo-tcp", "actuators.servo_tcp:DRIVER"), ("mine", "actuators.servo_tcp:DRIVER"))
    assert drive_names() == ("mine", "servo-tcp")
    assert create_drive("mine", {"host": "x"}).name == "drive"


def test_two_drivers_of_one_name(monkeypatch):
    declare(monkeypatch, ("servo-tcp", "elsewhere:make"))
    with pytest.raises(ActuatorError, match="two drivers are called 'servo-tcp'"):
        drive_names()


def test_drivers_that_cannot_be_made(monkeypatch):
    declare(monkeypatch, ("lost", "no_such_module:make"), ("odd", "builtins:dict"))
    with pytest.raises(ConfigurationError, match=r"driver 'lost' \(no_such_module:make\) cannot be loaded"):
        create_drive("lost", {})
    with pytest.raises(ConfigurationError, match=r"driver 'odd' \(builtins:dict\) is a type, no Driver"):
        create_drive("odd", {})


def test_drivers_of_load_cells_have_names_of_their_own(monkeypatch):
    assert cell_driver_names() == ("amplifier-tcp",)
    assert isinstance(create_cell_device("amplifier-tcp", {"host": "10.0.0.1"}), Amplifier)
    declare(monkeypatch, ("servo-tcp", "actuators.amplifier:DRIVER"), group=registry.CELL_GROUP)
    assert cell_driver_names() == ("amplifier-tcp", "servo-tcp") and drive_names() == ("servo-tcp",)
    assert isinstance(create_cell_device("servo-tcp", {"host": "10.0.0.1"}), Amplifier)
    assert isinstance(create_drive("servo-tcp", {"host": "10.0.0.1"}), ServoTcp)


def test_drivers_of_load_cells_that_cannot_be_made(monkeypatch):
    with pytest.raises(ConfigurationError, match=r"no cell driver 'servo-tcp'; known cell drivers: amplifier-tcp$"):
        create_cell_device("servo-tcp", {})
    declare(monkeypatch, ("amplifier-tcp", "elsewhere:DRIVER"), group=registry.CELL_GROUP)
    with pytest.raises(ActuatorError, match="two cell drivers are called 'amplifier-tcp'"):
        cell_driver_names()
    declare(
        monkeypatch,
        ("drive", "actuators.servo_tcp:DRIVER"),
        ("blind", "tests.actuators.foreign:BLIND"),
        group=registry.CELL_GROUP,
    )
    with pytest.raises(ConfigurationError, match=r"cell driver 'drive' \(.*\) is a Driver, no CellDriver"):
        create_cell_device("drive", {})
    with pytest.raises(ConfigurationError, match="cell driver 'blind' has no virtual twin"):
        create_cell_twin("blind", {"gateway": "x", "slot": 1}, [])
