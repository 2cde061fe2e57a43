"""Faults of MS-MQQB 3.1.1.5 Transactional Message Sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    OrderAckBody,
    SequenceInfo,
    TransactionHeader,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.message import Message
from reference_qm.surface.clock import Now

_FA_BIT = TransactionHeader.flags(FA=1)


def _change_sequence_info(change: Callable[[SequenceInfo], SequenceInfo]) -> Install:
    """Change the SEQUENCE_INFO of each message that is sent."""

    class SequenceInfoChanged(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            unacked = outgoing_sequence(session).UnackedSequence
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


@fault("sender-unacked-sequence-omits-sent-message", breaks="MQQB-3.1.1.5-02")
class SenderUnackedSequenceOmitsSentMessage(TransactionalSending):
    """The sender's UnackedSequence does not contain a sent message."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        outgoing_sequence(session).UnackedSequence.clear()
        return packet


@fault("sender-second-message-on-ended-sequence", breaks=("MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"))
class SenderSecondMessageOnEndedSequence(TransactionalSending):
    """The sender sends the second message of a new sequence as a message of the old sequence."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        if identifier.Ordinal == 1 or numbered.TransactionSequenceNumber != 2:
            return numbered
        old = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=old)


@fault("router-transaction-header-fa-set", breaks="MQQB-3.1.1.5-07")
class RouterTransactionHeaderFaSet(Routing):
    """A queue manager between source and destination sets FA in the TransactionHeader that it forwards."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is not None:
            packet = set_fields(packet, {"TransactionHeader.Flags": lambda old: old | _FA_BIT})
        super().forward_message(position, packet, now)


@fault(
    "sender-order-ack-keeps-last-message", breaks=("MQQB-3.1.1.5-03", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"), blind=True
)
class SenderOrderAckKeepsLastMessage(OrderAcks):
    """The sender keeps the last message of a sequence although an OrderAck acknowledges the message."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        last = body.TxSequenceNumber == session.OutgoingTxSequenceNumber - 1
        number = body.TxSequenceNumber - 1 if last and body.TxSequenceNumber > 1 else body.TxSequenceNumber
        super().delete_order_acknowledged(session, replace(body, TxSequenceNumber=number))
