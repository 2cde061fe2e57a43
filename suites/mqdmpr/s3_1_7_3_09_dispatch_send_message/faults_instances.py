"""Faults that break rules of MS-MQDMPR 3.1.7.3.9 only for some messages or repetitions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Queue, Session

LARGE_BODY_SIZE = 0x8000


@fault("sender-body-of-second-message-of-queue-replaced-by-first", breaks="MQDMPR-3.1.7.3.9-07")
class SenderBodyOfSecondMessageOfQueueReplacedByFirst(MessageSending):
    """The sender builds the packet of a second message to a queue with the body of the first message to this queue."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        bodies: dict[Queue, bytes] = self.__dict__.setdefault("bodies", {})
        message = position.MessageReference
        if message.Class or not message.Body:
            return super().construct_user_message(position)
        body = bodies.setdefault(position.QueueReference, message.Body)
        position.MessageReference = replace(message, Body=body)
        packet = super().construct_user_message(position)
        position.MessageReference = message
        return packet


@fault("sender-large-body-cut", breaks="MQDMPR-3.1.7.3.9-07")
class SenderLargeBodyCut(MessageSending):
    """The sender builds the packet of a message with at most 32 KB of its body."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        position.MessageReference = replace(message, Body=message.Body[:LARGE_BODY_SIZE])
        packet = super().construct_user_message(position)
        position.MessageReference = message
        return packet


@fault("sender-message-sent-again-without-label", breaks="MQDMPR-3.1.7.3.9-07")
class SenderMessageSentAgainWithoutLabel(MessageSending):
    """The packet of a message that is sent again on a later session has no label."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        sent: set[MessageIdentifier] = self.__dict__.setdefault("sent", set())
        identifier = position.MessagePosition.MessageReference.Identifier
        again = identifier in sent
        sent.add(identifier)
        if again:
            header = packet.MessagePropertiesHeader
            packet = replace(packet, MessagePropertiesHeader=replace(header, Label=""))
        super().transmit(session, position, packet)


@fault("sender-resends-last-message-before-lower-priority-message", breaks="MQDMPR-3.1.7.3.9-06")
class SenderResendsLastMessageBeforeLowerPriorityMessage(MessageSending):
    """The sender sends its last unacknowledged message once more before it sends a message of a lower priority."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        last: dict[Session, tuple[int, UserMessagePacket]] = self.__dict__.setdefault("last", {})
        if session in last and last[session][0] > position.priority:
            self.qm.session_connecting.send(session, last[session][1].build())
        last[session] = (position.priority, packet)
        super().transmit(session, position, packet)
