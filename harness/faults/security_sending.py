"""Faults of signing and encrypting. Spec: MS-MQQB 3.1.7.1.4, 3.1.7.1.5, 3.1.7.1.5.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults import registry
from harness.faults.primitives import procedure, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import MQFSignatureHeader, ProviderInfo, UserMessagePacket
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.securing import Securing
from reference_qm.core.protocol.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.states import ConnectionStatus
from reference_qm.security import SecurityError, SecuritySettings

SIGN, ENCRYPT, ERRORS, CONVERT, STATE = (
    "MQQB-3.1.7.1.4-",
    "MQQB-3.1.7.1.5-",
    "MQQB-3.1.7.1.5.1-",
    "MQQB-3.1.7.1.5.2-",
    "MQQB-3.1.1.3-",
)
SHA1 = 0x8004
Original = Callable[..., Any]
Change = Callable[[UserMessagePacket], UserMessagePacket]


def add(name: str, breaks: tuple[tuple[str, str], ...], says: str, install: Install) -> None:
    """Register a fault; ``breaks``: sections and the numbers of their rules."""
    ids = [f"{section}{number}" for section, numbers in breaks for number in numbers.split()]
    registry.add(f"sent-{name}", ids, says, install)


def _properties(packet: UserMessagePacket, **fields: Any) -> UserMessagePacket:
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, **fields, Padding=None))


def _data(packet: UserMessagePacket, **fields: Any) -> UserMessagePacket:
    security = packet.SecurityHeader
    assert security is not None
    return replace(
        packet, SecurityHeader=replace(security, SecurityData=replace(security.SecurityData, **fields, Padding=None))
    )


# -- signing -------------------------------------------------------------------------------------------------------


def _at_level(level: int) -> Install:
    def make(original: Original) -> Original:
        def sign(qm: QueueManager, message: Any, packet: UserMessagePacket) -> Any:
            security = message.security
            if security is not None and security.AuthenticationLevel in (1, 3):
                message = replace(message, security=replace(security, AuthenticationLevel=level))
            return original(qm, message, packet)

        return sign

    return procedure(Securing.sign_packet, make)


def _with_sha1(original: Original) -> Original:
    def sign(qm: QueueManager, message: Any, packet: UserMessagePacket) -> Any:
        told = packet.MessagePropertiesHeader.HashAlgorithm
        return _properties(original(qm, message, _properties(packet, HashAlgorithm=SHA1)), HashAlgorithm=told)

    return sign


def _elsewhere(original: Original) -> Original:
    """Put the signature of a list where that of a single destination stands."""

    def sign(qm: QueueManager, message: Any, packet: UserMessagePacket) -> Any:
        made = original(qm, message, packet)
        several = made.MultiQueueFormatHeader
        if several is None or not several.Signature.Signature:
            return made
        moved = replace(made, MultiQueueFormatHeader=replace(several, Signature=MQFSignatureHeader()))
        return _data(moved, Signature=several.Signature.Signature)

    return sign


def _other_key(original: Original) -> Original:
    def find(qm: QueueManager, certificate: bytes) -> Any:
        key = original(qm, certificate)
        return next((one.key for one in qm.config.security.accounts if one.key is not None and one.key != key), key)

    return find


add(
    "not-signed",
    ((SIGN, "01 04 05 07 08"), ("MQMQ-2.2.20.6-", "25 26 27")),
    "Messages are never signed.",
    procedure(Securing.sign_packet, lambda _: lambda qm, message, packet: packet),
)
add(
    "signed-as-1.0",
    ((SIGN, "07"), ("MQMQ-2.2.20.6-", "26")),
    "Messages are signed as MSMQ 1.0, whatever was asked for.",
    _at_level(1),
)
add(
    "signed-with-sha1",
    ((SIGN, "04 07"),),
    "Messages are signed with SHA-1, whatever HashAlgorithm says.",
    procedure(Securing.sign_packet, _with_sha1),
)
add(
    "signed-by-another-key",
    ((SIGN, "05 08"),),
    "Messages are signed with another user's key.",
    procedure(Securing.find_signing_key, _other_key),
)
add(
    "signature-of-list-elsewhere",
    ((SIGN, "05"),),
    "The signature over a list of destinations stands in SecurityData.",
    procedure(Securing.sign_packet, _elsewhere),
)


# -- encrypting ----------------------------------------------------------------------------------------------------


def encrypting(change: Change) -> Install:
    """Change what was encrypted."""

    def make(original: Original) -> Original:
        def encrypt(qm: QueueManager, session: Any, message: Any, packet: UserMessagePacket, now: Any) -> Any:
            made = original(qm, session, message, packet, now)
            return made if made is packet else change(made)

        return encrypt

    return procedure(Securing.encrypt_body, make)


def _in_clear_when_it_fails(original: Original) -> Original:
    def encrypt(qm: QueueManager, session: Any, message: Any, packet: UserMessagePacket, now: Any) -> Any:
        try:
            return original(qm, session, message, packet, now)
        except SecurityError:
            return packet

    return encrypt


def _of_level(level: int, instead: tuple[int, ...]) -> Install:
    def make(original: Original) -> Original:
        def encrypt(qm: QueueManager, session: Any, message: Any, packet: UserMessagePacket, now: Any) -> Any:
            asked = packet.MessagePropertiesHeader.PrivacyLevel
            if asked not in instead:
                return original(qm, session, message, packet, now)
            made = original(qm, session, message, _properties(packet, PrivacyLevel=level), now)
            return _properties(made, PrivacyLevel=asked)

        return encrypt

    return procedure(Securing.encrypt_body, make)


def _with_settings(**fields: Any) -> Install:
    def make(original: Original) -> Original:
        def encrypt(qm: QueueManager, *arguments: Any) -> Any:
            kept = qm.caches.settings
            qm.caches.settings = replace(kept, **fields) if fields else SecuritySettings()
            try:
                return original(qm, *arguments)
            finally:
                qm.caches.settings = kept

        return encrypt

    return procedure(Securing.encrypt_body, make)


def _never_cached(original: Original) -> Original:
    def encrypt(qm: QueueManager, *arguments: Any) -> Any:
        cache = qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return original(qm, *arguments)
        finally:
            cache.entries = kept + cache.entries

    return encrypt


def _same_blob(original: Original) -> Original:
    """Send the first key that was ever made with every message."""

    def encrypt(qm: QueueManager, session: Any, message: Any, packet: UserMessagePacket, now: Any) -> Any:
        made = original(qm, session, message, packet, now)
        entries = qm.caches.SendSymmetricKeyCache.entries
        return _data(made, EncryptionKey=entries[0].EncryptedSymmetricKey) if made is not packet and entries else made

    return encrypt


def _body(change: Callable[[bytes], bytes], when: Callable[[UserMessagePacket], bool] = lambda _: True) -> Change:
    def changed(packet: UserMessagePacket) -> UserMessagePacket:
        body = packet.MessagePropertiesHeader.MessageBody
        return _properties(packet, MessageBody=change(body)) if when(packet) else packet

    return changed


def _is_aes(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.EncryptionAlgorithm in (0x660E, 0x660F, 0x6610)


def _first_block(body: bytes) -> bytes:
    return bytes(byte ^ 1 for byte in body[:16]) + body[16:]


def _blob(change: Callable[[bytes], bytes]) -> Change:
    def changed(packet: UserMessagePacket) -> UserMessagePacket:
        assert packet.SecurityHeader is not None
        return _data(packet, EncryptionKey=change(packet.SecurityHeader.SecurityData.EncryptionKey))

    return changed


def _other_provider(packet: UserMessagePacket) -> UserMessagePacket:
    return _data(packet, ProviderInfo=ProviderInfo(1, "Another Provider").build())


def _is_encrypted(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB)


add(
    "not-encrypted",
    ((ENCRYPT, "01 23 24 30 35 36 42"),),
    "Bodies are never encrypted.",
    procedure(Securing.encrypt_body, lambda _: lambda qm, session, message, packet, now: packet),
)
add(
    "in-clear-when-encryption-fails",
    ((ENCRYPT, "03 09 15 18 20 39"), (ERRORS, "01")),
    "A message that cannot be encrypted is sent in clear.",
    procedure(Securing.encrypt_body, _in_clear_when_it_fails),
)
add(
    "keys-not-looked-up",
    ((ENCRYPT, "04 05"),),
    "The public keys of the remote queue manager are never found.",
    procedure(SecurityLookup.find_public_keys, lambda _: lambda qm, guid: None),
)
add(
    "always-base",
    ((ENCRYPT, "12 13 14 16 28"),),
    "The Base provider encrypts, whatever was asked for.",
    _of_level(1, (3, 5)),
)
add(
    "base-as-enhanced",
    ((ENCRYPT, "12 13 19 28"),),
    "The Enhanced provider encrypts for level Base, too.",
    _of_level(3, (1,)),
)
add(
    "preferences-ignored",
    ((ENCRYPT, "14 16 19"), (STATE, "16 17")),
    "The algorithm that is preferred makes no difference.",
    _with_settings(),
)
add(
    "enhanced-rc2-never-cut",
    ((ENCRYPT, "17 29"), (STATE, "18")),
    "RC2 keys of level Enhanced have 128 bits, whatever is configured.",
    _with_settings(SendEnhancedRC2Using40BitKeys=False),
)
add(
    "keys-not-searched",
    ((ENCRYPT, "21 22"),),
    "Every message gets a key of its own.",
    procedure(Securing.encrypt_body, _never_cached),
)
add(
    "first-key-again",
    ((ENCRYPT, "23 24 30 35"),),
    "The first key that was made is sent with every message.",
    procedure(Securing.encrypt_body, _same_blob),
)
add(
    "blob-garbled",
    ((ENCRYPT, "11 30"), (CONVERT, "03 04 05")),
    "The blob with the key holds something else.",
    encrypting(_blob(lambda blob: blob[:12] + bytes(byte ^ 1 for byte in blob[12:]))),
)
add("blob-short", ((ENCRYPT, "30 42"),), "The blob ends before the key.", encrypting(_blob(lambda blob: blob[:12])))
add(
    "body-garbled",
    ((ENCRYPT, "35 36"),),
    "Bodies are encrypted with another key.",
    encrypting(_body(lambda body: bytes(byte ^ 1 for byte in body))),
)
add(
    "aes-from-ones",
    ((ENCRYPT, "37"),),
    "AES starts from another initial value.",
    encrypting(_body(_first_block, _is_aes)),
)
add(
    "size-of-the-clear-body",
    ((ENCRYPT, "38"),),
    "AllocationBodySize is one byte too small.",
    wrong_fields(
        UserMessagePacket, {"MessagePropertiesHeader.AllocationBodySize": lambda size: size - 1}, _is_encrypted
    ),
)
add(
    "other-algorithm-told",
    ((ENCRYPT, "40"),),
    "EncryptionAlgorithm names no algorithm that there is.",
    encrypting(lambda packet: _properties(packet, EncryptionAlgorithm=0x6604)),
)
add("other-provider-told", ((ENCRYPT, "41"),), "ProviderInfo names another provider.", encrypting(_other_provider))


# -- errors --------------------------------------------------------------------------------------------------------


def _no_dead_letter(original: Original) -> Original:
    def handle(qm: QueueManager, session: Any, position: Any, now: Any) -> None:
        reference = position.MessagePosition
        reference.MessageReference = replace(reference.MessageReference, NegativeJournalingRequested=False)
        user = position.UserMessage.UserHeader
        position.UserMessage = replace(position.UserMessage, UserHeader=replace(user, Flags=user.Flags & ~(1 << 7)))
        original(qm, session, position, now)

    return handle


def _status(original: Original) -> Original:
    def append(qm: QueueManager, session: Any, status: ConnectionStatus, *rest: Any) -> None:
        if status is not ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE:
            original(qm, session, status, *rest)

    return append


add(
    "not-encrypted-not-logged",
    ((ERRORS, "02"),),
    "A message that cannot be encrypted is never kept.",
    procedure(Securing.handle_encryption_error, _no_dead_letter),
)
add(
    "not-encrypted-no-history",
    ((ERRORS, "03"),),
    "ConnectionHistory does not tell of a message that cannot be encrypted.",
    procedure(Establishing.add_connection_history, _status),
)
