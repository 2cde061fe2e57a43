"""Faults of MS-MQQP 3.1.4.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "server-message-after-rr-nack-not-given-to-waiting-read",
    "MQQP-3.1.4.2-06",
    "After RR_NACK the server does not deliver the message to a read that is already waiting.",
    skip_during(RemoteEnding.end_remote_read, Waiting.release_readers),
    blind=True,
)


@fault("server-context-handle-kept-after-failed-end", breaks="MQQP-3.1.4.2-16", blind=True)
class ServerContextHandleKeptAfterFailedEnd(RemoteEnding):
    """When RemoteQMEndReceive fails, the server returns pphContext unchanged."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        handle = call.handle
        if handle is None:
            super().remote_qm_end_receive(call, now)
            return

        def answer_end(status: Status) -> None:
            kept = None if status is Status.MQ_OK else handle
            self.qm.remote.note(call.respond(Return=status, pphContext=kept))

        self.end_remote_read(handle.state, self.is_delivered(call.arguments["dwAck"]), answer_end)
