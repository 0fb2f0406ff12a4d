"""The wizard: seven pages over one draft; it cannot be closed while something moves."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import RigSession
from gui.setup.bench import Configured, SetupBench
from gui.setup.draft_pages import CellsPage, DraftPage, SavePage, StartPage, listed
from gui.setup.drives_page import DrivesPage
from gui.setup.motion_pages import LegsPage, ZeroPage
from gui.setup.sensors_page import SensorsPage
from gui.steps import StepPage, StepWizard, set_role
from gui.texts import config_fault_text, ranges, sentence, tr
from gui.widgets import field_refusal
from rig.commissioning import (
    Draft,
    LegMove,
    LegProbe,
    LegResult,
    Probe,
    Zero,
    ZeroOptions,
    draft_config,
    draft_faults,
    draft_text,
    drafted_drive,
    placed_mechanism,
    placed_profile,
    put_on_record,
    save_rig,
    with_stable_gains,
)
from rig.config import RigConfig
from rig.engine import check_buses
from rig.errors import ConfigError
from rig.findings import Finding

_EDIT_PAUSE = 150  # ms without a change before the draft is checked
_CHANGED = tr("what was entered has changed meanwhile: do it again")


@dataclass(frozen=True, slots=True)
class _Saved:
    """The saved configuration, the draft that was written, and what was found: gains, lines."""

    config: RigConfig
    draft: Draft
    findings: tuple[Finding, ...]


class SetupWizard(StepWizard):
    """Drafts a new rig's configuration, tests it on the drives, saves it.

    STOP and Esc reach it through the session's `stopped`, like everything else in the app. Esc never closes it.

    Signals: `opening(path)` to open the saved rig.

    Args:
        session: source of stops; it must not be connected.
        parent: the main window.
    """

    opening = QtCore.Signal(object)

    def __init__(self, session: RigSession, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(session, tr("Set up a new rig"), tr("Progress of the set-up"), parent)
        self.bench = SetupBench(self)
        self.start = StartPage()
        self.drives = DrivesPage(self._ask, self._ask_all, self.bench.search, self.bench.stop)
        self.cells = CellsPage()
        self.sensors = SensorsPage()
        self.legs = LegsPage(self._test)
        self.zeroing = ZeroPage(self._zero)
        self.saving = SavePage(self._save, self._open)
        self.drafted: tuple[DraftPage, ...] = (self.start, self.drives, self.cells, self.sensors)
        """Pages whose input is the draft."""
        self.pages: tuple[StepPage, ...] = (*self.drafted, self.legs, self.zeroing, self.saving)
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_EDIT_PAUSE)
        self._pause.timeout.connect(self.check_draft)
        self._known = self._given = Draft()
        self._fitted: tuple[Draft, tuple[float, float] | None] | None = None
        """What the gains that were written depend on, and these; None for the defaults."""
        self._faults: tuple[str, ...] = ()
        self.add_steps(self.pages)
        for page in self.pages:
            page.edited.connect(self._edited)
        self.start["virtual"].edited.connect(self._set_rehearsal)
        self.currentIdChanged.connect(lambda _id: self._entered())
        self.bench.changed.connect(self._refresh)
        self.bench.progressed.connect(self._progressed)
        self.restart()
        self.check_draft()

    # -- the draft ---------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """Path of the configuration."""
        return self.saving.target() if self.saving.path.text().strip() else Path.cwd() / "rig.toml"

    def entered(self) -> Draft:
        """The input so far, verbatim."""
        draft = Draft()
        for page in self.drafted:
            draft = page.fill(draft)
        return draft

    def draft(self) -> Draft:
        """Return a draft of the input so far, with paths relative to a file at `path`."""
        draft = self.entered()
        folder = self.path.parent
        profile = placed_profile(draft.profile, folder)
        amplifier = draft.amplifier
        if amplifier is not None:
            amplifier = replace(amplifier, profile=placed_profile(amplifier.profile, folder))
        mechanism = placed_mechanism(draft.mechanism, folder) if draft.mechanism else ""
        draft = replace(draft, mechanism=mechanism, profile=profile, amplifier=amplifier)
        fitted = self._fitted
        return replace(draft, gains=fitted[1]) if fitted is not None and fitted[0] == _rig_of(draft) else draft

    def _set_rehearsal(self) -> None:
        rehearsal = self.start["virtual"].value
        self.drives.set_rehearsal(rehearsal)
        self.cells.set_rehearsal(rehearsal)
        self.sensors.set_rehearsal(rehearsal)

    def _edited(self) -> None:
        if self.sender() is self.start or self.sender() is self.drives:
            self.legs.set_busy(tr("a change is being checked"))
        self._pause.start()

    def check_draft(self) -> None:
        """Check the input: show what is missing on each page, invalidate results that no longer apply.

        While a number field is invalid there is no draft; the page shows that, and everything is disabled.
        """
        self._pause.stop()
        refusals = [field_refusal(page) for page in self.drafted]
        if any(refusals):
            self._faults = tuple(filter(None, refusals))
            for page, refusal in zip(self.pages, refusals, strict=False):
                page.show_missing(refusal or listed(page.own_faults(())))
            self._refresh()
            return
        draft = self.draft()
        faults = draft_faults(draft, self.path)
        self._faults = tuple(map(config_fault_text, faults))
        for page in self.drafted:
            page.show_missing(listed(page.own_faults(faults)))
        self._known = draft
        before, self._given = self._given, self.entered()  # paths in the draft change with the folder of the file
        if _rig_of(before) != _rig_of(self._given):
            self.zeroing.invalidate()
        for leg in range(1, 7):
            if _leg_of(before, leg) != _leg_of(self._given, leg):
                self.legs.invalidate(leg)
        self.saving.show_content(draft_text(draft), self.zeroing.zero, self._untested(), self._about_zero())
        self._refresh()

    def _untested(self) -> str:
        results = self.legs.results
        failed = [leg for leg in sorted(results) if not results[leg].passed]
        untested = [leg for leg in range(1, 7) if leg not in results]
        found = ((tr("Legs not tested"), untested), (tr("Legs that did not pass their test"), failed))
        return "\n".join(f"⚠ {text}: {ranges(legs)}" for text, legs in found if legs)

    def _about_zero(self) -> str:
        if self.zeroing.zero is None:
            return tr("The load cells were not zeroed.")
        return tr("The zero is written into a calibration file next to it, which is named here.")

    @property
    def _refused(self) -> bool:
        """Return whether a number field is invalid; its page shows it."""
        if refused := bool(field_refusal(*self.drafted)):
            self.check_draft()
        return refused

    # -- display -----------------------------------------------------------------------------------------------------

    def _entered(self) -> None:
        if self.currentPage() is self.saving:
            self.saving.suggest(self.start["name"].text().strip())
        self.check_draft()

    def _refresh(self) -> None:
        busy = self.bench.busy
        faults = [page.missing for page in self.drafted if page.missing]
        first = faults[0].splitlines()[0] if faults else ""
        why = busy or (tr("the configuration is not valid yet: {faults}").format(faults=first) if faults else "")
        for page in (self.legs, self.zeroing):
            page.show_missing(tr("Wait: {busy}.").format(busy=busy) if self.bench.moving else "")
        self.drives.set_busy(busy)
        self.legs.set_busy(why)
        self.zeroing.set_busy(why)
        self.saving.refresh(list(self._faults), busy)
        set_role(self.state, "muted" if not self.bench.moving else "bad", sentence(busy) or tr("Nothing is moving."))
        self.refresh_cancel()

    def _progressed(self, text: str) -> None:
        set_role(self.state, self.state.objectName(), f"{sentence(self.bench.busy)}: {text}")
        if self.bench.leg is not None:
            self.legs.show_progress(self.bench.leg, f"{text} …")
        elif self.bench.moving:
            self.zeroing.show_progress(f"{text} …")

    # -- actions -----------------------------------------------------------------------------------------------------

    def _configured(self) -> Configured:
        """Return a function that creates the current draft's configuration, with device checks.

        What reads the cells is entered after the drives are asked.
        """
        self.check_draft()
        return partial(draft_config, self._known, self.path, cells=False)

    def _ask(self, leg: int) -> None:
        if self.bench.busy or self._refused:
            return
        config, draft = self._configured(), self._known
        self.drives.begin(leg)
        try:
            address, kind = drafted_drive(draft, leg + 1, self.path)
        except ConfigError as error:
            self.drives.show_failure(leg, str(error))
            return

        def done(probe: LegProbe | None, reason: str) -> None:
            if probe is None:
                self.drives.show_failure(leg, reason)
            else:
                self.drives.show_probe(probe)

        self.bench.ask(leg + 1, address, kind, config if draft.virtual else None, done)

    def _ask_all(self) -> None:
        if self.bench.busy or self._refused:
            return
        config = self._configured()
        self.drives.begin(None)

        def done(probe: Probe | None, reason: str) -> None:
            if probe is None:
                self.drives.show_failure(None, reason)
            else:
                self.drives.show_all(probe)

        self.bench.ask_all(config, done)

    def _test(self, move: LegMove) -> None:
        if self.bench.busy or self._refused:
            return
        config = self._configured()
        self.legs.show_progress(move.leg, tr("starting …"))
        tested = _leg_of(self._given, move.leg)

        def done(result: LegResult | None, reason: str) -> None:
            self.check_draft()  # process a pending change first: it invalidates results
            if _leg_of(self._given, move.leg) != tested:
                result, reason = None, _CHANGED
            self.legs.show_result(move.leg, result, reason)
            passed = not reason and result is not None and result.passed
            text = reason or (tr("passed") if passed else tr("does not pass"))
            self.session.log(
                "info" if passed else "warning",
                "set-up",
                tr("test of leg {leg}: {text}").format(leg=move.leg, text=text),
            )

        self.bench.test_leg(config, move, done)

    def _zero(self, options: ZeroOptions) -> None:
        if self.bench.busy or self._refused:
            return
        config = self._configured()
        self.zeroing.show_progress(tr("starting …"))
        zeroed = _rig_of(self._given)

        def done(zero: Zero | None, reason: str) -> None:
            self.check_draft()
            if _rig_of(self._given) != zeroed:
                zero, reason = None, _CHANGED
            self.zeroing.show_result(zero, reason)
            self.check_draft()  # the saved file has another zero
            good = not reason and zero is not None and not zero.faults
            text = reason or (tr("done") if good else tr("not usable"))
            self.session.log(
                "info" if good else "warning",
                "set-up",
                tr("zero of the load cells: {text}").format(text=text),
            )

        # a draft has no recorded wiring test: the operator who saw all six confirms it
        self.bench.zero(config, options, done, unproven=len(self.legs.proven) == len(self.legs.seen))

    def _save(self) -> None:
        if self.bench.busy or self._refused:
            return
        self.check_draft()
        draft, path, overwrite = self._known, self.saving.target(), self.saving.overwrite.isChecked()
        zero = self.zeroing.zero
        calibration = None if zero is None else zero.calibration
        proven = self.legs.proven

        def save() -> _Saved:
            written, fitted = with_stable_gains(draft, draft_config(draft, path))
            config = save_rig(written, path, calibration, overwrite=overwrite)
            if config.virtual is None:
                for result in proven:
                    put_on_record(config, result)
            findings = () if fitted is None else (fitted,)
            return _Saved(config, written, (*findings, *check_buses(config).summary))

        def done(saved: _Saved | None, reason: str) -> None:
            if saved is None:
                self.saving.show_failure(reason)
                return
            self._fitted = _rig_of(draft), saved.draft.gains
            self.check_draft()  # its text has the gains that were written
            content = draft_text(saved.draft), zero
            self.saving.show_saved(path, saved.config.load_cells.calibration or "", content, saved.findings)
            self.session.log("info", "set-up", tr("saved {path}").format(path=path))

        self.bench.run(tr("saving"), save, done)

    def _open(self, path: Path) -> None:
        self.opening.emit(path)

    # -- interface of `StepWizard` -----------------------------------------------------------------------------------

    def stopped(self, _category: int) -> None:
        """See `StepWizard`: stops all motion and disarms."""
        for pair in (*self.legs.pairs, self.zeroing.pair):
            pair.disarm()
        self.bench.stop()

    def hindrance(self) -> str:
        """See `StepWizard`: something moves."""
        return tr("{busy}: stop first").format(busy=self.bench.busy) if self.bench.moving else ""

    def loss(self) -> str:
        """See `StepWizard`: unsaved input."""
        return "" if self.saving.saved is not None or not self.start["name"].text() else tr("The entries")

    def left(self) -> None:
        """See `StepWizard`: ends a rehearsal's virtual rig."""
        self.bench.retire()


def _rig_of(draft: Draft) -> Draft:
    """Return what a zero of the cells depends on."""
    drives = tuple(replace(drive, reply_delay=0.0) for drive in draft.drives)
    return replace(draft, name="", recording="", sensors=(), gains=None, drives=drives)


def _leg_of(draft: Draft, leg: int) -> Any:
    """Return what the test of leg 1 to 6 depends on."""
    drive = replace(draft.drives[leg - 1], serial="", reply_delay=0.0)
    return draft.mechanism, draft.virtual, draft.driver, draft.profile, draft.settings, drive
