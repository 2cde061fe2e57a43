"""Faults of MS-MQQP 3.2.1, and of the calls of a client in 3.1.4, that only special cases show."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import Ack
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.model.statuses import Status

FAILURES_ALIKE = {
    "RemoteQMStartReceive": "MQQP-3.1.4.1-10",
    "RemoteQMStartReceive2": "MQQP-3.1.4.10-10",
    "RemoteQMEndReceive": "MQQP-3.1.4.2-08",
    "RemoteQMOpenQueue": "MQQP-3.1.4.3-12",
    "RemoteQMCloseQueue": "MQQP-3.1.4.4-03",
    "RemoteQMCloseCursor": "MQQP-3.1.4.5-03",
    "RemoteQMCancelReceive": "MQQP-3.1.4.6-05",
    "RemoteQMPurgeQueue": "MQQP-3.1.4.7-03",
    "RemoteQMStartReceiveByLookupId": "MQQP-3.1.4.11-18",
}
"""By method: the rule that the client treats all failures of that method alike."""


@fault("client-failure-of-other-facility-taken-as-success", breaks=tuple(FAILURES_ALIKE.values()))
class OtherFacilityIsSuccess(ServerBindings):
    """The client treats a failure HRESULT as success if its facility is not the facility of message queuing."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and (status >> 16 & 0x7FF) == 0xE


@fault("client-failure-with-code-0-taken-as-success", breaks=tuple(FAILURES_ALIKE.values()))
class CodeZeroIsSuccess(ServerBindings):
    """The client treats a failure HRESULT whose code is 0 as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and bool(status & 0xFFFF)


@fault("client-failure-with-c-bit-taken-as-success", breaks=("MQQP-3.1.4.3-12", "MQQP-3.1.4.7-03"))
class CustomerFailureIsSuccess(ServerBindings):
    """The client treats a failure HRESULT with the C bit as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and not status & 0x20000000


@fault("client-failed-open-queue-called-again", breaks="MQQP-3.1.4.3-12")
class OpenRepeated(ClientOpening):
    """The client calls RemoteQMOpenQueue again if the call returned MQ_ERROR_INVALID_PARAMETER."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        try:
            return (yield from super().call_open_queue(queue))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_INVALID_PARAMETER:
                raise
        return (yield from super().call_open_queue(queue))


@fault("client-read-that-timed-out-repeated", breaks=("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10"))
class ReadRepeated(ClientReading):
    """The client repeats a read that returned MQ_ERROR_IO_TIMEOUT."""

    def _call_start(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> Sequence:
        try:
            return (yield from super()._call_start(read, method, arguments))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_IO_TIMEOUT:
                raise
        return (yield from super()._call_start(read, method, arguments))


@fault("client-failed-end-receive-repeated", breaks="MQQP-3.1.4.2-04")
class EndRepeated(ClientReading):
    """The client calls RemoteQMEndReceive again if the call returned a failure."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        try:
            yield from super().end_receive(entry, ack)
        except RemoteError:
            yield from super().end_receive(entry, ack)


@fault("client-cancel-receive-before-read-is-sent", breaks="MQQP-3.1.4.6-03")
class CancelledBeforeRead(ClientCancelling):
    """The client calls RemoteQMCancelReceive for a read that it has not sent yet."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> Sequence:
        entry = self.find_pending_read(queue, request_id)
        if not entry.is_known:
            yield from self.call_cancel_receive(entry)
        yield from super().cancel_pending_read(queue, request_id)


@fault("client-pending-read-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.2-01")
class ThirdEntryMissing(ClientReading):
    """The client removes the entry of its first pending read when a third read begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry = super().create_pending_read(read)
        if len(entries) > 2:
            del entries[0]
        return entry


@fault("client-open-queue-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.4-01")
class FirstEntryMissing(ClientOpening):
    """The client removes the entry of its first queue when it opens a third queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: Any) -> None:
        super().add_remote_open_queue(queue, context)
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) > 2:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.pop(0)
