"""Faults of MS-MQDMPR 3.1.7.1.31 Deserialize Message from Buffer in which only some packets are read wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity

MessageChange = Callable[[Message], Message]
MessageChangeFromPreviousMessage = Callable[[Message, Message], Message]


def _change_arrived_messages(change: MessageChange) -> Install:
    """Build a fault that changes the attributes of some arrived messages."""

    class ArrivedAttributeChanger(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
            return super().insert_message(queue, message if own else change(message))

    return replace_part(ArrivedAttributeChanger)


def _copy_attribute_of_previous_message(change: MessageChangeFromPreviousMessage) -> Install:
    """Build a fault in which an arrived message gets an attribute of the message that arrived previously."""

    class PreviousAttributeCopier(MessagePositions):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.before: Message | None = None

        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
                before, self.before = self.before, message
                message = message if before is None else change(message, before)
            return super().insert_message(queue, message)

    return replace_part(PreviousAttributeCopier)


def _make_change_of_default_to_previous_value(name: str, default: object) -> MessageChangeFromPreviousMessage:
    """Return a change that gives an attribute the value from the previous message, if the attribute has its default
    value.
    """

    def replace_default_by_previous_value(message: Message, before: Message) -> Message:
        return replace(message, **{name: getattr(before, name)}) if getattr(message, name) == default else message

    return replace_default_by_previous_value


def _make_security_attribute_changer(change: Callable[[MessageSecurity], MessageSecurity]) -> MessageChange:
    return lambda message: message if message.security is None else replace(message, security=change(message.security))


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _is_express(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


def _make_conditional_attribute_setter(when: Callable[[Message], bool], **values: Any) -> MessageChange:
    return lambda message: replace(message, **values) if when(message) else message


for _name, _rule, _says, _install in (
    (
        "receiver-label-of-message-without-label-is-that-of-message-before",
        "MQDMPR-3.1.7.1.31-05",
        "The receiver gives a message without a label the label of the previous message.",
        _copy_attribute_of_previous_message(_make_change_of_default_to_previous_value("Label", "")),
    ),
    (
        "receiver-admin-queue-of-message-before-kept",
        "MQDMPR-3.1.7.1.31-05",
        "The receiver gives a message without an administration queue that of the previous message.",
        _copy_attribute_of_previous_message(
            _make_change_of_default_to_previous_value("AdministrationQueueFormatName", None)
        ),
    ),
    (
        "receiver-trace-queue-of-message-before-kept",
        "MQDMPR-3.1.7.1.31-05",
        "The receiver gives a message without a DebugHeader the TracingQueueIdentifier and TracingRequested of the "
        "previous message.",
        _copy_attribute_of_previous_message(
            lambda message, before: (
                replace(
                    message,
                    TracingQueueIdentifier=before.TracingQueueIdentifier,
                    TracingRequested=before.TracingRequested,
                )
                if not message.TracingQueueIdentifier.int
                else message
            )
        ),
    ),
    (
        "receiver-security-of-message-before-kept",
        "MQDMPR-3.1.7.1.31-05",
        "The receiver gives a message without a SecurityHeader the security attributes of the previous message.",
        _copy_attribute_of_previous_message(
            lambda message, before: (
                message
                if message.security is not None and message.security.needs_header
                else replace(message, security=before.security)
            )
        ),
    ),
    (
        "receiver-second-message-shares-body-of-first",
        "MQDMPR-3.1.7.1.31-03",
        "The receiver gives a message with an empty body the body of the previous message.",
        _copy_attribute_of_previous_message(_make_change_of_default_to_previous_value("Body", b"")),
    ),
    (
        "receiver-response-queue-of-message-before-kept",
        "MQDMPR-3.1.7.1.31-03",
        "The receiver gives a message without a response queue the response queue of the previous message.",
        _copy_attribute_of_previous_message(_make_change_of_default_to_previous_value("ResponseQueueFormatName", None)),
    ),
    (
        "receiver-time-to-reach-queue-of-transactional-message-infinite",
        "MQDMPR-3.1.7.1.31-D01",
        "The receiver reads TimeToReachQueue of a transactional message as infinite.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_transactional, TimeToReachQueue=0xFFFFFFFF)),
    ),
    (
        "receiver-trace-flag-of-express-message-ignored",
        "MQDMPR-3.1.7.1.31-D01",
        "The receiver ignores TR of an express message.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_express, TracingRequested=False)),
    ),
    (
        "receiver-priority-of-express-message-above-3-is-3",
        "MQDMPR-3.1.7.1.31-D01",
        "The receiver reads a Priority above 3 of an express message as 3.",
        _change_arrived_messages(
            lambda message: replace(message, Priority=3) if _is_express(message) and message.Priority > 3 else message
        ),
    ),
    (
        "receiver-jp-of-transactional-message-ignored",
        "MQDMPR-3.1.7.1.31-D11",
        "The receiver ignores JP of a transactional message.",
        _change_arrived_messages(
            _make_conditional_attribute_setter(_is_transactional, PositiveJournalingRequested=False)
        ),
    ),
    (
        "receiver-jp-with-jn-ignored",
        "MQDMPR-3.1.7.1.31-D11",
        "The receiver ignores JP of a message with JN.",
        _change_arrived_messages(
            _make_conditional_attribute_setter(
                lambda message: message.NegativeJournalingRequested, PositiveJournalingRequested=False
            )
        ),
    ),
    (
        "receiver-jn-of-transactional-message-ignored",
        "MQDMPR-3.1.7.1.31-D12",
        "The receiver ignores JN of a transactional message.",
        _change_arrived_messages(
            _make_conditional_attribute_setter(_is_transactional, NegativeJournalingRequested=False)
        ),
    ),
    (
        "receiver-jn-of-express-message-ignored",
        "MQDMPR-3.1.7.1.31-D12",
        "The receiver ignores JN of an express message.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_express, NegativeJournalingRequested=False)),
    ),
    (
        "receiver-transactional-response-queue-ignored",
        "MQDMPR-3.1.7.1.31-D05",
        "The receiver ignores the response queue of a transactional message.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_transactional, ResponseQueueFormatName=None)),
    ),
    (
        "receiver-time-to-be-received-of-transactional-message-infinite",
        "MQDMPR-3.1.7.1.31-D05",
        "The receiver reads TimeToBeReceived of a transactional message as infinite.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_transactional, TimeToBeReceived=0xFFFFFFFF)),
    ),
    (
        "receiver-sent-time-above-31-bits-cut",
        "MQDMPR-3.1.7.1.31-D05",
        "The receiver clears the highest bit of SentTime.",
        _change_arrived_messages(lambda message: replace(message, SentTime=message.SentTime & 0x7FFFFFFF)),
    ),
    (
        "receiver-extension-of-transactional-message-ignored",
        "MQDMPR-3.1.7.1.31-D02",
        "The receiver ignores the extension of a transactional message.",
        _change_arrived_messages(_make_conditional_attribute_setter(_is_transactional, Extension=b"")),
    ),
    (
        "receiver-body-of-express-message-cut-to-64-kilobytes",
        "MQDMPR-3.1.7.1.31-D02",
        "The receiver cuts the body of an express message to 65,535 bytes.",
        _change_arrived_messages(
            lambda message: replace(message, Body=message.Body[:65_535]) if _is_express(message) else message
        ),
    ),
    (
        "receiver-correlation-of-transactional-message-zero",
        "MQDMPR-3.1.7.1.31-D02",
        "The receiver sets the CorrelationIdentifier of a transactional message to zeros.",
        _change_arrived_messages(
            _make_conditional_attribute_setter(_is_transactional, CorrelationIdentifier=bytes(20))
        ),
    ),
    (
        "receiver-sender-type-of-signed-message-sid",
        "MQDMPR-3.1.7.1.31-D18",
        "The receiver reads the sender type of a message with a GUID as Sid.",
        _change_arrived_messages(
            _make_security_attribute_changer(
                lambda one: replace(one, SenderIdentifierType=1) if one.SenderIdentifierType == 2 else one
            )
        ),
    ),
    (
        "receiver-signature-type-10-read-as-20",
        "MQDMPR-3.1.7.1.31-D08",
        "The receiver reads AuthenticationLevel Sig10 as Sig20.",
        _change_arrived_messages(
            _make_security_attribute_changer(
                lambda one: replace(one, AuthenticationLevel=3) if one.AuthenticationLevel == 1 else one
            )
        ),
    ),
    (
        "receiver-authentication-level-of-second-signed-message-none",
        "MQDMPR-3.1.7.1.31-06",
        "If a signed message follows another signed message, the receiver gives it the AuthenticationLevel of "
        "the earlier message.",
        _copy_attribute_of_previous_message(
            lambda message, before: (
                replace(
                    message,
                    security=replace(message.security, AuthenticationLevel=before.security.AuthenticationLevel),
                )
                if message.security is not None and before.security is not None and before.security.AuthenticationLevel
                else message
            )
        ),
    ),
    (
        "receiver-privacy-level-enhanced-read-as-base",
        "MQDMPR-3.1.7.1.31-D10",
        "The receiver reads PrivacyLevel 3 as 1.",
        _change_arrived_messages(
            _make_security_attribute_changer(lambda one: replace(one, PrivacyLevel=1) if one.PrivacyLevel == 3 else one)
        ),
    ),
    (
        "receiver-hash-sha-256-read-as-sha-512",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads the HashAlgorithm SHA-256 as SHA-512.",
        _change_arrived_messages(
            _make_security_attribute_changer(
                lambda one: replace(one, HashAlgorithm=0x800E) if one.HashAlgorithm == 0x800C else one
            )
        ),
    ),
    (
        "receiver-encryption-aes-192-read-as-aes-128",
        "MQDMPR-3.1.7.1.31-D13",
        "The receiver reads the EncryptionAlgorithm AES-192 as AES-128.",
        _change_arrived_messages(
            _make_security_attribute_changer(
                lambda one: replace(one, EncryptionAlgorithm=0x660E) if one.EncryptionAlgorithm == 0x660F else one
            )
        ),
    ),
    (
        "receiver-trace-queue-of-transactional-message-null",
        "MQDMPR-3.1.7.1.31-D07",
        "The receiver ignores the DebugHeader of a transactional message.",
        _change_arrived_messages(
            lambda message: (
                replace(message, TracingQueueIdentifier=type(message.TracingQueueIdentifier)(int=0))
                if _is_transactional(message)
                else message
            )
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
