"""Judge the SIMPLEBLOB with the session key of a message. Spec: MS-MQQB 2.4.2."""

from __future__ import annotations

from typing import Any

from harness.expectations.numbers import show_integer
from harness.judging.passive import Finding, passive
from reference_qm.codec import FormatError, SimpleBlob
from suites.mqmq.steps.message_parts import judge_message_part

SIMPLE_BLOB_HEADER_BYTES, ENCRYPTING_KEY_ALGORITHM_BYTES, SIMPLE_BLOB_SIZE_BYTES = b"\1\2\0\0", b"\0\xa4\0\0", 268
SESSION_KEY_ALGORITHMS = (0x660E, 0x660F, 0x6610, 0x6602, 0x6801)


@passive("MQQB-2.4.2-01", "UserMessage", "sessionKeyAlgorithm of the SIMPLEBLOB is AES, RC2 or RC4")
@judge_message_part("SecurityHeader")
def check_session_key_algorithm(security: Any, packet: Any) -> Finding:
    """Check that sessionKeyAlgorithm is one of the specified algorithms, even if the rest of the SIMPLEBLOB is
    malformed.
    """
    key = security.SecurityData.EncryptionKey
    if not key:
        return None
    try:
        algorithm = SimpleBlob.parse(key).sessionKeyAlgorithm
    except FormatError:
        algorithm = int.from_bytes(key[4:8], "little")
    return (
        algorithm in SESSION_KEY_ALGORITHMS,
        f"sessionKeyAlgorithm is {show_integer(algorithm, 'sessionKeyAlgorithm')}",
    )


@passive("MQQB-2.4.2-D01", "UserMessage", "the SIMPLEBLOB has its two fixed parts, and 268 bytes")
@judge_message_part("SecurityHeader")
def check_blob_layout(security: Any, packet: Any) -> Finding:
    """Check the constant bytes and the size of a SIMPLEBLOB."""
    key = security.SecurityData.EncryptionKey
    if not key:
        return None
    kept = (
        key[:4] == SIMPLE_BLOB_HEADER_BYTES
        and key[8:12] == ENCRYPTING_KEY_ALGORITHM_BYTES
        and len(key) == SIMPLE_BLOB_SIZE_BYTES
    )
    return kept, f"the fixed parts are {key[:4].hex()} and {key[8:12].hex()}, and the size is {len(key)} bytes"
