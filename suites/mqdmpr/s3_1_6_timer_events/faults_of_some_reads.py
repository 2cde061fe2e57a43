"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events for some of the pending reads."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.statuses import Status


@fault("server-later-expired-reads-fail-as-cancelled", breaks="MQDMPR-3.1.6.3-03", blind=True)
class ServerLaterExpiredReadsFailAsCancelled(WaitingReads):
    """Only the first read whose timeout expires fails with MQ_ERROR_IO_TIMEOUT; later reads fail with
    MQ_ERROR_OPERATION_CANCELLED.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.has_message_expired = False

    def on_waiting_message_read_timer(self, number: int) -> None:
        if self.has_message_expired:
            self.end_wait_without_message(self.qm.readers[number], Status.MQ_ERROR_OPERATION_CANCELLED)
            return
        self.has_message_expired = True
        super().on_waiting_message_read_timer(number)


@fault("server-expired-read-beside-locked-messages-returns-not-found", breaks="MQDMPR-3.1.6.3-03", blind=True)
class ServerExpiredReadBesideLockedMessagesReturnsNotFound(WaitingReads):
    """A read whose timeout expires fails with MQ_ERROR_MESSAGE_NOT_FOUND if all messages of the queue are locked."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        queue = reader.descriptor.QueueReference
        if queue is not None and len(queue.MessagePositionList) and reader.CursorReference is None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_MESSAGE_NOT_FOUND)
        else:
            super().on_waiting_message_read_timer(number)


@fault("queue-manager-expired-receive-in-transaction-cancelled", breaks="MQDMPR-3.1.6.3-03")
class QueueManagerExpiredReceiveInTransactionCancelled(WaitingReads):
    """When the timeout of a receive in a transaction expires, the receive fails with MQ_ERROR_OPERATION_CANCELLED."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        if reader.transaction is not None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        else:
            super().on_waiting_message_read_timer(number)
