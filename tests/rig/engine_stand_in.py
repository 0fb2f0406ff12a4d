"""What a running engine leaves for others to find it by, without a cycle behind it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.config.rig_config import RigConfig
from rig.engine import ControlBlock, EngineAddress, Park, Shutdown, Snapshot, Stop
from rig.engine.drive_lock import claim_drives
from rig.engine.engine_discovery import leave_record, own_record
from rig.engine.lease import Leases
from rig.engine.link import LinkServer, Submission, socket_address
from rig.engine.messages import Reply, RigCommand
from rig.runtime.ring import TelemetryRing
from rig.runtime.runtime_folder import RuntimeFolder
from rig.states import State


class StandIn:
    """What an engine leaves for others, without a cycle behind it; owner and engine die as they are told."""

    def __init__(self, config: RigConfig, recording: Path, stack: ExitStack) -> None:
        self.commands: list[RigCommand] = []
        self._held: list[Future[Reply]] | None = None
        self.owner = stack.enter_context(ExitStack())
        self.folder = RuntimeFolder.create(self.owner)
        stack.callback(self.folder.remove)
        self.engine = stack.enter_context(ExitStack())
        self.lock = self.engine.enter_context(ExitStack())
        self.lock.enter_context(self.folder.hold("engine"))
        self.engine.enter_context(claim_drives(config))
        self.block = ControlBlock.create(self.folder.shared("control"))
        self.engine.callback(self.block.close)
        self.ring = self.engine.enter_context(TelemetryRing.create(name=self.folder.shared("ring")))
        with LockstepRig(config, recording, Interruption()) as rig:
            self.status = replace(rig.status(), state=State.ENGAGED, hold_left=22.0)
        address = socket_address(self.folder.path)
        self.leases = Leases(self.block)
        self.server = LinkServer(address, self._submit, self._look, self.leases)
        self.engine.callback(self.server.close)
        self.server.start()
        found_at = EngineAddress(address, self.block.name, self.ring.name, "")
        leave_record(self.folder, own_record(config, recording, found_at))

    def beats(self) -> int:
        """The count of the holder's heartbeat, 0 where nobody holds the lease."""
        return self.block.heartbeat(self.block.lease)

    @contextmanager
    def slow(self) -> Iterator[Callable[[], None]]:
        """Answer nothing but stops until what is given is called, or the block's end."""
        self._held = []
        held = self._held

        def answer() -> None:
            while held:
                held.pop().set_result(Reply(True))

        try:
            yield answer
        finally:
            self._held = None
            answer()

    def _submit(self, submission: Submission) -> None:
        self.commands.append(submission.command)
        if self._held is not None and not isinstance(submission.command, Stop):
            self._held.append(submission.reply)
            return
        if isinstance(submission.command, Stop | Park):
            self.status = replace(self.status, state=State.PARKED, hold_left=None)
        submission.reply.set_result(Reply(True))
        if isinstance(submission.command, Shutdown):
            self.lock.close()

    def _look(self, lease: str) -> Snapshot:
        return replace(self.status, lease=lease, hold_left=None if lease else self.status.hold_left)
