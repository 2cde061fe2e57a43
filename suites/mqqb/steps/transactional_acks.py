"""Compare OrderAcks and FinalAcks with the received messages. Spec: MS-MQQB 2.2.4.1, 2.2.5.1, 3.1.7.17."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from harness.judging.passive import Context, Finding, NotCaptured, NotExercised, Predicate
from reference_qm.codec import FinalAckBody, FormatError, OrderAckBody, TxSequenceID
from suites.mqqb.steps.order_and_final_acks import is_final_ack, is_order_ack
from suites.mqqb.steps.received_messages import Message, ReceivedMessages

DESTINATION_TYPE_DQ_OF_PRIVATE_NAME = 3
"""The value of DQ for a private queue of the queue manager in QueueManagerAddress. Spec: MS-MQMQ 2.2.19.2."""
UNCAPTURED_MESSAGES_REASON = "its messages may have been received before the capture began or where it lacks packets"


def check_order_ack_body(packet: Any, context: Context) -> Finding:
    """Check that the body has the layout that MS-MQQB 2.2.4.1 specifies."""
    if not is_order_ack(packet):
        return None
    body = packet.MessagePropertiesHeader.MessageBody
    try:
        OrderAckBody.parse(body)
    except FormatError as error:
        return False, str(error)
    return True, f"the body has {len(body)} bytes"


class OrderAck(NamedTuple):
    """The body of an OrderAck, and the GUID of the queue manager to which it is addressed (None for a direct name)."""

    body: OrderAckBody
    source: UUID | None

    @classmethod
    def of(cls, packet: Any) -> OrderAck | None:
        """Return the OrderAck in a packet, or None for other packets and for malformed bodies."""
        if not is_order_ack(packet):
            return None
        try:
            body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError:
            return None
        user = packet.UserHeader
        return cls(body, user.QueueManagerAddress if user.DQ == DESTINATION_TYPE_DQ_OF_PRIVATE_NAME else None)


def apply_predicate_to_order_acks_of_receiver(judge: Callable[[OrderAck, ReceivedMessages], Finding]) -> Predicate:
    """Apply a predicate only to OrderAcks of a system that has received transactional messages."""

    def judge_order_ack(packet: Any, context: Context) -> Finding:
        received = context.before(ReceivedMessages)
        ack = OrderAck.of(packet)
        if ack is None or not received.sequences:
            return None
        return judge(ack, received) if ack.body.TxSequenceNumber else NotExercised("TxSequenceNumber is 0 (E39)")

    return judge_order_ack


def check_sequence_was_received(ack: OrderAck, received: ReceivedMessages) -> Finding:
    """Compare TxSequenceID with the sequences that the system received."""
    if ack.body.TxSequenceID in received.sequences:
        return True, "TxSequenceID is the TxSequenceID of received messages"
    if not received.can_have_received_no_message_of_sequence(ack.body.TxSequenceID, ack.source):
        raise NotCaptured(UNCAPTURED_MESSAGES_REASON)
    return False, "TxSequenceID is not the TxSequenceID of received messages"


def check_number_was_received(ack: OrderAck, received: ReceivedMessages) -> Finding:
    """Compare TxSequenceNumber with the numbers that the system received in the sequence."""
    identifier, number = ack.body.TxSequenceID, ack.body.TxSequenceNumber
    if (identifier, number) in received.numbers:
        return True, f"TxSequenceNumber is {number}, the number of a received message"
    if not received.has_captured_sequence_from_first_message(identifier):
        raise NotCaptured(UNCAPTURED_MESSAGES_REASON)
    return False, f"TxSequenceNumber is {number}, not the number of a received message"


def apply_predicate_to_final_acks_of_messages(judge: Callable[[FinalAckBody, Message], Finding]) -> Predicate:
    """Apply a predicate to FinalAcks whose message is in the capture, together with the message."""

    def judge_final_ack(packet: Any, context: Context) -> Finding:
        if not is_final_ack(packet):
            return None
        try:
            body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError:
            return None
        message = context.before(ReceivedMessages).messages.get((body.SourceGUID, body.MessageID))
        return None if message is None or message.TxSequenceID is None else judge(body, message)

    return judge_final_ack


def make_field_of_message_predicate(name: str, of_message: str = "") -> Predicate:
    """Return a predicate that checks that a field of a FinalAck equals the field of the acknowledged message."""

    def judge_field(body: FinalAckBody, message: Message) -> Finding:
        came, sent = getattr(message, of_message or name), getattr(body, name)
        return (
            sent == came,
            f"{name} is {_show_field(sent)} in the acknowledgment, and {_show_field(came)} in the message",
        )

    return apply_predicate_to_final_acks_of_messages(judge_field)


def _show_field(value: Any) -> str:
    """Return a field as text; the text of a TxSequenceID contains its two parts."""
    return f"(Ordinal {value.Ordinal}, TimeStamp {value.TimeStamp})" if isinstance(value, TxSequenceID) else str(value)
