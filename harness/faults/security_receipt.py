"""Faults of the security of received messages. Spec: MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults import registry
from harness.faults.primitives import procedure, skip
from harness.faults.registry import Install
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.security_lookup import SecurityLookup
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import Refused

RULE = "MQQB-3.1.5.8.3-"
STATE = "MQQB-3.1.1.3-"
SHA1 = 0x8004
BAD_SIGNATURE = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
BAD_ENCRYPTION = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
ACCESS_DENIED = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED
Original = Callable[..., Any]


def add(name: str, breaks: str, says: str, install: Install) -> None:
    """Register a fault; ``breaks``: the numbers of the rules in this section, or whole ids."""
    ids = tuple(rule if "-" in rule else f"{RULE}{rule}" for rule in breaks.split())
    registry.add(f"security-{name}", ids, says, install)


def properties(packet: UserMessagePacket, **fields: Any) -> UserMessagePacket:
    """Give a packet with other properties."""
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, **fields, Padding=None))


def noted(packet: UserMessagePacket, level: int) -> UserMessagePacket:
    """Give a packet with another AS."""
    security = packet.SecurityHeader
    assert security is not None
    flags = security.Flags & ~(SecurityHeader.AS.mask << SecurityHeader.AS.shift) | SecurityHeader.flags(AS=level)
    return replace(packet, SecurityHeader=replace(security, Flags=flags))


# -- signatures --------------------------------------------------------------------------------------------------


def _accept_all(original: Original) -> Original:
    def authenticate(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return original(qm, packet)  # type: ignore[no-any-return]
        except Refused:
            return noted(packet, 3)

    return authenticate


def _always_sha1(original: Original) -> Original:
    def authenticate(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
        found = original(qm, properties(packet, HashAlgorithm=SHA1))
        return properties(found, HashAlgorithm=packet.MessagePropertiesHeader.HashAlgorithm)

    return authenticate


def _note_as(noted_as: int, other: int) -> Install:
    def make(original: Original) -> Original:
        def authenticate(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
            found = original(qm, packet)
            return noted(found, other) if noted_as == found.SecurityHeader.AS else found

        return authenticate

    return procedure(SecurityOnReceipt.authenticate_packet, make)


def _refuse_kind(kind: int) -> Install:
    def make(original: Original) -> Original:
        def authenticate(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
            found: UserMessagePacket = original(qm, packet)
            if found.SecurityHeader is not None and kind == found.SecurityHeader.AS:
                raise Refused(BAD_SIGNATURE, "a fault")
            return found

        return authenticate

    return procedure(SecurityOnReceipt.authenticate_packet, make)


def _without_signature(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is None or not packet.SecurityHeader.SecurityData.Signature


def _lists_unverified(original: Original) -> Original:
    def authenticate(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
        several = packet.MultiQueueFormatHeader
        if several is not None and several.Signature.Signature and _without_signature(packet):
            return noted(packet, 5)
        return original(qm, packet)  # type: ignore[no-any-return]

    return authenticate


add(
    "signature-not-verified",
    "05 12 14 21",
    "Whatever signature a message has, it counts as genuine.",
    procedure(SecurityOnReceipt.authenticate_packet, _accept_all),
)
add(
    "signature-in-list-not-verified",
    "12 14",
    "The signature in a list of destinations is not verified.",
    procedure(SecurityOnReceipt.authenticate_packet, _lists_unverified),
)
add(
    "signature-hash-ignored",
    "04",
    "Signatures are verified with SHA-1, whatever HashAlgorithm says.",
    procedure(SecurityOnReceipt.authenticate_packet, _always_sha1),
)
add("signatures-all-refused", "02 04 05", "No MSMQ 2.0 signature is genuine.", _refuse_kind(3))
add("signature-1.0-not-tried", "08", "MSMQ 1.0 signatures are refused.", _refuse_kind(1))
add("signature-3.0-not-tried", "11 12", "MSMQ 3.0 signatures are refused.", _refuse_kind(5))
add("signature-2.0-noted-as-1.0", "06", "MSMQ 2.0 signatures are noted as MSMQ 1.0.", _note_as(3, 1))
add("signature-1.0-noted-as-2.0", "09", "MSMQ 1.0 signatures are noted as MSMQ 2.0.", _note_as(1, 3))
add("signature-3.0-noted-as-2.0", "13", "MSMQ 3.0 signatures are noted as MSMQ 2.0.", _note_as(5, 3))
add(
    "section-left-out",
    "01 02",
    "Security is not looked at.",
    procedure(SecurityOnReceipt.check_security, lambda _: lambda qm, session, packet, queue, now: packet),
)


# -- what becomes of refused messages ------------------------------------------------------------------------------


def _no_nack(refused: MessageClass) -> Install:
    def make(original: Original) -> Original:
        def acknowledge(qm: QueueManager, message: Any, message_class: MessageClass, now: Any) -> None:
            if message_class is not refused:
                original(qm, message, message_class, now)

        return acknowledge

    return procedure(AdminAcks.acknowledge_failure, make)


def _nack_unasked(refused: MessageClass) -> Install:
    def make(original: Original) -> Original:
        def acknowledge(qm: QueueManager, message: Any, message_class: MessageClass, now: Any) -> None:
            if message_class is refused:
                qm.admin_acks.send(message, message_class, now)
            else:
                original(qm, message, message_class, now)

        return acknowledge

    return procedure(AdminAcks.acknowledge_failure, make)


def _no_final(refused: MessageClass) -> Install:
    def make(original: Original) -> Original:
        def refuse(qm: QueueManager, session: Any, packet: Any, message_class: MessageClass, now: Any) -> None:
            if message_class is not refused:
                original(qm, session, packet, message_class, now)

        return refuse

    return procedure(FinalAcks.refuse_transactional, make)


def _taken_anyway(refused: MessageClass) -> Install:
    def make(original: Original) -> Original:
        def check(qm: QueueManager, session: Any, packet: Any, queue: Any, now: Any) -> Any:
            outcome = original(qm, session, packet, queue, now)
            if outcome is not refused:
                return outcome
            qm.admission.refuse_message(session, packet, outcome, now)
            return packet

        return check

    return procedure(SecurityOnReceipt.check_security, make)


for _class, _name, _nack, _final, _gone in (
    (BAD_SIGNATURE, "signature", "15 38", "18 41", "21 44"),
    (BAD_ENCRYPTION, "encryption", "48 72 82", "51 75 85", "54 78 88"),
    (ACCESS_DENIED, "access", "121", "124", "127"),
):
    add(f"{_name}-nack-missing", _nack, f"Nobody is told of a message refused for its {_name}.", _no_nack(_class))
    add(
        f"{_name}-nack-unasked",
        _nack,
        f"A message refused for its {_name} is answered without NA.",
        _nack_unasked(_class),
    )
    add(f"{_name}-final-ack-missing", _final, f"No FinalAck tells of a refusal for {_name}.", _no_final(_class))
    add(
        f"{_name}-refused-and-taken",
        _gone,
        f"A message refused for its {_name} is put into its queue.",
        _taken_anyway(_class),
    )


# -- the identity of who signed ------------------------------------------------------------------------------------


def _any_cached(original: Original) -> Original:
    def verify(qm: QueueManager, packet: UserMessagePacket, now: Any) -> None:
        security = packet.SecurityHeader
        known = {entry.UserCert.Certificate for entry in qm.caches.UserCertCache.entries}
        if security is None or security.SecurityData.SenderCert not in known:
            original(qm, packet, now)

    return verify


def _also_nobody(original: Original) -> Original:
    def verify(qm: QueueManager, packet: UserMessagePacket, now: Any) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS and not security.ST:
            raise Refused(BAD_SIGNATURE, "a fault")
        original(qm, packet, now)

    return verify


add(
    "identity-not-verified",
    "22 27 37",
    "Who signed is not compared with the sender.",
    skip(SecurityOnReceipt.verify_sender),
)
add(
    "identity-of-nobody",
    "22",
    "The certificate of a message with ST 0 has to be registered, too.",
    procedure(SecurityOnReceipt.verify_sender, _also_nobody),
)
add(
    "cached-certificate-for-anybody",
    "23",
    "A cached certificate is good for any SecurityID.",
    procedure(SecurityOnReceipt.verify_sender, _any_cached),
)
add(
    "certificates-not-looked-up",
    "24 27 28",
    "The directory is never asked for certificates.",
    procedure(SecurityLookup.find_user_certificates, lambda _: lambda qm, identifier: None),
)
