"""What a search found, entered into a draft."""

from actuators import Answer, Identity, SerialEndpoint, TcpEndpoint
from rig.commissioning import Draft, DriveAddress, with_found
from rig.findings import Code, Finding

WHO = Identity("maker", "thing", "", "")
ODD = SerialEndpoint("/dev/a", 38_400, "none", 1)
EVEN = SerialEndpoint("/dev/b", 19_200, "even", 1)


def answer(endpoint: SerialEndpoint | TcpEndpoint, unit: int, driver: str) -> Answer:
    return Answer(endpoint, unit, driver, WHO if driver else None, "register 0 is 0")


def rows(draft: Draft) -> list[tuple[str, int, int]]:
    return [(each.device or each.host, each.baud if each.device else each.port, each.unit) for each in draft.drives]


EMPTY = ("", 502, 1)


def test_an_empty_draft_takes_the_driver_and_not_what_else_is_on_the_line() -> None:
    draft, left_out = with_found(Draft(), [answer(ODD, 1, "iai"), answer(ODD, 9, ""), answer(ODD, 2, "iai")])
    assert draft.driver == "iai"
    assert rows(draft) == [("/dev/a", 38_400, 1), ("/dev/a", 38_400, 2), *[EMPTY] * 4]
    assert [(each.parity, each.stop_bits) for each in draft.drives[:2]] == [("none", 1)] * 2
    (left,) = left_out
    assert left.code is Code.FOUND_OF_OTHER_DRIVER
    assert left.text.startswith("/dev/a, 38400 baud 8N1, unit 9 answers (") and left.text.endswith(
        ": the driver is iai"
    )


def test_what_no_driver_knows_may_be_one_with_a_map_of_its_own() -> None:
    host = TcpEndpoint("10.0.0.1", 502)
    draft, left_out = with_found(Draft(), [answer(host, 1, ""), answer(host, 2, "")])
    assert (draft.driver, rows(draft)[:3], left_out) == ("servo", [(*host, 1), (*host, 2), EMPTY], [])


def test_two_drivers_are_not_chosen_between() -> None:
    draft, left_out = with_found(Draft(driver="orca"), [answer(EVEN, 1, "servo"), answer(EVEN, 2, "iai")])
    assert (draft.driver, rows(draft)) == ("orca", [EMPTY] * 6) and len(left_out) == 2


def test_drives_that_are_there_keep_their_driver_their_frame_and_their_rows() -> None:
    there = DriveAddress(unit=4, serial="S", device="/dev/b", baud=19_200, position_offset=0.1)
    drives = (*[DriveAddress()] * 2, there, DriveAddress(position_offset=0.2), *[DriveAddress()] * 2)
    before = Draft(drives=drives)
    draft, left_out = with_found(before, [answer(ODD, 1, "servo"), answer(EVEN, 4, "servo"), answer(EVEN, 5, "servo")])
    assert rows(draft) == [("/dev/b", 19_200, 5), EMPTY, ("/dev/b", 19_200, 4), *[EMPTY] * 3]
    assert (draft.drives[2], draft.drives[3]) == (there, drives[3])
    assert left_out == [Finding(Code.FOUND_OTHER_FORMAT, details={"place": "/dev/a, 38400 baud 8N1, unit 1"})]
    draft, left_out = with_found(before, [answer(ODD, 1, "iai")])
    assert (draft, [left.details["driver"] for left in left_out]) == (before, ["servo"])


def test_more_than_there_are_legs() -> None:
    draft, left_out = with_found(Draft(), [answer(EVEN, unit, "servo") for unit in range(1, 9)])
    assert [unit for _, _, unit in rows(draft)] == [1, 2, 3, 4, 5, 6]
    assert [left.code for left in left_out] == [Code.FOUND_TOO_MANY] * 2
