"""Faults of round five that break rules of MS-MQSO 7 Security."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused, SignatureType
from reference_qm.security.receiving import SENDER_TYPE_NONE
from reference_qm.security.signatures import is_signed
from reference_qm.surface.clock import Now


def _set_signature_type(packet: UserMessagePacket, kind: int) -> UserMessagePacket:
    """Return the packet with the given value in AS."""
    header = packet.SecurityHeader
    assert header is not None  # the caller has checked that the packet is signed
    flags = header.Flags & ~(SecurityHeader.AS.mask << SecurityHeader.AS.shift) | SecurityHeader.flags(AS=kind)
    return replace(packet, SecurityHeader=replace(header, Flags=flags))


@fault("receiver-unregistered-certificate-signature-not-verified", breaks="MQSO-7.4.1.3-D01", blind=True)
class ReceiverUnregisteredCertificateSignatureNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a message that names no sender and whose certificate no user has
    registered.
    """

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is not None and is_signed(packet) and header.ST == SENDER_TYPE_NONE:
            certificate = header.SecurityData.SenderCert
            accounts = self.qm.config.security.accounts
            if certificate and not any(certificate in account.certificates for account in accounts):
                return _set_signature_type(packet, 0)
        return super().authenticate_packet(packet)


@fault("receiver-later-signature-by-known-certificate-not-verified", breaks="MQSO-7.4.1.4.1-D01", blind=True)
class ReceiverLaterSignatureByKnownCertificateNotVerified(SecurityOnReceipt):
    """After a message with a valid signature, the receiver does not verify the signatures of later messages with the
    same certificate.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.known_certificates: set[bytes] = set()

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or not is_signed(packet):
            return super().authenticate_packet(packet)
        certificate = header.SecurityData.SenderCert
        try:
            checked = super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            if certificate not in self.known_certificates:
                raise
            return _set_signature_type(packet, SignatureType.SIG20)
        self.known_certificates.add(certificate)
        return checked


@fault("receiver-cached-certificate-accepted-for-any-sender", breaks="MQSO-7.4.1.4.2-D02", blind=True)
class ReceiverCachedCertificateAcceptedForAnySender(SecurityOnReceipt):
    """After it has authenticated the user of a certificate, the receiver authenticates any other user that a message
    with this certificate names.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SecurityHeader
        if header is not None and header.AS:
            certificate = header.SecurityData.SenderCert
            if self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate) is not None:
                return
        super().verify_sender(packet, now)
