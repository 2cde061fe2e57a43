"""Faults of MS-MQQB 3.1.5.8.3 Security: signatures, and the identity of who signed."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import HashAlgorithm, Refused, UserSignCerts
from reference_qm.surface.clock import Now

MSMQ_1, MSMQ_2, MSMQ_3 = 1, 3, 5
"""Values of AS, by the kind of signature. Spec: MS-MQMQ 2.2.20.6."""
SHA1 = 0x8004
BAD_SIGNATURE = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


@fault("security-section-left-out", breaks=("MQQB-3.1.5.8.3-01", "MQQB-3.1.5.8.3-02"))
class SectionLeftOut(SecurityOnReceipt):
    """Security is not looked at."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


# -- signatures ----------------------------------------------------------------------------------------------------


def _authenticated_as(packet: UserMessagePacket, kind: int) -> UserMessagePacket:
    security = packet.SecurityHeader
    assert security is not None
    flags = security.Flags & ~SecurityHeader.flags(AS=SecurityHeader.AS.mask) | SecurityHeader.flags(AS=kind)
    return replace(packet, SecurityHeader=replace(security, Flags=flags))


def _kind_of(packet: UserMessagePacket) -> int:
    return 0 if packet.SecurityHeader is None else int(packet.SecurityHeader.AS)


@fault(
    "security-signature-not-verified",
    breaks=(
        "MQQB-3.1.5.8.3-05",
        "MQQB-3.1.5.8.3-12",
        "MQQB-3.1.5.8.3-14",
        "MQQB-3.1.5.8.3-21",
        "MQSO-7.4.1.3-D01",
        "MQSO-7.4.1.4.1-D01",
        "MQSO-7.4.1.4.2-02",
        "MQSO-7.4.1.4.2-03",
    ),
)
class SignatureNotVerified(SecurityOnReceipt):
    """Whatever signature a message has, it counts as genuine."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except Refused:
            return _authenticated_as(packet, MSMQ_2)


@fault("security-old-signature-not-verified", breaks=("MQQB-3.1.5.8.3-05", "MQQB-3.1.5.8.3-14"))
class OldSignatureNotVerified(SecurityOnReceipt):
    """With one of the two oldest hashes, whatever signature a message has, it counts as genuine."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except Refused:
            if packet.MessagePropertiesHeader.HashAlgorithm not in (HashAlgorithm.MD2, HashAlgorithm.MD4):
                raise
            return _authenticated_as(packet, MSMQ_2)


@fault("security-no-signature-genuine", breaks=("MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"))
class NoSignatureGenuine(SecurityOnReceipt):
    """Every signature is refused, also one that the queue manager made itself."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is not None and security.SecurityData.Signature:
            raise Refused(BAD_SIGNATURE, "no signature is believed")
        return super().authenticate_packet(packet)


@fault(
    "security-level-added",
    breaks=(
        "MQQB-3.1.5.8.3-06",
        "MQDMPR-3.1.7.1.31-D08",
        "MQDMPR-3.1.7.1.31-06",
        "MQQB-3.1.5.8.3-09",
        "MQQB-3.1.5.8.3-13",
    ),
)
class LevelAdded(SecurityOnReceipt):
    """The kind of a signature is added to what AS was before."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        found = super().authenticate_packet(packet)
        return _authenticated_as(found, _kind_of(found) | _kind_of(packet)) if found.SecurityHeader else found


@fault("security-signature-in-list-not-verified", breaks=("MQQB-3.1.5.8.3-12", "MQQB-3.1.5.8.3-14"))
class SignatureInListNotVerified(SecurityOnReceipt):
    """The signature in a list of destinations is not verified."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security, several = packet.SecurityHeader, packet.MultiQueueFormatHeader
        other = security is not None and security.SecurityData.Signature
        if several is not None and several.Signature.Signature and not other:
            return _authenticated_as(packet, MSMQ_3)
        return super().authenticate_packet(packet)


@fault("security-signature-hash-ignored", breaks="MQQB-3.1.5.8.3-04")
class SignatureHashIgnored(SecurityOnReceipt):
    """Signatures are verified with SHA-1, whatever HashAlgorithm says."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        found = super().authenticate_packet(set_fields(packet, {"MessagePropertiesHeader.HashAlgorithm": SHA1}))
        return replace(found, MessagePropertiesHeader=packet.MessagePropertiesHeader)


def _refused(kind: int) -> Install:
    """Refuse signatures of a kind."""

    class SignatureRefused(SecurityOnReceipt):
        def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
            found = super().authenticate_packet(packet)
            if _kind_of(found) == kind:
                raise Refused(BAD_SIGNATURE, "a fault")
            return found

    return replace_part(SignatureRefused)


def _noted_as(kind: int, other: int) -> Install:
    """Note signatures of a kind as another."""

    class SignatureNoted(SecurityOnReceipt):
        def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
            found = super().authenticate_packet(packet)
            return _authenticated_as(found, other) if _kind_of(found) == kind else found

    return replace_part(SignatureNoted)


add(
    "security-signatures-all-refused",
    ("MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8.3-04", "MQQB-3.1.5.8.3-05", "MQSO-7.4.1.4.1-D01"),
    "No MSMQ 2.0 signature is genuine.",
    _refused(MSMQ_2),
)
add(
    "security-signature-1.0-not-tried",
    "MQQB-3.1.5.8.3-08",
    "MSMQ 1.0 signatures are refused.",
    _refused(MSMQ_1),
)
add(
    "security-signature-3.0-not-tried",
    ("MQQB-3.1.5.8.3-11", "MQQB-3.1.5.8.3-12"),
    "MSMQ 3.0 signatures are refused.",
    _refused(MSMQ_3),
)
add(
    "security-signature-2.0-noted-as-1.0",
    ("MQQB-3.1.5.8.3-06", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "MSMQ 2.0 signatures are noted as MSMQ 1.0.",
    _noted_as(MSMQ_2, MSMQ_1),
)
add(
    "security-signature-1.0-noted-as-2.0",
    ("MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "MSMQ 1.0 signatures are noted as MSMQ 2.0.",
    _noted_as(MSMQ_1, MSMQ_2),
)
add(
    "security-signature-3.0-noted-as-2.0",
    ("MQQB-3.1.5.8.3-13", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "MSMQ 3.0 signatures are noted as MSMQ 2.0.",
    _noted_as(MSMQ_3, MSMQ_2),
)


# -- the identity of who signed ------------------------------------------------------------------------------------


add(
    "security-identity-not-verified",
    (
        "MQQB-3.1.5.8.3-22",
        "MQQB-3.1.5.8.3-27",
        "MQQB-3.1.5.8.3-37",
        "MQSO-7.3-03",
        "MQSO-7.4.1.4.2-01",
        "MQSO-7.4.1.4.2-D02",
        "MQSO-7.4.1.4.2-D03",
    ),
    "Who signed is not compared with the sender.",
    skip(SecurityOnReceipt.verify_sender),
)


@fault("security-cached-certificate-for-anybody", breaks="MQQB-3.1.5.8.3-23")
class CachedCertificateForAnybody(SecurityOnReceipt):
    """A cached certificate is good for any SecurityID."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        known = {entry.UserCert.Certificate for entry in self.qm.caches.UserCertCache.entries}
        if security is None or security.SecurityData.SenderCert not in known:
            super().verify_sender(packet, now)


@fault(
    "security-certificates-not-looked-up",
    breaks=(
        "MQQB-3.1.5.8.3-24",
        "MQQB-3.1.5.8.3-27",
        "MQQB-3.1.5.8.3-28",
        "MQSO-7.3-03",
        "MQSO-7.4.1.4.2-05",
        "MQSO-7.4.1.4.2-D01",
        "MQSO-7.4.1.4.2-D02",
    ),
)
class CertificatesNotLookedUp(SecurityLookup):
    """The directory is never asked for certificates."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        return None
