"""Faults of MS-MQQB 3.1.7.1.4 Signing the Packet that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message


@fault("sender-message-of-empty-body-not-signed", breaks="MQQB-3.1.7.1.4-01", blind=True)
class SenderMessageOfEmptyBodyNotSigned(Securing):
    """The sender does not sign a message without a body."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return super().sign_packet(message, packet) if message.Body else packet


@fault("sender-signature-with-key-of-first-signer", breaks="MQQB-3.1.7.1.4-08", blind=True)
class SenderSignatureWithKeyOfFirstSigner(Securing):
    """The sender signs every message with the private key of the user who signed first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: rsa.RSAPrivateKey | None = None

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        self.first = self.first or super().find_signing_key(certificate)
        return self.first


@fault("sender-signature-of-large-body-over-first-64-kb", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureOfLargeBodyOverFirst64Kb(Securing):
    """The sender signs only the first 64 KB of a body."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) <= 0x10000:
            return super().sign_packet(message, packet)
        part = replace(properties, MessageBody=properties.MessageBody[:0x10000])
        signed = super().sign_packet(message, replace(packet, MessagePropertiesHeader=part))
        whole = replace(signed.MessagePropertiesHeader, MessageBody=properties.MessageBody)
        return replace(signed, MessagePropertiesHeader=whole)


@fault("sender-signature-without-label", breaks="MQQB-3.1.7.1.4-07", blind=True)
class SenderSignatureWithoutLabel(Securing):
    """If the label of a message has more than 100 characters, the sender's signature does not cover the label."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if len(properties.Label or "") <= 100:
            return super().sign_packet(message, packet)
        signed = super().sign_packet(message, replace(packet, MessagePropertiesHeader=replace(properties, Label=None)))
        whole = replace(signed.MessagePropertiesHeader, Label=properties.Label)
        return replace(signed, MessagePropertiesHeader=whole)
