"""The drives and load cells that a configuration describes."""

from collections.abc import Callable, Sequence

from actuators import Amplifier, Drive, Wire, create_amplifier, create_drive
from calibration import LoadCellCalibration, identity, load_cell_calibration
from rig.config import RigConfig, drive_options
from rig.engine.bank import DriveBank
from rig.engine.laws import needed_modes
from rig.engine.pacing import PacedWire, Pacer


def cell_calibration(config: RigConfig) -> LoadCellCalibration:
    """The calibration the configuration names, or the one that leaves readings as they are.

    Raises:
        CalibrationError: the file cannot be used.
    """
    path = config.calibration_path
    return identity() if path is None else load_cell_calibration(path)


def make_bank(
    config: RigConfig, wires: Callable[[], Sequence[Wire]] | None = None, pacer: Pacer | None = None
) -> DriveBank:
    """Six drives and their cells, not yet connected.

    Args:
        config: the rig.
        wires: for a rig in this process: gives new wires to the six drives, then to the amplifier if there is one;
            None opens the configured addresses.
        pacer: gives those devices their time, where they are virtual.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    drives = [make_drive(config, leg, wires, pacer) for leg in range(len(config.drives.legs))]
    amplifier = make_amplifier(config, wires, pacer)
    return DriveBank(drives, amplifier, cell_calibration(config), needed_modes(config.mode), pacer)


def make_drive(
    config: RigConfig,
    leg: int,
    wires: Callable[[], Sequence[Wire]] | None = None,
    pacer: Pacer | None = None,
) -> Drive:
    """The drive of `leg` (index), not yet connected; see `make_bank`.

    Raises:
        ConfigurationError: the driver or profile does not take what is configured.
    """
    options = drive_options(config, leg) | _over(wires, leg) | _paced(config.drives.legs[leg].endpoint, pacer)
    return create_drive(config.drives.driver, options)


def make_amplifier(
    config: RigConfig, wires: Callable[[], Sequence[Wire]] | None = None, pacer: Pacer | None = None
) -> Amplifier | None:
    """The load cells' amplifier, not yet connected, None where the drives read the cells; see `make_bank`.

    Raises:
        ConfigurationError: the profile does not take what is configured.
    """
    address = config.load_cells.amplifier
    if address is None:
        return None
    options = {"request_timeout": config.drives.connect_timeout, **address.model_dump()}
    return create_amplifier(
        options | _over(wires, len(config.drives.legs)) | _paced((address.host, address.port), pacer)
    )


def _over(wires: Callable[[], Sequence[Wire]] | None, index: int) -> dict[str, object]:
    return {} if wires is None else {"open_wire": lambda _timeout: wires()[index]}


def _paced(endpoint: tuple[str, int] | None, pacer: Pacer | None) -> dict[str, object]:
    if pacer is None or endpoint is None:
        return {}
    host, port = endpoint
    return {"open_wire": lambda timeout: PacedWire(host, port, timeout, pacer)}
