"""Faults of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment that occur only after a gap, on other sessions or with one
kind of journaling.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, SessionHeader
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-includes-discarded-message-after-filled-gap", breaks="MQQB-3.1.1.6.2-03")
class ReceiverOrderAckIncludesDiscardedMessageAfterFilledGap(OrderAcks):
    """After a missing message has arrived, the receiver acknowledges a later message that it discarded because of the
    gap.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        rejected = self.__dict__.setdefault("rejected", {})
        if transfer.RejectCount:
            rejected[transfer] = transfer.saved_number
            return body
        if transfer in rejected and transfer.saved_number == rejected[transfer] + 1:
            number = body.TxSequenceNumber + 1
            return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)
        return body


@fault("sender-second-transactional-message-discarded-by-session-ack", breaks="MQQB-3.1.1.6.2-09")
class SenderSecondTransactionalMessageDiscardedBySessionAck(SessionAcks):
    """The sender discards the second and later transactional messages of a sequence when a SessionAck acknowledges
    them.
    """

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged(session, header)
        for position in list(session.OutgoingMessageTable):
            if position.ReceivedSessionAck and position.TxSequenceNumber > 1:
                self.delete_position(session, position)


@fault("sender-message-with-jp-only-discarded-by-order-ack", breaks="MQQB-3.1.1.6.2-11")
class SenderMessageWithJpOnlyDiscardedByOrderAck(TransactionalSending):
    """The sender discards a message with JP and without JN when an OrderAck acknowledges the message."""

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JP and not header.JN:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
            return
        super().delete_ordered(session, position)


@fault("sender-message-with-jn-only-discarded-by-order-ack", breaks="MQQB-3.1.1.6.2-11")
class SenderMessageWithJnOnlyDiscardedByOrderAck(TransactionalSending):
    """The sender discards a message with JN and without JP when an OrderAck acknowledges the message."""

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN and not header.JP:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
            return
        super().delete_ordered(session, position)


@fault("receiver-rejected-message-restarts-no-order-ack-timer", breaks="MQQB-3.1.1.6.2-06")
class ReceiverRejectedMessageRestartsNoOrderAckTimer(InSequence):
    """The receiver stops the Order Ack Send Timer when it rejects a message that is out of sequence."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence(session, transfer, now)
        session.order_acks_due.clear()
