"""Faults of round five that break rules of MS-MQQP 3.1.4.2 RemoteQMEndReceive."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RemoteReadAck


@fault("client-end-receive-not-called-after-receive-by-lookup-id", breaks="MQQP-3.1.4.2-01", blind=True)
class ClientEndReceiveNotCalledAfterReceiveByLookupId(ClientMessageReading):
    """The client does not call RemoteQMEndReceive for a message from RemoteQMStartReceiveByLookupId."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.lookup_entries: list[PendingRemoteReadEntry] = []

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if read.LookupId is not None:
            self.lookup_entries.append(entry)
        return entry

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if entry in self.lookup_entries and ack is RemoteReadAck.RR_ACK:
            return
        yield from super().call_end_receive(entry, ack)
