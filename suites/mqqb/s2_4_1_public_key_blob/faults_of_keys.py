"""Faults that break rules of MS-MQQB 2.4.1 PUBLICKEYBLOB in the keys of one provider or of one list only."""

from __future__ import annotations

from harness.faults.public_keys import change_published_blobs
from harness.faults.registry import add

_ENHANCED_PROVIDER_NAME = "Microsoft Enhanced Cryptographic Provider v1.0"
_MODULUS_OFFSET = 20


def _cut_last_byte_of_key_blob(blob: bytes) -> bytes:
    return blob[:-1]


def _append_4_bytes_to_key_blob(blob: bytes) -> bytes:
    return blob + bytes(4)


def _swap_length_and_exponent(blob: bytes) -> bytes:
    return blob[:12] + blob[16:20] + blob[12:16] + blob[20:]


def _reverse_modulus(blob: bytes) -> bytes:
    return blob[:_MODULUS_OFFSET] + blob[_MODULUS_OFFSET:][::-1]


for _name, _rule, _says, _install in (
    (
        "enhanced-public-key-blob-modulus-one-byte-short",
        "MQQB-2.4.1-04",
        "The receiver publishes the key of the enhanced provider with a modulus that is one byte shorter than bitLen.",
        change_published_blobs(_cut_last_byte_of_key_blob, _ENHANCED_PROVIDER_NAME),
    ),
    (
        "public-key-blob-modulus-4-bytes-longer",
        "MQQB-2.4.1-04",
        "The receiver publishes its keys with a modulus that is 4 bytes longer than bitLen.",
        change_published_blobs(_append_4_bytes_to_key_blob),
    ),
    (
        "public-key-blob-exponent-before-bit-length",
        "MQQB-2.4.1-D01",
        "The receiver publishes its keys with pubExp before bitLen.",
        change_published_blobs(_swap_length_and_exponent),
    ),
    (
        "enhanced-public-key-blob-modulus-big-endian",
        "MQQB-2.4.1-D01",
        "The receiver publishes the key of the enhanced provider with the highest byte of the modulus first.",
        change_published_blobs(_reverse_modulus, _ENHANCED_PROVIDER_NAME),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
