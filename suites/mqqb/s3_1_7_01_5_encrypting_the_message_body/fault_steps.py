"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.security.ciphers import encrypt
from reference_qm.security.key_exchange import encrypt_symmetric_key, parse_public_key
from reference_qm.surface.clock import Now

_PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"
SECURITY_DATA_PATH = "SecurityHeader.SecurityData"


def change_encrypted_message(
    changes: dict[str, Any], when: Callable[[UserMessagePacket], bool] = lambda _: True
) -> Install:
    """Make the sender change fields of an encrypted message. The argument of a function that changes a
    field is the old value.
    """

    class ChangedEncryptedMessage(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            encrypted_packet = super().encrypt_body(session, message, packet, now)
            if encrypted_packet is packet or not when(encrypted_packet):
                return encrypted_packet
            changed: UserMessagePacket = set_fields(encrypted_packet, changes)
            return changed

    return replace_part(ChangedEncryptedMessage)


def change_security_data(**items: Any) -> dict[str, Any]:
    """Return changes of the given items of SecurityData, with the padding computed again."""
    return {
        f"{SECURITY_DATA_PATH}.Padding": None,
        **{f"{SECURITY_DATA_PATH}.{name}": value for name, value in items.items()},
    }


def invert_lowest_bit_of_every_byte(data: bytes) -> bytes:
    """Invert the lowest bit of every byte."""
    return bytes(byte ^ 1 for byte in data)


@dataclass(frozen=True, slots=True)
class EncryptedMessageContext:
    """The encryption of one message: the queue manager, the session, the packets before and after the encryption, and
    the entry of the symmetric key. ``number``: the number of messages that were encrypted before, from 0.
    """

    queue_manager: QM
    session: Session
    clear_packet: UserMessagePacket
    encrypted_packet: UserMessagePacket
    key: CachedSymmetricKey
    number: int

    @property
    def level(self) -> int:
        """PrivacyLevel of the message."""
        return self.clear_packet.MessagePropertiesHeader.PrivacyLevel


def replace_encrypted_body(run: Callable[[EncryptedMessageContext], bytes]) -> Install:
    """Return an installer of a fault that replaces the encrypted body. ``run`` returns the new body."""

    def encrypt_packet_with_replaced_body(step: EncryptedMessageContext) -> UserMessagePacket:
        body = run(step)
        changes = {
            f"{_PROPERTIES_HEADER_NAME}.MessageBody": body,
            f"{_PROPERTIES_HEADER_NAME}.AllocationBodySize": len(body),
        }
        packet: UserMessagePacket = set_fields(
            step.encrypted_packet, {**changes, f"{_PROPERTIES_HEADER_NAME}.Padding": None}
        )
        return packet

    return change_result_of_encryption(encrypt_packet_with_replaced_body)


def encrypt_body_with_chosen_symmetric_key(choose: Callable[[EncryptedMessageContext], bytes | None]) -> Install:
    """Return an installer of a fault that encrypts the body with a different symmetric key, and names this key in the
    SIMPLEBLOB. ``choose`` returns the key, or None for no change. The cache keeps the correct key.
    """
    return change_result_of_encryption(lambda step: replace_symmetric_key(step, choose(step)))


def replace_symmetric_key(step: EncryptedMessageContext, key: bytes | None) -> UserMessagePacket:
    """Return the packet encrypted with a given symmetric key, or the encrypted packet if the key is None."""
    if key is None:
        return step.encrypted_packet
    algorithm = EncryptionAlgorithm(step.key.CryptoAlgorithm)
    found = MqdsPublicKeys.parse(step.session.RemoteQMPublicKey).find(step.key.CryptoServiceProvider)
    assert found is not None
    blob = encrypt_symmetric_key(
        parse_public_key(found.to_public_key_blob()), algorithm, key, step.queue_manager.entropy
    ).build()
    body = encrypt(algorithm, key, step.clear_packet.MessagePropertiesHeader.MessageBody)
    changes = {
        f"{_PROPERTIES_HEADER_NAME}.MessageBody": body,
        f"{_PROPERTIES_HEADER_NAME}.AllocationBodySize": len(body),
    }
    packet: UserMessagePacket = set_fields(
        step.encrypted_packet,
        {**changes, f"{_PROPERTIES_HEADER_NAME}.Padding": None, **change_security_data(EncryptionKey=blob)},
    )
    return packet


def change_result_of_encryption(change: Callable[[EncryptedMessageContext], UserMessagePacket]) -> Install:
    """Return an installer of a fault that changes the result of the encryption of each message."""

    class ChangedEncryption(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            encrypted_packet = super().encrypt_body(session, message, packet, now)
            if encrypted_packet is packet or encrypted_packet.SecurityHeader is None:
                return encrypted_packet
            blob = encrypted_packet.SecurityHeader.SecurityData.EncryptionKey
            caches = self.qm.caches
            entries = [*caches.SendSymmetricKeyCache.entries, *caches.SendBaseSymmetricKeyCache.entries]
            key = next((one for one in entries if one.EncryptedSymmetricKey == blob), None)
            number = self.__dict__.setdefault("encrypted_messages", 0)
            self.__dict__["encrypted_messages"] = number + 1
            if key is None:
                return encrypted_packet
            return change(EncryptedMessageContext(self.qm, session, packet, encrypted_packet, key, number))

    return replace_part(ChangedEncryption)
