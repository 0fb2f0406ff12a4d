"""The power state machine of CiA 402 and of other tables: what is commanded, and what a drive does with it."""

import dataclasses

import pytest

from actuators import cia402
from actuators.cia402 import CIA_402
from actuators.interface import Status
from actuators.power import PowerSequence, PowerState, PowerStep, PowerTable, PowerWord
from actuators.virtual.power import VirtualPower

PERIOD = 0.01


class Pair:
    """A sequence and the drive it commands, cycle by cycle."""

    def __init__(self, table: PowerTable = CIA_402) -> None:
        self.sequence, self.drive = PowerSequence(table), VirtualPower(table)
        self.now = 0.0
        self.words: list[int] = []
        self.deaf = False

    def cycle(self, count: int = 1, **wanted: bool) -> str:
        for _ in range(count):
            self.now += PERIOD
            self.words.append(self.sequence.control(self.now, **{"enable": False, **wanted}))
            if not self.deaf:
                self.drive.write(self.words[-1])
            self.sequence.observe(self.drive.state.value)
        return self.drive.state.name


@pytest.mark.parametrize("high", [0x0000, 0x0200, 0xFF90 & ~0x6F])
@pytest.mark.parametrize("state", cia402.STATES, ids=lambda one: one.name)
def test_a_state_is_found_by_its_bits_alone(state: PowerState, high: int) -> None:
    assert CIA_402.state(state.value | high) is state


def test_no_status_word_says_two_states() -> None:
    assert not CIA_402.faults()
    for word in range(0x100):
        assert sum(one.matches(word) for one in CIA_402.states) <= 1


def test_torque_comes_by_6_7_15_and_goes_by_0() -> None:
    pair = Pair()
    pair.cycle()
    assert pair.cycle(4, enable=True) == "operation_enabled"
    assert pair.words == [0, 6, 7, 15, 15]
    assert pair.sequence.enabled
    assert pair.sequence.flags == Status.READY | Status.ENABLED
    assert pair.cycle() == "switch_on_disabled"
    assert pair.words[-1] == 0


def test_enable_must_be_seen_clear_first() -> None:
    pair = Pair()
    assert pair.cycle(5, enable=True) == "switch_on_disabled"
    assert pair.words == [0] * 5


def test_a_word_is_repeated_until_its_state_is_confirmed() -> None:
    pair = Pair()
    pair.cycle()
    pair.deaf = True
    pair.cycle(5, enable=True)
    assert pair.words[1:] == [6] * 5
    pair.deaf = False
    assert pair.cycle(3, enable=True) == "operation_enabled"


def test_a_step_that_is_not_confirmed_in_time_is_a_fault_until_it_is_cleared() -> None:
    pair = Pair(cia402.power_table(timeout=0.1))
    pair.cycle()
    pair.cycle(enable=True)
    pair.deaf = True
    pair.cycle(10, enable=True)
    assert pair.sequence.failure is None
    pair.cycle(2, enable=True)
    failure = pair.sequence.failure
    assert failure is not None
    assert (failure.step, failure.word, failure.state, failure.status) == (2, 7, "switched_on", 0x21)
    assert pair.words[-1] == 0
    assert pair.sequence.flags == Status.FAULT
    pair.deaf = False
    pair.cycle()
    pair.cycle(5, enable=True)
    assert pair.words[-5:] == [0] * 5
    pair.cycle(clear=True)
    assert pair.sequence.failure is None
    pair.cycle()
    assert pair.cycle(3, enable=True) == "operation_enabled"


@pytest.mark.parametrize("cycles", [0, 1, 2, 3])
def test_a_quick_stop_from_every_step_ends_without_torque(cycles: int) -> None:
    pair = Pair()
    pair.cycle()
    pair.cycle(cycles, enable=True)
    state = pair.cycle(enable=True, quick_stop=True)
    assert pair.words[-1] == 2
    assert state == ("quick_stop_active" if cycles == 3 else "switch_on_disabled")
    pair.drive.rest()
    assert pair.cycle(3, enable=True) == "switch_on_disabled"


def test_a_fault_is_cleared_by_an_edge_and_torque_asked_for_anew() -> None:
    pair = Pair()
    pair.cycle()
    pair.cycle(3, enable=True)
    pair.drive.fail()
    assert pair.cycle(enable=True) == "fault_reaction_active"
    assert pair.sequence.flags & (Status.FAULT | Status.ENABLED) == Status.FAULT | Status.ENABLED
    pair.drive.rest()
    assert pair.cycle(clear=True) == "switch_on_disabled"
    assert pair.words[-1] == 0x80
    pair.drive.fail()
    assert pair.cycle(4, clear=True) == "fault", "a level is no edge"
    pair.cycle()
    assert pair.cycle(clear=True) == "switch_on_disabled"
    assert pair.cycle(3, enable=True) == "operation_enabled"


def test_torque_that_the_drive_took_off_by_itself_does_not_come_back() -> None:
    pair = Pair()
    pair.cycle()
    pair.cycle(4, enable=True)
    pair.drive.lose()
    assert pair.cycle(5, enable=True) == "switch_on_disabled"
    assert pair.words[-4:] == [0] * 4
    pair.cycle()
    assert pair.cycle(3, enable=True) == "operation_enabled"


@pytest.mark.parametrize("word", [0x07, 0x0F])
def test_a_drive_ignores_a_step_that_comes_too_early(word: int) -> None:
    drive = VirtualPower(CIA_402)
    drive.write(word)
    assert drive.state is cia402.SWITCH_ON_DISABLED


@pytest.mark.parametrize(
    ("word", "state"),
    [
        (0x06, cia402.READY_TO_SWITCH_ON),
        (0x0E, cia402.READY_TO_SWITCH_ON),
        (0x07, cia402.SWITCHED_ON),
        (0x1F, cia402.OPERATION_ENABLED),
        (0x0B, cia402.QUICK_STOP_ACTIVE),
        (0x0D, cia402.SWITCH_ON_DISABLED),
    ],
)
def test_words_are_known_by_their_mask(word: int, state: PowerState) -> None:
    drive = VirtualPower(CIA_402)
    for step in (0x06, 0x07, 0x0F, word):
        drive.write(step)
    assert drive.state is state


def test_a_table_of_another_make_has_its_own_words() -> None:
    idle, on, bad = (
        PowerState("idle", 3, 0, Status.READY),
        PowerState("on", 3, 1, Status.ENABLED),
        PowerState("bad", 2, 2, Status.FAULT),
    )
    mask = 0x0F
    table = PowerTable(
        (idle, on, bad), (PowerStep(PowerWord(5, mask), on, 1.0),), PowerWord(4, mask), PowerWord(1, mask), 8
    )
    assert not table.faults()
    pair = Pair(table)
    pair.cycle()
    assert pair.cycle(2, enable=True) == "on"
    assert pair.cycle(enable=True, quick_stop=True) == "idle"
    pair.drive.fail()
    pair.cycle()
    assert pair.cycle(clear=True) == "idle"
    assert pair.words == [4, 5, 5, 1, 4, 12]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"steps": ()}, "enable: no step"),
        ({"steps": CIA_402.steps[:2]}, "the last step ends in switched_on, which has no torque"),
        ({"steps": [dataclasses.replace(CIA_402.steps[0], timeout=0.0), *CIA_402.steps[1:]]}, "time-out 0 s"),
        ({"steps": [CIA_402.steps[2], *CIA_402.steps]}, "has torque before the last step"),
        ({"states": [*CIA_402.states, PowerState("other", 0x08, 0x08)]}, "states.fault and states.other match"),
        ({"states": [PowerState("wide", 0x0F, 0x21), *CIA_402.states[3:]]}, "has bits outside of mask 0x000F"),
        ({"states": CIA_402.states[:-2]}, "none has a fault"),
        ({"states": CIA_402.states[2:]}, "none is ready before the first step"),
        ({"reset": 0x04}, "has bits of reset 0x0004"),
        ({"disable": PowerWord(0x80, 0x80)}, "disable: word 0x0080 has bits of reset"),
    ],
)
def test_a_wrong_table_is_named(change: dict[str, object], fault: str) -> None:
    assert fault in "; ".join(dataclasses.replace(CIA_402, **change).faults())  # type: ignore[arg-type]
