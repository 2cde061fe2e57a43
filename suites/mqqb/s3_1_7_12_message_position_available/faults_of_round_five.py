"""Blind violations of round five: MS-MQQB 3.1.7.12 Message Position Available Event."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserHeader, UserMessagePacket
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("initiator-no-session-for-administration-acknowledgment-as-first-message", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorNoSessionForAdministrationAcknowledgmentAsFirstMessage(MessageSending):
    """The initiator establishes no session if the first message to a destination is an administration
    acknowledgment.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        message_class = position.UserMessage.MessagePropertiesHeader.MessageClass
        ordinary = (MessageClass.MQMSG_CLASS_NORMAL, MessageClass.MQMSG_CLASS_REPORT)
        if get_outgoing_queue(session).ConnectionHistory or message_class in ordinary:
            super().add_message_to_session_table(session, position, now)
            return
        session.OutgoingMessageTable.add(position)
        self.qm.message_lifetimes.record_deadline_of_message_to_send(session, position)
        self.qm.dispatch_collection.add(session, position)
        self.dispatch_messages(session, now)


@fault("sender-user-message-responsequeue-missing-if-same-as-adminqueue", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderUserMessageResponsequeueMissingIfSameAsAdminqueue(MessageSending):
    """The sender's user message contains no ResponseQueue if the response queue of the message is also its
    administration queue.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        message = position.MessageReference
        if not message.ResponseQueueFormatName:
            return packet
        if message.ResponseQueueFormatName != message.AdministrationQueueFormatName:
            return packet
        flags = packet.UserHeader.Flags & ~UserHeader.flags(RQ=7)
        return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags, ResponseQueue=None))
