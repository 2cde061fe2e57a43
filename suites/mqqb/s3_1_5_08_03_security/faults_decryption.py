"""Faults of MS-MQQB 3.1.5.8.3 Security: the decryption of bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import Refused
from reference_qm.surface.clock import Now

BASE, ENHANCED, ADVANCED = 1, 3, 5
"""Values of PrivacyLevel. Spec: MS-MQMQ 2.2.19.3."""
AES = (0x660E, 0x660F, 0x6610)
"""Values of EncryptionAlgorithm, by the size of the key."""
SIMPLEBLOB = b"\1"
"""How a SIMPLEBLOB begins. Spec: MS-MQQB 2.4.2."""


def _is_encrypted(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB)


def _level(packet: UserMessagePacket) -> int:
    return packet.MessagePropertiesHeader.PrivacyLevel


@fault(
    "security-body-not-decrypted",
    breaks=(
        "MQQB-3.1.5.8.3-45",
        "MQQB-3.1.5.8.3-79",
        "MQDMPR-3.1.7.1.31-D13",
        "MQQB-3.1.5.8.3-81",
        "MQMQ-2.2.20.6-06",
        "MQSO-7.4.1.3-03",
        "MQSO-7.4.1.4.3-D02",
    ),
)
class BodyNotDecrypted(SecurityOnReceipt):
    """Bodies are left encrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet


@fault("security-provider-always-advanced", breaks=("MQQB-3.1.5.8.3-46", "MQDMPR-3.1.7.1.31-D10", "MQQB-3.1.5.8.3-65"))
class ProviderAlwaysAdvanced(SecurityOnReceipt):
    """Every PrivacyLevel is taken for Advanced."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if _is_encrypted(packet):
            packet = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": ADVANCED})
        return super().decrypt_body(packet, now)


def _taken_as_it_is(when: Callable[[UserMessagePacket], bool]) -> Install:
    """Take the body of some messages as it is when it cannot be decrypted."""

    class TakenAsItIs(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            try:
                return super().decrypt_body(packet, now)
            except Refused:
                if when(packet):
                    return packet
                raise

    return replace_part(TakenAsItIs)


def _has_no_blob(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and not security.SecurityData.EncryptionKey.startswith(SIMPLEBLOB)


add(
    "security-unknown-privacy-level-accepted",
    ("MQQB-3.1.5.8.3-47", "MQQB-3.1.5.8.3-54"),
    "A body with a PrivacyLevel that is none is taken as it is.",
    _taken_as_it_is(lambda packet: _level(packet) not in (BASE, ENHANCED, ADVANCED)),
)
add(
    "security-blob-not-looked-at",
    "MQQB-3.1.5.8.3-63",
    "A body whose EncryptionKey is no SIMPLEBLOB is taken as it is.",
    _taken_as_it_is(_has_no_blob),
)
add(
    "security-undecryptable-accepted",
    ("MQQB-3.1.5.8.3-65", "MQQB-3.1.5.8.3-81", "MQQB-3.1.5.8.3-88"),
    "A body that cannot be decrypted is taken as it is.",
    _taken_as_it_is(lambda packet: _level(packet) in (BASE, ENHANCED, ADVANCED)),
)


def _garbled(when: Callable[[UserMessagePacket], bool]) -> Install:
    """Let something else come out of the decryption of some messages."""

    class Garbled(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            found = super().decrypt_body(packet, now)
            if _is_encrypted(packet) and when(packet):
                found = set_fields(found, {"MessagePropertiesHeader.MessageBody": _garble})
            return found

    return replace_part(Garbled)


def _garble(body: bytes) -> bytes:
    """Change the first block of a cipher."""
    return bytes(byte ^ 1 for byte in body[:16]) + body[16:]


add(
    "security-body-garbled",
    ("MQQB-3.1.5.8.3-64", "MQDMPR-3.1.7.1.31-D03", "MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79", "MQDMPR-3.1.7.1.31-D13"),
    "What comes out of the decryption is something else.",
    _garbled(lambda packet: True),
)
add(
    "security-aes-from-ones",
    "MQQB-3.1.5.8.3-80",
    "AES starts from another initial value.",
    _garbled(lambda packet: packet.MessagePropertiesHeader.EncryptionAlgorithm in AES),
)


@fault("security-weak-rc2-accepted", breaks=("MQQB-3.1.5.8.3-71", "MQQB-3.1.1.3-19"))
class WeakRc2Accepted(SecurityOnReceipt):
    """RC2 with 40 bits is accepted, whatever is configured."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        kept = self.qm.caches.settings
        self.qm.caches.settings = replace(kept, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            self.qm.caches.settings = kept


@fault("security-enhanced-all-rejected", breaks="MQQB-3.1.5.8.3-71")
class EnhancedAllRejected(SecurityOnReceipt):
    """With RejectEnhancedRC2Using40BitKeys nothing of level Enhanced is accepted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        rejecting = self.qm.caches.settings.RejectEnhancedRC2Using40BitKeys
        if _is_encrypted(packet) and _level(packet) == ENHANCED and rejecting:
            raise Refused(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION, "a fault")
        return super().decrypt_body(packet, now)
