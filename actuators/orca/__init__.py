"""ORCA motors of Iris Dynamics: Modbus RTU with a stream of set-points of its own, force and position."""

from actuators.driver import Driver
from actuators.orca.drive import Orca, OrcaAddress, OrcaOptions, OrcaSettings, recognise
from actuators.orca.twin import VirtualOrca, orca_twin

__all__ = ["DRIVER", "Orca", "OrcaAddress", "OrcaOptions", "OrcaSettings", "VirtualOrca", "orca_twin"]

DRIVER = Driver(OrcaAddress, OrcaSettings, OrcaOptions, Orca, orca_twin, recognise)
"""What is registered as `orca`."""
