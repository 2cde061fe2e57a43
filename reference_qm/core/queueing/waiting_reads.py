from __future__ import annotations

from collections.abc import Hashable

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class WaitingReads(QueueManagerPart):
    """Manages the reads that wait for a message.

    Spec: MS-MQDMPR 3.1.2.3, 3.1.6.3, 3.1.7.1.17, 3.1.7.3.1, 3.1.7.3.4 to 3.1.7.3.7.

    In the document, the events for waiting reads block until they return. Here the caller passes a function that is
    later called with the return values.
    """

    __slots__ = ()

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        """Add a read that waits for a message. If the timeout is None, the wait is not limited. Spec: MS-MQDMPR
        3.1.7.3.1, 3.1.7.3.4.

        The document gives no value for the status Failed of a read that may not wait. Here the value is
        MQ_ERROR_IO_TIMEOUT, which is the only fitting status of the events that begin the read. These events also
        raise Wait Time Expired for the cursor of the read. Timeouts are in seconds in this document, and in ms in
        MS-MQQP.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return
        if timeout_ms is not None and timeout_ms <= 0:
            if cursor is not None:
                self.qm.queue_cursors.on_read_wait_expired(cursor)
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        reader = WaitingMessageReadOperation(
            DestructiveRead=destructive_read,
            Tag=tag,
            CursorReference=cursor,
            number=self.qm.assign_handle(),
            descriptor=queue_desc,
            answered=answered,
            transaction=transaction,
        )
        queue_desc.WaitingMessageReadOperationCollection[reader] = None
        self.qm.readers[reader.number] = reader
        if timeout_ms is not None:
            self.qm.timers.start(_build_timer_key(reader), now.monotonic_ms, timeout_ms)

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        """Pass a message that became available to all waiting peeks, and to the first waiting receive.

        Spec: MS-MQDMPR 3.1.7.2.2, 3.1.7.3.7. In the document, each satisfied peek releases the next reader. However,
        3.1.7.1.15 omits this step for a peek without a cursor, after which no further reader would ever be released.
        This method also passes on later messages that could not be read while this message was not on disk.
        """
        queue = position.QueueReference
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_message_for_reader(reader, position)
                    if found is None:
                        return  # a reader took all available messages
                    self.pass_message_to_waiting_reader(reader, found)

    def _find_message_for_reader(
        self, reader: WaitingMessageReadOperation, new: MessagePosition
    ) -> MessagePosition | None:
        """Return the message to pass to a waiting reader: the first message after the reader's cursor that the reader
        can read or, if there is none, the new message.
        """
        cursor, peek = reader.CursorReference, not reader.DestructiveRead
        start = new.QueueReference.MessagePositionList.Start if cursor is None else cursor.MessagePositionReference
        found: MessagePosition | None = self.qm.message_search.seek_available(start, peek)
        if found is None and cursor is not None and self.qm.message_search.is_message_readable(new, peek):
            return new
        return found

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        """End the wait of a reader, and pass a message to the reader. Spec: MS-MQDMPR 3.1.7.3.1, 3.1.7.3.6,
        3.2.7.5.
        """
        self._remove_waiting_reader(reader)
        if reader.CursorReference is not None:
            self.qm.queue_cursors.on_message_available(reader.CursorReference, position)
        reader.answered(Status.MQ_OK, position)

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        """End the wait of a reader without a message, and pass a status to the reader. Spec: MS-MQDMPR 3.1.7.3.5,
        3.2.7.6.
        """
        self._remove_waiting_reader(reader)
        if reader.CursorReference is not None:
            self.qm.queue_cursors.on_read_wait_expired(reader.CursorReference)
        reader.answered(status, None)

    def on_waiting_message_read_timer(self, number: int) -> None:
        """End the wait of a reader whose timeout has passed. Spec: MS-MQDMPR 3.1.6.3."""
        self.end_wait_without_message(self.qm.readers[number], Status.MQ_ERROR_IO_TIMEOUT)

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        """Cancel the waiting read with the given tag. Spec: MS-MQDMPR 3.1.7.1.17."""
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.Tag is not None and reader.Tag == tag:
                    self.end_wait_without_message(reader, status)
                    return Status.MQ_OK
        return Status.STATUS_NOT_FOUND

    def _remove_waiting_reader(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]
        self.qm.timers.stop(_build_timer_key(reader))


def _build_timer_key(reader: WaitingMessageReadOperation) -> TimerKey:
    return TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
