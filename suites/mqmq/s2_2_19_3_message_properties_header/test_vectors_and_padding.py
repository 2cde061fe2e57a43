"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: initialization vector and padding of RC2 and AES, in both directions."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire.protection import AES_128, AES_192, AES_256, CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID, RC2
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.secured import SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message

BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
BODY_LENGTHS = (1, 7, 8, 9, 15, 16, 17, 33)
"""Sizes of bodies in bytes: below, at and above the block sizes of 8 and 16 bytes."""
LARGE_BODY_LENGTH = 70_003
ENCRYPTION_BY_CIPHER_CASE = {
    "RC2 of 40 bits": (BASE_PRIVACY_LEVEL, RC2, SYMMETRIC_KEYS[40]),
    "RC2 of 128 bits": (ENHANCED_PRIVACY_LEVEL, RC2, SYMMETRIC_KEYS[128]),
    "AES 128": (ADVANCED_PRIVACY_LEVEL, AES_128, SYMMETRIC_KEYS[128]),
    "AES 192": (ADVANCED_PRIVACY_LEVEL, AES_192, SYMMETRIC_KEYS[192]),
    "AES 256": (ADVANCED_PRIVACY_LEVEL, AES_256, SYMMETRIC_KEYS[256]),
}
PREFERRED_ALGORITHM_SETTINGS_BY_LEVEL = {"base": {"preferred_base": "rc2"}, "enhanced": {"preferred_enhanced": "rc2"}}


def _build_body(length: int) -> str:
    """Return a body in which every byte differs from the previous byte and from the padding."""
    return "".join(chr(ord("A") + number % 26) for number in range(length))


@needs("security", "receive")
@covers("MQMQ-2.2.19.3-D03", "MQMQ-2.2.19.3-D04")
@pytest.mark.parametrize("algorithm", ENCRYPTION_BY_CIPHER_CASE)
def test_received_body_of_any_length_is_decrypted(peer, sut, judge, algorithm):
    """Bodies of several lengths arrive, encrypted with a zero initialization vector and padded as PKCS #5 specifies.
    The application receives each body as it was before the encryption.
    """
    secured = SecuredMessageSender(peer, sut)
    bodies = {str(length): _build_body(length) for length in BODY_LENGTHS}
    packets = {
        name: encrypt_message(sut, secured.message(body=body.encode()), *ENCRYPTION_BY_CIPHER_CASE[algorithm])
        for name, body in bodies.items()
    }
    for name, disposition in secured.send_and_read_dispositions(packets).items():
        case = f"decrypted body of length {name} after encryption by {algorithm}"
        judge.all(expected=bodies[name], observed=disposition.body, case=case, evidence=disposition.frames)
    body = bodies[str(BODY_LENGTHS[-1])]
    message = secured.message(queue="transactional", body=body.encode())
    packet = encrypt_message(sut, message, *ENCRYPTION_BY_CIPHER_CASE[algorithm])
    disposition = secured.send_and_read_dispositions({"transactional": packet}, "transactional")["transactional"]
    case = f"decrypted body of a transactional message after encryption by {algorithm}"
    judge.all(expected=body, observed=disposition.body, case=case, evidence=disposition.frames)


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.19.3-D03", "MQMQ-2.2.19.3-D04", "MQMQ-2.2.19.3-17", "MQMQ-2.2.20.6-06")
@pytest.mark.parametrize("level", ["base", "enhanced", "advanced"])
def test_sent_body_of_any_length_is_encrypted_in_whole_blocks(peer, sut, judge, level):
    """The SUT sends encrypted bodies of several lengths, the last in a transactional message. MessageSize is the length
    of the body, rounded up to a whole number of cipher blocks, and decryption yields the original body.
    """
    if level in PREFERRED_ALGORITHM_SETTINGS_BY_LEVEL and sut.has("configure"):
        sut.configure(**PREFERRED_ALGORITHM_SETTINGS_BY_LEVEL[level])
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    for length, delivery in (
        *((length, "express") for length in (*BODY_LENGTHS, LARGE_BODY_LENGTH)),
        (BODY_LENGTHS[-1], "transactional"),
    ):
        frame = outgoing.send(body=_build_body(length), privacy_level=level, delivery=delivery)
        found = DecryptedMessage(frame)
        if not found.encrypted:
            raise ConformanceFailure("the SUT did not encrypt the body")
        block = CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID.get(found.algorithm)
        if block is None:
            judge.mark_not_exercised(
                "MQMQ-2.2.19.3-D03",
                "MQMQ-2.2.19.3-D04",
                reason=f"algorithm 0x{found.algorithm:X} is a stream cipher",
                evidence=frame,
            )
            size = length
            observed = len(found.body or "")
            case = "length of the decrypted body"
            judge("MQMQ-2.2.20.6-06", expected=length, observed=observed, case=case, evidence=frame)
        else:
            size = length + block - length % block
            judge(
                "MQMQ-2.2.19.3-D03",
                "MQMQ-2.2.19.3-D04",
                "MQMQ-2.2.20.6-06",
                expected=_build_body(length),
                case=f"decrypted body of length {length}",
                observed=found.body or "cannot be decrypted",
                evidence=frame,
            )
        judge(
            "MQMQ-2.2.19.3-17",
            expected=size,
            case="MessageSize",
            observed=int(found.properties.MessageSize),
            evidence=frame,
        )
    outgoing.end()
