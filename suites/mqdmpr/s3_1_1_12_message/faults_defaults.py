"""Faults of MS-MQDMPR 3.1.1.12 Message: values of attributes that nobody asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.commands.commands import Commands
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage

MESSAGE = UserMessagePacket
SOMEBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000f7")
A_DAY_S = 24 * 3_600
TYPE_OF_AES = (24).to_bytes(4, "little")


def _by_default(asked: Callable[[SendMessage], bool], **attributes: Any) -> Install:
    """Give messages of applications other values of attributes for which nothing was asked."""

    class Defaulting(Commands):
        def _build_message(
            self, request: SendMessage, security: MessageSecurity | None, now: Now, *rest: Any, **named: Any
        ) -> Message:
            message = super()._build_message(request, security, now, *rest, **named)
            return message if asked(request) else replace(message, **attributes)

    return replace_part(Defaulting)


for _name, _rules, _says, _install in (
    (
        "default-delivery-recoverable",
        "MQDMPR-3.1.1.12-19",
        "A message is recoverable unless it is asked to be express.",
        _by_default(lambda one: one.recoverable, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE),
    ),
    (
        "default-time-to-reach-forever",
        "MQDMPR-3.1.1.12-47",
        "A message may take for ever to reach its queue unless a time is given.",
        _by_default(lambda one: one.time_to_reach_queue_s is not None, TimeToReachQueue=0xFFFF_FFFF),
    ),
    (
        "default-class-report",
        ("MQDMPR-3.1.1.12-D05", "MQDMPR-3.1.1.12-D28"),
        "Class of a message of an application is that of a report.",
        _by_default(lambda one: False, Class=MessageClass.MQMSG_CLASS_REPORT),
    ),
    (
        "default-tracing",
        "MQDMPR-3.1.1.12-D31",
        "A message is to be traced unless something else is asked for.",
        _by_default(lambda one: one.trace_queue is not None, TracingRequested=True),
    ),
    (
        "default-trace-queue",
        "MQDMPR-3.1.1.12-D32",
        "A message names a queue for reports that nobody asked for.",
        _by_default(lambda one: one.trace_queue is not None, TracingQueueIdentifier=SOMEBODY),
    ),
    (
        "default-journaled",
        "MQDMPR-3.1.1.12-D33",
        "A message is to be journaled unless something else is asked for.",
        _by_default(lambda one: bool(one.journal), PositiveJournalingRequested=True),
    ),
    (
        "default-dead-letter",
        "MQDMPR-3.1.1.12-D34",
        "A message is to be kept when it fails unless something else is asked for.",
        _by_default(lambda one: bool(one.journal), NegativeJournalingRequested=True),
    ),
    (
        "default-response-queue",
        "MQDMPR-3.1.1.12-D35",
        "A message has a response queue that nobody asked for.",
        _by_default(lambda one: one.response_queue is not None, ResponseQueueFormatName=f"PUBLIC={SOMEBODY}"),
    ),
    (
        "default-administration-queue",
        "MQDMPR-3.1.1.12-D36",
        "A message has an administration queue that nobody asked for.",
        _by_default(lambda one: one.admin_queue is not None, AdministrationQueueFormatName=f"PUBLIC={SOMEBODY}"),
    ),
    (
        "default-acknowledgments",
        "MQDMPR-3.1.1.12-D37",
        "A message asks for acknowledgments of failures unless something else is asked for.",
        _by_default(lambda one: bool(one.acks), AcknowledgementsRequested=0xC),
    ),
    (
        "default-application-tag",
        "MQDMPR-3.1.1.12-D38",
        "ApplicationTag is 1 unless something else is asked for.",
        _by_default(lambda one: bool(one.application_tag), AppSpecific=1),
    ),
    (
        "default-body",
        "MQDMPR-3.1.1.12-D39",
        "A message without a body has one of a null.",
        _by_default(lambda one: bool(one.body), Body=b"\0"),
    ),
    (
        "default-body-type",
        "MQDMPR-3.1.1.12-D40",
        "A body is text unless something else is asked for.",
        _by_default(lambda one: bool(one.body_type), BodyType=0x1F),
    ),
    (
        "default-label",
        "MQDMPR-3.1.1.12-D41",
        "A message without a label has one.",
        _by_default(lambda one: bool(one.label), Label="no label"),
    ),
    (
        "default-time-to-be-received",
        "MQDMPR-3.1.1.12-D42",
        "A message may be received for a day unless a time is given.",
        _by_default(lambda one: one.time_to_be_received_s is not None, TimeToBeReceived=A_DAY_S),
    ),
    (
        "default-extension",
        "MQDMPR-3.1.1.12-D44",
        "A message without an extension has one of a null.",
        _by_default(lambda one: False, Extension=b"\0"),
    ),
    (
        "default-connector",
        "MQDMPR-3.1.1.12-D45",
        "A message of an application names a connector.",
        _by_default(lambda one: False, ConnectorTypeIdentifier=SOMEBODY),
    ),
    (
        "default-correlation",
        "MQDMPR-3.1.1.12-D47",
        "CorrelationIdentifier has the GUID of somebody unless something else is asked for.",
        _by_default(lambda one: False, CorrelationIdentifier=SOMEBODY.bytes_le + bytes(4)),
    ),
    (
        "default-privacy-level",
        "MQDMPR-3.1.1.12-D29",
        "PrivacyLevel is Base unless something else is asked for.",
        field_is(MESSAGE, "MessagePropertiesHeader.PrivacyLevel", 1),
    ),
    (
        "default-hash-unset",
        "MQDMPR-3.1.1.12-48",
        "HashAlgorithm is 0 unless something else is asked for.",
        field_is(MESSAGE, "MessagePropertiesHeader.HashAlgorithm", 0),
    ),
    (
        "default-cipher-rc2",
        "MQDMPR-3.1.1.12-49",
        "EncryptionAlgorithm is RC2 unless something else is asked for.",
        field_is(MESSAGE, "MessagePropertiesHeader.EncryptionAlgorithm", 0x6602),
    ),
    (
        "delivery-of-its-own",
        "MQDMPR-3.1.1.12-18",
        "DM of a recoverable message is 2.",
        field_is(MESSAGE, "UserHeader.DM", 2, lambda packet: bool(packet.UserHeader.DM)),
    ),
):
    add(_name, _rules, _says, _install)


@fault("default-sender-queue-manager", breaks=("MQDMPR-3.1.1.12-D43", "MQDMPR-3.1.1.12-D49"))
class SentByQueueManager(Commands):
    """Without a sender of its own a message is sent by the queue manager."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        signer = request.certificate or (self.qm.config.security.accounts[0].name if request.sender is None else None)
        own = request.sender or "queue_manager"
        return super().send_message(replace(request, sender=own, certificate=signer), token, now)


@fault("default-signed", breaks=("MQDMPR-3.1.1.12-D30", "MQDMPR-3.1.1.12-10"))
class SignedByDefault(Commands):
    """A message is signed unless something else is asked for."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        level = "sig20" if request.authentication_level == "none" else request.authentication_level
        return super().send_message(replace(request, authentication_level=level), token, now)


@fault("default-encrypted", breaks="MQDMPR-3.1.1.12-05")
class EncryptedByDefault(Commands):
    """A message is encrypted unless something else is asked for."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        level = "base" if request.privacy_level == "none" else request.privacy_level
        return super().send_message(replace(request, privacy_level=level), token, now)


@fault("named-certificate-unread", breaks="MQDMPR-3.1.1.12-D64")
class NamedCertificateUnread(Commands):
    """A message is signed with the certificate of its sender, whichever was asked for."""

    def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
        return super().send_message(replace(request, certificate=None), token, now)


add(
    "provider-type-of-aes",
    "MQDMPR-3.1.1.12-D65",
    "The type of every provider is that of the one for AES.",
    wrong_fields(
        MESSAGE,
        {"SecurityHeader.SecurityData.ProviderInfo": lambda info: TYPE_OF_AES + info[4:]},
        lambda packet: packet.SecurityHeader is not None and bool(packet.SecurityHeader.SecurityData.ProviderInfo),
    ),
)
