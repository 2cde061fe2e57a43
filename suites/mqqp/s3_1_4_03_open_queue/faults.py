"""Faults of MS-MQQP 3.1.4.3 RemoteQMOpenQueue."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import add
from harness.faults.rpc_calls import change_answer_values, change_request, error_for_success, throw_refusals
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
    "server-open-queue-zero-values-accepted",
    "MQQP-3.1.4.3-14",
    "RemoteQMOpenQueue accepts pQueue 0 and dwpContext 0.",
    skip(RemoteOpening.check_open_values),
)
add(
    "server-open-queue-unequal-values-accepted",
    "MQQP-3.1.4.3-15",
    "RemoteQMOpenQueue accepts a pQueue that differs from dwpContext.",
    skip(RemoteOpening.check_open_values_equal),
)


@fault("server-open-queue-entry-by-h-queue", breaks=("MQQP-3.1.4.3-17", "MQQP-3.1.4.3-14"))
class ServerOpenQueueEntryByHQueue(RemoteOpening):
    """RemoteQMOpenQueue creates an entry that identifies the queue by hQueue instead of dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        call.arguments["pQueue"] = call.arguments["dwpContext"] = call.arguments["hQueue"]
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-unknown-h-queue-refused", breaks="MQQP-3.1.4.3-11")
class ServerOpenQueueUnknownHQueueRefused(RemoteOpening):
    """RemoteQMOpenQueue refuses an hQueue that is not an open queue."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["hQueue"] in self.qm.descriptors:
            super().remote_qm_open_queue(call, now)
        else:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))


@fault("server-open-queue-entry-not-kept", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"))
class ServerOpenQueueEntryNotKept(RemoteOpening):
    """RemoteQMOpenQueue does not keep its entry in OpenQueueEntryCollection."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault(
    "server-open-queue-returns-null-handle",
    breaks=("MQQP-3.1.4.3-10", "MQQP-3.1.4.3-16", "MQQP-3.1.4.3-20", "MQQP-2.2.1.1-01"),
)
class ServerOpenQueueReturnsNullHandle(RemoteOpening):
    """RemoteQMOpenQueue returns the context handle NULL."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(change_answer_values(call, phContext=None), now)


@fault("server-open-queue-success-returns-error", breaks="MQQP-3.1.4.3-12")
class ServerOpenQueueSuccessReturnsError(RemoteOpening):
    """RemoteQMOpenQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(change_answer_values(call, Return=error_for_success), now)


@fault("server-open-queue-client-id-zero", breaks="MQQP-3.1.4.3-18")
class ServerOpenQueueClientIdZero(RemoteOpening):
    """RemoteQMOpenQueue sets ClientId of its entry to zero instead of pLicGuid."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        entry.ClientId = UUID(int=0)
        super().take_over_descriptor(entry)


add(
    "server-open-queue-any-dw-mqs-accepted",
    "MQQP-3.1.4.3-D01",
    "RemoteQMOpenQueue accepts any dwMQS.",
    change_request("RemoteQMOpenQueue", 32, lambda stub: stub[:16] + bytes(4) + stub[20:]),
)
add(
    "server-open-queue-dw-mqs-16-refused",
    "MQQP-3.1.4.3-D01",
    "RemoteQMOpenQueue refuses dwMQS 16.",
    change_request(
        "RemoteQMOpenQueue", 32, lambda stub: stub[:16] + (stub[16:20].replace(b"\x10", b"\x11")) + stub[20:]
    ),
)
add(
    "server-open-queue-throws-errors",
    "MQQP-3.1.4.3-D02",
    "RemoteQMOpenQueue throws its errors instead of returning them.",
    throw_refusals(RemoteOpening.remote_qm_open_queue),
)

# -- the client -------------------------------------------------------------------------------------------------------


@fault("client-close-queue-before-close-cursor", breaks="MQQP-3.1.4.3-05")
class ClientCloseQueueBeforeCloseCursor(ClientCancelling):
    """The client calls RemoteQMCloseQueue before it calls RemoteQMCloseCursor for a cursor of the queue."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        assert queue.binding is not None
        entry = self.qm.client_opening.find_remote_open_queue(queue)
        yield from self.qm.client_opening.call_close_queue(queue.binding, entry)
        yield from super().close_remote_cursor(queue, cursor)


add(
    "client-open-queue-not-called",
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
    "The client does not call RemoteQMOpenQueue.",
    skip_sequence(ClientOpening.call_open_queue),
)
