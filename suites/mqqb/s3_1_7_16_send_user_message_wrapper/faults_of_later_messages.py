"""Faults that break rules of MS-MQQB 3.1.7.16 Send User Message Wrapper for later messages, or for messages of one
kind.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-message-of-second-queue-not-sent", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderMessageOfSecondQueueNotSent(MessageSending):
    """The sender sends the messages of one outgoing queue only, and no message of a second outgoing queue."""

    def may_send(self, session: Session) -> bool:
        if not super().may_send(session):
            return False
        return bool(self.__dict__.setdefault("first_session", session.number) == session.number)


@fault("sender-sixth-dispatched-message-not-sent", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderSixthDispatchedMessageNotSent(MessageSending):
    """The sender removes its sixth dispatched message from the outgoing queue without sending the message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if session.MessageSentCount != 6:
            super().transmit(session, position, packet)


@fault("sender-low-priority-message-not-dispatched", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderLowPriorityMessageNotDispatched(MessageSending):
    """The sender marks a message of priority 0 as sent without sending its packet."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if position.MessagePosition.MessageReference.Priority:
            super().transmit(session, position, packet)
