"""Faults of the fifth round that break rules of MS-MQMQ 2.2.20.5 TransactionHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("receiver-transaction-header-bit-x1-prevents-final-ack", breaks="MQMQ-2.2.20.5-08", blind=True)
class ReceiverTransactionHeaderBitX1PreventsFinalAck(TransactionalReceiving):
    """The receiver accepts a message with bit X1 of TransactionHeader.Flags set, but sends no FinalAck when the message
    leaves its queue.
    """

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().receive_transactional_message(session, packet, receipt, now)
        queue = self.qm.message_arrival.find_destination(packet)
        if packet.TransactionHeader is None or not packet.TransactionHeader.X1 or queue is None:
            return
        for position in queue.MessagePositionList:
            identifier = position.MessageReference.Identifier
            user = packet.UserHeader
            if (identifier.QueueManagerGuid, identifier.Ordinal) == (user.SourceQueueManager, user.MessageID):
                position.order_queue = None
