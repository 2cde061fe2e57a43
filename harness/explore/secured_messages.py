"""Sign and encrypt messages of the peer, and verify and decrypt messages of the system."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.model.transfer.securing import SIGNATURE_OF_MSMQ_1
from harness.peer.peer import Peer
from harness.sut.provisioning import ALICE, BOB, load_peer_keys
from harness.sut.sut import Sut
from harness.wire import WireError
from harness.wire.protection import (
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    RC4,
    SIG10,
    SIG20,
    SIG30,
    compute_signature,
    decrypt_body,
    decrypt_session_key,
    encrypt_body,
    encrypt_session_key,
    is_signature,
    read_listed_keys,
)

_SENDER_ID_TYPE_SID = 1
"""The value of SecurityHeader.Flags.ST for a sender who is named by a SID (MS-MQMQ 2.2.20.6)."""
_USER_BY_NAME = {"alice": ALICE, "bob": BOB}
_SIGNATURE_KIND_BY_NAME = {"sig10": SIG10, "sig20": SIG20, "sig30": SIG30}
_PROVIDER_BY_PRIVACY_LEVEL = {1: ("base", BASE_PROVIDER), 3: ("enhanced", ENHANCED_PROVIDER)}
_SHA1_ALGORITHM_ID, _SHA512_ALGORITHM_ID = 0x8004, 0x800E
_SESSION_KEY = bytes(range(1, 17))


def build_headers_with_sender(kind: str | None, level: int) -> dict[str, Any]:
    """Return the headers of a message of a registered user that will be signed or encrypted."""
    return {
        "security": {
            "ST": _SENDER_ID_TYPE_SID,
            "DE": 1,
            "SecurityID": ALICE.security_id,
            "SenderCert": ALICE.certificate,
        },
        "HashAlgorithm": _SHA1_ALGORITHM_ID if kind == SIGNATURE_OF_MSMQ_1 else _SHA512_ALGORITHM_ID,
        "PrivacyLevel": level,
    }


def sign_and_encrypt_message(sut: Sut, packet: Any, kind: str | None, altered: bool, level: int) -> Any:
    """Sign a message, and then encrypt its body for the system. ``altered``: whether a bit of the signature is changed.
    ``level``: the PrivacyLevel, or 0 for a message that is not encrypted.
    """
    if kind is not None:
        value = compute_signature(packet, SIG10 if kind == SIGNATURE_OF_MSMQ_1 else SIG20, ALICE.key)
        packet["SecurityHeader"].Signature = bytes([value[0] ^ altered]) + value[1:]
    if level:
        properties, security = packet["MessagePropertiesHeader"], packet["SecurityHeader"]
        properties.MessageBody = encrypt_body(properties.MessageBody, RC4, _SESSION_KEY)
        properties.EncryptionAlgorithm, security.EB = RC4, 1
        key = read_listed_keys(sut.receiving_keys)[ENHANCED_PROVIDER]
        security.EncryptionKey = encrypt_session_key(RC4, _SESSION_KEY, key)
    return packet


def find_secured_message(peer: Peer, label: str, start: int) -> Any:
    """Describe, in the terms of the model, the message with the given label from the system. ``start``: the number of
    packets that had been recorded before this message was requested.
    """
    for frame in peer.recorder.frames[start:]:
        if not frame.from_sut or frame.kind != "UserMessage":
            continue
        try:
            if _read_label_of_packet(frame) == label:
                return _describe_secured_message(frame)
        except WireError:
            continue  # the predicates of a run judge the packet
    return "not sent"


def _read_label_of_packet(frame: Frame) -> str:
    return str(frame["MessagePropertiesHeader"].Label).rstrip("\0")


def _describe_secured_message(frame: Frame) -> dict[str, Any]:
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    if not user.SH:
        return {"signed": "not", "level": "not encrypted"}
    security = frame["SecurityHeader"]
    if security.EB:
        level, provider = _PROVIDER_BY_PRIVACY_LEVEL.get(int(properties.PrivacyLevel), ("another level", ""))
        key = load_peer_keys().get(provider)
        inner = None if key is None else decrypt_session_key(bytes(security.EncryptionKey), key)
        body = inner and decrypt_body(bytes(properties.MessageBody), int(properties.EncryptionAlgorithm), inner)
        return {"level": level, "body": "not readable" if body is None or body.strip(b"b") else len(body)}
    names = {one.security_id: name for name, one in _USER_BY_NAME.items()}
    sender = names.get(bytes(security.SecurityID))
    if sender is None:
        return {"signed": "for another sender"}
    value = bytes(frame["MultiQueueFormatHeader"].Signature.Signature if user.MQ else security.Signature)
    certificate = _USER_BY_NAME[sender].certificate
    kinds = [name for name, one in _SIGNATURE_KIND_BY_NAME.items() if is_signature(value, frame.data, one, certificate)]
    return {"signed": kinds[0] if kinds else "with other bytes", "sender": sender}
