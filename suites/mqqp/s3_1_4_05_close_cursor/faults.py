"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound, change_answer_values, error_for_success, throw_refusals
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "client-close-cursor-on-unknown-context",
    "MQQP-3.1.4.5-02",
    "The client calls RemoteQMCloseCursor on a presentation context that the server did not accept.",
    call_unbound("RemoteQMCloseCursor"),
)
add(
    "server-close-cursor-keeps-cursor",
    ("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11", "MQDMPR-3.1.7.1.2-06"),
    "RemoteQMCloseCursor leaves the cursor open.",
    skip_during(RemoteOpening.remote_qm_close_cursor, QueueOpening.close_cursor),
)
add(
    "server-close-cursor-throws-errors",
    "MQQP-3.1.4.5-D01",
    "RemoteQMCloseCursor throws its errors instead of returning them.",
    throw_refusals(RemoteOpening.remote_qm_close_cursor),
)


@fault("server-close-cursor-success-returns-error", breaks=("MQQP-3.1.4.5-03", "MQQP-3.1.4.5-13"))
class ServerCloseCursorSuccessReturnsError(RemoteOpening):
    """RemoteQMCloseCursor returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(change_answer_values(call, Return=error_for_success), now)


@fault("server-close-cursor-h-queue-ignored", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorHQueueIgnored(RemoteOpening):
    """RemoteQMCloseCursor closes a cursor of any queue and ignores hQueue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        for descriptor in self.qm.descriptors.values():
            if call.arguments["hCursor"] in descriptor.CursorCollection:
                call.arguments["hQueue"] = descriptor.Handle
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-closes-last-cursor", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorClosesLastCursor(RemoteOpening):
    """RemoteQMCloseCursor closes the last cursor of the queue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection:
            call.arguments["hCursor"] = next(reversed(descriptor.CursorCollection))
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-unknown-cursor-accepted", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorUnknownCursorAccepted(RemoteOpening):
    """RemoteQMCloseCursor with an unknown cursor returns MQ_OK."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(change_answer_values(call, Return=Status.MQ_OK), now)
