"""Faults of MS-MQQB 2.2.5 FinalAck Packet that need two messages or a gap, or depend on the cause of the removal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    Message,
    MessagePosition,
    OutgoingMessagePosition,
    Session,
)
from reference_qm.surface.clock import Now

REFUSALS = frozenset(
    {
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
        MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
        MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
    }
)
ORDER_ACK = MessageClass.MQMSG_CLASS_ORDER_ACK


def _change_body(change: Callable[[FinalAckBody, MessageClass, dict[str, Any]], FinalAckBody]) -> Install:
    """Return a function that installs a fault, which changes the body of each FinalAck. The third argument of `change`
    stores the state of the fault.
    """

    class Changed(OrderAcks):
        def send_transactional_ack(
            self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
        ) -> None:
            if isinstance(body, FinalAckBody):
                body = change(body, message_class, self.__dict__)
            super().send_transactional_ack(name, message_class, body, now)

    return replace_part(Changed)


@fault("receiver-final-ack-with-session-header", breaks="MQQB-2.2.5-01")
class ReceiverFinalAckWithSessionHeader(Sending):
    """The receiver puts a due session acknowledgment into the FinalAck, so SH is set in BaseHeader.Flags."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        due = self.is_acknowledgment_due(session, now)
        packet = super().update_user_message(session, position, now)
        if due and is_final_ack(packet):
            flags = packet.BaseHeader.Flags | 0x10
            header = self.qm.session_acks.build_header(session)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)
            self.qm.session_acks.note_acknowledged(session, now)
        return packet


add(
    "receiver-final-ack-previous-number-is-number-minus-1",
    "MQQB-2.2.5.1-03",
    "The receiver sends TxSequenceNumber minus one as TxPreviousSequenceNumber of a FinalAck.",
    _change_body(lambda body, *_: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
)
add(
    "receiver-final-ack-sequence-of-first-final-ack",
    "MQQB-2.2.5.1-01",
    "The receiver sends TxSequenceID of its first FinalAck in every later FinalAck.",
    _change_body(lambda body, _, kept: replace(body, TxSequenceID=kept.setdefault("first", body.TxSequenceID))),
)
add(
    "receiver-final-ack-of-removal-number-of-last-arrival",
    "MQQB-2.2.5.1-02",
    "The receiver counts the FinalAcks of a queue manager, and sends this count as TxSequenceNumber of a FinalAck.",
    _change_body(
        lambda body, _, kept: replace(
            body, TxSequenceNumber=kept.update(count=kept.get("count", 0) + 1) or kept["count"]
        )
    ),
)
add(
    "receiver-final-ack-message-id-of-first-final-ack",
    "MQQB-2.2.5.1-D01",
    "The receiver sends MessageID of its first FinalAck in every later FinalAck.",
    _change_body(lambda body, _, kept: replace(body, MessageID=kept.setdefault("first", body.MessageID))),
)
add(
    "receiver-final-ack-of-refusal-source-guid-0",
    "MQQB-2.2.5.1-D01",
    "The receiver sends a SourceGUID of zeros in a FinalAck for a refused message.",
    _change_body(
        lambda body, cls, _: replace(body, SourceGUID=type(body.SourceGUID)(int=0)) if cls in REFUSALS else body
    ),
)


def _change_class(rule: str, name: str, says: str, when: Callable[[MessagePosition, MessageClass], bool],
                  other: MessageClass | None) -> None:  # fmt: skip
    """Register a fault: for some removed messages, the receiver sends a FinalAck with another class, or no FinalAck."""

    class Changed(FinalAcks):
        def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
            if not when(position, reason):
                super().acknowledge_final(position, reason, now)
            elif other is not None:
                super().acknowledge_final(position, other, now)

    add(name, rule, says, replace_part(Changed))


def _requests_only_negative_journaling(position: MessagePosition) -> bool:
    message = position.MessageReference
    return message.NegativeJournalingRequested and not message.PositiveJournalingRequested


def _requests_only_positive_journaling(position: MessagePosition) -> bool:
    message = position.MessageReference
    return message.PositiveJournalingRequested and not message.NegativeJournalingRequested


_change_class(
    "MQQB-2.2.5-11",
    "receiver-final-ack-of-received-message-with-jn-only-purged",
    (
        "The receiver sends a FinalAck with class NACK_Q_PURGED for a received message that "
        "requests only negative journaling."
    ),
    lambda position, cls: cls is MessageClass.MQMSG_CLASS_ACK_RECEIVE and _requests_only_negative_journaling(position),
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
)
_change_class(
    "MQQB-2.2.5-21",
    "receiver-final-ack-of-purged-message-with-jp-only-deleted",
    (
        "The receiver sends a FinalAck with class NACK_Q_DELETED for a purged message that "
        "requests only positive journaling."
    ),
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and _requests_only_positive_journaling(position)
    ),
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
)
_change_class(
    "MQQB-2.2.5-21",
    "receiver-final-ack-of-second-purged-message-ack-receive",
    "The receiver sends a FinalAck with class ACK_RECEIVE for each purged message after the first of its sequence.",
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and position.MessageReference.TransactionSequenceNumber > 1
    ),
    MessageClass.MQMSG_CLASS_ACK_RECEIVE,
)
_change_class(
    "MQQB-2.2.5-22",
    "receiver-final-ack-of-expired-message-with-jp-only-purged",
    (
        "The receiver sends a FinalAck with class NACK_Q_PURGED for an expired message that "
        "requests only positive journaling."
    ),
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT and _requests_only_positive_journaling(position)
    ),
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
)


def _change_refusal(rule: str, name: str, says: str, when: Callable[[UserMessagePacket, MessageClass], Any],
                    other: MessageClass | None) -> None:  # fmt: skip
    """Register a fault: for some refused transactional messages, the receiver sends a FinalAck with another class, or
    no FinalAck.
    """

    class Changed(FinalAcks):
        def refuse_transactional(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            if not when(packet, message_class):
                super().refuse_transactional(session, packet, message_class, now)
            elif other is not None:
                super().refuse_transactional(session, packet, other, now)

    add(name, rule, says, replace_part(Changed))


_change_refusal(
    "MQQB-2.2.5-19",
    "receiver-final-ack-of-quota-only-with-negative-ack",
    "The receiver sends a FinalAck for a full queue only if NA is set in the message.",
    lambda packet, cls: cls is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA and not packet.MessagePropertiesHeader.NA,
    None,
)
_change_refusal(
    "MQQB-2.2.5-15",
    "receiver-final-ack-of-denied-message-bad-dst-q",
    "The receiver refuses a transactional message without the right to write with class NACK_BAD_DST_Q if JN is set.",
    lambda packet, cls: cls is MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED and packet.UserHeader.JN,
    MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
)


@fault("receiver-final-ack-of-journaled-message-on-arrival", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckOfJournaledMessageOnArrival(InSequence):
    """The receiver sends a FinalAck with class ACK_RECEIVE when a message with JP set arrives in its queue."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        if packet.UserHeader.JP:
            received = MessageClass.MQMSG_CLASS_ACK_RECEIVE
            self.qm.final_acks.refuse_transactional(session, packet, received, now)


def _copy_journaling(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if not is_final_ack(packet):
        return packet
    header = packet.UserHeader
    return replace(packet, UserHeader=replace(header, Flags=header.Flags | type(header).flags(JP=1)))


add(
    "receiver-final-ack-jp-set",
    "MQQB-2.2.5-04",
    "The receiver sets JP in a FinalAck.",
    change_construction(_copy_journaling),
)
