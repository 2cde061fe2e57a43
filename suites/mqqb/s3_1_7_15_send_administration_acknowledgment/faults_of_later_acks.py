"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment that mix up an acknowledgment with an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import QUEUE_REMOVAL_ACK_CLASSES
from harness.faults.fields import set_field_value
from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.destination_resolving import get_destination_guid
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import FIRST_FINAL_ACK_CLASS
from reference_qm.model.adm import Message
from reference_qm.security import MessageSecurity
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_15_send_administration_acknowledgment.fault_steps import REMOVAL_ACK_CLASSES

_LARGE_BODY_BYTES = 20_000
"""A number of bytes that is larger than most bodies."""


def _is_negative_class(kind: Any) -> bool:
    return bool(kind & 0x8000)


def _reuse_message_id_of_nack(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    before = self.qm.adm.MessageIdOrdinal
    original(message, kind, now)
    if _is_negative_class(kind):
        self.qm.adm.MessageIdOrdinal = before


def _repeat_attribute_of_earlier_ack(attribute: str, when: Callable[[Any], bool]) -> Install:
    """Return an installer of a fault: acknowledgments of selected classes repeat an attribute of the previous such
    acknowledgment.
    """

    def run(self: Any, original: Any, message: Message, kind: Any, now: Any) -> Message:
        ack: Message = original(message, kind, now)
        if not when(kind):
            return ack
        earlier = self.__dict__.setdefault("earlier", {})
        value = earlier.get(attribute, getattr(ack, attribute))
        earlier[attribute] = getattr(ack, attribute)
        return replace(ack, **{attribute: value})

    return change_step(AdminAcks.build, run)


def _is_removal_class(kind: Any) -> bool:
    return kind in REMOVAL_ACK_CLASSES


def _is_not_removal_class(kind: Any) -> bool:
    return kind not in REMOVAL_ACK_CLASSES


def _omit_large_body_from_ack(self: Any, original: Any, message: Message, kind: Any, now: Any) -> Message:
    ack: Message = original(message, kind, now)
    return replace(ack, Body=b"") if len(ack.Body) > _LARGE_BODY_BYTES else ack


def _send_first_five_acks(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    sent = self.__dict__.setdefault("sent", [])
    if len(sent) < 5:
        sent.append(kind)
        original(message, kind, now)


def _send_no_ack_after_undeliverable_ack(self: Any, original: Any, message: Message, kind: Any, now: Any) -> None:
    state = self.__dict__.setdefault("state", {"failed": False})
    name = message.AdministrationQueueFormatName
    if state["failed"]:
        return
    if (
        name
        and self.qm.destination_resolving.find_local_queue(name) is None
        and self.qm.next_hops.get_destination_info(name) is None
    ):
        state["failed"] = True
    original(message, kind, now)


def _repeat_first_ack_body(self: Any, original: Any, message: Message, kind: Any, now: Any) -> Message:
    ack: Message = original(message, kind, now)
    if not ack.Body:
        return ack
    first = self.__dict__.setdefault("body", ack.Body)
    return replace(ack, Body=first)


def _is_recoverable_ack(packet: UserMessagePacket) -> bool:
    kind = packet.MessagePropertiesHeader.MessageClass
    is_ack = kind == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE or kind >= FIRST_FINAL_ACK_CLASS
    return is_ack and bool(packet.UserHeader.DM)


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    (
        "receiver-nack-has-identifier-of-earlier-nack",
        "MQQB-3.1.7.15-06",
        "The receiver gives each negative acknowledgment the identifier of the previous one.",
        change_step(AdminAcks.send, _reuse_message_id_of_nack),
    ),
    (
        "receiver-class-of-later-ack-repeated",
        "MQQB-3.1.7.15-07",
        "The receiver repeats the class of the previous acknowledgment in the acknowledgment of a removed message.",
        _repeat_attribute_of_earlier_ack("Class", _is_removal_class),
    ),
    (
        "receiver-class-of-later-refusal-repeated",
        "MQQB-3.1.7.15-07",
        "The receiver repeats the class of the previous negative acknowledgment of a refused message.",
        _repeat_attribute_of_earlier_ack(
            "Class", lambda kind: _is_negative_class(kind) and _is_not_removal_class(kind)
        ),
    ),
    *(
        (
            f"receiver-{label}-of-later-{kind}-ack-repeated",
            rule,
            f"The receiver repeats {attribute} of the previous acknowledgment in an acknowledgment of {words}.",
            _repeat_attribute_of_earlier_ack(attribute, when),
        )
        for kind, words, when, rules in (
            (
                "removal",
                "a removed message",
                _is_removal_class,
                ("MQQB-3.1.7.15-09", "MQQB-3.1.7.15-16", "MQQB-3.1.7.15-19", "MQQB-3.1.7.15-24", "MQQB-3.1.7.15-28"),
            ),
            (
                "refusal",
                "an arrival or a refusal",
                _is_not_removal_class,
                ("MQQB-3.1.7.15-10", "MQQB-3.1.7.15-18", "MQQB-3.1.7.15-20", "MQQB-3.1.7.15-25", "MQQB-3.1.7.15-29"),
            ),
        )
        for (label, attribute), rule in zip(
            (
                ("destination", "DestinationQueueFormatName"),
                ("correlation-id", "CorrelationIdentifier"),
                ("response-queue", "ResponseQueueFormatName"),
                ("delivery", "DeliveryGuarantee"),
                ("body", "Body"),
            ),
            rules,
            strict=True,
        )
    ),
    (
        "receiver-nack-of-large-message-without-body",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "A negative acknowledgment of a message with a body of more than 20,000 bytes has no body.",
        change_step(AdminAcks.build, _omit_large_body_from_ack),
    ),
    (
        "receiver-nacks-have-body-of-first-nack",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "Each negative acknowledgment has the body of the first negative acknowledgment.",
        change_step(AdminAcks.build, _repeat_first_ack_body),
    ),
    (
        "receiver-sixth-ack-omitted",
        "MQQB-3.1.7.15-34",
        "The receiver sends only five administration acknowledgments.",
        change_step(AdminAcks.send, _send_first_five_acks),
    ),
    (
        "receiver-acks-after-unknown-administration-queue-omitted",
        "MQQB-3.1.7.15-34",
        "The receiver sends no acknowledgment after it could not open the administration queue of a message.",
        change_step(AdminAcks.send, _send_no_ack_after_undeliverable_ack),
    ),
    (
        "receiver-recoverable-ack-with-privacy-level-1",
        "MQQB-3.1.7.15-D06",
        "A recoverable administration acknowledgment has PrivacyLevel 1.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_recoverable_ack),
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("receiver-admin-ack-of-encrypted-message-encrypted", breaks="MQQB-3.1.7.15-D06", blind=True)
class ReceiverAdminAckOfEncryptedMessageEncrypted(AdminAcks):
    """The receiver encrypts the administration acknowledgment of an encrypted message, with the PrivacyLevel of the
    message, if it knows the keys of the queue manager of the administration queue.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        level = 0 if message.security is None else message.security.PrivacyLevel
        remote = get_destination_guid(ack.DestinationQueueFormatName)
        if not level or self.qm.security_lookup.find_public_keys(remote, now) is None:
            return ack
        return replace(ack, security=MessageSecurity(PrivacyLevel=level))


@fault("receiver-ack-of-removal-copies-correlation-id-of-message", breaks="MQQB-3.1.7.15-16", blind=True)
class ReceiverAckOfRemovalCopiesCorrelationIdOfMessage(AdminAcks):
    """When a message leaves its queue, the receiver copies the CorrelationIdentifier of the message, if it has one,
    into the acknowledgment instead of the identifier of the message.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class in QUEUE_REMOVAL_ACK_CLASSES and any(message.CorrelationIdentifier):
            return replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
        return ack
