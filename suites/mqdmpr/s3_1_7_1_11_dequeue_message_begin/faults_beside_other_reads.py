"""Faults of two-phase receives that wait, that use a cursor, or that wait while other reads are pending."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class OnePhaseInsteadOfTwoPhaseReceiver(TwoPhaseReading):
    """A part of the queue manager whose event Dequeue Message Begin receives some messages in one phase; a subclass
    selects which.
    """

    def is_receive_completed_in_one_phase(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> bool:
        raise NotImplementedError

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        two_phase_read = not self.is_receive_completed_in_one_phase(queue_desc, cursor, timeout_ms)
        self.qm.message_reading.dequeue_message(
            queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read=two_phase_read, transaction=transaction
        )


@fault("queue-manager-pending-two-phase-receive-deletes-message-at-once", breaks="MQDMPR-3.1.7.1.11-07", blind=True)
class QueueManagerPendingTwoPhaseReceiveDeletesMessageAtOnce(OnePhaseInsteadOfTwoPhaseReceiver):
    """The event Dequeue Message Begin deletes the message at once if the receive had to wait for the message."""

    def is_receive_completed_in_one_phase(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> bool:
        queue = queue_desc.QueueReference
        if queue is None or timeout_ms == 0:
            return False
        return self.qm.message_search.seek_available(queue.MessagePositionList.Start, True) is None


@fault("queue-manager-two-phase-receive-deletes-peeked-message-at-once", breaks="MQDMPR-3.1.7.1.11-07", blind=True)
class QueueManagerTwoPhaseReceiveDeletesPeekedMessageAtOnce(OnePhaseInsteadOfTwoPhaseReceiver):
    """The event Dequeue Message Begin deletes the message at once if the cursor has peeked at the message before."""

    def is_receive_completed_in_one_phase(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> bool:
        return cursor is not None and cursor.CursorState is CursorState.READ


@fault("queue-manager-cancellation-ignores-handle-of-read", breaks="MQDMPR-3.1.7.1.11-12", blind=True)
class QueueManagerCancellationIgnoresHandleOfRead(WaitingReads):
    """The queue manager identifies the read to cancel only by its request number, so it ends the read of another handle
    of the queue that has the same number.
    """

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if getattr(reader.Tag, "RequestId", reader.Tag) == getattr(tag, "RequestId", tag):
                    self.end_wait_without_message(reader, status)
                    return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("queue-manager-does-not-cancel-read-with-request-number-0", breaks="MQDMPR-3.1.7.1.11-12", blind=True)
class QueueManagerDoesNotCancelReadWithRequestNumber0(WaitingReads):
    """The queue manager treats the request number 0 of a pending read as no tag, so the read cannot be cancelled."""

    @faulty_only_if(lambda self, queue, tag, status: getattr(tag, "RequestId", None) == 0)
    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        return Status.STATUS_NOT_FOUND


class TwoPhaseReceiveStatusReplacer(TwoPhaseReading):
    """A part of the queue manager whose event Dequeue Message Begin replaces some statuses of Dequeue Message; a
    subclass selects which.
    """

    def replace_receive_status(self, status: Status, cursor: Cursor | None) -> Status:
        raise NotImplementedError

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().dequeue_message_begin(
            queue_desc,
            lambda status, position: answered(self.replace_receive_status(status, cursor), position),
            now,
            timeout_ms,
            cursor,
            tag,
            transaction,
        )


@fault("queue-manager-dequeue-begin-of-received-message-returns-not-found", breaks="MQDMPR-3.1.7.1.11-15", blind=True)
class QueueManagerDequeueBeginOfReceivedMessageReturnsNotFound(TwoPhaseReceiveStatusReplacer):
    """The event Dequeue Message Begin returns MQ_ERROR_MESSAGE_NOT_FOUND if the message of the cursor was already
    received.
    """

    def replace_receive_status(self, status: Status, cursor: Cursor | None) -> Status:
        received = status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
        return Status.MQ_ERROR_MESSAGE_NOT_FOUND if received else status


@fault("queue-manager-dequeue-begin-returns-io-timeout-instead-of-not-found", breaks="MQDMPR-3.1.7.1.11-15", blind=True)
class QueueManagerDequeueBeginReturnsIoTimeoutInsteadOfNotFound(TwoPhaseReceiveStatusReplacer):
    """The event Dequeue Message Begin returns MQ_ERROR_IO_TIMEOUT where Dequeue Message returns
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

    def replace_receive_status(self, status: Status, cursor: Cursor | None) -> Status:
        return Status.MQ_ERROR_IO_TIMEOUT if status is Status.MQ_ERROR_MESSAGE_NOT_FOUND else status
