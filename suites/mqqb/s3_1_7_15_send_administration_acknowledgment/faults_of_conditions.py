"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment that depend on the class, the delivery mode or the
queue of an acknowledgment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import INSECURE_NACKS, AdminAcks
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee

AckChangeCondition = Callable[[Any, Message, Any], bool]
Change = Callable[[Message, Message], dict[str, Any]]

_REACH_QUEUE_CLASS = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
_RECEIVE_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


def _is_negative_ack(self: Any, message: Message, kind: Any) -> bool:
    return bool(kind & 0x8000)


def _is_refusal_ack(self: Any, message: Message, kind: Any) -> bool:
    return bool(kind & 0x8000) and not kind & 0x4000


def _is_negative_receipt_ack(self: Any, message: Message, kind: Any) -> bool:
    return kind & 0xC000 == 0xC000


def _is_arrival_ack(self: Any, message: Message, kind: Any) -> bool:
    return bool(kind == _REACH_QUEUE_CLASS)


def _is_receipt_ack(self: Any, message: Message, kind: Any) -> bool:
    return bool(kind == _RECEIVE_CLASS)


def _is_for_transactional_message(self: Any, message: Message, kind: Any) -> bool:
    return message.TransactionIdentifier is not None


def _change_administration_ack(when: AckChangeCondition, change: Change) -> Install:
    def run(self: Any, original: Any, message: Message, kind: Any, now: Any) -> Message:
        built: Message = original(message, kind, now)
        return replace(built, **change(message, built)) if when(self, message, kind) else built

    return change_step(AdminAcks.build, run)


def _omit_administration_ack(when: AckChangeCondition) -> Install:
    def run(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
        if not when(self, message, kind):
            original(message, kind, now)

    return change_step(AdminAcks.send, run)


def _send_insecure_nacks_of_classes(classes: frozenset[Any]) -> Install:
    def run(self: Any, original: Any, kind: Any) -> bool:
        return kind in classes or bool(original(kind))

    return change_step(AdminAcks.may_send_nack, run)


def _send_nack_also_to_response_queue(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    original(message, kind, now)
    if message.ResponseQueueFormatName and kind & 0x8000:
        original(replace(message, AdministrationQueueFormatName=message.ResponseQueueFormatName), kind, now)


def _send_nack_to_response_queue(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    if not message.AdministrationQueueFormatName and message.ResponseQueueFormatName and kind & 0x8000:
        message = replace(message, AdministrationQueueFormatName=message.ResponseQueueFormatName)
    original(message, kind, now)


def _send_acks_to_first_admin_queue(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    if message.AdministrationQueueFormatName:
        queues = self.__dict__.setdefault("queues", {})
        key = message.Identifier.QueueManagerGuid, kind & 0x8000
        first = queues.setdefault(key, message.AdministrationQueueFormatName)
        message = replace(message, AdministrationQueueFormatName=first)
    original(message, kind, now)


def _send_first_ack_per_admin_queue(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    known = self.__dict__.setdefault("opened", set())
    name = message.AdministrationQueueFormatName
    if name in known:
        return
    known.add(name)
    original(message, kind, now)


def _remove_response_queue(start: str) -> Install:
    return _change_administration_ack(
        lambda self, message, kind: (
            _is_refusal_ack(self, message, kind) and message.DestinationQueueFormatName.lower().startswith(start)
        ),
        lambda message, ack: {"ResponseQueueFormatName": None},
    )


_ACK_CONDITIONS: tuple[tuple[str, str, AckChangeCondition], ...] = (
    ("arrival", "of an arrival", _is_arrival_ack),
    ("receipt", "of a receipt", _is_receipt_ack),
    ("refusal", "of a refusal", _is_refusal_ack),
    ("removal", "of a removal", _is_negative_receipt_ack),
    ("transactional-message", "of a transactional message", _is_for_transactional_message),
)
_ADMINISTRATION_ACK_VALUE_FAULTS: tuple[tuple[str, str, str, Change], ...] = (
    (
        "requests-acks",
        "MQQB-3.1.7.15-D01",
        "requests acknowledgments",
        lambda message, ack: {"AcknowledgementsRequested": 15},
    ),
    (
        "expires",
        "MQQB-3.1.7.15-D02",
        "has a TimeToReachQueue of one hour",
        lambda message, ack: {"TimeToReachQueue": 3600},
    ),
    (
        "lives-one-hour",
        "MQQB-3.1.7.15-D03",
        "has a TimeToBeReceived of one hour",
        lambda message, ack: {"TimeToBeReceived": 3600},
    ),
    (
        "has-jp",
        "MQQB-3.1.7.15-D04",
        "requests positive journaling",
        lambda message, ack: {"PositiveJournalingRequested": True},
    ),
    (
        "has-jn",
        "MQQB-3.1.7.15-D05",
        "requests negative journaling",
        lambda message, ack: {"NegativeJournalingRequested": True},
    ),
    (
        "correlation-reversed",
        "MQQB-3.1.7.15-18",
        "has a reversed CorrelationID",
        lambda message, ack: {"CorrelationIdentifier": ack.CorrelationIdentifier[::-1]},
    ),
    (
        "number-wrong",
        "MQQB-3.1.7.15-17",
        "has the MessageID 1 in CorrelationID",
        lambda message, ack: {"CorrelationIdentifier": ack.CorrelationIdentifier[:16] + bytes((1, 0, 0, 0))},
    ),
    (
        "without-response-queue",
        "MQQB-3.1.7.15-20",
        "has no response queue",
        lambda message, ack: {"ResponseQueueFormatName": None},
    ),
    (
        "is-recoverable",
        "MQQB-3.1.7.15-25",
        "is recoverable",
        lambda message, ack: {"DeliveryGuarantee": DeliveryGuarantee.RECOVERABLE},
    ),
    (
        "is-express",
        "MQQB-3.1.7.15-25",
        "is express",
        lambda message, ack: {"DeliveryGuarantee": DeliveryGuarantee.EXPRESS},
    ),
)
_REMOVAL_ACK_RULE_BY_ARRIVAL_ACK_RULE = {
    "MQQB-3.1.7.15-20": "MQQB-3.1.7.15-19",
    "MQQB-3.1.7.15-17": "MQQB-3.1.7.15-16",
    "MQQB-3.1.7.15-18": "MQQB-3.1.7.15-16",
    "MQQB-3.1.7.15-25": "MQQB-3.1.7.15-24",
}
_ADMINISTRATION_ACK_FAULTS = [
    (
        f"receiver-ack-of-{kind}-{value}",
        _REMOVAL_ACK_RULE_BY_ARRIVAL_ACK_RULE.get(rule, rule) if kind in {"receipt", "removal"} else rule,
        f"The acknowledgment {words} {says}.",
        _change_administration_ack(when, change),
    )
    for kind, words, when in _ACK_CONDITIONS
    for value, rule, says, change in _ADMINISTRATION_ACK_VALUE_FAULTS
    if (kind, value) != ("transactional-message", "is-recoverable")  # a transactional message is always recoverable
]
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *_ADMINISTRATION_ACK_FAULTS,
    *(
        (
            f"receiver-insecure-{one.name[12:].lower().replace('_', '-')}-always-sent",
            "MQQB-3.1.7.15-05",
            f"The receiver sends an acknowledgment of class {one.name} although SendInsecureNacks is FALSE.",
            _send_insecure_nacks_of_classes(frozenset({one})),
        )
        for one in sorted(INSECURE_NACKS)
        if one is not MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
    ),
    (
        "receiver-nack-also-to-response-queue",
        "MQQB-3.1.7.15-08",
        "The receiver sends a negative acknowledgment also to the response queue of the message.",
        change_step(AdminAcks.send, _send_nack_also_to_response_queue),
    ),
    (
        "receiver-nack-without-administration-queue-to-response-queue",
        ("MQQB-3.1.7.15-03", "MQQB-3.1.7.15-04"),
        "The receiver sends the negative acknowledgment of a message with only a response queue there.",
        change_step(AdminAcks.send, _send_nack_to_response_queue),
    ),
    (
        "receiver-ack-to-first-administration-queue-of-sender",
        ("MQQB-3.1.7.15-09", "MQQB-3.1.7.15-10"),
        "The receiver sends each acknowledgment to the administration queue of the first message of its sender.",
        change_step(AdminAcks.send, _send_acks_to_first_admin_queue),
    ),
    (
        "receiver-second-ack-to-queue-omitted",
        ("MQQB-3.1.7.15-30", "MQQB-3.1.7.15-34"),
        "The receiver sends only one acknowledgment to each administration queue.",
        change_step(AdminAcks.send, _send_first_ack_per_admin_queue),
    ),
    *(
        (
            f"receiver-ack-to-{label}-omitted",
            rule,
            f"The receiver sends no negative acknowledgment to {words}.",
            _omit_administration_ack(when),
        )
        for label, words, rule, when in (
            (
                "direct-name",
                "an administration queue with a direct format name",
                "MQQB-3.1.7.15-15",
                lambda self, message, kind: (
                    _is_negative_ack(self, message, kind)
                    and str(message.AdministrationQueueFormatName).lower().startswith("direct")
                ),
            ),
            (
                "public-queue",
                "a public administration queue",
                "MQQB-3.1.7.15-13",
                lambda self, message, kind: (
                    _is_negative_ack(self, message, kind)
                    and str(message.AdministrationQueueFormatName).lower().startswith("public")
                ),
            ),
            (
                "private-queue",
                "a private administration queue",
                "MQQB-3.1.7.15-11",
                lambda self, message, kind: (
                    _is_negative_ack(self, message, kind)
                    and str(message.AdministrationQueueFormatName).lower().startswith("private")
                ),
            ),
            (
                "local-queue",
                "an administration queue of the receiver itself",
                "MQQB-3.1.7.15-12",
                lambda self, message, kind: (
                    _is_negative_ack(self, message, kind)
                    and str(self.qm.adm.Identifier) in str(message.AdministrationQueueFormatName).lower()
                ),
            ),
        )
    ),
    *(
        (
            f"receiver-response-queue-of-nack-{label}-missing",
            rule,
            f"A negative acknowledgment has no response queue if the destination of the message is {words}.",
            _remove_response_queue(start),
        )
        for label, words, start, rule in (
            ("direct", "a direct format name", "direct", "MQQB-3.1.7.15-23"),
            ("public", "a public queue", "public", "MQQB-3.1.7.15-22"),
            ("private", "a private queue", "private", "MQQB-3.1.7.15-21"),
        )
    ),
    (
        "receiver-nack-of-recoverable-message-without-body",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "A negative acknowledgment of a recoverable message has no body.",
        _change_administration_ack(
            lambda self, message, kind: _is_negative_ack(self, message, kind) and bool(message.DeliveryGuarantee),
            lambda message, ack: {"Body": b""},
        ),
    ),
    (
        "receiver-ack-of-transactional-message-with-body",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "A positive acknowledgment of a transactional message has the body of the message.",
        _change_administration_ack(
            lambda self, message, kind: not kind & 0x8000 and _is_for_transactional_message(self, message, kind),
            lambda message, ack: {"Body": message.Body},
        ),
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
