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

_FA = TransactionHeader.flags(FA=1)


def _noted(change: Callable[[SequenceInfo], SequenceInfo]) -> Install:
    """Note a message that is sent otherwise."""

    class Noted(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            unacked = outgoing_sequence(session).UnackedSequence
            unacked[-1] = change(unacked[-1])
            return packet

    return replace_part(Noted)


for _name, _rule, _says, _change in (
    (
        "sent-message-noted-wrong",
        "MQQB-3.1.1.5-D03",
        "PrevNo of a message is its own number.",
        lambda info: replace(info, PrevNo=info.SeqNo),
    ),
    (
        "sent-message-noted-of-the-sequence-before",
        "MQQB-3.1.1.5-D01",
        "SeqID of a message is one less than that of its sequence.",
        lambda info: replace(info, SeqID=info.SeqID - 1),
    ),
    (
        "sent-message-noted-with-the-next-number",
        "MQQB-3.1.1.5-D02",
        "SeqNo of a message is that of the next.",
        lambda info: replace(info, SeqNo=info.SeqNo + 1),
    ),
):
    add(_name, ("MQQB-3.1.1.5-01", _rule), _says, _noted(_change))


@fault("sent-message-not-noted", breaks="MQQB-3.1.1.5-02")
class SentMessageNotNoted(TransactionalSending):
    """A message that was sent is not in UnackedSequence."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        outgoing_sequence(session).UnackedSequence.clear()
        return packet


@fault("message-on-the-old-sequence", breaks=("MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"))
class MessageOnTheOldSequence(TransactionalSending):
    """The second message of a new sequence is sent on the old one."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        if identifier.Ordinal == 1 or numbered.TransactionSequenceNumber != 2:
            return numbered
        old = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=old)


@fault("routed-transaction-header", breaks="MQQB-3.1.1.5-07")
class RoutedTransactionHeader(Routing):
    """A queue manager on the way asks for a final acknowledgment."""

    def send_on(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is not None:
            packet = set_fields(packet, {"TransactionHeader.Flags": lambda old: old | _FA})
        super().send_on(position, packet, now)


@fault(
    "order-ack-of-the-last-number-ignored", breaks=("MQQB-3.1.1.5-03", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"), blind=True
)
class OrderAckOfTheLastNumberIgnored(OrderAcks):
    """An OrderAck for the number that was sent last deletes all but that one."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        last = body.TxSequenceNumber == session.OutgoingTxSequenceNumber - 1
        number = body.TxSequenceNumber - 1 if last and body.TxSequenceNumber > 1 else body.TxSequenceNumber
        super().delete_order_acknowledged(session, replace(body, TxSequenceNumber=number))
