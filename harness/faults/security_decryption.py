"""Faults of the decryption of received messages. Spec: MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import procedure
from harness.faults.registry import Install
from harness.faults.security_receipt import BAD_ENCRYPTION, STATE, add, properties
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import Refused

Original = Callable[..., Any]

Decrypt = Callable[[QueueManager, UserMessagePacket, Any], UserMessagePacket]


def decrypting(make: Callable[[Decrypt], Decrypt]) -> Install:
    """Replace the procedure that decrypts; messages that are not encrypted pass by it."""

    def outer(original: Original) -> Original:
        faulty = make(original)

        def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
            encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
            return (faulty if encrypted else original)(qm, packet, now)

        return decrypt

    return procedure(SecurityOnReceipt.decrypt_body, outer)


def _taken_when(which: Callable[[UserMessagePacket], bool]) -> Callable[[Decrypt], Decrypt]:
    """Let messages that cannot be decrypted pass as they are."""

    def make(original: Decrypt) -> Decrypt:
        def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
            try:
                return original(qm, packet, now)
            except Refused:
                if which(packet):
                    return packet
                raise

        return decrypt

    return make


def _leave(original: Decrypt) -> Decrypt:
    return lambda qm, packet, now: packet


def _level(packet: UserMessagePacket) -> int:
    return packet.MessagePropertiesHeader.PrivacyLevel


def _no_blob(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and security.SecurityData.EncryptionKey[:1] != b"\1"


def _always_advanced(original: Decrypt) -> Decrypt:
    return lambda qm, packet, now: original(qm, properties(packet, PrivacyLevel=5), now)


def _garbled(when: Callable[[UserMessagePacket], bool]) -> Callable[[Decrypt], Decrypt]:
    def make(original: Decrypt) -> Decrypt:
        def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
            found = original(qm, packet, now)
            body = found.MessagePropertiesHeader.MessageBody
            return (
                properties(found, MessageBody=bytes(byte ^ 1 for byte in body[:16]) + body[16:])
                if when(packet)
                else found
            )

        return decrypt

    return make


def _is_aes(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.EncryptionAlgorithm in (0x660E, 0x660F, 0x6610)


def _keys_turn(original: Decrypt) -> Decrypt:
    def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
        cache = qm.caches.ReceiveSymmetricKeyCache
        before = list(cache.entries)
        found = original(qm, packet, now)
        cache.entries = [
            one if one in before else replace(one, SymmetricKey=one.SymmetricKey[::-1]) for one in cache.entries
        ]
        return found

    return decrypt


def _weak_allowed(original: Decrypt) -> Decrypt:
    def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
        kept = qm.caches.settings
        qm.caches.settings = replace(kept, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return original(qm, packet, now)
        finally:
            qm.caches.settings = kept

    return decrypt


def _weak_anyway(original: Decrypt) -> Decrypt:
    def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
        if _level(packet) == 3 and qm.caches.settings.RejectEnhancedRC2Using40BitKeys:
            raise Refused(BAD_ENCRYPTION, "a fault")
        return original(qm, packet, now)

    return decrypt


add(
    "body-not-decrypted",
    "45 79 81 MQMQ-2.2.20.6-06",
    "Bodies are left encrypted.",
    decrypting(_leave),
)
add("provider-always-advanced", "46 65", "Every PrivacyLevel is taken for Advanced.", decrypting(_always_advanced))
add(
    "unknown-privacy-level-accepted",
    "47 54",
    "A body with a PrivacyLevel that is none is taken as it is.",
    decrypting(_taken_when(lambda packet: _level(packet) not in (1, 3, 5))),
)
add(
    "blob-not-looked-at",
    "63",
    "A body whose EncryptionKey is no SIMPLEBLOB is taken as it is.",
    decrypting(_taken_when(_no_blob)),
)
add(
    "undecryptable-accepted",
    "65 81 88",
    "A body that cannot be decrypted is taken as it is.",
    decrypting(_taken_when(lambda packet: _level(packet) in (1, 3, 5))),
)
add(
    "body-garbled",
    "64 70 79",
    "What comes out of the decryption is something else.",
    decrypting(_garbled(lambda _: True)),
)
add("aes-from-ones", "80", "AES starts from another initial value.", decrypting(_garbled(_is_aes)))
add("cached-key-garbled", "56", "A key that is found in the cache is used backwards.", decrypting(_keys_turn))
add(
    "weak-rc2-accepted",
    f"71 {STATE}19",
    "RC2 with 40 bits is accepted, whatever is configured.",
    decrypting(_weak_allowed),
)
add(
    "enhanced-all-rejected",
    "71",
    "With RejectEnhancedRC2Using40BitKeys nothing of level Enhanced is accepted.",
    decrypting(_weak_anyway),
)
