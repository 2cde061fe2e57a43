"""Sign and encrypt messages of the peer."""

from __future__ import annotations

from typing import Any

from harness.model.transfer.securing import MSMQ_1
from harness.sut.provisioning import ALICE
from harness.sut.sut import Sut
from harness.wire.protection import (
    ENHANCED_PROVIDER,
    RC4,
    SIG10,
    SIG20,
    encrypt_body,
    read_listed_keys,
    signature,
    simple_blob,
)

_BY_SID = 1
"""The value of SecurityHeader.Flags.ST for a sender who is named by a SID (MS-MQMQ 2.2.20.6)."""
_SHA1, _SHA512 = 0x8004, 0x800E
_SESSION_KEY = bytes(range(1, 17))


def describe_sender(kind: str | None, level: int) -> dict[str, Any]:
    """Return the headers of a message of a registered user that will be signed or encrypted."""
    return {
        "security": {"ST": _BY_SID, "DE": 1, "SecurityID": ALICE.security_id, "SenderCert": ALICE.certificate},
        "HashAlgorithm": _SHA1 if kind == MSMQ_1 else _SHA512,
        "PrivacyLevel": level,
    }


def secure_message(sut: Sut, packet: Any, kind: str | None, altered: bool, level: int) -> Any:
    """Sign a message, and then encrypt its body for the system. ``altered``: whether a bit of the signature is changed.
    ``level``: the PrivacyLevel, or 0 for a message that is not encrypted.
    """
    if kind is not None:
        value = signature(packet, SIG10 if kind == MSMQ_1 else SIG20, ALICE.key)
        packet["SecurityHeader"].Signature = bytes([value[0] ^ altered]) + value[1:]
    if level:
        properties, security = packet["MessagePropertiesHeader"], packet["SecurityHeader"]
        properties.MessageBody = encrypt_body(properties.MessageBody, RC4, _SESSION_KEY)
        properties.EncryptionAlgorithm, security.EB = RC4, 1
        key = read_listed_keys(sut.receiving_keys)[ENHANCED_PROVIDER]
        security.EncryptionKey = simple_blob(RC4, _SESSION_KEY, key)
    return packet
