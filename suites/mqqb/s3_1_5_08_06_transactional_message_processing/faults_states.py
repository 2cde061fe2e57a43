"""Faults that break rules of MS-MQQB 3.1.5.8.6 Transactional Message Processing, written from this section of the
document. Each fault violates one entry of the table states.toml.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import Session


@fault("receiver-repeated-message-after-expired-ones-accepted", breaks="MQQB-3.1.5.8.6-D02")
class ReceiverRepeatedMessageAfterExpiredOnesAccepted(TransactionalReceiving):
    """The receiver accepts the last message of a sequence again if messages before it had expired."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last = (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
        again = (header.TxSequenceID, header.TxSequenceNumber) == last
        gap = 0 < header.PreviousTxSequenceNumber < header.TxSequenceNumber - 1
        return (again and gap) or bool(super().is_in_sequence(session, packet))


@fault("receiver-accepts-last-message-again-after-it-was-received", breaks="MQQB-3.1.5.8.6-D02", blind=True)
class ReceiverAcceptsLastMessageAgainAfterItWasReceived(TransactionalReceiving):
    """The receiver accepts the last message of a sequence again, if an application has already received it from the
    queue.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return super().is_in_sequence(session, packet) or (
            self._is_last_accepted_message(session, packet) and not self._is_message_in_queue(packet)
        )

    def _is_last_accepted_message(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        return header is not None and (header.TxSequenceID, header.TxSequenceNumber) == (
            session.IncomingTxSequenceID,
            session.IncomingTxSequenceNumber,
        )

    def _is_message_in_queue(self, packet: UserMessagePacket) -> bool:
        queue, user = self.qm.message_arrival.find_destination(packet), packet.UserHeader
        identifier = MessageIdentifier(user.SourceQueueManager, user.MessageID)
        waiting = () if queue is None else queue.MessagePositionList
        return any(position.MessageReference.Identifier == identifier for position in waiting)
