"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about the decryption of bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now

BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
"""Values of PrivacyLevel. Spec: MS-MQMQ 2.2.19.3."""
AES_ALGORITHMS = (0x660E, 0x660F, 0x6610)
"""Values of EncryptionAlgorithm for AES, by the size of the key."""
SIMPLEBLOB_TYPE_BYTE = b"\1"
"""The first byte of a SIMPLEBLOB. Spec: MS-MQQB 2.4.2."""


def _has_encrypted_body(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB)


def _get_privacy_level(packet: UserMessagePacket) -> int:
    return packet.MessagePropertiesHeader.PrivacyLevel


@fault(
    "receiver-body-not-decrypted",
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
class ReceiverBodyNotDecrypted(SecurityOnReceipt):
    """The receiver does not decrypt the bodies of messages."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet


@fault(
    "receiver-privacy-level-always-advanced", breaks=("MQQB-3.1.5.8.3-46", "MQDMPR-3.1.7.1.31-D10", "MQQB-3.1.5.8.3-65")
)
class ReceiverPrivacyLevelAlwaysAdvanced(SecurityOnReceipt):
    """The receiver treats every PrivacyLevel as Advanced."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if _has_encrypted_body(packet):
            packet = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": ADVANCED_PRIVACY_LEVEL})
        return super().decrypt_body(packet, now)


def _accept_undecrypted_body(when: Callable[[UserMessagePacket], bool]) -> Install:
    """Make the receiver accept the encrypted body of a selected message when it cannot decrypt the body."""

    class UndecryptedBodyAccepted(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            try:
                return super().decrypt_body(packet, now)
            except ReceivedMessageRefused:
                if when(packet):
                    return packet
                raise

    return replace_part(UndecryptedBodyAccepted)


def _has_no_simple_blob(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and not security.SecurityData.EncryptionKey.startswith(SIMPLEBLOB_TYPE_BYTE)


add(
    "receiver-invalid-privacy-level-accepted",
    ("MQQB-3.1.5.8.3-47", "MQQB-3.1.5.8.3-54"),
    "The receiver accepts a message with an invalid PrivacyLevel and keeps its body encrypted.",
    _accept_undecrypted_body(
        lambda packet: (
            _get_privacy_level(packet) not in (BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL)
        )
    ),
)
add(
    "receiver-encryption-key-not-simple-blob-accepted",
    "MQQB-3.1.5.8.3-63",
    "The receiver accepts a message whose EncryptionKey is not a SIMPLEBLOB and keeps its body encrypted.",
    _accept_undecrypted_body(_has_no_simple_blob),
)
add(
    "receiver-undecryptable-body-accepted",
    ("MQQB-3.1.5.8.3-65", "MQQB-3.1.5.8.3-81", "MQQB-3.1.5.8.3-88"),
    "The receiver accepts a message whose body it cannot decrypt and keeps the body encrypted.",
    _accept_undecrypted_body(
        lambda packet: (
            _get_privacy_level(packet) in (BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL)
        )
    ),
)


def _change_decrypted_bodies(when: Callable[[UserMessagePacket], bool]) -> Install:
    """Make the receiver change the decrypted bodies of selected messages."""

    class ChangedDecryptedBody(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            found = super().decrypt_body(packet, now)
            if _has_encrypted_body(packet) and when(packet):
                found = set_fields(found, {"MessagePropertiesHeader.MessageBody": _change_first_cipher_block})
            return found

    return replace_part(ChangedDecryptedBody)


def _change_first_cipher_block(body: bytes) -> bytes:
    """Change the first block of a ciphertext."""
    return bytes(byte ^ 1 for byte in body[:16]) + body[16:]


add(
    "receiver-decrypted-body-garbled",
    ("MQQB-3.1.5.8.3-64", "MQDMPR-3.1.7.1.31-D03", "MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79", "MQDMPR-3.1.7.1.31-D13"),
    "The receiver changes the first bytes of each decrypted body.",
    _change_decrypted_bodies(lambda packet: True),
)
add(
    "receiver-aes-initial-value-wrong",
    "MQQB-3.1.5.8.3-80",
    "The receiver decrypts AES bodies with an initialization vector other than zeros.",
    _change_decrypted_bodies(lambda packet: packet.MessagePropertiesHeader.EncryptionAlgorithm in AES_ALGORITHMS),
)


@fault("receiver-rc2-key-of-40-bits-accepted", breaks=("MQQB-3.1.5.8.3-71", "MQQB-3.1.1.3-19"))
class ReceiverRc2KeyOf40BitsAccepted(SecurityOnReceipt):
    """The receiver accepts RC2 keys of 40 bits, regardless of its configuration."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        kept = self.qm.caches.settings
        self.qm.caches.settings = replace(kept, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            self.qm.caches.settings = kept


@fault("receiver-every-enhanced-key-rejected", breaks="MQQB-3.1.5.8.3-71")
class ReceiverEveryEnhancedKeyRejected(SecurityOnReceipt):
    """The receiver refuses every message of privacy level Enhanced if RejectEnhancedRC2Using40BitKeys is set."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        rejecting = self.qm.caches.settings.RejectEnhancedRC2Using40BitKeys
        if _has_encrypted_body(packet) and _get_privacy_level(packet) == ENHANCED_PRIVACY_LEVEL and rejecting:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION, "a fault refuses the message")
        return super().decrypt_body(packet, now)
