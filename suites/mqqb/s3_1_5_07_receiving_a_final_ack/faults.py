"""Faults of MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, Packet, UserMessagePacket
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.order_acks import is_final_ack
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("early-final-ack-tolerated", breaks="MQQB-3.1.5.7-01")
class EarlyFinalAckTolerated(Identifying):
    """A FinalAck before the session is open is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


@fault("final-ack-class-unread", breaks="MQQB-3.1.5.7-02")
class FinalAckClassUnread(FinalAcks):
    """A message with JP is journaled whatever the class of its FinalAck is."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        wants = position.UserMessage.UserHeader.JP
        super().journal_final(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if wants else message_class)


@fault("final-ack-never-dead", breaks="MQQB-3.1.5.7-05")
class FinalAckNeverDead(FinalAcks):
    """No message becomes a dead letter."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        super().journal_final(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("final-ack-elsewhere", breaks=("MQQB-3.1.5.7-04", "MQQB-3.1.5.7-07"))
class FinalAckElsewhere(FinalAcks):
    """A message that is kept goes to the dead letters of messages without transaction."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        header = position.UserMessage.UserHeader
        if header.JP if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE else header.JN:
            self.qm.positions.move_message(position.MessagePosition, self.qm.adm.SystemDeadletterQueue)
        else:
            super().journal_final(position, message_class)
