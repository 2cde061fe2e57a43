"""Faults that break rules of MS-MQQB 3.1.1.5 Transactional Message Sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, OrderAckBody, SequenceInfo, TransactionHeader, TxSequenceID, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _change_sequence_info(change: Callable[[SequenceInfo], SequenceInfo]) -> Install:
    """Change the SEQUENCE_INFO of each message that is sent."""

    class SequenceInfoChanged(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            unacked = get_outgoing_sequence(session).UnackedSequence
            unacked[-1] = change(unacked[-1])
            return packet

    return replace_part(SequenceInfoChanged)


for _name, _rule, _says, _change in (
    (
        "sender-sequence-info-prev-no-equals-own-number",
        "MQQB-3.1.1.5-D03",
        "The sender's SEQUENCE_INFO of a message has the message's own number as PrevNo.",
        lambda info: replace(info, PrevNo=info.SeqNo),
    ),
    (
        "sender-sequence-info-seq-id-one-less",
        "MQQB-3.1.1.5-D01",
        "The sender's SEQUENCE_INFO of a message has a SeqID that is one less than the SeqID of its sequence.",
        lambda info: replace(info, SeqID=info.SeqID - 1),
    ),
    (
        "sender-sequence-info-seq-no-one-more",
        "MQQB-3.1.1.5-D02",
        "The sender's SEQUENCE_INFO of a message has the SeqNo of the next message.",
        lambda info: replace(info, SeqNo=info.SeqNo + 1),
    ),
):
    add(_name, ("MQQB-3.1.1.5-01", _rule), _says, _change_sequence_info(_change))


@fault("sender-sent-message-missing-in-unacked-sequence", breaks="MQQB-3.1.1.5-02")
class SenderSentMessageMissingInUnackedSequence(TransactionalSending):
    """The sender's UnackedSequence does not contain a sent message."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        get_outgoing_sequence(session).UnackedSequence.clear()
        return packet


@fault(
    "sender-last-message-of-sequence-kept-after-order-ack",
    breaks=("MQQB-3.1.1.5-03", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"),
    blind=True,
)
class SenderLastMessageOfSequenceKeptAfterOrderAck(OrderAcks):
    """The sender keeps the last message of a sequence although an OrderAck acknowledges the message."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        last = body.TxSequenceNumber == session.OutgoingTxSequenceNumber - 1
        number = body.TxSequenceNumber - 1 if last and body.TxSequenceNumber > 1 else body.TxSequenceNumber
        super().delete_order_acknowledged_messages(session, replace(body, TxSequenceNumber=number))


@fault("sender-third-sequence-has-ordinal-of-second-sequence", breaks="MQQB-3.1.1.5-03")
class SenderThirdSequenceHasOrdinalOfSecondSequence(TransactionalSending):
    """The sender begins the third sequence with the Ordinal of the second sequence."""

    def begin_sequence(self, session: Session) -> None:
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID.Ordinal > 2:
            session.OutgoingTxSequenceID = replace(session.OutgoingTxSequenceID, Ordinal=2)


@fault("sender-sends-second-message-of-new-sequence-in-old-sequence", breaks=("MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"))
class SenderSendsSecondMessageOfNewSequenceInOldSequence(TransactionalSending):
    """The sender sends the second message of a new sequence as a message of the old sequence."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        if identifier.Ordinal == 1 or numbered.TransactionSequenceNumber != 2:
            return numbered
        old = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=old)


def _decrement_ordinal_of_new_sequences(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        identifier = queue.session.OutgoingTxSequenceID
        if queue.session.OutgoingTxSequenceNumber == 1 and identifier.Ordinal > 1:
            queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)


add(
    "sender-transactional-message-after-restart-in-finished-sequence",
    "MQQB-3.1.1.5-04",
    "After a restart the sender sends its next transactional message in the sequence that ended before the restart.",
    change_core_at_restart(_decrement_ordinal_of_new_sequences),
    blind=True,
)


@fault("sender-gives-third-message-ordinal-of-earlier-sequence", breaks="MQQB-3.1.1.5-04", blind=True)
class SenderGivesThirdMessageOrdinalOfEarlierSequence(TransactionalSending):
    """The sender gives the third message of a second sequence the Ordinal of the first sequence."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        identifier = numbered.TransactionalMessageSequenceIdentifier
        if identifier.Ordinal > 1 and numbered.TransactionSequenceNumber == 3:
            old = replace(identifier, Ordinal=identifier.Ordinal - 1)
            return replace(numbered, TransactionalMessageSequenceIdentifier=old)
        return numbered


_FINAL_ACK_REQUEST_BIT_FA = TransactionHeader.flags(FA=1)


@fault("router-fa-set-in-transaction-header-of-forwarded-message", breaks="MQQB-3.1.1.5-07")
class RouterFaSetInTransactionHeaderOfForwardedMessage(MessageRouting):
    """A queue manager between source and destination sets FA in the TransactionHeader that it forwards."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is not None:
            packet = set_fields(packet, {"TransactionHeader.Flags": lambda old: old | _FINAL_ACK_REQUEST_BIT_FA})
        super().forward_message(position, packet, now)


@fault("router-user-message-previous-number-recomputed", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterUserMessagePreviousNumberRecomputed(TransactionalSending):
    """A router sets PreviousTxSequenceNumber of a forwarded message to TxSequenceNumber - 1."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier:
            return packet
        header = replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
        return replace(packet, TransactionHeader=header)


@fault("router-transaction-header-with-flags-cleared", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterTransactionHeaderWithFlagsCleared(MessageRouting):
    """A router clears the flags FM and LM of the TransactionHeader of a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            packet = replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~0xC))
        super().route_message(session, packet, receipt, now)


@fault("router-previous-number-set-to-number-minus-one", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterPreviousNumberSetToNumberMinusOne(MessageRouting):
    """A router sets PreviousTxSequenceNumber of a message that it forwards to TxSequenceNumber minus one."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            previous = header.TxSequenceNumber - 1
            packet = replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))
        super().route_message(session, packet, receipt, now)


@fault("router-connector-guid-cleared", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterConnectorGuidCleared(MessageRouting):
    """A router sets ConnectorQMGuid to zero in a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid is not None:
            header = replace(header, ConnectorQMGuid=NULL_GUID)
            packet = replace(packet, TransactionHeader=header)
        super().route_message(session, packet, receipt, now)


@fault("router-last-message-flag-cleared", breaks="MQQB-3.1.1.5-07")
class RouterLastMessageFlagCleared(MessageRouting):
    """The router clears LM of the TransactionHeader of a forwarded message."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            flags = header.Flags & ~TransactionHeader.flags(LM=1)
            packet = replace(packet, TransactionHeader=replace(header, Flags=flags))
        super().forward_message(position, packet, now)


@fault("sender-sequence-info-of-later-sequence-with-ordinal-1", breaks="MQQB-3.1.1.5-D01", blind=True)
class SenderSequenceInfoOfLaterSequenceWithOrdinal1(TransactionalSending):
    """The sender puts a SeqID with Ordinal 1 into the SEQUENCE_INFO of each message of a sequence whose Ordinal is
    above 1.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if unacked and unacked[-1].SeqID & 0xFFFFFFFF > 1:
            last = unacked[-1]
            unacked[-1] = SequenceInfo(last.SeqID & ~0xFFFFFFFF | 1, last.SeqNo, last.PrevNo)
        return packet


@fault("sender-sequence-info-seq-no-without-gap", breaks="MQQB-3.1.1.5-D02", blind=True)
class SenderSequenceInfoSeqNoWithoutGap(TransactionalSending):
    """The sender sets SeqNo in the SEQUENCE_INFO of a message that follows an expired message to the number of the
    expired message.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        before = len(get_outgoing_sequence(session).UnackedSequence)
        packet = super().update_transaction_header(session, position, now)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if len(unacked) > before:
            unacked[-1] = replace(unacked[-1], SeqNo=unacked[-1].PrevNo + 1)
        return packet
