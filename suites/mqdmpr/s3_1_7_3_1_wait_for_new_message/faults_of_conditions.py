"""Faults that break the rule MQDMPR-3.1.7.3.1-20 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status


@fault("queue-manager-ended-receive-in-transaction-returns-timeout", breaks="MQDMPR-3.1.7.3.1-20", blind=True)
class QueueManagerEndedReceiveInTransactionReturnsTimeout(WaitingReads):
    """A pending receive in a transaction returns MQ_ERROR_IO_TIMEOUT, even if it ended with a different status."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(reader, status if reader.transaction is None else Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-cancelled-read-beside-other-read-returns-timeout", breaks="MQDMPR-3.1.7.3.1-20", blind=True)
class QueueManagerCancelledReadBesideOtherReadReturnsTimeout(WaitingReads):
    """A pending read that is cancelled while another read is pending returns MQ_ERROR_IO_TIMEOUT."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT if len(self.qm.readers) > 1 else status)
