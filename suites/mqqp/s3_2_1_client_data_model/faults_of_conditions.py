"""Faults that break the rules MQQP-3.2.1.2-01 and MQQP-3.2.1.4-01 only under certain conditions."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening


class _PendingReadEntryOmitter(ClientMessageReading):
    """Keep no entry of some pending reads; a subclass selects which."""

    def is_entry_omitted(self, read: RemoteRead) -> bool:
        """Return whether a read gets no entry in the collection."""
        return False

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        omitted = self.is_entry_omitted(read)
        entry = super().create_pending_read(read)
        if omitted:
            self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


@fault("client-pending-peek-has-no-pending-read-entry", breaks="MQQP-3.2.1.2-01", blind=True)
class ClientPendingPeekHasNoPendingReadEntry(_PendingReadEntryOmitter):
    """The client has no entry of a pending peek."""

    def is_entry_omitted(self, read: RemoteRead) -> bool:
        return not read.receives


@fault("client-second-pending-read-of-queue-has-no-pending-read-entry", breaks="MQQP-3.2.1.2-01", blind=True)
class ClientSecondPendingReadOfQueueHasNoPendingReadEntry(_PendingReadEntryOmitter):
    """The client has no entry of a second pending read of a queue."""

    def is_entry_omitted(self, read: RemoteRead) -> bool:
        return any(one.queue is read.queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection)


@fault("client-pending-read-by-cursor-has-no-pending-read-entry", breaks="MQQP-3.2.1.2-01", blind=True)
class ClientPendingReadByCursorHasNoPendingReadEntry(_PendingReadEntryOmitter):
    """The client has no entry of a pending read by a cursor."""

    def is_entry_omitted(self, read: RemoteRead) -> bool:
        return bool(read.CursorHandle)


class _OpenQueueEntryOmitter(ClientQueueOpening):
    """Keep no entry of some open queues; a subclass selects which."""

    def is_entry_omitted(self, queue: RemoteQueue) -> bool:
        """Return whether an open queue gets no entry in the collection."""
        return False

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        omitted = self.is_entry_omitted(queue)
        super().add_remote_open_queue_entry(queue, context)
        if omitted:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.pop()


@fault("client-queue-opened-to-peek-has-no-open-queue-entry", breaks="MQQP-3.2.1.4-01", blind=True)
class ClientQueueOpenedToPeekHasNoOpenQueueEntry(_OpenQueueEntryOmitter):
    """The client has no entry of a queue that it opened to peek."""

    def is_entry_omitted(self, queue: RemoteQueue) -> bool:
        return not queue.may_receive


@fault("client-queue-opened-twice-has-only-one-open-queue-entry", breaks="MQQP-3.2.1.4-01", blind=True)
class ClientQueueOpenedTwiceHasOnlyOneOpenQueueEntry(_OpenQueueEntryOmitter):
    """The client has no second entry of a queue that it opened twice."""

    def is_entry_omitted(self, queue: RemoteQueue) -> bool:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        return any(entry.queue.FormatName == queue.FormatName for entry in entries)


@fault("client-queue-opened-after-close-has-no-open-queue-entry", breaks="MQQP-3.2.1.4-01", blind=True)
class ClientQueueOpenedAfterCloseHasNoOpenQueueEntry(_OpenQueueEntryOmitter):
    """The client has no entry of a queue that it opened after another queue was closed."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.has_opened = False

    def is_entry_omitted(self, queue: RemoteQueue) -> bool:
        again, self.has_opened = self.has_opened, True
        return again and not self.qm.remote_client.RemoteOpenQueueEntryCollection
