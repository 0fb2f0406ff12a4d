from importlib.metadata import EntryPoint

import pytest

from actuators import (
    ActuatorError,
    Amplifier,
    ConfigurationError,
    ModbusServo,
    cell_driver_names,
    create_cell_device,
    create_cell_twin,
    create_drive,
    declarations,
    drive_names,
    registry,
)


def declare(monkeypatch, *entries, group=registry.GROUP):
    monkeypatch.setattr(declarations, "installed", lambda: [EntryPoint(name, value, group) for name, value in entries])


def test_shipped_driver_is_found_and_made():
    assert "servo" in drive_names()
    assert isinstance(create_drive("servo", {"host": "10.0.0.1"}), ModbusServo)


def test_unknown_driver_lists_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"no driver 'steam'; known drivers: .*servo"):
        create_drive("steam", {})


def test_other_distributions_add_drivers(monkeypatch):
    declare(monkeypatch, ("servo", "actuators.modbus_servo:DRIVER"), ("mine", "actuators.modbus_servo:DRIVER"))
    assert drive_names() == ("canopen", "iai", "jrk-g2", "mine", "orca", "servo")
    assert create_drive("mine", {"host": "x"}).name == "drive"


def test_two_drivers_of_one_name(monkeypatch):
    declare(monkeypatch, ("servo", "elsewhere:make"))
    with pytest.raises(ActuatorError, match="two drivers are called 'servo'"):
        drive_names()


def test_drivers_that_cannot_be_made(monkeypatch):
    declare(monkeypatch, ("lost", "no_such_module:make"), ("odd", "builtins:dict"))
    with pytest.raises(ConfigurationError, match=r"driver 'lost' \(no_such_module:make\) cannot be loaded"):
        create_drive("lost", {})
    with pytest.raises(ConfigurationError, match=r"driver 'odd' \(builtins:dict\) must be a Driver, got"):
        create_drive("odd", {})


def test_drivers_of_load_cells_have_names_of_their_own(monkeypatch):
    assert cell_driver_names() == ("loadstar", "mantracourt", "modbus")
    assert isinstance(create_cell_device("modbus", {"host": "10.0.0.1"}), Amplifier)
    declare(monkeypatch, ("servo", "actuators.amplifier:DRIVER"), group=registry.CELL_GROUP)
    assert cell_driver_names() == ("loadstar", "mantracourt", "modbus", "servo") and drive_names() == (
        "canopen",
        "iai",
        "jrk-g2",
        "orca",
        "servo",
    )
    assert isinstance(create_cell_device("servo", {"host": "10.0.0.1"}), Amplifier)
    assert isinstance(create_drive("servo", {"host": "10.0.0.1"}), ModbusServo)


def test_drivers_of_load_cells_that_cannot_be_made(monkeypatch):
    with pytest.raises(ConfigurationError, match=r"no cell driver 'servo'; .*: loadstar, mantracourt, modbus$"):
        create_cell_device("servo", {})
    declare(monkeypatch, ("modbus", "elsewhere:DRIVER"), group=registry.CELL_GROUP)
    with pytest.raises(ActuatorError, match="two cell drivers are called 'modbus'"):
        cell_driver_names()
    declare(
        monkeypatch,
        ("drive", "actuators.modbus_servo:DRIVER"),
        ("blind", "tests.actuators.foreign:BLIND"),
        group=registry.CELL_GROUP,
    )
    with pytest.raises(ConfigurationError, match=r"cell driver 'drive' \(.*\) must be a CellDriver, got"):
        create_cell_device("drive", {})
    with pytest.raises(ConfigurationError, match="cell driver 'blind' has no virtual twin"):
        create_cell_twin("blind", {"gateway": "x", "slot": 1}, [])
