"""Faults in the published PUBLICKEYBLOB of one provider (MS-MQQB 2.4.1)."""

from __future__ import annotations

from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import add
from reference_qm.security.algorithms import AES_PROVIDER, BASE_PROVIDER, ENHANCED_PROVIDER

_BIT_LENGTH_OFFSET, _EXPONENT_OFFSET, _MODULUS_OFFSET = 12, 16, 20

add(
    "receiver-public-key-blob-of-base-provider-bit-length-1024",
    "MQQB-2.4.1-01",
    "The receiver publishes the PUBLICKEYBLOB of the Base provider, whose modulus has 512 bits, with bitLen 1024.",
    change_published_blobs(change_blob_number(_BIT_LENGTH_OFFSET, lambda old: 1024), BASE_PROVIDER),
    blind=True,
)
add(
    "receiver-public-key-blob-of-aes-provider-bit-length-one-less",
    "MQQB-2.4.1-01",
    "The receiver publishes the PUBLICKEYBLOB of the AES provider with bitLen 1 too low.",
    change_published_blobs(change_blob_number(_BIT_LENGTH_OFFSET, lambda old: old - 1), AES_PROVIDER),
    blind=True,
)
add(
    "receiver-public-key-blob-of-enhanced-provider-exponent-big-endian",
    "MQQB-2.4.1-02",
    "The receiver publishes the PUBLICKEYBLOB of the Enhanced provider with pubExp in big-endian format.",
    change_published_blobs(
        lambda blob: blob[:_EXPONENT_OFFSET] + blob[_EXPONENT_OFFSET:_MODULUS_OFFSET][::-1] + blob[_MODULUS_OFFSET:],
        ENHANCED_PROVIDER,
    ),
    blind=True,
)
add(
    "receiver-public-key-blob-of-aes-provider-exponent-3",
    "MQQB-2.4.1-02",
    "The receiver publishes the PUBLICKEYBLOB of the AES provider with pubExp 3, which is not its exponent.",
    change_published_blobs(change_blob_number(_EXPONENT_OFFSET, lambda old: 3), AES_PROVIDER),
    blind=True,
)
add(
    "receiver-public-key-blob-of-aes-provider-modulus-big-endian",
    "MQQB-2.4.1-03",
    "The receiver publishes the PUBLICKEYBLOB of the AES provider with the modulus in big-endian format.",
    change_published_blobs(lambda blob: blob[:_MODULUS_OFFSET] + blob[_MODULUS_OFFSET:][::-1], AES_PROVIDER),
    blind=True,
)
add(
    "receiver-public-key-blob-of-base-provider-modulus-words-swapped",
    "MQQB-2.4.1-03",
    "The receiver publishes the PUBLICKEYBLOB of the Base provider with the 32-bit words of the modulus in reverse "
    "order.",
    change_published_blobs(
        lambda blob: (
            blob[:_MODULUS_OFFSET] + b"".join(blob[at : at + 4] for at in range(len(blob) - 4, _MODULUS_OFFSET - 1, -4))
        ),
        BASE_PROVIDER,
    ),
    blind=True,
)
