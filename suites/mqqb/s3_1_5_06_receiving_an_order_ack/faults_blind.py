"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-message-with-early-order-ack-not-kept-until-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderMessageWithEarlyOrderAckNotKeptUntilFinalAck(TransactionalSending):
    """If the OrderAck of a message with JN or JP arrives before the session acknowledgment, the sender does not keep
    the message until its FinalAck arrives.
    """

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().retain(session, position)
        if position.ReceivedOrderAck:
            session.AwaitingFinalACKTable.pop(position.UserMessage.UserHeader.MessageID, None)
