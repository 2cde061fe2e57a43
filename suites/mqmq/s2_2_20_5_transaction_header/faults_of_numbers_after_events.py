"""Faults in the numbers of a TransactionHeader (MS-MQMQ 2.2.20.5)."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, Session


def _skip_sequence_numbers_at_restart(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        if queue.session.OutgoingTxSequenceNumber > 1:
            queue.session.OutgoingTxSequenceNumber += 10


add(
    "sender-transaction-header-sequence-number-skipped-at-restart",
    "MQMQ-2.2.20.5-16",
    "The sender skips 10 values of TxSequenceNumber in a sequence that it continues after a restart.",
    change_core_at_restart(_skip_sequence_numbers_at_restart),
    blind=True,
)


@fault(
    "sender-transaction-header-sequence-number-skipped-while-other-queue-waits", breaks="MQMQ-2.2.20.5-16", blind=True
)
class SenderTransactionHeaderSequenceNumberSkippedWhileOtherQueueWaits(TransactionalSending):
    """The sender skips a TxSequenceNumber while transactional messages of another queue wait."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        if any(position.TxSequenceNumber for other in others for position in other.OutgoingMessageTable):
            session.OutgoingTxSequenceNumber += session.OutgoingTxSequenceNumber > 1
        return super().number_message_in_sequence(session, message)
