"""Faults that break rules of MS-MQMQ 2.2.19.3 MessagePropertiesHeader about encrypted bodies."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"


def _change_bodies_before_encryption(change: Callable[[bytes], bytes]) -> Install:
    """Let the sender change a body before it encrypts the body."""

    class EncryptedBodyChanger(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            if packet.MessagePropertiesHeader.PrivacyLevel:
                body = change(packet.MessagePropertiesHeader.MessageBody)
                packet = set_fields(
                    packet, {f"{PROPERTIES_HEADER_NAME}.MessageBody": body, f"{PROPERTIES_HEADER_NAME}.Padding": None}
                )
            return super().encrypt_body(session, message, packet, now)

    return replace_part(EncryptedBodyChanger)


def _change_decrypted_body(change: Callable[[bytes], bytes]) -> Install:
    """Let the receiver change a body after it decrypts the body."""

    class DecryptedBodyChanger(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            clear = super().decrypt_body(packet, now)
            if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
                return clear
            body = change(clear.MessagePropertiesHeader.MessageBody)
            changed: UserMessagePacket = set_fields(
                clear, {f"{PROPERTIES_HEADER_NAME}.MessageBody": body, f"{PROPERTIES_HEADER_NAME}.Padding": None}
            )
            return changed

    return replace_part(DecryptedBodyChanger)


def _decrypt_with_nonzero_initialization_vector(body: bytes) -> bytes:
    """Return a body as if it had been decrypted with a nonzero initialization vector: only the first block changes."""
    return bytes(one ^ 0x20 for one in body[:8]) + body[8:]


for _name, _broken_rules, _says, _install in (
    (
        "sender-encrypted-body-nonzero-vector",
        ("MQMQ-2.2.19.3-D03",),
        "The sender encrypts a body with a nonzero initialization vector.",
        _change_bodies_before_encryption(_decrypt_with_nonzero_initialization_vector),
    ),
    (
        "receiver-body-decrypted-with-nonzero-vector",
        ("MQMQ-2.2.19.3-D03",),
        "The receiver decrypts a body with a nonzero initialization vector.",
        _change_decrypted_body(_decrypt_with_nonzero_initialization_vector),
    ),
    (
        "sender-encrypted-body-padded-with-zeros",
        ("MQMQ-2.2.19.3-D04", "MQMQ-2.2.19.3-17"),
        "The sender pads a body with zeros, not as PKCS #5 specifies, before it encrypts the body.",
        _change_bodies_before_encryption(lambda body: body + bytes(-len(body) % 16)),
    ),
    (
        "receiver-decrypted-body-with-padding",
        ("MQMQ-2.2.19.3-D04",),
        "The receiver delivers a decrypted body together with its padding.",
        _change_decrypted_body(lambda body: body + bytes([16 - len(body) % 16] * (16 - len(body) % 16))),
    ),
):
    add(_name, _broken_rules, _says, _install)
