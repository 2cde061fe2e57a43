"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message about encryption, signatures and tracing, and that only special
cases reveal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.model.adm import Message, Session
from reference_qm.security import HashAlgorithm, PrivacyLevel
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage


def _change_send_requests(change: Callable[[SendMessage, SendMessage | None], SendMessage]) -> Install:
    """Build a fault that changes each request to send a message; ``change`` gets the request and the
    preceding request.
    """

    class SendRequestChanger(HigherLayerCommands):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self._last: SendMessage | None = None

        def send_message(self, request: SendMessage, token: int, now: Now) -> Any:
            before, self._last = self._last, request
            return super().send_message(change(request, before), token, now)

    return replace_part(SendRequestChanger)


def _encrypt_signed_message(request: SendMessage, _before: SendMessage | None) -> SendMessage:
    signed = request.authentication_level != "none"
    return replace(request, privacy_level="base") if signed and request.privacy_level == "none" else request


def _use_privacy_level_of_previous_message(request: SendMessage, before: SendMessage | None) -> SendMessage:
    if request.privacy_level == "none" and before is not None:
        return replace(request, privacy_level=before.privacy_level)
    return request


def _sign_encrypted_message(request: SendMessage, _before: SendMessage | None) -> SendMessage:
    encrypted = request.privacy_level != "none" and request.authentication_level == "none"
    return replace(request, authentication_level="sig20") if encrypted else request


def _use_authentication_level_of_previous_message(request: SendMessage, before: SendMessage | None) -> SendMessage:
    if request.authentication_level == "none" and before is not None:
        return replace(request, authentication_level=before.authentication_level)
    return request


def _lower_privacy_of_signed_messages(
    level: str, weaker: str
) -> Callable[[SendMessage, SendMessage | None], SendMessage]:
    def lower_privacy_level(request: SendMessage, _before: SendMessage | None) -> SendMessage:
        asked = request.privacy_level == level and request.authentication_level != "none"
        return replace(request, privacy_level=weaker) if asked else request

    return lower_privacy_level


def _change_signature_of_encrypted_messages(
    level: str, other: str
) -> Callable[[SendMessage, SendMessage | None], SendMessage]:
    def change_authentication_level(request: SendMessage, _before: SendMessage | None) -> SendMessage:
        asked = request.authentication_level == level and request.privacy_level != "none"
        return replace(request, authentication_level=other) if asked else request

    return change_authentication_level


def _use_sender_identifier_of_previous_message(request: SendMessage, before: SendMessage | None) -> SendMessage:
    if request.sender not in (None, "none", "queue_manager") and before is not None:
        return replace(request, sender=before.sender or request.sender)
    return request


def _omit_sender_identifier_of_unsigned_message(request: SendMessage, _before: SendMessage | None) -> SendMessage:
    if request.sender == "queue_manager" and request.authentication_level == "none":
        return replace(request, sender="none")
    return request


def _add_sender_identifier_to_encrypted_message(request: SendMessage, _before: SendMessage | None) -> SendMessage:
    return replace(request, sender=None) if request.sender == "none" and request.privacy_level != "none" else request


def _use_trace_queue_of_previous_message(request: SendMessage, before: SendMessage | None) -> SendMessage:
    if request.trace_queue is None and before is not None:
        return replace(request, trace_queue=before.trace_queue)
    return request


for _name, _rules, _says, _change in (
    (
        "sender-signed-message-encrypted-without-privacy-level",
        "MQDMPR-3.1.1.12-05",
        "The sender encrypts a signed message with PrivacyLevel None.",
        _encrypt_signed_message,
    ),
    (
        "sender-message-encrypted-like-preceding-one",
        "MQDMPR-3.1.1.12-05",
        "The sender encrypts a message with PrivacyLevel None if the preceding message had a privacy level.",
        _use_privacy_level_of_previous_message,
    ),
    (
        "sender-encrypted-message-signed-without-level",
        "MQDMPR-3.1.1.12-10",
        "The sender signs an encrypted message with AuthenticationLevel None.",
        _sign_encrypted_message,
    ),
    (
        "sender-message-signed-like-preceding-one",
        "MQDMPR-3.1.1.12-10",
        "The sender signs a message with AuthenticationLevel None if the preceding message was signed.",
        _use_authentication_level_of_previous_message,
    ),
    (
        "sender-signed-message-of-level-enhanced-encrypted-as-base",
        "MQDMPR-3.1.1.12-07",
        "The sender encrypts a signed message of level Enhanced with a 40-bit key.",
        _lower_privacy_of_signed_messages("enhanced", "base"),
    ),
    (
        "sender-signed-message-of-level-advanced-encrypted-as-enhanced",
        "MQDMPR-3.1.1.12-08",
        "The sender encrypts a signed message of level Advanced without AES.",
        _lower_privacy_of_signed_messages("advanced", "enhanced"),
    ),
    (
        "sender-signed-message-of-level-base-not-encrypted",
        "MQDMPR-3.1.1.12-06",
        "The sender does not encrypt a signed message of level Base.",
        _lower_privacy_of_signed_messages("base", "none"),
    ),
    (
        "sender-encrypted-message-signed-as-sig20-instead-of-sig10",
        "MQDMPR-3.1.1.12-11",
        "The sender signs an encrypted message of level Sig10 with the MSMQ 2.0 signature type.",
        _change_signature_of_encrypted_messages("sig10", "sig20"),
    ),
    (
        "sender-encrypted-message-of-level-sig20-not-signed",
        "MQDMPR-3.1.1.12-12",
        "The sender does not sign an encrypted message of level Sig20.",
        _change_signature_of_encrypted_messages("sig20", "none"),
    ),
    (
        "sender-sid-of-preceding-user",
        "MQDMPR-3.1.1.12-D62",
        "The SenderIdentifier of a user's message is the SID of the user who sent the preceding message.",
        _use_sender_identifier_of_previous_message,
    ),
    (
        "sender-unsigned-message-without-queue-manager-identifier",
        "MQDMPR-3.1.1.12-D63",
        "An unsigned message of the queue manager has no SenderIdentifier.",
        _omit_sender_identifier_of_unsigned_message,
    ),
    (
        "sender-encrypted-anonymous-message-with-sid",
        "MQDMPR-3.1.1.12-D54",
        "An encrypted message with SenderIdentifierType None has the SID of the current user.",
        _add_sender_identifier_to_encrypted_message,
    ),
    (
        "sender-untraced-message-after-traced-one-reported",
        "MQDMPR-3.1.1.12-D61",
        "The sender traces a message for which TracingRequested is False if the preceding message was traced.",
        _use_trace_queue_of_previous_message,
    ),
):
    add(_name, _rules, _says, _change_send_requests(_change), blind=True)


@fault(
    "sender-multiple-destination-signature-uses-sha1-instead-of-md5",
    breaks=("MQDMPR-3.1.1.12-13", "MQDMPR-3.1.1.12-30"),
    blind=True,
)
class SenderMultipleDestinationSignatureUsesSha1InsteadOfMd5(MessageSecuring):
    """The sender computes the MultipleDestinationSignature with SHA-1 although HashAlgorithm is MD5."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        asked = packet.MessagePropertiesHeader.HashAlgorithm
        if packet.MultiQueueFormatHeader is None or asked != HashAlgorithm.MD5:
            return super().sign_packet(message, packet)
        path = "MessagePropertiesHeader.HashAlgorithm"
        signed = super().sign_packet(message, set_fields(packet, {path: int(HashAlgorithm.SHA1)}))
        kept: UserMessagePacket = set_fields(signed, {path: asked})
        return kept


@fault("sender-signature-hash-md5-replaced-by-sha1", breaks="MQDMPR-3.1.1.12-D56", blind=True)
class SenderSignatureHashMd5ReplacedBySha1(MessageSecuring):
    """The sender computes the Signature with SHA-1 although HashAlgorithm is MD5."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        asked = packet.MessagePropertiesHeader.HashAlgorithm
        if packet.MultiQueueFormatHeader is not None or asked != HashAlgorithm.MD5:
            return super().sign_packet(message, packet)
        path = "MessagePropertiesHeader.HashAlgorithm"
        signed = super().sign_packet(message, set_fields(packet, {path: int(HashAlgorithm.SHA1)}))
        kept: UserMessagePacket = set_fields(signed, {path: asked})
        return kept


@fault("sender-multiple-destination-signature-also-in-signature", breaks="MQDMPR-3.1.1.12-29", blind=True)
class SenderMultipleDestinationSignatureAlsoInSignature(MessageSecuring):
    """The sender puts the signature of a message to several destinations into both Signature and
    MultipleDestinationSignature.
    """

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        several = signed.MultiQueueFormatHeader
        if several is None or not several.Signature.Signature:
            return signed
        both: UserMessagePacket = set_fields(
            signed,
            {
                "SecurityHeader.SecurityData.Padding": None,
                "SecurityHeader.SecurityData.Signature": several.Signature.Signature,
            },
        )
        return both


@fault("sender-unsigned-encrypted-message-with-certificate", breaks="MQDMPR-3.1.1.12-D64", blind=True)
class SenderUnsignedEncryptedMessageWithCertificate(MessageSecuring):
    """The sender adds the certificate of a user to an encrypted message that is not signed."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        if encrypted is packet or header is None or header.SecurityData.SenderCert:
            return encrypted
        brought = self.qm.config.security.accounts[0].certificates[0]
        path = "SecurityHeader.SecurityData"
        sent: UserMessagePacket = set_fields(encrypted, {f"{path}.Padding": None, f"{path}.SenderCert": brought})
        return sent


@fault("sender-authentication-provider-type-2-for-privacy-level-base", breaks="MQDMPR-3.1.1.12-D65", blind=True)
class SenderAuthenticationProviderType2ForPrivacyLevelBase(MessageSecuring):
    """The sender encrypts a message of PrivacyLevel Base with the AuthenticationProviderType 2."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        if encrypted.MessagePropertiesHeader.PrivacyLevel != PrivacyLevel.BASE or encrypted is packet:
            return encrypted
        path = "SecurityHeader.SecurityData"
        change = {f"{path}.Padding": None, f"{path}.ProviderInfo": lambda info: b"\x02" + info[1:]}
        sent: UserMessagePacket = set_fields(encrypted, change)
        return sent


@fault("sender-message-contains-wrong-symmetric-key-if-key-is-reused", breaks="MQDMPR-3.1.1.12-D55", blind=True)
class SenderMessageContainsWrongSymmetricKeyIfKeyIsReused(MessageSecuring):
    """When a message reuses the symmetric key of an earlier message, the sender puts a wrong SymmetricKey into the
    message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self._used: set[bytes] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        if encrypted is packet or encrypted.SecurityHeader is None:
            return encrypted
        key = encrypted.SecurityHeader.SecurityData.EncryptionKey
        if key not in self._used:
            self._used.add(key)
            return encrypted
        path = "SecurityHeader.SecurityData"
        change = {f"{path}.Padding": None, f"{path}.EncryptionKey": lambda key: key[:12] + bytes(4) + key[16:]}
        sent: UserMessagePacket = set_fields(encrypted, change)
        return sent


@fault("receiver-only-first-traced-message-reported", breaks="MQDMPR-3.1.1.12-D61", blind=True)
class ReceiverOnlyFirstTracedMessageReported(MessageTracing):
    """The receiver sends a report only for the first traced message that arrives."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self._reported: set[UUID] = set()

    def trace_received_message(self, message: Message, now: Now) -> None:
        if not self._reported:
            super().trace_received_message(message, now)
        if message.TracingRequested:
            self._reported.add(message.TracingQueueIdentifier)


@fault("queue-manager-reports-to-first-trace-queue-only", breaks="MQDMPR-3.1.1.12-D61", blind=True)
class QueueManagerReportsToFirstTraceQueueOnly(MessageTracing):
    """The queue manager sends every report to the queue that the first traced message named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self._first: UUID | None = None

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        self._first = self._first or message.TracingQueueIdentifier
        super().send_report(replace(message, TracingQueueIdentifier=self._first), next_hop, now)


@fault("sender-transactional-message-hash-algorithm-undefined", breaks="MQDMPR-3.1.1.12-48", blind=True)
class SenderTransactionalMessageHashAlgorithmUndefined(MessageSecuring):
    """The sender sends an unsigned transactional message with the undefined HashAlgorithm 1."""

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        unsigned = message.security is None or not message.security.AuthenticationLevel
        if message.TransactionIdentifier is not None and unsigned:
            packet = set_fields(packet, {"MessagePropertiesHeader.HashAlgorithm": 1})
        return super().secure_user_message(session, message, packet, now)


@fault("transactional-message-default-encryption-algorithm-rc2", breaks="MQDMPR-3.1.1.12-49", blind=True)
class TransactionalMessageDefaultEncryptionAlgorithmRc2(MessageSecuring):
    """The EncryptionAlgorithm of a transactional message without encryption is RC2."""

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        unencrypted = message.security is None or not message.security.PrivacyLevel
        if message.TransactionIdentifier is not None and unencrypted:
            packet = set_fields(packet, {"MessagePropertiesHeader.EncryptionAlgorithm": 0x6602})
        return super().secure_user_message(session, message, packet, now)
