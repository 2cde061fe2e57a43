"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message about default values of attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, MessageClass, UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.store.disk import Change
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage

UNKNOWN_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f7")
ONE_DAY_S = 24 * 3_600
AES_PROVIDER_TYPE = (24).to_bytes(4, "little")


def _set_defaults_of_sent_messages(asked: Callable[[SendMessage], bool], **attributes: Any) -> Install:
    """Build a fault in which the sender uses wrong default values for messages of applications."""

    class WrongDefaultMessageBuilder(HigherLayerCommands):
        def _build_message(
            self, request: SendMessage, security: MessageSecurity | None, now: Now, *rest: Any, **named: Any
        ) -> Message:
            message = super()._build_message(request, security, now, *rest, **named)
            return message if asked(request) else replace(message, **attributes)

    return replace_part(WrongDefaultMessageBuilder)


for _name, _rules, _says, _install in (
    (
        "default-delivery-recoverable",
        "MQDMPR-3.1.1.12-19",
        "By default, the sender sends a message with DeliveryGuarantee Recoverable.",
        _set_defaults_of_sent_messages(lambda one: one.recoverable, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE),
    ),
    (
        "default-time-to-reach-queue-infinite",
        "MQDMPR-3.1.1.12-47",
        "By default, the sender sends a message with an infinite TimeToReachQueue.",
        _set_defaults_of_sent_messages(lambda one: one.time_to_reach_queue_s is not None, TimeToReachQueue=0xFFFF_FFFF),
    ),
    (
        "default-message-class-report",
        ("MQDMPR-3.1.1.12-D05", "MQDMPR-3.1.1.12-D28"),
        "By default, the sender sends an application's message with Class Report.",
        _set_defaults_of_sent_messages(lambda one: False, Class=MessageClass.MQMSG_CLASS_REPORT),
    ),
    (
        "default-tracing-requested",
        "MQDMPR-3.1.1.12-D31",
        "By default, the sender sends a message with TracingRequested True.",
        _set_defaults_of_sent_messages(lambda one: one.trace_queue is not None, TracingRequested=True),
    ),
    (
        "default-tracing-queue-present",
        "MQDMPR-3.1.1.12-D32",
        "By default, the sender sends a message with a TracingQueueIdentifier.",
        _set_defaults_of_sent_messages(lambda one: one.trace_queue is not None, TracingQueueIdentifier=UNKNOWN_GUID),
    ),
    (
        "default-positive-journaling-requested",
        "MQDMPR-3.1.1.12-D33",
        "By default, the sender sends a message with PositiveJournalingRequested True.",
        _set_defaults_of_sent_messages(lambda one: bool(one.journal), PositiveJournalingRequested=True),
    ),
    (
        "default-negative-journaling-requested",
        "MQDMPR-3.1.1.12-D34",
        "By default, the sender sends a message with NegativeJournalingRequested True.",
        _set_defaults_of_sent_messages(lambda one: bool(one.journal), NegativeJournalingRequested=True),
    ),
    (
        "default-response-queue-present",
        "MQDMPR-3.1.1.12-D35",
        "By default, the sender sends a message with a response queue.",
        _set_defaults_of_sent_messages(
            lambda one: one.response_queue is not None, ResponseQueueFormatName=f"PUBLIC={UNKNOWN_GUID}"
        ),
    ),
    (
        "default-administration-queue-present",
        "MQDMPR-3.1.1.12-D36",
        "By default, the sender sends a message with an administration queue.",
        _set_defaults_of_sent_messages(
            lambda one: one.admin_queue is not None, AdministrationQueueFormatName=f"PUBLIC={UNKNOWN_GUID}"
        ),
    ),
    (
        "default-acknowledgments-requested",
        "MQDMPR-3.1.1.12-D37",
        "By default, a message requests acknowledgments of a failed delivery.",
        _set_defaults_of_sent_messages(lambda one: bool(one.acks), AcknowledgementsRequested=0xC),
    ),
    (
        "default-application-tag-1",
        "MQDMPR-3.1.1.12-D38",
        "By default, the sender sends a message with ApplicationTag 1.",
        _set_defaults_of_sent_messages(lambda one: bool(one.application_tag), AppSpecific=1),
    ),
    (
        "default-body-one-null-byte",
        "MQDMPR-3.1.1.12-D39",
        "By default, the sender sends a message whose Body is one null byte.",
        _set_defaults_of_sent_messages(lambda one: bool(one.body), Body=b"\0"),
    ),
    (
        "default-body-type-text",
        "MQDMPR-3.1.1.12-D40",
        "By default, the sender sends a message whose BodyType is text.",
        _set_defaults_of_sent_messages(lambda one: bool(one.body_type), BodyType=0x1F),
    ),
    (
        "default-label-present",
        "MQDMPR-3.1.1.12-D41",
        "By default, the sender sends a message with a non-empty Label.",
        _set_defaults_of_sent_messages(lambda one: bool(one.label), Label="no label"),
    ),
    (
        "default-time-to-be-received-one-day",
        "MQDMPR-3.1.1.12-D42",
        "By default, the sender sends a message whose TimeToBeReceived is one day.",
        _set_defaults_of_sent_messages(lambda one: one.time_to_be_received_s is not None, TimeToBeReceived=ONE_DAY_S),
    ),
    (
        "default-extension-one-null-byte",
        "MQDMPR-3.1.1.12-D44",
        "By default, the sender sends a message whose Extension is one null byte.",
        _set_defaults_of_sent_messages(lambda one: False, Extension=b"\0"),
    ),
    (
        "default-connector-type-present",
        "MQDMPR-3.1.1.12-D45",
        "By default, the sender sends a message with a ConnectorTypeIdentifier.",
        _set_defaults_of_sent_messages(lambda one: False, ConnectorTypeIdentifier=UNKNOWN_GUID),
    ),
    (
        "default-correlation-identifier-not-zero",
        "MQDMPR-3.1.1.12-D47",
        "By default, the sender sends a message whose CorrelationIdentifier contains a GUID.",
        _set_defaults_of_sent_messages(lambda one: False, CorrelationIdentifier=UNKNOWN_GUID.bytes_le + bytes(4)),
    ),
    (
        "default-privacy-level-base",
        "MQDMPR-3.1.1.12-D29",
        "By default, the sender sends a message with PrivacyLevel Base.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1),
    ),
    (
        "default-hash-algorithm-0",
        "MQDMPR-3.1.1.12-48",
        "By default, the sender sends a message with HashAlgorithm 0.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.HashAlgorithm", 0),
    ),
    (
        "default-encryption-algorithm-rc2",
        "MQDMPR-3.1.1.12-49",
        "By default, the sender sends a message with EncryptionAlgorithm RC2.",
        set_field_value(
            UserMessagePacket,
            "MessagePropertiesHeader.EncryptionAlgorithm",
            0x6602,
            lambda packet: not packet.MessagePropertiesHeader.PrivacyLevel,
        ),
    ),
    (
        "sender-dm-2-in-recoverable-message",
        "MQDMPR-3.1.1.12-18",
        "The sender sends a recoverable message with DM 2.",
        set_field_value(UserMessagePacket, "UserHeader.DM", 2, lambda packet: bool(packet.UserHeader.DM)),
    ),
):
    add(_name, _rules, _says, _install)


@fault("sender-identifier-is-queue-manager-by-default", breaks=("MQDMPR-3.1.1.12-D43", "MQDMPR-3.1.1.12-D49"))
class SenderIdentifierIsQueueManagerByDefault(HigherLayerCommands):
    """By default, SenderIdentifier of a message is the GUID of the queue manager."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        signer = request.certificate or (self.qm.config.security.accounts[0].name if request.sender is None else None)
        own = request.sender or "queue_manager"
        return super().send_message(replace(request, sender=own, certificate=signer), token, now)


@fault("message-signed-by-default", breaks=("MQDMPR-3.1.1.12-D30", "MQDMPR-3.1.1.12-10", "MQQB-3.1.7.1.4-01"))
class MessageSignedByDefault(HigherLayerCommands):
    """The sender signs a message by default."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        level = "sig20" if request.authentication_level == "none" else request.authentication_level
        return super().send_message(replace(request, authentication_level=level), token, now)


@fault("message-body-encrypted-by-default", breaks="MQDMPR-3.1.1.12-05")
class MessageBodyEncryptedByDefault(HigherLayerCommands):
    """The sender encrypts the body of a message by default."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        level = "base" if request.privacy_level == "none" else request.privacy_level
        return super().send_message(replace(request, privacy_level=level), token, now)


@fault("sender-requested-certificate-ignored", breaks="MQDMPR-3.1.1.12-D64")
class SenderRequestedCertificateIgnored(HigherLayerCommands):
    """The sender signs a message with the user's default certificate instead of the certificate that the application
    requests.
    """

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        return super().send_message(replace(request, certificate=None), token, now)


add(
    "sender-provider-type-always-aes",
    "MQDMPR-3.1.1.12-D65",
    "The sender always sets AuthenticationProviderType to the type of the AES provider.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.SecurityData.ProviderInfo": lambda info: AES_PROVIDER_TYPE + info[4:]},
        lambda packet: packet.SecurityHeader is not None and bool(packet.SecurityHeader.SecurityData.ProviderInfo),
    ),
)


@fault("sender-untraced-message-has-tracing-queue-of-earlier-message", breaks="MQDMPR-3.1.1.12-D32", blind=True)
class SenderUntracedMessageHasTracingQueueOfEarlierMessage(MessageSending):
    """The sender gives an untraced message the TracingQueueIdentifier of the last traced message."""

    last_tracing_queue: Any = NULL_GUID

    def accept_outgoing_message(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> Change:
        message = position.MessageReference
        if message.TracingQueueIdentifier != NULL_GUID:
            self.last_tracing_queue = message.TracingQueueIdentifier
        else:
            position.MessageReference = replace(message, TracingQueueIdentifier=self.last_tracing_queue)
        return super().accept_outgoing_message(queue, position, now)
