"""Faults that break rules of MS-MQQB 3.1.7.12 for a later entry of OutgoingMessageTable."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

_LARGE_BODY_BYTES = 4096


def _replace_body_of_packet(packet: UserMessagePacket, body: bytes) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, MessageBody=body, AllocationBodySize=len(body), Padding=None)
    base = replace(packet.BaseHeader, PacketSize=0)
    return replace(packet, BaseHeader=base, MessagePropertiesHeader=properties)


@fault("sender-entry-of-waiting-message-has-body-of-first", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfWaitingMessageHasBodyOfFirst(MessageSending):
    """The packet of an entry has the body of the first message that waits in the outgoing queue."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        queue = position.QueueReference
        waiting = list(queue.session.OutgoingMessageTable) if isinstance(queue, OutgoingQueue) else []
        if not waiting or waiting[0].MessagePosition is position:
            return packet
        return _replace_body_of_packet(packet, waiting[0].UserMessage.MessagePropertiesHeader.MessageBody)


@fault("sender-entry-of-large-message-cut-at-4096-bytes", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfLargeMessageCutAt4096Bytes(MessageSending):
    """The packet of an entry contains only the first 4,096 bytes of the body of its message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        body = packet.MessagePropertiesHeader.MessageBody
        return packet if len(body) <= _LARGE_BODY_BYTES else _replace_body_of_packet(packet, body[:_LARGE_BODY_BYTES])


@fault("sender-entry-of-second-queue-has-label-of-first", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfSecondQueueHasLabelOfFirst(MessageSending):
    """The packets of entries in a second session have the label of the first message in the first session."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        first = self.__dict__.setdefault("first_label", (position.QueueReference, packet))
        if first[0] is position.QueueReference:
            return packet
        label = first[1].MessagePropertiesHeader.Label
        properties = replace(packet.MessagePropertiesHeader, Label=label, Padding=None)
        return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), MessagePropertiesHeader=properties)


@fault("sender-third-packet-has-body-of-previous", breaks="MQQB-3.1.7.12-16", blind=True)
class SenderThirdPacketHasBodyOfPrevious(MessageSending):
    """The sender's third packet on a session has the body of the previous packet."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        previous = self.__dict__.get("previous", packet)
        self.__dict__["previous"] = packet
        if session.MessageSentCount == 3:
            packet = _replace_body_of_packet(packet, previous.MessagePropertiesHeader.MessageBody)
        super().transmit(session, position, packet)


@fault("sender-large-packet-cut-at-4096-bytes", breaks="MQQB-3.1.7.12-16", blind=True)
class SenderLargePacketCutAt4096Bytes(MessageSending):
    """The sender sends only the first 4,096 bytes of the body in the packet of an entry."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        body = packet.MessagePropertiesHeader.MessageBody
        super().transmit(
            session,
            position,
            packet if len(body) <= _LARGE_BODY_BYTES else _replace_body_of_packet(packet, body[:_LARGE_BODY_BYTES]),
        )


@fault("sender-received-order-ack-of-new-entry-copied-from-predecessor", breaks="MQQB-3.1.7.12-10", blind=True)
class SenderReceivedOrderAckOfNewEntryCopiedFromPredecessor(MessageSending):
    """The sender sets ReceivedOrderAck of a new entry in OutgoingMessageTable to TRUE, if an earlier message of the
    same transactional sequence already has an OrderAck.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        sequence = session.TxOutgoingSequence
        if position.TxSequenceNumber and sequence is not None:
            last = sequence.LastAck
            position.ReceivedOrderAck = last.SeqNo > 0 and last.SeqID == int(session.OutgoingTxSequenceID)
        super().add_message_to_session_table(session, position, now)
