"""Faults of MS-MQQB 3.1.7.1.4 Signing the Packet."""

from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import MQFSignatureHeader, UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message
from reference_qm.security import HashAlgorithm, SecurityError, SignatureType

_HASH_ALGORITHM_FIELD = "MessagePropertiesHeader.HashAlgorithm"


@fault(
    "sender-message-never-signed",
    breaks=(
        "MQQB-3.1.7.1.4-01",
        "MQDMPR-3.1.1.12-09",
        "MQQB-3.1.7.1.4-04",
        "MQQB-3.1.7.1.4-05",
        "MQQB-3.1.7.1.4-07",
        "MQQB-3.1.7.1.4-08",
        "MQDMPR-3.1.1.12-D56",
        "MQMQ-2.2.20.6-25",
        "MQDMPR-3.1.1.12-11",
        "MQMQ-2.2.20.6-26",
        "MQDMPR-3.1.1.12-12",
        "MQMQ-2.2.20.6-27",
        "MQDMPR-3.1.1.12-13",
    ),
)
class SenderMessageNeverSigned(Securing):
    """The sender never signs a message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet


@fault("sender-message-to-be-signed-not-sent", breaks=("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09", "MQQB-3.1.7.1-07"))
class SenderMessageToBeSignedNotSent(Securing):
    """The sender does not send a message for which an authentication level is requested."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        if message.security is not None and message.security.AuthenticationLevel:
            raise SecurityError("Message.AuthenticationLevel", "MS-MQQB 3.1.7.1.4", "is not supported by this fault")
        return super().sign_packet(message, packet)


@fault("sender-signature-always-msmq-1.0", breaks=("MQQB-3.1.7.1.4-07", "MQMQ-2.2.20.6-26", "MQDMPR-3.1.1.12-12"))
class SignedAsMsmq1(Securing):
    """The sender signs every message to one destination with the MSMQ 1.0 signature type."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.AuthenticationLevel in (1, 3):
            message = replace(message, security=replace(security, AuthenticationLevel=1))
        return super().sign_packet(message, packet)


def _is_msmq_1_signature(message: Message) -> bool:
    """Return whether a message requests an MSMQ 1.0 signature. The checks need one valid signature before they judge
    other signatures (E81).
    """
    return message.security is not None and message.security.AuthenticationLevel == SignatureType.SIG10


@fault("sender-signature-hash-always-sha1", breaks=("MQQB-3.1.7.1.4-04", "MQQB-3.1.7.1.4-07"))
class SenderSignatureHashAlwaysSha1(Securing):
    """The sender signs with SHA-1 instead of HashAlgorithm, except with the MSMQ 1.0 signature type."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        if _is_msmq_1_signature(message):
            return super().sign_packet(message, packet)
        asked = packet.MessagePropertiesHeader.HashAlgorithm
        signed = super().sign_packet(message, set_fields(packet, {_HASH_ALGORITHM_FIELD: int(HashAlgorithm.SHA1)}))
        kept: UserMessagePacket = set_fields(signed, {_HASH_ALGORITHM_FIELD: asked})
        return kept


@fault(
    "sender-signature-with-other-users-key", breaks=("MQQB-3.1.7.1.4-05", "MQQB-3.1.7.1.4-08", "MQDMPR-3.1.1.12-D56")
)
class SenderSignatureWithOtherUsersKey(Securing):
    """The sender signs with the key of another user, except with the MSMQ 1.0 signature type."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        self.rightly = _is_msmq_1_signature(message)
        return super().sign_packet(message, packet)

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        right = super().find_signing_key(certificate)
        if self.rightly:
            return right
        accounts = self.qm.config.security.accounts
        return next((one.key for one in accounts if one.key is not None and one.key != right), right)


@fault("sender-signature-for-several-destinations-in-security-data", breaks="MQQB-3.1.7.1.4-05")
class SenderSignatureForSeveralDestinationsInSecurityData(Securing):
    """The sender puts the signature of a message to several destinations into SecurityData."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        several = signed.MultiQueueFormatHeader
        if several is None or not several.Signature.Signature:
            return signed
        moved: UserMessagePacket = set_fields(
            signed,
            {
                "MultiQueueFormatHeader.Signature": MQFSignatureHeader(),
                "SecurityHeader.SecurityData.Padding": None,
                "SecurityHeader.SecurityData.Signature": several.Signature.Signature,
            },
        )
        return moved


@fault("sender-transactional-message-not-signed", breaks=("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09"), blind=True)
class SenderTransactionalMessageNotSigned(Securing):
    """The sender does not sign a transactional message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet if message.TransactionIdentifier is not None else super().sign_packet(message, packet)
