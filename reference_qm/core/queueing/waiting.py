from __future__ import annotations

from collections.abc import Hashable

from reference_qm.core.part import Part
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class Waiting(Part):
    """The reads that wait for a message.

    Spec: MS-MQDMPR 3.1.2.3, 3.1.6.3, 3.1.7.1.17, 3.1.7.3.1, 3.1.7.3.4 to 3.1.7.3.7.

    The printed events wait in place. Here whoever raises them gives what is called with their return values.
    """

    __slots__ = ()

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        """Let a read wait for a message; a timeout of None is infinite. Spec: MS-MQDMPR 3.1.7.3.1, 3.1.7.3.4.

        The status Failed of a read that may not wait is printed without a value: it is MQ_ERROR_IO_TIMEOUT, the only
        one of those that the raising events return which can be meant. They raise Wait Time Expired then, too. Timeouts
        are printed in seconds here, in ms by MS-MQQP.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return
        if timeout_ms is not None and timeout_ms <= 0:
            if cursor is not None:
                self.qm.cursors.wait_expired(cursor)
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        reader = WaitingMessageReadOperation(
            DestructiveRead=destructive_read,
            Tag=tag,
            CursorReference=cursor,
            number=self.qm.next_handle(),
            descriptor=queue_desc,
            answered=answered,
            transaction=transaction,
        )
        queue_desc.WaitingMessageReadOperationCollection[reader] = None
        self.qm.readers[reader.number] = reader
        if timeout_ms is not None:
            self.qm.timers.start(_timer(reader), now.monotonic_ms, timeout_ms)

    def release_readers(self, position: MessagePosition) -> None:
        """Pass a message that became available to who waits: to all that peek, to the first that receives.

        Spec: MS-MQDMPR 3.1.7.2.2, 3.1.7.3.7. Those that peek release the next reader in their event, but for the one of
        3.1.7.1.15 without a cursor, where that is not printed; then no other reader would ever be released. What could
        not be read while this message was not on disk yet is given too.
        """
        queue = position.QueueReference
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_for(reader, position)
                    if found is None:
                        return  # whoever was answered took all there is
                    self.satisfy_reader(reader, found)

    def _find_for(self, reader: WaitingMessageReadOperation, new: MessagePosition) -> MessagePosition | None:
        """Find what a reader gets: what it would find now, or the new message if its cursor is beyond that."""
        cursor, peek = reader.CursorReference, not reader.DestructiveRead
        start = new.QueueReference.MessagePositionList.Start if cursor is None else cursor.MessagePositionReference
        found: MessagePosition | None = self.qm.seeking.seek_available(start, peek)
        if found is None and cursor is not None and self.qm.seeking.is_readable(new, peek):
            return new
        return found

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        """End a wait with a message. Spec: MS-MQDMPR 3.1.7.3.1, 3.1.7.3.6, 3.2.7.5."""
        self._forget(reader)
        if reader.CursorReference is not None:
            self.qm.cursors.message_available(reader.CursorReference, position)
        reader.answered(Status.MQ_OK, position)

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        """End a wait without a message. Spec: MS-MQDMPR 3.1.7.3.5, 3.2.7.6."""
        self._forget(reader)
        if reader.CursorReference is not None:
            self.qm.cursors.wait_expired(reader.CursorReference)
        reader.answered(status, None)

    def on_waiting_message_read_timer(self, number: int) -> None:
        """End a wait that lasted as long as it may. Spec: MS-MQDMPR 3.1.6.3."""
        self.stop_reader(self.qm.readers[number], Status.MQ_ERROR_IO_TIMEOUT)

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        """Cancel the read that waits with a tag. Spec: MS-MQDMPR 3.1.7.1.17."""
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.Tag is not None and reader.Tag == tag:
                    self.stop_reader(reader, status)
                    return Status.MQ_OK
        return Status.STATUS_NOT_FOUND

    def _forget(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]
        self.qm.timers.stop(_timer(reader))


def _timer(reader: WaitingMessageReadOperation) -> TimerKey:
    return TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
