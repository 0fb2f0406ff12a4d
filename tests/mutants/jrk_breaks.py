"""Jrk G2: what is believed of replies without a checksum, and when its motor may run."""

from breaks import Break

_TESTS = ("actuators/test_jrk.py",)


def _drive(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/jrk/drive.py", old, new, _TESTS)


JRK_BREAKS = [
    _drive(
        "a Jrk's feedback is believed whatever it is scaled to",
        "if settings is not None and not settings.scales(found.feedback, found.scaled):",
        "if False:",
    ),
    _drive(
        "a Jrk's reply is believed whatever target it has",
        "if self._target is not None and (found.target != self._target or found.input != self._target):",
        "if False:",
    ),
    _drive(
        "a Jrk's errors are believed whatever was there before",
        "return after == expected if cleared is None else cleared == expected and not after & ~expected",
        "return True",
    ),
    _drive(
        "a Jrk whose position loop stands goes on",
        "self._judge(found.periods) in (Life.RUNNING, Life.RESTARTED)",
        "self._judge(found.periods) is not Life.DOUBTFUL",
    ),
    _drive(
        "a Jrk that has lost its power goes on by itself",
        "        if self._on and halted & _ALLOWED:",
        "        if False:",
    ),
    _drive(
        "a Jrk's time-out while it rested is a fault",
        "faults = found.halting & ~(_TOLERATED if rested else _ALLOWED) |",
        "faults = found.halting & ~_ALLOWED |",
    ),
    _drive(
        "a Jrk's time-out is forgotten as it is stopped",
        "self._unjudged, self._unjudged or self._on",
        "self._unjudged, self._on",
    ),
    _drive(
        "a Jrk is told the end of its stroke in place of a length beyond it",
        "if not -0.5 <= counts <= COUNTS + 0.5:",
        "if False:",
    ),
    _drive(
        "a Jrk goes home at any speed",
        "self._searching += min(max(home - self._searching, -most), most)",
        "self._searching = home",
    ),
    _drive(
        "a Jrk is home before its leg is there",
        "self._homed = self._homed or abs(found.scaled - self._options.home) <= _THERE",
        "self._homed = True",
    ),
    _drive(
        "a Jrk whose counter is not where it should be is told to go on",
        "        if self._life_sign not in (Life.RUNNING, Life.RESTARTED):\n            return\n        if self._on",
        "        if self._on",
    ),
    _drive(
        "a Jrk that has restarted unseen goes on",
        "            self._armed = self._homed = False\n",
        "            pass\n",
    ),
    _drive(
        "a Jrk's power that was gone unseen comes back",
        "(found.halting | risen) & Error.NO_POWER",
        "found.halting & Error.NO_POWER",
    ),
    _drive(
        "a Jrk without feedback says where it is",
        "known = not found.halting & Error.FEEDBACK_DISCONNECT",
        "known = True",
    ),
    Break(
        "a late answer on a line without names is another unit's",
        "actuators/bus.py",
        "read = None if several and not framing.names_sender else",
        "read =",
        ("actuators/test_late_replies.py",),
    ),
    Break(
        "a late answer to one request of a Jrk's setting up is that to the next",
        "actuators/bus.py",
        "several = asked.acyclic or len(",
        "several = len(",
        ("actuators/test_late_replies.py::test_settings_of_one_alone_are_right_whichever_reply_is_late",),
    ),
    Break(
        "a Jrk's time-out may be any",
        "actuators/jrk/drive.py",
        "(units != self._units, mismatch)",
        "(False, mismatch)",
        _TESTS,
    ),
]
