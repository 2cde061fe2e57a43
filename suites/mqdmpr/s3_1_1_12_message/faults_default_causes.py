"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message about default values only for some kinds of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.config import QueueManagerConfig
from reference_qm.core.store.disk import Change
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import (
    SENDER_TYPE_NONE,
    SENDER_TYPE_QUEUE_MANAGER,
    SENDER_TYPE_SID,
    MessageSecurity,
    PrivacyLevel,
    SignatureType,
)
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

MessageChange = Callable[[QueueManagerConfig, Message], Message]
"""A function that returns a message of an application with wrong attributes."""
UNREQUESTED_QUEUE_FORMAT_NAME = "DIRECT=TCP:127.0.0.2\\private$\\mqc-unnamed"


def _change_messages_to_other_queue_managers(condition: Callable[[Message], bool], change: MessageChange) -> Install:
    """Return an installer of a fault that changes the messages that applications send to other queue managers, if a
    condition is true for the message.
    """

    class ChangedBeforeSending(MessageSending):
        def accept_outgoing_message(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> Change:
            if condition(position.MessageReference):
                position.MessageReference = change(self.qm.config, position.MessageReference)
            return super().accept_outgoing_message(queue, position, now)

    return replace_part(ChangedBeforeSending)


def _change_messages_to_local_queues(change: MessageChange) -> Install:
    """Return an installer of a fault that changes the messages that applications send to a local queue."""

    class ChangedBeforeEnqueueing(MessageEnqueueing):
        def put_message(
            self, queue: Queue, message: Message, token: int | None, result: Result, now: Now
        ) -> Result | None:
            if not isinstance(queue, OutgoingQueue):
                message = change(self.qm.config, message)
            return super().put_message(queue, message, token, result, now)

    return replace_part(ChangedBeforeEnqueueing)


def _make_attribute_setter(**attributes: Any) -> MessageChange:
    return lambda config, message: replace(message, **attributes)


def _make_security_attribute_setter(**attributes: Any) -> MessageChange:
    return lambda config, message: replace(
        message, security=replace(message.security or MessageSecurity(), **attributes)
    )


def _sign_message(config: QueueManagerConfig, message: Message) -> Message:
    account = next(one for one in config.security.accounts if one.key is not None and one.certificates)
    security = MessageSecurity(
        AuthenticationLevel=SignatureType.SIG10,
        SenderIdentifierType=SENDER_TYPE_SID,
        SenderIdentifier=account.SecurityIdentifier.build(),
        SenderCertificate=account.certificates[0],
    )
    return replace(message, security=security)


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _is_recoverable(message: Message) -> bool:
    return message.TransactionIdentifier is None and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE


def _is_sent_to_several_queues(message: Message) -> bool:
    return message.DestinationMultiQueueFormatName is not None


def _has_sid(message: Message) -> bool:
    return message.security is not None and message.security.SenderIdentifierType == SENDER_TYPE_SID


def _is_transactional_with_sid(message: Message) -> bool:
    return _is_transactional(message) and _has_sid(message)


def _is_recoverable_with_sid(message: Message) -> bool:
    return _is_recoverable(message) and _has_sid(message)


def _is_sent_to_several_queues_and_has_sid(message: Message) -> bool:
    return _is_sent_to_several_queues(message) and _has_sid(message)


def _is_encrypted_but_unsigned(message: Message) -> bool:
    return _has_sid(message) and message.security is not None and not message.security.AuthenticationLevel


def _has_admin_queue(message: Message) -> bool:
    return message.AdministrationQueueFormatName is not None


def _has_response_queue(message: Message) -> bool:
    return message.ResponseQueueFormatName is not None


def _has_label_without_body(message: Message) -> bool:
    return bool(message.Label) and not message.Body


def _has_large_body(message: Message) -> bool:
    return len(message.Body) > 1_000


def _make_setter_of_unset_attribute(name: str, value: Any) -> MessageChange:
    def set_attribute_if_unset(config: QueueManagerConfig, message: Message) -> Message:
        return message if getattr(message, name) else replace(message, **{name: value})

    return set_attribute_if_unset


def _change_last_byte_of_sid(config: QueueManagerConfig, message: Message) -> Message:
    assert message.security is not None
    sid = message.security.SenderIdentifier
    return replace(message, security=replace(message.security, SenderIdentifier=sid[:-1] + bytes([sid[-1] ^ 1])))


def _set_queue_manager_as_sender(config: QueueManagerConfig, message: Message) -> Message:
    return _make_security_attribute_setter(
        SenderIdentifierType=SENDER_TYPE_QUEUE_MANAGER, SenderIdentifier=config.identifier.bytes_le
    )(config, message)


def _copy_admin_queue_to_response_queue(config: QueueManagerConfig, message: Message) -> Message:
    return replace(
        message, ResponseQueueFormatName=message.ResponseQueueFormatName or message.AdministrationQueueFormatName
    )


def _copy_response_queue_to_admin_queue(config: QueueManagerConfig, message: Message) -> Message:
    return replace(
        message,
        AdministrationQueueFormatName=message.AdministrationQueueFormatName or message.ResponseQueueFormatName,
    )


def _copy_label_to_body(config: QueueManagerConfig, message: Message) -> Message:
    return replace(message, Body=message.Label.encode("utf-16-le"))


CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000cc")
SECURITY_ATTRIBUTES_WITHOUT_SENDER = {"SenderIdentifierType": SENDER_TYPE_NONE, "SenderIdentifier": b""}
REPORT_CLASS, ARRIVAL_ACK_CLASS = MessageClass.MQMSG_CLASS_REPORT, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE

_DESCRIPTION_AND_CONDITION_BY_MESSAGE_KIND: dict[str, tuple[str, Callable[[Message], bool] | None]] = {
    "transactional": ("a transactional message", _is_transactional),
    "recoverable": ("a recoverable nontransactional message", _is_recoverable),
    "several": ("a message to several queues", _is_sent_to_several_queues),
    "local": ("a message to a local queue", None),
    "transactional-sid": ("a transactional message with a SID", _is_transactional_with_sid),
    "recoverable-sid": ("a recoverable message with a SID", _is_recoverable_with_sid),
    "several-sid": ("a message to several queues with a SID", _is_sent_to_several_queues_and_has_sid),
    "encrypted": ("an unsigned message with a SID", _is_encrypted_but_unsigned),
    "acknowledged": ("a message with an administration queue", _has_admin_queue),
    "answered": ("a message with a response queue", _has_response_queue),
    "labeled": ("a message with a label and no body", _has_label_without_body),
    "large": ("a message with a large body", _has_large_body),
}

for _rule, _attribute, _says, _variants in (
    (
        "MQDMPR-3.1.1.12-D28",
        "class",
        "has the Class Report by default",
        {
            "transactional": _make_attribute_setter(Class=REPORT_CLASS),
            "local": _make_attribute_setter(Class=REPORT_CLASS),
            "acknowledged": _make_attribute_setter(Class=REPORT_CLASS),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D05",
        "class-of-application",
        "that an application sends has the Class AckReachQueue",
        {
            "recoverable": _make_attribute_setter(Class=ARRIVAL_ACK_CLASS),
            "several": _make_attribute_setter(Class=ARRIVAL_ACK_CLASS),
            "large": _make_attribute_setter(Class=ARRIVAL_ACK_CLASS),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D29",
        "privacy-level",
        "has a PrivacyLevel by default",
        {
            "transactional": _make_security_attribute_setter(PrivacyLevel=PrivacyLevel.BASE),
            "recoverable": _make_security_attribute_setter(PrivacyLevel=PrivacyLevel.ENHANCED),
            "local": _make_security_attribute_setter(PrivacyLevel=PrivacyLevel.BASE),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D43",
        "sender-type",
        "has another SenderIdentifierType than Sid by default",
        {
            "transactional-sid": _make_security_attribute_setter(**SECURITY_ATTRIBUTES_WITHOUT_SENDER),
            "several-sid": _set_queue_manager_as_sender,
            "encrypted": _make_security_attribute_setter(**SECURITY_ATTRIBUTES_WITHOUT_SENDER),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D49",
        "sender-identifier",
        "has the SID of another user by default",
        {
            "transactional-sid": _change_last_byte_of_sid,
            "recoverable-sid": _change_last_byte_of_sid,
            "encrypted": _change_last_byte_of_sid,
        },
    ),
    (
        "MQDMPR-3.1.1.12-D45",
        "connector-type",
        "has a ConnectorTypeIdentifier although no connector sent the message",
        {
            "transactional": _make_attribute_setter(ConnectorTypeIdentifier=CONNECTOR_GUID),
            "several": _make_attribute_setter(ConnectorTypeIdentifier=CONNECTOR_GUID),
            "acknowledged": _make_attribute_setter(ConnectorTypeIdentifier=MADE_UP_GUID),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D30",
        "authentication-level",
        "is signed by default",
        {"transactional": _sign_message, "recoverable": _sign_message, "acknowledged": _sign_message},
    ),
    (
        "MQDMPR-3.1.1.12-D31",
        "tracing",
        "is traced by default",
        {
            "transactional": _make_attribute_setter(TracingRequested=True),
            "recoverable": _make_attribute_setter(TracingRequested=True),
            "local": _make_attribute_setter(TracingRequested=True),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D33",
        "positive-journaling",
        "requests positive journaling by default",
        {
            "transactional": _make_attribute_setter(PositiveJournalingRequested=True),
            "several": _make_attribute_setter(PositiveJournalingRequested=True),
            "local": _make_attribute_setter(PositiveJournalingRequested=True),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D35",
        "response-queue",
        "has a response queue by default",
        {
            "transactional": _make_setter_of_unset_attribute("ResponseQueueFormatName", UNREQUESTED_QUEUE_FORMAT_NAME),
            "acknowledged": _copy_admin_queue_to_response_queue,
            "local": _make_setter_of_unset_attribute("ResponseQueueFormatName", UNREQUESTED_QUEUE_FORMAT_NAME),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D36",
        "administration-queue",
        "has an administration queue by default",
        {
            "transactional": _make_setter_of_unset_attribute(
                "AdministrationQueueFormatName", UNREQUESTED_QUEUE_FORMAT_NAME
            ),
            "answered": _copy_response_queue_to_admin_queue,
            "local": _make_setter_of_unset_attribute("AdministrationQueueFormatName", UNREQUESTED_QUEUE_FORMAT_NAME),
        },
    ),
    (
        "MQDMPR-3.1.1.12-D39",
        "body",
        "has a body by default",
        {
            "transactional": _make_setter_of_unset_attribute("Body", b"\0"),
            "labeled": _copy_label_to_body,
            "local": _make_setter_of_unset_attribute("Body", b"\0"),
        },
    ),
    (
        "MQDMPR-3.1.1.12-19",
        "delivery",
        "is recoverable by default",
        {
            "several": _make_attribute_setter(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE),
            "answered": _make_attribute_setter(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE),
            "local": _make_attribute_setter(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE),
        },
    ),
):
    for _cause, _change in _variants.items():
        _message, _condition = _DESCRIPTION_AND_CONDITION_BY_MESSAGE_KIND[_cause]
        add(
            f"sender-default-{_attribute}-of-{_cause}-message-wrong",
            _rule,
            f"{_message.capitalize()} {_says}.",
            _change_messages_to_local_queues(_change)
            if _condition is None
            else _change_messages_to_other_queue_managers(_condition, _change),
            blind=True,
        )
