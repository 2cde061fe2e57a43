"""Faults that break rules of MS-MQQB 3.1.7.12, 3.1.7.16 and 3.1.7.1 for a later entry of OutgoingMessageTable."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

_LARGE = 4096


def _set_body(packet: UserMessagePacket, body: bytes) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, MessageBody=body, AllocationBodySize=len(body), Padding=None)
    base = replace(packet.BaseHeader, PacketSize=0)
    return replace(packet, BaseHeader=base, MessagePropertiesHeader=properties)


@fault("sender-entry-of-waiting-message-has-body-of-first", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfWaitingMessageHasBodyOfFirst(Sending):
    """The packet of an entry has the body of the first message that waits in the outgoing queue."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        queue = position.QueueReference
        waiting = list(queue.session.OutgoingMessageTable) if isinstance(queue, OutgoingQueue) else []
        if not waiting or waiting[0].MessagePosition is position:
            return packet
        return _set_body(packet, waiting[0].UserMessage.MessagePropertiesHeader.MessageBody)


@fault("sender-entry-of-large-message-cut-at-4096-bytes", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfLargeMessageCutAt4096Bytes(Sending):
    """The packet of an entry contains only the first 4,096 bytes of the body of its message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        body = packet.MessagePropertiesHeader.MessageBody
        return packet if len(body) <= _LARGE else _set_body(packet, body[:_LARGE])


@fault("sender-entry-of-second-queue-has-label-of-first", breaks="MQQB-3.1.7.12-09", blind=True)
class SenderEntryOfSecondQueueHasLabelOfFirst(Sending):
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
class SenderThirdPacketHasBodyOfPrevious(Sending):
    """The sender's third packet on a session has the body of the previous packet."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        previous = self.__dict__.get("previous", packet)
        self.__dict__["previous"] = packet
        if session.MessageSentCount == 3:
            packet = _set_body(packet, previous.MessagePropertiesHeader.MessageBody)
        super().transmit(session, position, packet)


@fault("sender-large-packet-cut-at-4096-bytes", breaks="MQQB-3.1.7.12-16", blind=True)
class SenderLargePacketCutAt4096Bytes(Sending):
    """The sender sends only the first 4,096 bytes of the body in the packet of an entry."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        body = packet.MessagePropertiesHeader.MessageBody
        super().transmit(session, position, packet if len(body) <= _LARGE else _set_body(packet, body[:_LARGE]))


@fault("sender-message-of-second-queue-not-sent", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderMessageOfSecondQueueNotSent(Sending):
    """The sender sends the messages of one outgoing queue only, and no message of a second outgoing queue."""

    def may_send(self, session: Session) -> bool:
        if not super().may_send(session):
            return False
        return bool(self.__dict__.setdefault("first_session", session.number) == session.number)


@fault("sender-sixth-dispatched-message-not-sent", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderSixthDispatchedMessageNotSent(Sending):
    """The sender removes its sixth dispatched message from the outgoing queue without sending the message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if session.MessageSentCount != 6:
            super().transmit(session, position, packet)


@fault("sender-low-priority-message-not-dispatched", breaks="MQQB-3.1.7.16-03", blind=True)
class SenderLowPriorityMessageNotDispatched(Sending):
    """The sender marks a message of priority 0 as sent without sending its packet."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if position.MessagePosition.MessageReference.Priority:
            super().transmit(session, position, packet)


@fault("sender-tx-sequence-number-repeated-for-third-message", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderTxSequenceNumberRepeatedForThirdMessage(TransactionalSending):
    """The packet of the third message of a sequence has the TxSequenceNumber of the second message."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        if packet.TransactionHeader is None or position.TxSequenceNumber != 3:
            return packet
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, TxSequenceNumber=2))


@fault("sender-transaction-header-of-resent-message-not-updated", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderTransactionHeaderOfResentMessageNotUpdated(TransactionalSending):
    """The sender does not update the TransactionHeader of a message that it sends again."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sent = self.__dict__.setdefault("sent_headers", {})
        header = sent.setdefault((session.OutgoingTxSequenceID, position.TxSequenceNumber), packet.TransactionHeader)
        return replace(packet, TransactionHeader=header)


@fault("sender-resent-message-without-predecessor", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderResentMessageWithoutPredecessor(TransactionalSending):
    """The sender sets PreviousTxSequenceNumber of a message that it sends again to 0."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sent = self.__dict__.setdefault("sent_numbers", set())
        again = (session.OutgoingTxSequenceID, position.TxSequenceNumber) in sent
        sent.add((session.OutgoingTxSequenceID, position.TxSequenceNumber))
        if packet.TransactionHeader is None or not again:
            return packet
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, PreviousTxSequenceNumber=0))
