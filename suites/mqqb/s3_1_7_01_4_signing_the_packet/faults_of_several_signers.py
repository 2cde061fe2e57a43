"""Faults of a sender in the signatures of messages to several destinations. Spec: MS-MQQB 3.1.7.1.4."""

from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message
from reference_qm.security import HashAlgorithm, SignatureType


@fault("sender-multi-destination-signature-ignores-hash-algorithm-field", breaks="MQQB-3.1.7.1.4-04", blind=True)
class SenderMultiDestinationSignatureIgnoresHashAlgorithmField(MessageSecuring):
    """The sender signs a message to several destinations with SHA-512, even if HashAlgorithm of the message specifies a
    different algorithm.
    """

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.MultiQueueFormatHeader is None:
            return super().sign_packet(message, packet)
        properties = replace(packet.MessagePropertiesHeader, HashAlgorithm=HashAlgorithm.SHA512)
        signed = super().sign_packet(message, replace(packet, MessagePropertiesHeader=properties))
        return replace(signed, MessagePropertiesHeader=packet.MessagePropertiesHeader)


@fault("sender-multi-destination-signature-covers-only-first-destination", breaks="MQQB-3.1.7.1.4-04", blind=True)
class SenderMultiDestinationSignatureCoversOnlyFirstDestination(SecurityOnReceipt):
    """If a message has several destinations, the sender's signature covers only the first format name of the list."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MultiQueueFormatHeader
        if (
            kind is SignatureType.SIG30
            and header is not None
            and packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        ):
            listed = replace(header.Destination, FormatNameList=header.Destination.FormatNameList[:1])
            packet = replace(packet, MultiQueueFormatHeader=replace(header, Destination=listed))
        return super().build_signed_properties(packet, kind)


@fault("sender-multi-destination-signature-uses-key-of-first-user", breaks="MQQB-3.1.7.1.4-05", blind=True)
class SenderMultiDestinationSignatureUsesKeyOfFirstUser(MessageSecuring):
    """The sender signs a message to several destinations with the key of the user who signed first, even if the
    certificate is another user's.
    """

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        found = super().find_signing_key(certificate)
        if found is None:
            return None
        first: rsa.RSAPrivateKey = self.__dict__.setdefault("first_key", found)
        return first


@fault("sender-transactional-multi-destination-message-not-signed", breaks="MQQB-3.1.7.1.4-05", blind=True)
class SenderTransactionalMultiDestinationMessageNotSigned(MessageSecuring):
    """The sender puts no signature into MultiQueueFormatHeader of a transactional message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        if packet.TransactionHeader is None or signed.MultiQueueFormatHeader is None:
            return signed
        return packet
