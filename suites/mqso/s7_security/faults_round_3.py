"""Faults that break rules of MS-MQSO 7.4.1.4 Message Layer Security Features."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import Refused, SignatureType


@fault("receiver-signature-of-encrypted-message-not-verified", breaks="MQSO-7.4.1.4.1-D01", blind=True)
class ReceiverSignatureOfEncryptedMessageNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of an encrypted message."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except Refused:
            if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
                raise
        return _mark_authenticated(packet, packet.SecurityHeader)


@fault("receiver-integrity-of-known-sender-not-verified", breaks="MQSO-7.4.1.4.2-03", blind=True)
class ReceiverIntegrityOfKnownSenderNotVerified(SecurityOnReceipt):
    """The receiver accepts an altered message if an earlier message with the same sender and certificate was valid."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except Refused:
            security = packet.SecurityHeader
            if security is None:
                raise
            sender = security.SecurityData.SenderCert, security.SecurityData.SecurityID
            known = self.qm.caches.UserCertCache.find(lambda one: (one.UserCert.Certificate, one.SecurityID) == sender)
            if known is None:
                raise
        return _mark_authenticated(packet, security)


def _mark_authenticated(packet: UserMessagePacket, security: SecurityHeader) -> UserMessagePacket:
    kind = SecurityHeader.flags(AS=SignatureType.SIG20)
    return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | kind))
