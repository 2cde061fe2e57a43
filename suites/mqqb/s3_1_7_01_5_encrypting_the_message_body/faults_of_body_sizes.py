"""Faults of a sender in encrypted bodies of some sizes and algorithms. Spec: MS-MQQB 3.1.7.1.5."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.security import EncryptionAlgorithm
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.fault_steps import (
    EncryptedMessageContext,
    change_result_of_encryption,
    replace_encrypted_body,
)

_CIPHER_BLOCK_BYTES = 16
_ENCRYPTED_SEGMENT_BYTES = 4096
_AES_ALGORITHMS = (EncryptionAlgorithm.AES128, EncryptionAlgorithm.AES192, EncryptionAlgorithm.AES256)
_ALLOCATION_BODY_SIZE_PATH = "MessagePropertiesHeader.AllocationBodySize"
_LAST_CIPHER_BLOCKS_BY_KEY: WeakKeyDictionary[QM, dict[bytes, bytes]] = WeakKeyDictionary()


def _encrypt_by_aes(key: bytes, body: bytes, vector: bytes) -> bytes:
    context = Cipher(AES(key), CBC(vector)).encryptor()
    return context.update(body) + context.finalize()


def _pad_body(body: bytes) -> bytes:
    padder = padding.PKCS7(8 * _CIPHER_BLOCK_BYTES).padder()
    return padder.update(body) + padder.finalize()


def _encrypt_with_last_block_of_previous_message(step: EncryptedMessageContext) -> bytes:
    encrypted = step.encrypted_packet.MessagePropertiesHeader.MessageBody
    if step.key.CryptoAlgorithm in _AES_ALGORITHMS:
        key = step.key.SymmetricKey
        last_blocks = _LAST_CIPHER_BLOCKS_BY_KEY.setdefault(step.queue_manager, {})
        vector = last_blocks.get(key, bytes(_CIPHER_BLOCK_BYTES))
        encrypted = _encrypt_by_aes(key, _pad_body(step.clear_packet.MessagePropertiesHeader.MessageBody), vector)
        last_blocks[key] = encrypted[-_CIPHER_BLOCK_BYTES:]
    return encrypted


def _encrypt_body_in_segments(step: EncryptedMessageContext) -> bytes:
    if step.key.CryptoAlgorithm not in _AES_ALGORITHMS:
        return step.encrypted_packet.MessagePropertiesHeader.MessageBody
    body = _pad_body(step.clear_packet.MessagePropertiesHeader.MessageBody)
    segments = (body[at : at + _ENCRYPTED_SEGMENT_BYTES] for at in range(0, len(body), _ENCRYPTED_SEGMENT_BYTES))
    return b"".join(_encrypt_by_aes(step.key.SymmetricKey, one, bytes(_CIPHER_BLOCK_BYTES)) for one in segments)


add(
    "sender-aes-vector-of-later-message-last-block",
    "MQQB-3.1.7.1.5-37",
    "The sender begins the AES encryption of a later body with the last encrypted block of the body before, instead of "
    "zeros.",
    replace_encrypted_body(_encrypt_with_last_block_of_previous_message),
    blind=True,
)
add(
    "sender-aes-chaining-of-large-body-interrupted",
    "MQQB-3.1.7.1.5-37",
    "The sender encrypts a body of more than 4 KB with AES in segments, and begins each segment with zeros as vector.",
    replace_encrypted_body(_encrypt_body_in_segments),
    blind=True,
)


def _set_allocation_size_to_clear_size(step: EncryptedMessageContext, chosen: bool) -> UserMessagePacket:
    if not chosen:
        return step.encrypted_packet
    packet: UserMessagePacket = set_fields(
        step.encrypted_packet, {_ALLOCATION_BODY_SIZE_PATH: len(step.clear_packet.MessagePropertiesHeader.MessageBody)}
    )
    return packet


add(
    "sender-allocation-body-size-of-whole-blocks-without-padding",
    "MQQB-3.1.7.1.5-38",
    "The sender sets AllocationBodySize of a body that consists of whole blocks to its size before the encryption.",
    change_result_of_encryption(
        lambda step: _set_allocation_size_to_clear_size(
            step, not len(step.clear_packet.MessagePropertiesHeader.MessageBody) % _CIPHER_BLOCK_BYTES
        )
    ),
    blind=True,
)
add(
    "sender-allocation-body-size-of-rc2-body-without-padding",
    "MQQB-3.1.7.1.5-38",
    "The sender sets AllocationBodySize of a body encrypted with RC2 to its size before the encryption.",
    change_result_of_encryption(
        lambda step: _set_allocation_size_to_clear_size(step, step.key.CryptoAlgorithm == EncryptionAlgorithm.RC2)
    ),
    blind=True,
)
