"""Faults that break rules of MS-MQDMPR 3.1.7.3.5 only for some reads or causes."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status


@fault("queue-manager-expired-read-beside-other-read-returns-cancelled", breaks="MQDMPR-3.1.7.3.5-03")
class QueueManagerExpiredReadBesideOtherReadReturnsCancelled(WaitingReads):
    """When the timer of a read expires while another read waits, the read returns MQ_ERROR_OPERATION_CANCELLED."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        if len(self.qm.readers) > 1:
            self.end_wait_without_message(self.qm.readers[number], Status.MQ_ERROR_OPERATION_CANCELLED)
        else:
            super().on_waiting_message_read_timer(number)


@fault("queue-manager-expired-peek-by-cursor-returns-not-found", breaks="MQDMPR-3.1.7.3.5-03")
class QueueManagerExpiredPeekByCursorReturnsNotFound(WaitingReads):
    """A pending peek by cursor whose timer expires returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        by_cursor = reader.CursorReference is not None and not reader.DestructiveRead
        expired = by_cursor and status is Status.MQ_ERROR_IO_TIMEOUT
        super().end_wait_without_message(reader, Status.MQ_ERROR_MESSAGE_NOT_FOUND if expired else status)
