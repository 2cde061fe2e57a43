"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about signatures and the identity of the signer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import HashAlgorithm, ReceivedMessageRefused, UserSignCerts
from reference_qm.surface.clock import Now

(
    AUTHENTICATION_TYPE_AS_OF_MSMQ_1_SIGNATURE,
    AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE,
    AUTHENTICATION_TYPE_AS_OF_MSMQ_3_SIGNATURE,
) = 1, 3, 5
"""Values of AS for each kind of signature. Spec: MS-MQMQ 2.2.20.6."""
SHA1_ALGORITHM_NUMBER = 0x8004
BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


@fault("receiver-security-not-checked", breaks=("MQQB-3.1.5.8.3-01", "MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8-05"))
class ReceiverSecurityNotChecked(SecurityOnReceipt):
    """The receiver does not check the security of messages."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


# -- signatures ----------------------------------------------------------------------------------------------------


def _set_as_field_of_security_header(packet: UserMessagePacket, kind: int) -> UserMessagePacket:
    security = packet.SecurityHeader
    assert security is not None
    flags = security.Flags & ~SecurityHeader.flags(AS=SecurityHeader.AS.mask) | SecurityHeader.flags(AS=kind)
    return replace(packet, SecurityHeader=replace(security, Flags=flags))


def _get_signature_version(packet: UserMessagePacket) -> int:
    return 0 if packet.SecurityHeader is None else int(packet.SecurityHeader.AS)


@fault(
    "receiver-invalid-signature-accepted",
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
class ReceiverInvalidSignatureAccepted(SecurityOnReceipt):
    """The receiver accepts every signature as valid."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            return _set_as_field_of_security_header(packet, AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE)


@fault("receiver-invalid-md2-or-md4-signature-accepted", breaks=("MQQB-3.1.5.8.3-05", "MQQB-3.1.5.8.3-14"))
class ReceiverInvalidMd2OrMd4SignatureAccepted(SecurityOnReceipt):
    """The receiver accepts every signature with the hash MD2 or MD4 as valid."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            if packet.MessagePropertiesHeader.HashAlgorithm not in (HashAlgorithm.MD2, HashAlgorithm.MD4):
                raise
            return _set_as_field_of_security_header(packet, AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE)


@fault(
    "receiver-every-signature-refused", breaks=("MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06")
)
class ReceiverEverySignatureRefused(SecurityOnReceipt):
    """The receiver refuses every signature, even its own."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is not None and security.SecurityData.Signature:
            raise ReceivedMessageRefused(BAD_SIGNATURE_CLASS, "a fault refuses every signature")
        return super().authenticate_packet(packet)


@fault(
    "receiver-as-of-valid-signature-combined-with-received-as",
    breaks=(
        "MQQB-3.1.5.8.3-06",
        "MQDMPR-3.1.7.1.31-D08",
        "MQDMPR-3.1.7.1.31-06",
        "MQQB-3.1.5.8.3-09",
        "MQQB-3.1.5.8.3-13",
    ),
)
class ReceiverAsOfValidSignatureCombinedWithReceivedAs(SecurityOnReceipt):
    """The receiver combines AS of a valid signature with the AS that the received message had."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        found = super().authenticate_packet(packet)
        return (
            _set_as_field_of_security_header(found, _get_signature_version(found) | _get_signature_version(packet))
            if found.SecurityHeader
            else found
        )


@fault("receiver-signature-in-list-not-verified", breaks=("MQQB-3.1.5.8.3-12", "MQQB-3.1.5.8.3-14"))
class ReceiverSignatureInListNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature in a message's list of destinations."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security, several = packet.SecurityHeader, packet.MultiQueueFormatHeader
        other = security is not None and security.SecurityData.Signature
        if several is not None and several.Signature.Signature and not other:
            return _set_as_field_of_security_header(packet, AUTHENTICATION_TYPE_AS_OF_MSMQ_3_SIGNATURE)
        return super().authenticate_packet(packet)


@fault("receiver-signature-hash-algorithm-always-sha1", breaks="MQQB-3.1.5.8.3-04")
class ReceiverSignatureHashAlgorithmAlwaysSha1(SecurityOnReceipt):
    """The receiver verifies every signature with SHA-1, regardless of HashAlgorithm."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        found = super().authenticate_packet(
            set_fields(packet, {"MessagePropertiesHeader.HashAlgorithm": SHA1_ALGORITHM_NUMBER})
        )
        return replace(found, MessagePropertiesHeader=packet.MessagePropertiesHeader)


def _refuse_signature_kind(kind: int) -> Install:
    """Make the receiver refuse signatures of the given kind."""

    class SignatureRefused(SecurityOnReceipt):
        def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
            found = super().authenticate_packet(packet)
            if _get_signature_version(found) == kind:
                raise ReceivedMessageRefused(BAD_SIGNATURE_CLASS, "a fault refuses the message")
            return found

    return replace_part(SignatureRefused)


def _replace_signature_kind(kind: int, other: int) -> Install:
    """Make the receiver set AS of signatures of one kind to the AS of a different kind."""

    class ReplacedSignatureKind(SecurityOnReceipt):
        def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
            found = super().authenticate_packet(packet)
            return _set_as_field_of_security_header(found, other) if _get_signature_version(found) == kind else found

    return replace_part(ReplacedSignatureKind)


add(
    "receiver-msmq-2-signature-refused",
    ("MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8.3-04", "MQQB-3.1.5.8.3-05", "MQSO-7.4.1.4.1-D01"),
    "The receiver refuses valid MSMQ 2.0 signatures.",
    _refuse_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE),
)
add(
    "receiver-msmq-1-signature-refused",
    "MQQB-3.1.5.8.3-08",
    "The receiver refuses valid MSMQ 1.0 signatures.",
    _refuse_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_1_SIGNATURE),
)
add(
    "receiver-msmq-3-signature-refused",
    ("MQQB-3.1.5.8.3-11", "MQQB-3.1.5.8.3-12"),
    "The receiver refuses valid MSMQ 3.0 signatures.",
    _refuse_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_3_SIGNATURE),
)
add(
    "receiver-as-of-msmq-2-signature-1",
    ("MQQB-3.1.5.8.3-06", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "The receiver sets AS of an MSMQ 2.0 signature to the AS of MSMQ 1.0.",
    _replace_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE, AUTHENTICATION_TYPE_AS_OF_MSMQ_1_SIGNATURE),
)
add(
    "receiver-as-of-msmq-1-signature-3",
    ("MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "The receiver sets AS of an MSMQ 1.0 signature to the AS of MSMQ 2.0.",
    _replace_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_1_SIGNATURE, AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE),
)
add(
    "receiver-as-of-msmq-3-signature-3",
    ("MQQB-3.1.5.8.3-13", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06"),
    "The receiver sets AS of an MSMQ 3.0 signature to the AS of MSMQ 2.0.",
    _replace_signature_kind(AUTHENTICATION_TYPE_AS_OF_MSMQ_3_SIGNATURE, AUTHENTICATION_TYPE_AS_OF_MSMQ_2_SIGNATURE),
)


# -- the identity of the signer -------------------------------------------------------------------------------------


add(
    "receiver-signer-identity-not-verified",
    (
        "MQQB-3.1.5.8.3-22",
        "MQQB-3.1.5.8.3-27",
        "MQQB-3.1.5.8.3-37",
        "MQSO-7.3-03",
        "MQSO-7.4.1.4.2-01",
        "MQSO-7.4.1.4.2-D02",
        "MQSO-7.4.1.4.2-D03",
    ),
    "The receiver does not compare the signer with the sender.",
    omit_step(SecurityOnReceipt.verify_sender),
)


@fault("receiver-cached-certificate-accepted-for-any-user", breaks="MQQB-3.1.5.8.3-23")
class ReceiverCachedCertificateAcceptedForAnyUser(SecurityOnReceipt):
    """The receiver accepts a cached certificate for any SecurityID."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        known = {entry.UserCert.Certificate for entry in self.qm.caches.UserCertCache.entries}
        if security is None or security.SecurityData.SenderCert not in known:
            super().verify_sender(packet, now)


@fault(
    "receiver-certificate-not-looked-up",
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
class ReceiverCertificateNotLookedUp(SecurityLookup):
    """The receiver does not look up the registered certificates of a user."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        return None
