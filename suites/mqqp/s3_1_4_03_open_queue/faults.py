"""Faults of MS-MQQP 3.1.4.3 RemoteQMOpenQueue."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, change_request, error_for_success, throwing
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

# -- the server -------------------------------------------------------------------------------------------------------

add(
    "remote-open-zero-taken",
    "MQQP-3.1.4.3-14",
    "pQueue and dwpContext may be 0.",
    skip(RemoteOpening.check_open_values),
)
add(
    "remote-open-unequal-taken",
    "MQQP-3.1.4.3-15",
    "pQueue may be another than dwpContext.",
    skip(RemoteOpening.check_open_values_equal),
)


@fault("remote-open-by-h-queue", breaks=("MQQP-3.1.4.3-17", "MQQP-3.1.4.3-14"))
class ByHQueue(RemoteOpening):
    """The queue is known by hQueue."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        call.arguments["pQueue"] = call.arguments["dwpContext"] = call.arguments["hQueue"]
        super().remote_qm_open_queue(call, now)


@fault("remote-open-h-queue-checked", breaks="MQQP-3.1.4.3-11")
class HQueueChecked(RemoteOpening):
    """hQueue has to be open."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["hQueue"] in self.qm.descriptors:
            super().remote_qm_open_queue(call, now)
        else:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))


@fault("remote-open-not-kept", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"))
class NotKept(RemoteOpening):
    """The entry is not in the collection."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault(
    "remote-open-without-handle", breaks=("MQQP-3.1.4.3-10", "MQQP-3.1.4.3-16", "MQQP-3.1.4.3-20", "MQQP-2.2.1.1-01")
)
class WithoutHandle(RemoteOpening):
    """No context handle is given."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(answering(call, phContext=None), now)


@fault("remote-open-status-wrong", breaks="MQQP-3.1.4.3-12")
class StatusWrong(RemoteOpening):
    """Success returns an error."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(answering(call, Return=error_for_success), now)


@fault("remote-open-client-not-kept", breaks="MQQP-3.1.4.3-18")
class ClientNotKept(RemoteOpening):
    """ClientId is nobody's."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        entry.ClientId = UUID(int=0)
        super().take_over_descriptor(entry)


add(
    "remote-open-any-licence",
    "MQQP-3.1.4.3-D01",
    "dwMQS may be any number.",
    change_request("RemoteQMOpenQueue", 32, lambda stub: stub[:16] + bytes(4) + stub[20:]),
)
add(
    "remote-open-licence-below-16",
    "MQQP-3.1.4.3-D01",
    "dwMQS may not be 16.",
    change_request(
        "RemoteQMOpenQueue", 32, lambda stub: stub[:16] + (stub[16:20].replace(b"\x10", b"\x11")) + stub[20:]
    ),
)
add(
    "remote-open-throws",
    "MQQP-3.1.4.3-D02",
    "RemoteQMOpenQueue throws what it refuses.",
    throwing(RemoteOpening.remote_qm_open_queue),
)

# -- the client -------------------------------------------------------------------------------------------------------


@fault("remote-client-closes-before-cursor", breaks="MQQP-3.1.4.3-05")
class QueueClosedBeforeCursor(ClientCancelling):
    """A client closes the queue, then a cursor of it."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        assert queue.binding is not None
        entry = self.qm.client_opening.find_remote_open_queue(queue)
        yield from self.qm.client_opening.call_close_queue(queue.binding, entry)
        yield from super().close_remote_cursor(queue, cursor)


add(
    "remote-open-not-called",
    (
        "MQQP-3.2.4.1-08",
        "MQQP-3.1.4.1-03",
        "MQQP-3.1.4.2-03",
        "MQQP-3.1.4.3-02",
        "MQQP-3.1.4.3-03",
        "MQQP-3.1.4.3-04",
        "MQQP-3.1.4.3-05",
        "MQQP-3.1.4.3-06",
        "MQQP-3.1.4.3-07",
        "MQQP-3.1.4.3-08",
        "MQQP-3.1.4.3-09",
        "MQQP-3.1.4.6-02",
        "MQQP-3.1.4.7-01",
    ),
    "RemoteQMOpenQueue is not called.",
    skip_sequence(ClientOpening.call_open_queue),
)
