"""Faults of MS-MQQB 3.1.5.7 Receiving a FinalAck Packet: states of a session, and messages in other tables."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, Packet, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("acceptor-positive-final-ack-before-open-session-ignored", breaks="MQQB-3.1.5.7-01", blind=True)
class AcceptorPositiveFinalAckBeforeOpenSessionIgnored(SessionClosing):
    """The acceptor ignores a FinalAck of the class ACK_RECEIVE that arrives before its session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        received = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if (
            session.initiator
            or not isinstance(packet, UserMessagePacket)
            or not is_final_ack(packet)
            or packet.MessagePropertiesHeader.MessageClass != received
        ):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("sender-message-without-order-ack-not-journaled", breaks="MQQB-3.1.5.7-04", blind=True)
class SenderMessageWithoutOrderAckNotJournaled(FinalAcks):
    """The sender does not journal a message whose FinalAck arrives before its OrderAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.awaiting = False

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = packet.MessagePropertiesHeader.MessageBody
        ordinal = int.from_bytes(body[32:36], "little")
        self.awaiting = any(
            ordinal in queue.session.AwaitingFinalACKTable for queue in self.qm.adm.OutgoingQueues.values()
        )
        super().receive(session, packet, now)

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if self.awaiting or message_class != MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            super().journal_completed_message(position, message_class)


@fault("sender-message-of-second-queue-not-journaled", breaks="MQQB-3.1.5.7-04", blind=True)
class SenderMessageOfSecondQueueNotJournaled(FinalAcks):
    """The sender journals only the messages of its first outgoing queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if not received or position.MessagePosition.QueueReference is first:
            super().journal_completed_message(position, message_class)
