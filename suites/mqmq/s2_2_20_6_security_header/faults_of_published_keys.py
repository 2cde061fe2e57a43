"""Faults in the keys that a queue manager publishes: MQMQ-2.2.20.6-28 to MQMQ-2.2.20.6-35."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import Install, add
from reference_qm.security.algorithms import AES_PROVIDER, BASE_PROVIDER, ENHANCED_PROVIDER

_KEY_TYPE_OFFSET, _BIT_LENGTH_OFFSET, _EXPONENT_OFFSET, _MODULUS_OFFSET = 4, 12, 16, 20
_SIGNING_KEY_LIST_NAME = "PublicSigningKeyList"


def _change_number_in_published_blob(at: int, change: Callable[[int], int], *place: str) -> Install:
    """Change a u32 of each published blob, of the blob of a provider, or of that blob in another list of keys."""
    return change_published_blobs(change_blob_number(at, change), *place)


def _clear_last_byte_of_blob(blob: bytes) -> bytes:
    return blob[:-1] + b"\0"


def _reverse_exponent_bytes(exponent: int) -> int:
    return int.from_bytes(exponent.to_bytes(4, "little"), "big")


for _name, _broken_rules, _says, _install in (
    (
        "base-key-type-for-signing",
        ("MQMQ-2.2.20.6-28",),
        "The queue manager publishes its encryption key of the Base provider with the Key Type 0x2400.",
        _change_number_in_published_blob(_KEY_TYPE_OFFSET, lambda old: 0x2400, BASE_PROVIDER),
    ),
    (
        "enhanced-key-type-0xa401",
        ("MQMQ-2.2.20.6-28",),
        "The queue manager publishes its encryption key of the Enhanced provider with the Key Type 0xA401.",
        _change_number_in_published_blob(_KEY_TYPE_OFFSET, lambda old: 0xA401, ENHANCED_PROVIDER),
    ),
    (
        "signing-key-type-for-encryption",
        ("MQMQ-2.2.20.6-28",),
        "The queue manager publishes its signing key of the AES provider with the Key Type 0xA400.",
        _change_number_in_published_blob(_KEY_TYPE_OFFSET, lambda old: 0xA400, AES_PROVIDER, _SIGNING_KEY_LIST_NAME),
    ),
    (
        "enhanced-key-bit-length-512",
        ("MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
        "The queue manager publishes a key of 1,024 bits for the Enhanced provider whose Length in bits is 512.",
        _change_number_in_published_blob(_BIT_LENGTH_OFFSET, lambda old: 512, ENHANCED_PROVIDER),
    ),
    (
        "base-key-bit-length-511",
        ("MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
        "The queue manager publishes a key of 512 bits for the Base provider whose Length in bits is 511.",
        _change_number_in_published_blob(_BIT_LENGTH_OFFSET, lambda old: old - 1, BASE_PROVIDER),
    ),
    (
        "signing-key-bit-length-in-bytes",
        ("MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
        "The queue manager publishes signing keys whose Length in bits is a number of bytes.",
        change_published_blobs(
            change_blob_number(_BIT_LENGTH_OFFSET, lambda old: old // 8), key_list=_SIGNING_KEY_LIST_NAME
        ),
    ),
    (
        "public-exponent-big-endian",
        ("MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32"),
        "The queue manager publishes keys whose Public Exponent is big-endian.",
        _change_number_in_published_blob(_EXPONENT_OFFSET, _reverse_exponent_bytes),
    ),
    (
        "public-exponent-of-2-bytes",
        ("MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32"),
        "The queue manager publishes keys whose Public Exponent has 2 bytes.",
        change_published_blobs(lambda blob: blob[: _EXPONENT_OFFSET + 2] + blob[_MODULUS_OFFSET:]),
    ),
    (
        "base-public-exponent-17",
        ("MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32"),
        "The queue manager publishes a key of the Base provider whose Public Exponent is 17.",
        _change_number_in_published_blob(_EXPONENT_OFFSET, lambda old: 17, BASE_PROVIDER),
    ),
    (
        "signing-public-exponent-0",
        ("MQMQ-2.2.20.6-32",),
        "The queue manager publishes a signing key of the Enhanced provider whose Public Exponent is 0.",
        _change_number_in_published_blob(_EXPONENT_OFFSET, lambda old: 0, ENHANCED_PROVIDER, _SIGNING_KEY_LIST_NAME),
    ),
    (
        "base-modulus-with-changed-low-bit",
        ("MQMQ-2.2.20.6-33",),
        "The queue manager publishes a key of the Base provider whose Modulus is 2 too large.",
        _change_number_in_published_blob(_MODULUS_OFFSET, lambda old: old + 2 & 0xFFFFFFFF, BASE_PROVIDER),
    ),
    (
        "modulus-with-highest-byte-cleared",
        ("MQMQ-2.2.20.6-33",),
        "The queue manager publishes a key of the Enhanced provider whose Modulus ends with a zero byte.",
        change_published_blobs(_clear_last_byte_of_blob, ENHANCED_PROVIDER),
    ),
    (
        "signing-modulus-big-endian",
        ("MQMQ-2.2.20.6-33",),
        "The queue manager publishes signing keys whose Modulus is big-endian.",
        change_published_blobs(
            lambda blob: blob[:_MODULUS_OFFSET] + blob[: _MODULUS_OFFSET - 1 : -1], key_list=_SIGNING_KEY_LIST_NAME
        ),
    ),
    (
        "aes-modulus-padded-with-ones",
        ("MQMQ-2.2.20.6-34", "MQMQ-2.2.20.6-35"),
        "The queue manager publishes a key of the AES provider with a byte 0xFF after its modulus.",
        change_published_blobs(lambda blob: blob + b"\xff", AES_PROVIDER),
    ),
    (
        "base-modulus-without-last-byte",
        ("MQMQ-2.2.20.6-34", "MQMQ-2.2.20.6-35"),
        "The queue manager publishes a key of the Base provider without the last byte of its modulus.",
        change_published_blobs(lambda blob: blob[:-1], BASE_PROVIDER),
    ),
    (
        "signing-modulus-padded-with-ones",
        ("MQMQ-2.2.20.6-34", "MQMQ-2.2.20.6-35"),
        "The queue manager publishes signing keys with four bytes 0xFF after the modulus.",
        change_published_blobs(lambda blob: blob + b"\xff" * 4, key_list=_SIGNING_KEY_LIST_NAME),
    ),
):
    add(f"queue-manager-published-{_name}", _broken_rules, _says, _install, blind=True)
