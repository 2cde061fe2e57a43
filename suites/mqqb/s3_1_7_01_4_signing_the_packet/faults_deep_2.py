"""Faults of MS-MQQB 3.1.7.1.4 Signing the Packet that occur only for a second message, user or copy, or
in large bodies.
"""

from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message
from reference_qm.security import SignatureType


@fault("sender-second-message-of-certificate-not-signed", breaks="MQQB-3.1.7.1.4-01", blind=True)
class SenderSecondMessageOfCertificateNotSigned(Securing):
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


@fault("sender-signature-over-first-4096-bytes-of-body", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureOverFirst4096BytesOfBody(SecurityOnReceipt):
    """The sender signs only the first 4,096 bytes of a body."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier:
            packet = replace(
                packet, MessagePropertiesHeader=replace(properties, MessageBody=properties.MessageBody[:4096])
            )
        return super().signed_properties(packet, kind)


@fault("sender-signature-of-several-destinations-over-first-4096-bytes-of-body", breaks="MQQB-3.1.7.1.4-04", blind=True)
class SenderSignatureOfSeveralDestinationsOverFirst4096BytesOfBody(SecurityOnReceipt):
    """The sender signs only the first 4,096 bytes of the body of a message to several destinations."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier and packet.MultiQueueFormatHeader:
            packet = replace(
                packet, MessagePropertiesHeader=replace(properties, MessageBody=properties.MessageBody[:4096])
            )
        return super().signed_properties(packet, kind)


@fault("sender-signed-with-key-of-first-account", breaks="MQQB-3.1.7.1.4-08", blind=True)
class SenderSignedWithKeyOfFirstAccount(Securing):
    """The sender signs with the private key of the first user, regardless of the certificate that the
    message contains.
    """

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        found = super().find_signing_key(certificate)
        return found and self.qm.config.security.accounts[0].key
