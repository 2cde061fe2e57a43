"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, called_unbound, error_for_success, throwing
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "rpc-unbound-RemoteQMCloseCursor",
    "MQQP-3.1.4.5-02",
    "RemoteQMCloseCursor is called on a context that was never agreed on.",
    called_unbound("RemoteQMCloseCursor"),
)
add(
    "remote-cursor-kept",
    ("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11", "MQDMPR-3.1.7.1.2-06"),
    "The cursor stays.",
    skip_during(RemoteOpening.remote_qm_close_cursor, QueueOpening.close_cursor),
)
add(
    "remote-cursor-throws",
    "MQQP-3.1.4.5-D01",
    "RemoteQMCloseCursor throws what it refuses.",
    throwing(RemoteOpening.remote_qm_close_cursor),
)


@fault("remote-cursor-status-wrong", breaks=("MQQP-3.1.4.5-03", "MQQP-3.1.4.5-13"))
class StatusWrong(RemoteOpening):
    """Success returns an error."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(answering(call, Return=error_for_success), now)


@fault("remote-cursor-of-any-queue", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class OfAnyQueue(RemoteOpening):
    """The queue is not looked at."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        for descriptor in self.qm.descriptors.values():
            if call.arguments["hCursor"] in descriptor.CursorCollection:
                call.arguments["hQueue"] = descriptor.Handle
        super().remote_qm_close_cursor(call, now)


@fault("remote-cursor-other-closed", breaks="MQQP-3.1.4.5-09")
class OtherClosed(RemoteOpening):
    """The last cursor is closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection:
            call.arguments["hCursor"] = next(reversed(descriptor.CursorCollection))
        super().remote_qm_close_cursor(call, now)


@fault("remote-cursor-unknown-closed", breaks="MQQP-3.1.4.5-10")
class UnknownClosed(RemoteOpening):
    """An unknown cursor is closed with success."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(answering(call, Return=Status.MQ_OK), now)
