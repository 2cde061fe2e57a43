"""Predicates on OrderAcks and FinalAcks by what was received. Spec: MS-MQQB 2.2.4.1, 2.2.5.1, 3.1.7.17."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.judging.passive import Context, Finding, NotExercised, Predicate
from reference_qm.codec import FinalAckBody, FormatError, OrderAckBody
from suites.mqqb.steps.order_and_final_acks import is_final_ack, is_order_ack
from suites.mqqb.steps.received_messages import Message, Received


def has_order_ack_body(packet: Any, context: Context) -> Finding:
    """Demand a body of the layout of 2.2.4.1."""
    if not is_order_ack(packet):
        return None
    body = packet.MessagePropertiesHeader.MessageBody
    try:
        OrderAckBody.parse(body)
    except FormatError as error:
        return False, str(error)
    return True, f"the body has {len(body)} bytes"


def order_ack_of_received(judge: Callable[[OrderAckBody, Received], Finding]) -> Predicate:
    """Show a predicate the OrderAcks of a system of which transactional messages were seen."""

    def predicate(packet: Any, context: Context) -> Finding:
        received = context.before(Received)
        if not is_order_ack(packet) or not received.sequences:
            return None
        try:
            body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError:
            return None
        return judge(body, received) if body.TxSequenceNumber else NotExercised("TxSequenceNumber is 0 (E39)")

    return predicate


def is_of_a_received_sequence(body: OrderAckBody, received: Received) -> Finding:
    """Compare with the sequences that came."""
    known = body.TxSequenceID in received.sequences
    return known, f"TxSequenceID is {'that' if known else 'not that'} of messages that came"


def has_a_received_number(body: OrderAckBody, received: Received) -> Finding:
    """Compare with the numbers that came in the sequence."""
    if body.TxSequenceID not in received.sequences:
        return None
    known = (body.TxSequenceID, body.TxSequenceNumber) in received.numbers
    return known, f"TxSequenceNumber is {body.TxSequenceNumber}, {'' if known else 'not '}that of a message that came"


def final_ack_of_message(judge: Callable[[FinalAckBody, Message], Finding]) -> Predicate:
    """Show a predicate the FinalAcks of messages that were seen, with the message."""

    def predicate(packet: Any, context: Context) -> Finding:
        if not is_final_ack(packet):
            return None
        try:
            body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError:
            return None
        message = context.before(Received).messages.get((body.SourceGUID, body.MessageID))
        return None if message is None or message.TxSequenceID is None else judge(body, message)

    return predicate


def has_field_of_message(name: str, of_message: str = "") -> Predicate:
    """Demand a field of a FinalAck that is a field of its message."""

    def judge(body: FinalAckBody, message: Message) -> Finding:
        came, sent = getattr(message, of_message or name), getattr(body, name)
        return sent == came, f"{name} is {sent}, of the message {came}"

    return final_ack_of_message(judge)
