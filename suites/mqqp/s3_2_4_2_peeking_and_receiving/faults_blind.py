"""Faults of MS-MQQP 3.2.4.2, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import Ack, ReadAction


@fault("client-request-id-unique-only-in-its-queue", breaks="MQQP-3.2.4.2-04", blind=True)
class ClientRequestIdUniqueOnlyInItsQueue(ClientReading):
    """The client assigns the same RequestId to pending reads of different queues."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry.RequestId = sum(other.queue is entry.queue for other in pending)
        return entry


@fault("client-receive-from-old-server-not-acknowledged", breaks="MQQP-3.2.4.3-36", blind=True)
class ClientReceiveFromOldServerNotAcknowledged(ClientReading):
    """The client does not call RemoteQMEndReceive for a message that it received by RemoteQMStartReceive without a
    cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.received: set[PendingRemoteReadEntry] = set()

    def start_receive(self, read: RemoteRead) -> Sequence:
        results = yield from super().start_receive(read)
        if read.entry is not None and not read.CursorHandle:
            self.received.add(read.entry)
        return results

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        if entry not in self.received:
            yield from super().end_receive(entry, ack)


@fault("client-peek-next-timeout-0", breaks="MQQP-3.2.4.5-30", blind=True)
class ClientPeekNextTimeout0(ClientReading):
    """The client sends ulTimeout 0 when it peeks at the next message by RemoteQMStartReceive2."""

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read2(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["pRemoteReadDesc"]["ulTimeout"] = 0
        return described
