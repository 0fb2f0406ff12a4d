"""What a search found, entered into a draft: which answers are drives of its legs, and which are not."""

from collections.abc import Sequence
from dataclasses import replace

from actuators import Answer, SerialEndpoint
from rig.commissioning.draft import Draft, DriveAddress
from rig.commissioning.driver_settings import usual_frame


def with_found(draft: Draft, answers: Sequence[Answer]) -> tuple[Draft, list[str]]:
    """The draft with answers in the legs without an address, in their order; and why others are in none, in words.

    Where no leg has one, the driver is that of the answers. Only its drives are entered or, where it knows none of
    them, those that no driver knows. The bytes of all serial ports have one frame: the first leg's with a port.
    """
    drives = list(draft.drives)
    free = [leg for leg, drive in enumerate(drives) if not (drive.host or drive.device)]
    named = {answer.driver for answer in answers} - {""}
    driver = named.pop() if len(free) == len(drives) and len(named) == 1 else draft.driver
    known = driver if any(answer.driver == driver for answer in answers) else ""
    frame = next((_frame(drive, driver) for drive in drives if drive.device), None)
    taken = {_place(drive) for drive in drives}
    left_out = []
    for answer in answers:
        found = _address(answer)
        if answer.driver != known:
            left_out.append(f"{answer.place} {answer.described}: the driver is {driver}")
        elif _place(found) in taken:
            continue
        elif found.device and frame not in (None, (found.parity, found.stop_bits)):
            left_out.append(f"{answer.place}: the bytes of the other ports are not like that")
        elif not free:
            left_out.append(f"{answer.place}: every leg has its drive")
        else:
            leg = free.pop(0)
            drives[leg] = replace(found, serial=drives[leg].serial, position_offset=drives[leg].position_offset)
            frame = (found.parity, found.stop_bits) if found.device else frame
    return replace(draft, driver=driver, drives=tuple(drives)), left_out


def _address(answer: Answer) -> DriveAddress:
    end = answer.endpoint
    if isinstance(end, SerialEndpoint):
        return DriveAddress(
            unit=answer.unit, device=end.device, baud=end.baud, parity=end.parity, stop_bits=end.stop_bits
        )
    return DriveAddress(end.host, end.port, answer.unit)


def _place(drive: DriveAddress) -> tuple[str, int, int]:
    return drive.device or drive.host, drive.baud if drive.device else drive.port, drive.unit


def _frame(drive: DriveAddress, driver: str) -> tuple[str, int] | None:
    return (drive.parity, drive.stop_bits) if drive.parity else usual_frame(driver)
