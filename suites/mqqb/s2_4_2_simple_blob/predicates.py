"""Judge the SIMPLEBLOB in which a message brings its key. Spec: MS-MQQB 2.4.2."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from reference_qm.codec import FormatError, SimpleBlob
from suites.mqmq.steps.message_parts import of_part

ALGORITHMS = (0x660E, 0x660F, 0x6610, 0x6602, 0x6801)


@passive("MQQB-2.4.2-01", "UserMessage", "sessionKeyAlgorithm of the SIMPLEBLOB is AES, RC2 or RC4")
@of_part("SecurityHeader")
def session_key_algorithm(security: Any, packet: Any) -> Finding:
    """Hold sessionKeyAlgorithm against the algorithms, in a blob that can be read or not."""
    key = security.SecurityData.EncryptionKey
    if not key:
        return None
    try:
        algorithm = SimpleBlob.parse(key).sessionKeyAlgorithm
    except FormatError:
        algorithm = int.from_bytes(key[4:8], "little")
    return algorithm in ALGORITHMS, f"sessionKeyAlgorithm is 0x{algorithm:X}"
