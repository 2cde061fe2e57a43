"""Faults that break rules of MS-MQQB 2.4.2 SIMPLEBLOB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_security_item
from reference_qm.codec import SimpleBlob, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

DES_ALGORITHM = 0x6601


def _change_session_key_algorithm_in_blob(blob: bytes) -> bytes:
    return replace(SimpleBlob.parse(blob), sessionKeyAlgorithm=DES_ALGORITHM).build()


def _change_sent_simple_blob(change: Callable[[bytes], bytes]) -> Install:
    return send_wrong_field_values(
        UserMessagePacket, {"SecurityHeader.SecurityData.EncryptionKey": change}, has_security_item("EncryptionKey")
    )


add(
    "sender-simple-blob-algorithm-des",
    "MQQB-2.4.2-01",
    "The sender's SIMPLEBLOB has the sessionKeyAlgorithm DES.",
    _change_sent_simple_blob(_change_session_key_algorithm_in_blob),
)


def _change_simple_blob_of_privacy_level(level: int, change: Callable[[bytes], bytes]) -> Install:
    def run(self: Any, original: Any, session: Any, message: Any, packet: Any, now: Any) -> Any:
        done = original(session, message, packet, now)
        if done is packet or done.MessagePropertiesHeader.PrivacyLevel != level:
            return done
        data = done.SecurityHeader.SecurityData
        changed = replace(data, EncryptionKey=change(data.EncryptionKey), Padding=None)
        return replace(done, SecurityHeader=replace(done.SecurityHeader, SecurityData=changed))

    return change_step(MessageSecuring.encrypt_body, run)


def _get_encrypted_key(blob: bytes) -> bytes:
    return blob[12:].rstrip(b"\0")


_SIMPLE_BLOB_FAULTS: tuple[tuple[str, str, str, Callable[[bytes], bytes]], ...] = (
    (
        "without-zeros",
        "MQQB-2.4.2-D01",
        "ends after the bytes of the RSA number",
        lambda blob: blob[:12] + _get_encrypted_key(blob),
    ),
    ("of-512-bytes", "MQQB-2.4.2-D01", "has 512 bytes of encryptedKey", lambda blob: blob + bytes(256)),
    (
        "reserved-set",
        "MQQB-2.4.2-D01",
        "has a constant field that is not 0",
        lambda blob: blob[:2] + b"\1\0" + blob[4:],
    ),
    (
        "algorithm-des",
        "MQQB-2.4.2-01",
        "names the algorithm DES",
        lambda blob: blob[:4] + b"\1\x66\0\0" + blob[8:],
    ),
    (
        "big-endian",
        "MQQB-2.4.2-D02",
        "has encryptedKey in big-endian order",
        lambda blob: blob[:12] + _get_encrypted_key(blob)[::-1].ljust(256, b"\0"),
    ),
    (
        "at-the-end",
        "MQQB-2.4.2-D02",
        "has the zeros before the number in encryptedKey",
        lambda blob: blob[:12] + _get_encrypted_key(blob).rjust(256, b"\0"),
    ),
)


for _level in (1, 3, 5):
    for _label, _breaks, _says, _change in _SIMPLE_BLOB_FAULTS:
        add(
            f"sender-simple-blob-at-level-{_level}-{_label}",
            _breaks,
            f"The SIMPLEBLOB of a message of PrivacyLevel {_level} {_says}.",
            _change_simple_blob_of_privacy_level(_level, _change),
            blind=True,
        )


add(
    "sender-simple-blob-constant-of-signing-key",
    "MQQB-2.4.2-D01",
    "The sender's SIMPLEBLOB names a signing key in its second constant part.",
    _change_sent_simple_blob(lambda blob: blob[:8] + b"\0\x24\0\0" + blob[12:]),
)


add(
    "sender-simple-blob-trailing-zeros-missing",
    "MQQB-2.4.2-D01",
    "The sender's SIMPLEBLOB ends with the last byte of encryptedKey that is not zero.",
    _change_sent_simple_blob(lambda blob: blob.rstrip(b"\0")),
)


add(
    "sender-simple-blob-encrypted-key-big-endian",
    "MQQB-2.4.2-D02",
    "The sender's SIMPLEBLOB has encryptedKey in big-endian order.",
    _change_sent_simple_blob(lambda blob: blob[:12] + blob[12:].rstrip(b"\0")[::-1].ljust(256, b"\0")),
)


@fault("sender-simple-blob-of-cached-key-without-trailing-zeros", breaks="MQQB-2.4.2-D01", blind=True)
class SenderSimpleBlobOfCachedKeyWithoutTrailingZeros(MessageSecuring):
    """The sender sends a SIMPLEBLOB whose encryptedKey has 64 or 128 bytes, if the symmetric key was taken from the
    cache.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent: set[bytes] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        if header is None or not header.EB:
            return encrypted
        blob = header.SecurityData.EncryptionKey
        if blob in self.sent:
            data = replace(header.SecurityData, EncryptionKey=blob.rstrip(b"\0"))
            encrypted = replace(encrypted, SecurityHeader=replace(header, SecurityData=data))
        self.sent.add(blob)
        return encrypted
