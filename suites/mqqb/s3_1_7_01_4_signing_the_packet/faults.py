"""Faults that break rules of MS-MQQB 3.1.7.1.4 Signing the Packet."""

from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import MQFSignatureHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message
from reference_qm.security import HashAlgorithm, SecurityError, SignatureType


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
        "MQQB-3.1.7.1-07",
    ),
)
class SenderMessageNeverSigned(MessageSecuring):
    """The sender never signs a message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet


@fault("sender-message-to-be-signed-not-sent", breaks=("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09", "MQQB-3.1.7.1-07"))
class SenderMessageToBeSignedNotSent(MessageSecuring):
    """The sender does not send a message for which an authentication level is requested."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        if message.security is not None and message.security.AuthenticationLevel:
            raise SecurityError(
                "Message.AuthenticationLevel", "MS-MQQB 3.1.7.1.4", "the value is not supported by this fault"
            )
        return super().sign_packet(message, packet)


@fault("sender-transactional-message-not-signed", breaks=("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09"), blind=True)
class SenderTransactionalMessageNotSigned(MessageSecuring):
    """The sender does not sign a transactional message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet if message.TransactionIdentifier is not None else super().sign_packet(message, packet)


@fault("sender-message-without-body-not-signed", breaks="MQQB-3.1.7.1.4-01", blind=True)
class SenderMessageWithoutBodyNotSigned(MessageSecuring):
    """The sender does not sign a message without a body."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return super().sign_packet(message, packet) if message.Body else packet


@fault("sender-second-message-of-certificate-not-signed", breaks="MQQB-3.1.7.1.4-01", blind=True)
class SenderSecondMessageOfCertificateNotSigned(MessageSecuring):
    """The sender signs only the first message of each certificate, and sends later messages unsigned."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: dict[bytes, int] = {}

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.AuthenticationLevel:
            first = self.done.setdefault(security.SenderCertificate, message.Identifier.Ordinal)
            if first != message.Identifier.Ordinal:
                return packet
        return super().sign_packet(message, packet)


_HASH_ALGORITHM_FIELD = "MessagePropertiesHeader.HashAlgorithm"


def _is_msmq_1_signature(message: Message) -> bool:
    """Return whether a message requests an MSMQ 1.0 signature. The checks need one valid signature before they judge
    other signatures (erratum E81).
    """
    return message.security is not None and message.security.AuthenticationLevel == SignatureType.SIG10


@fault("sender-signature-hash-always-sha1", breaks=("MQQB-3.1.7.1.4-04", "MQQB-3.1.7.1.4-07"))
class SenderSignatureHashAlwaysSha1(MessageSecuring):
    """The sender signs with SHA-1 instead of HashAlgorithm, except with the MSMQ 1.0 signature type."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        if _is_msmq_1_signature(message):
            return super().sign_packet(message, packet)
        asked = packet.MessagePropertiesHeader.HashAlgorithm
        signed = super().sign_packet(message, set_fields(packet, {_HASH_ALGORITHM_FIELD: int(HashAlgorithm.SHA1)}))
        kept: UserMessagePacket = set_fields(signed, {_HASH_ALGORITHM_FIELD: asked})
        return kept


@fault("sender-multi-destination-signature-covers-only-4096-bytes-of-body", breaks="MQQB-3.1.7.1.4-04", blind=True)
class SenderMultiDestinationSignatureCoversOnly4096BytesOfBody(SecurityOnReceipt):
    """The sender signs only the first 4,096 bytes of the body of a message to several destinations."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier and packet.MultiQueueFormatHeader:
            packet = replace(
                packet, MessagePropertiesHeader=replace(properties, MessageBody=properties.MessageBody[:4096])
            )
        return super().build_signed_properties(packet, kind)


@fault(
    "sender-signature-with-other-users-key", breaks=("MQQB-3.1.7.1.4-05", "MQQB-3.1.7.1.4-08", "MQDMPR-3.1.1.12-D56")
)
class SenderSignatureWithOtherUsersKey(MessageSecuring):
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


@fault("sender-puts-multi-destination-signature-into-security-data", breaks="MQQB-3.1.7.1.4-05")
class SenderPutsMultiDestinationSignatureIntoSecurityData(MessageSecuring):
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


@fault("sender-signs-every-message-as-msmq-1", breaks=("MQQB-3.1.7.1.4-07", "MQMQ-2.2.20.6-26", "MQDMPR-3.1.1.12-12"))
class SenderSignsEveryMessageAsMsmq1(MessageSecuring):
    """The sender signs every message to one destination with the MSMQ 1.0 signature type."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.AuthenticationLevel in (1, 3):
            message = replace(message, security=replace(security, AuthenticationLevel=1))
        return super().sign_packet(message, packet)


@fault("sender-signature-covers-only-first-64-kb-of-body", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureCoversOnlyFirst64KbOfBody(MessageSecuring):
    """The sender signs only the first 64 KB of a body."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) <= 0x10000:
            return super().sign_packet(message, packet)
        part = replace(properties, MessageBody=properties.MessageBody[:0x10000])
        signed = super().sign_packet(message, replace(packet, MessagePropertiesHeader=part))
        whole = replace(signed.MessagePropertiesHeader, MessageBody=properties.MessageBody)
        return replace(signed, MessagePropertiesHeader=whole)


@fault("sender-signature-does-not-cover-long-label", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureDoesNotCoverLongLabel(MessageSecuring):
    """If the label of a message has more than 100 characters, the sender's signature does not cover the label."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if len(properties.Label or "") <= 100:
            return super().sign_packet(message, packet)
        signed = super().sign_packet(message, replace(packet, MessagePropertiesHeader=replace(properties, Label=None)))
        whole = replace(signed.MessagePropertiesHeader, Label=properties.Label)
        return replace(signed, MessagePropertiesHeader=whole)


@fault("sender-signature-covers-only-first-4096-bytes-of-body", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureCoversOnlyFirst4096BytesOfBody(SecurityOnReceipt):
    """The sender signs only the first 4,096 bytes of a body."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier:
            packet = replace(
                packet, MessagePropertiesHeader=replace(properties, MessageBody=properties.MessageBody[:4096])
            )
        return super().build_signed_properties(packet, kind)


@fault("sender-signature-with-key-of-first-signer", breaks="MQQB-3.1.7.1.4-08", blind=True)
class SenderSignatureWithKeyOfFirstSigner(MessageSecuring):
    """The sender signs every message with the private key of the user who signed first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: rsa.RSAPrivateKey | None = None

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        self.first = self.first or super().find_signing_key(certificate)
        return self.first


@fault("sender-signed-with-key-of-first-account", breaks="MQQB-3.1.7.1.4-08", blind=True)
class SenderSignedWithKeyOfFirstAccount(MessageSecuring):
    """The sender signs with the private key of the first user, regardless of the certificate that the
    message contains.
    """

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        found = super().find_signing_key(certificate)
        return found and self.qm.config.security.accounts[0].key
