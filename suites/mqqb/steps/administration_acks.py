"""Predicates about the administration acknowledgments that a system sends. Spec: MS-MQQB 3.1.7.15."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from harness.judging.passive import Context, Finding, Predicate
from reference_qm.codec import (
    DirectQueueFormatName,
    MessageClass,
    MessageIdentifier,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from suites.mqmq.steps.unused import is_originated_by_sut
from suites.mqqb.steps.order_and_final_acks import is_final_ack
from suites.mqqb.steps.received_messages import Message, ReceivedMessages

USER_MESSAGE_KIND = "UserMessage"
POSITIVE_ACK_CLASSES = (MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
_NEGATIVE_CLASS_BIT, _LEFT_QUEUE_CLASS_BIT = 0x8000, 0x4000
"""Two bits of the message class: one is set in negative acknowledgments, the other in acknowledgments of messages that
had reached their queue.
"""

AckPredicate = Callable[[Any], Finding]
AnswerPredicate = Callable[[Any, Message, Any], Finding]
"""A predicate about an acknowledgment. The arguments are the acknowledgment, the acknowledged message, and the
identifier of that message.
"""


def is_administration_ack(packet: Any, context: Context) -> bool:
    """Return whether a message is an administration acknowledgment that the SUT itself created."""
    value = packet.MessagePropertiesHeader.MessageClass
    meant = value in POSITIVE_ACK_CLASSES or value & _NEGATIVE_CLASS_BIT
    return bool(meant) and not is_final_ack(packet) and is_originated_by_sut(packet, context)


def is_about_queued_message(packet: Any) -> bool:
    """Return whether an acknowledgment is about a message that had reached its queue."""
    return bool(packet.MessagePropertiesHeader.MessageClass & _LEFT_QUEUE_CLASS_BIT)


def apply_predicate_to_administration_acks(judge: AckPredicate) -> Predicate:
    """Apply a predicate only to the administration acknowledgments that the SUT itself created."""

    @wraps(judge)
    def judge_acknowledgment(packet: Any, context: Context) -> Finding:
        return judge(packet) if is_administration_ack(packet, context) else None

    return judge_acknowledgment


def apply_predicate_to_acknowledged_messages(judge: AnswerPredicate, *, left_queue: bool | None = None) -> Predicate:
    """Apply a predicate only to acknowledgments of messages that are in the capture. If ``left_queue`` is true, apply
    it only if the message had reached its queue.
    """

    @wraps(judge)
    def judge_acknowledgment_with_its_message(packet: Any, context: Context) -> Finding:
        if not is_administration_ack(packet, context) or left_queue not in (None, is_about_queued_message(packet)):
            return None
        answered = MessageIdentifier.parse(packet.MessagePropertiesHeader.CorrelationID)
        message = context.before(ReceivedMessages).messages.get((answered.QueueManagerGuid, answered.Ordinal))
        return None if message is None else judge(packet, message, answered)

    return judge_acknowledgment_with_its_message


def is_same_queue(queue: Any, other: Any, host: Any, other_host: Any) -> bool:
    """Return whether two names identify the same queue; ``host`` is the host of a private name that
    contains no host.
    """
    return _get_queue_identity(queue, host) == _get_queue_identity(other, other_host)


def _get_queue_identity(queue: Any, host: Any) -> Any:
    if isinstance(queue, PrivateQueueFormatNameId):
        return host, queue.PrivateQueueIdentifier
    if isinstance(queue, PrivateQueueFormatName):
        return queue.SourceQueueManager, queue.PrivateQueueIdentifier
    if isinstance(queue, PublicQueueFormatName):
        return queue.PublicQueueIdentifier
    return queue.DirectFormatName.lower() if isinstance(queue, DirectQueueFormatName) else queue
