"""MS-MQQB 3.1.5.8.3 Security: encrypted bodies. MS-MQQB 3.1.1.3: RejectEnhancedRC2Using40BitKeys."""

from __future__ import annotations

from harness.expectations import facts, one_of
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.sut.provisioning import ALICE, MALLORY
from harness.wire import protection
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

ARRIVAL_ACK_NAME, BAD_ENCRYPTION_NACK_NAME, BAD_SIGNATURE_NACK_NAME = (
    "ACK_REACH_QUEUE",
    "NACK_BAD_ENCRYPTION",
    "NACK_BAD_SIGNATURE",
)
NOT_STORED_OUTCOME = "not stored in its queue"
BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
REACH_QUEUE_CLASS = 2
"""The class ACK_REACH_QUEUE. Spec: MS-MQMQ 2.2.18.1.6."""
NEEDED_SECURITY_FACILITIES = needs("security", "receive")
PADDED_RC2_KEY = SYMMETRIC_KEYS[40] + bytes(11)
"""An RC2 key of 40 bits that is padded with 88 zero bits (3.1.7.1.5)."""
CLEAR_BODY_TEXT = CLEAR_BODY.decode()
LARGE_BODY_TEXT = "a body that is larger than 64 KB " * 2_000
ENCRYPTION_KINDS = {
    "Base, RC2": (BASE_PRIVACY_LEVEL, protection.RC2, 40),
    "Base, RC4": (BASE_PRIVACY_LEVEL, protection.RC4, 40),
    "Enhanced, RC2": (ENHANCED_PRIVACY_LEVEL, protection.RC2, 128),
    "Enhanced, RC4": (ENHANCED_PRIVACY_LEVEL, protection.RC4, 128),
    "Advanced, AES 128": (ADVANCED_PRIVACY_LEVEL, protection.AES_128, 128),
    "Advanced, AES 192": (ADVANCED_PRIVACY_LEVEL, protection.AES_192, 192),
    "Advanced, AES 256": (ADVANCED_PRIVACY_LEVEL, protection.AES_256, 256),
}
EXPECTED_DISPOSITIONS_OF_DECRYPTABLE_MESSAGES = (
    *(("MQQB-3.1.5.8.3-45", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-46", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-64", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-65", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-70", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-79", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-80", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS if "AES" in name),
    *(("MQDMPR-3.1.7.1.31-D03", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQDMPR-3.1.7.1.31-D10", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQDMPR-3.1.7.1.31-D13", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-45", name, "answer", ARRIVAL_ACK_NAME) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-81", name, "answer", ARRIVAL_ACK_NAME) for name in ENCRYPTION_KINDS),
    *(("MQMQ-2.2.20.6-06", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQSO-7.4.1.3-03", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQSO-7.4.1.4.3-D02", name, "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(("MQQB-3.1.5.8.3-79", f"{name}, a known key", "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    *(
        ("MQQB-3.1.5.8.3-80", f"{name}, a known key", "body", CLEAR_BODY_TEXT)
        for name in ENCRYPTION_KINDS
        if "AES" in name
    ),
    *(
        (rule, f"{name}, a large body", "body", LARGE_BODY_TEXT)
        for rule in ("MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79")
        for name in ENCRYPTION_KINDS
    ),
    ("MQQB-3.1.5.8.3-64", "a key that begins with 0", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-56", "a key, known for long", "body", CLEAR_BODY_TEXT),
    *(
        ("MQQB-3.1.5.8.3-80", f"{name}, a large body", "body", LARGE_BODY_TEXT)
        for name in ENCRYPTION_KINDS
        if "AES" in name
    ),
    ("MQQB-3.1.5.8.3-06", "signed, then encrypted", "level", "sig20"),
    *(("MQQB-3.1.5.8.3-56", f"{name}, a known key", "body", CLEAR_BODY_TEXT) for name in ENCRYPTION_KINDS),
    ("MQQB-3.1.5.8.3-45", "signed, then encrypted", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-45", "signed, then encrypted", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-45", "EB clear", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-45", "EB clear, with a key", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-45", "a message to a list", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-45", "an acknowledgment", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-09", "signed as MSMQ 1.0, then encrypted", "level", "sig10"),
    ("MQQB-3.1.5.8.3-13", "signed as MSMQ 3.0, then encrypted", "level", "sig30"),
    *(
        (rule, "wrongly signed, then encrypted", "answer", BAD_SIGNATURE_NACK_NAME)
        for rule in ("MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8.3-14", "MQQB-3.1.5.8.3-15")
    ),
    ("MQQB-3.1.5.8.3-21", "wrongly signed, then encrypted", "kept", NOT_STORED_OUTCOME),
    *(
        (rule, "signed by a stranger, then encrypted", "answer", BAD_SIGNATURE_NACK_NAME)
        for rule in ("MQQB-3.1.5.8.3-22", "MQQB-3.1.5.8.3-37", "MQQB-3.1.5.8.3-38")
    ),
    ("MQQB-3.1.5.8.3-44", "signed by a stranger, then encrypted", "kept", NOT_STORED_OUTCOME),
    *(
        (rule, f"{name}, another key", "body", CLEAR_BODY_TEXT)
        for rule in ("MQQB-3.1.5.8.3-57", "MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79")
        for name in ENCRYPTION_KINDS
    ),
)


@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_DECRYPTABLE_MESSAGES))
def test_encrypted_body_arrives_decrypted(peer, sut, judge):
    """The peer sends bodies that are encrypted at each privacy level and with each algorithm. The application gets them
    decrypted. A body with EB clear arrives unchanged.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()

    def build_encrypted_message(level, algorithm, bits, body=CLEAR_BODY):
        return encrypt_message(sut, secured.message(body=body), level, algorithm, SYMMETRIC_KEYS[bits])

    packets = {name: build_encrypted_message(*parts) for name, parts in ENCRYPTION_KINDS.items()}
    dispositions = secured.send_and_read_dispositions(packets)
    stranger = {"SenderCert": MALLORY.certificate}
    packets = {
        **{f"{name}, a known key": build_encrypted_message(*parts) for name, parts in ENCRYPTION_KINDS.items()},
        **{
            f"{name}, a large body": build_encrypted_message(*parts, LARGE_BODY_TEXT.encode())
            for name, parts in ENCRYPTION_KINDS.items()
        },
        **{
            f"{name}, another key": encrypt_message(
                sut, secured.message(body=CLEAR_BODY), level, algorithm, SYMMETRIC_KEYS[bits][::-1]
            )
            for name, (level, algorithm, bits) in ENCRYPTION_KINDS.items()
        },
        "a key that begins with 0": encrypt_message(
            sut,
            secured.message(body=CLEAR_BODY),
            ENHANCED_PRIVACY_LEVEL,
            protection.RC4,
            b"\0" + SYMMETRIC_KEYS[128][1:],
        ),
        "a key, known for long": build_encrypted_message(*ENCRYPTION_KINDS["Enhanced, RC4"]),
        "signed, then encrypted": _sign_and_encrypt_message(secured),
        "signed as MSMQ 1.0, then encrypted": _sign_and_encrypt_message(secured, protection.SIG10),
        "signed as MSMQ 3.0, then encrypted": _sign_and_encrypt_message(secured, protection.SIG30, several=True),
        "wrongly signed, then encrypted": flip_signature_bit(_sign_and_encrypt_message(secured)),
        "signed by a stranger, then encrypted": _sign_and_encrypt_message(secured, key=MALLORY.key, security=stranger),
        "EB clear": secured.message(
            body=CLEAR_BODY, PrivacyLevel=ADVANCED_PRIVACY_LEVEL, EncryptionAlgorithm=protection.AES_256
        ),
        "EB clear, with a key": secured.message(
            body=CLEAR_BODY, security={"EncryptionKey": packets["Advanced, AES 256"]["SecurityHeader"].EncryptionKey}
        ),
        "a message to a list": _encrypt_message_with_advanced_provider(
            sut, secured.message(body=CLEAR_BODY, several=True)
        ),
        "an acknowledgment": _encrypt_message_with_advanced_provider(
            sut, secured.message(body=CLEAR_BODY, MessageClass=REACH_QUEUE_CLASS)
        ),
    }
    judge_dispositions(
        judge,
        secured,
        dispositions | secured.send_and_read_dispositions(packets),
        EXPECTED_DISPOSITIONS_OF_DECRYPTABLE_MESSAGES,
    )
    security_by_name = {name: (dispositions[name].found or {}).get("security") or {} for name in ENCRYPTION_KINDS}
    shown = {name: security["sender"] for name, security in security_by_name.items() if "sender" in security}
    judge(
        "MQDMPR-3.1.7.1.31-D03",
        expected=dict.fromkeys(shown, ALICE.sid),
        observed=shown,
        case="senders of the encrypted messages",
    )


BODIES_AT_BLOCK_ENDS = ("x\x01", "xx\x02\x02", "a block!", "two blocks of 16", "\x08" * 8, "\x10" * 16, "xxxx\0\0")
"""Bodies that fill the last block of a cipher, and bodies whose last bytes equal the padding of a block."""


@NEEDED_SECURITY_FACILITIES
@covers("MQMQ-2.2.20.6-06", "MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79")
def test_encrypted_body_of_any_end_arrives_unchanged(peer, sut, judge):
    """The peer sends encrypted bodies that fill the last block of the cipher, or whose last bytes equal the padding of
    a block: the bodies arrive unchanged.
    """
    secured = SecuredMessageSender(peer, sut)
    packets = {
        f"{name}, {body!a}": encrypt_message(
            sut, secured.message(body=body.encode()), level, algorithm, SYMMETRIC_KEYS[bits]
        )
        for name, (level, algorithm, bits) in ENCRYPTION_KINDS.items()
        for body in BODIES_AT_BLOCK_ENDS
    }
    rows = [
        (rule, f"{name}, {body!a}", "body", body)
        for rule in ("MQMQ-2.2.20.6-06", "MQQB-3.1.5.8.3-70", "MQQB-3.1.5.8.3-79")
        for name in ENCRYPTION_KINDS
        for body in BODIES_AT_BLOCK_ENDS
    ]
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets), rows)


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-45", "MQQB-3.1.5.8.3-56", "MQQB-3.1.5.8.3-64", "MQQB-3.1.5.8.3-70")
@varied("extension", "correlation", "destination", acknowledgments=("none", "of arrival"))
def test_encrypted_body_of_transactional_message_arrives_decrypted(peer, sut, judge):
    """The peer sends two transactional messages whose bodies are encrypted with the same key: the bodies arrive
    decrypted.
    """
    secured = SecuredMessageSender(peer, sut)
    packets = {
        name: encrypt_message(
            sut,
            secured.message(queue="transactional", body=CLEAR_BODY),
            ENHANCED_PRIVACY_LEVEL,
            protection.RC4,
            SYMMETRIC_KEYS[128],
        )
        for name in ("transactional", "transactional, a known key")
    }
    table = (
        ("MQQB-3.1.5.8.3-45", "transactional", "body", CLEAR_BODY_TEXT),
        ("MQQB-3.1.5.8.3-64", "transactional", "body", CLEAR_BODY_TEXT),
        ("MQQB-3.1.5.8.3-70", "transactional", "body", CLEAR_BODY_TEXT),
        ("MQQB-3.1.5.8.3-56", "transactional, a known key", "body", CLEAR_BODY_TEXT),
    )
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets, "transactional"), table)


def _encrypt_message_with_advanced_provider(sut, packet):
    return encrypt_message(sut, packet, ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256])


def _sign_and_encrypt_message(secured, version=protection.SIG20, *, key=ALICE.key, **fields):
    packet = secured.message(body=CLEAR_BODY, PrivacyLevel=ADVANCED_PRIVACY_LEVEL, **fields)
    return _encrypt_message_with_advanced_provider(secured.sut, sign_message(packet, version, key))


BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION = one_of(BAD_ENCRYPTION_NACK_NAME, BAD_SIGNATURE_NACK_NAME)
UNKNOWN_ENCRYPTION_ALGORITHM = 0x6603
INVALID_PRIVACY_LEVELS = (0, 2, 4, 6, 0xFFFF_FFFF)
VALID_ENCRYPTION_NAMES = ("Base, RC4", "Enhanced, RC4", "Advanced, AES 256")
"""Kinds of encryption, one for each provider."""
MALFORMED_SIMPLE_BLOB_CHANGES = {
    "a blob of another type": lambda blob: b"\6" + blob[1:],
    "a blob of version 3": lambda blob: blob[:1] + b"\3" + blob[2:],
    "a blob for another key algorithm": lambda blob: blob[:8] + b"\0\x24\0\0" + blob[12:],
    "a blob that ends early": lambda blob: blob[:40],
}
EXPECTED_DISPOSITIONS_OF_UNDECRYPTABLE_MESSAGES = (
    *(
        (rule, f"PrivacyLevel {level}, {kind}", *expected)
        for rule, expected in (
            ("MQQB-3.1.5.8.3-47", ("answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION)),
            ("MQQB-3.1.5.8.3-48", ("answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION)),
            ("MQQB-3.1.5.8.3-54", ("kept", NOT_STORED_OUTCOME)),
        )
        for level in INVALID_PRIVACY_LEVELS
        for kind in VALID_ENCRYPTION_NAMES
    ),
    *(
        (rule, name, *expected)
        for rule, expected in (
            ("MQQB-3.1.5.8.3-63", ("kept", NOT_STORED_OUTCOME)),
            ("MQQB-3.1.5.8.3-81", ("answer", BAD_ENCRYPTION_NACK_NAME)),
            ("MQQB-3.1.5.8.3-88", ("kept", NOT_STORED_OUTCOME)),
        )
        for name in MALFORMED_SIMPLE_BLOB_CHANGES
    ),
    *(("MQQB-3.1.5.8.3-81", name, "answer", BAD_ENCRYPTION_NACK_NAME) for name in ("no block", "an unknown algorithm")),
    *(("MQQB-3.1.5.8.3-88", name, "kept", NOT_STORED_OUTCOME) for name in ("no block", "an unknown algorithm")),
    ("MQQB-3.1.5.8.3-47", "PrivacyLevel 2", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 2", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 2", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-47", "PrivacyLevel 7", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 7", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-47", "PrivacyLevel 0x101", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 0x101", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 0x101", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 7", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 2, without NA", "kept", NOT_STORED_OUTCOME),
    *(
        ("MQQB-3.1.5.8.3-48", f"PrivacyLevel {one}", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION)
        for one in (4, 6)
    ),
    *(("MQQB-3.1.5.8.3-54", f"PrivacyLevel {one}", "kept", NOT_STORED_OUTCOME) for one in (4, 6)),
    ("MQQB-3.1.5.8.3-82", "not a SIMPLEBLOB", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-88", "not a SIMPLEBLOB", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-82", "a blob for another key", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-88", "a blob for another key", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-88", "an incomplete block, without NA", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 2, without NA", "answer", "no acknowledgment"),
    ("MQQB-3.1.5.8.3-63", "not a SIMPLEBLOB", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-81", "not a SIMPLEBLOB", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-65", "a blob for another key", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-81", "a blob for another key", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-81", "an incomplete block", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-82", "an incomplete block", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQDMPR-3.1.1.12-D17", "an incomplete block", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-88", "an incomplete block", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-81", "no padding", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-82", "no padding", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQDMPR-3.1.1.12-D17", "no padding", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-88", "no padding", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-82", "an incomplete block, without NA", "answer", "no acknowledgment"),
    ("MQDMPR-3.1.1.12-D17", "an incomplete block, without NA", "answer", "no acknowledgment"),
)


@malforms(
    "MQMQ-2.2.19.3-20",
    "MQMQ-2.2.19.3-24",
    "MQMQ-2.2.19.3-26",
    "MQMQ-2.2.20.6-15",
    "MQQB-2.4.2-01",
    "MQQB-2.4.2-D01",
)
@sut_survives()
@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_UNDECRYPTABLE_MESSAGES))
def test_message_that_cannot_be_decrypted_is_refused(peer, sut, judge):
    """The peer sends messages with an invalid PrivacyLevel, a malformed key blob, a key blob for another key, or an
    invalid ciphertext. The SUT refuses these messages.
    """
    secured = SecuredMessageSender(peer, sut)
    keys = protection.read_listed_keys(sut.receiving_keys)

    def build_undecryptable_message(
        level=ADVANCED_PRIVACY_LEVEL, algorithm=protection.AES_256, bits=256, *, na=1, **changes
    ):
        return encrypt_message(
            sut, secured.message(body=CLEAR_BODY, NA=na, NR=1), level, algorithm, SYMMETRIC_KEYS[bits], **changes
        )

    dispositions = secured.send_and_read_dispositions(
        {
            "PrivacyLevel 2": build_undecryptable_message(2, for_level=BASE_PRIVACY_LEVEL),
            "PrivacyLevel 7": build_undecryptable_message(7, for_level=BASE_PRIVACY_LEVEL),
            "PrivacyLevel 0x101": build_undecryptable_message(
                BASE_PRIVACY_LEVEL | 0x100, protection.RC4, 40, for_level=BASE_PRIVACY_LEVEL
            ),
            "PrivacyLevel 4": build_undecryptable_message(4, for_level=BASE_PRIVACY_LEVEL),
            "PrivacyLevel 6": build_undecryptable_message(6, for_level=BASE_PRIVACY_LEVEL),
            "PrivacyLevel 2, without NA": build_undecryptable_message(2, na=0, for_level=BASE_PRIVACY_LEVEL),
            "not a SIMPLEBLOB": build_undecryptable_message(blob=b"\7" * 268),
            "a blob for another key": build_undecryptable_message(
                blob=protection.encrypt_session_key(
                    protection.AES_256,
                    SYMMETRIC_KEYS[256],
                    keys[protection.PROVIDER_BY_PRIVACY_LEVEL[ENHANCED_PRIVACY_LEVEL]],
                )
            ),
            "an incomplete block": build_undecryptable_message(body=b"\x11" * 47),
            "no padding": build_undecryptable_message(body=bytes(48)),
            "an incomplete block, without NA": build_undecryptable_message(na=0, body=b"\x11" * 47),
            **{
                f"PrivacyLevel {level}, {kind}": build_undecryptable_message(
                    level, algorithm, bits, for_level=provider_level
                )
                for level in INVALID_PRIVACY_LEVELS
                for kind in VALID_ENCRYPTION_NAMES
                for provider_level, algorithm, bits in [ENCRYPTION_KINDS[kind]]
            },
            **{
                name: build_undecryptable_message(
                    blob=change(
                        protection.encrypt_session_key(
                            protection.AES_256,
                            SYMMETRIC_KEYS[256],
                            keys[protection.PROVIDER_BY_PRIVACY_LEVEL[ADVANCED_PRIVACY_LEVEL]],
                        )
                    )
                )
                for name, change in MALFORMED_SIMPLE_BLOB_CHANGES.items()
            },
            "an unknown algorithm": build_undecryptable_message(EncryptionAlgorithm=UNKNOWN_ENCRYPTION_ALGORITHM),
            "no block": _clear_message_body(build_undecryptable_message()),
        }
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_OF_UNDECRYPTABLE_MESSAGES)


def _clear_message_body(packet):
    packet["MessagePropertiesHeader"].MessageBody = b""
    return packet


EXPECTED_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED = (
    ("MQQB-3.1.5.8.3-71", "88 zero bits first", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-71", "88 zero bits", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-72", "88 zero bits", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-78", "88 zero bits", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-72", "88 zero bits, without NA", "answer", "no acknowledgment"),
    ("MQQB-3.1.5.8.3-71", "88 zero bits, without NA", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-78", "88 zero bits, without NA", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-71", "88 zero bits again", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-72", "88 zero bits again", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-78", "88 zero bits again", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-71", "another key of RC2", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-71", "88 zero bits with RC4", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-71", "RC2 of the Base provider", "answer", ARRIVAL_ACK_NAME),
)


@needs("security", "receive", "rejected_40_bit_keys")
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED), "MQQB-3.1.1.3-19")
def test_enhanced_rc2_key_of_40_bits_is_rejected_when_configured(peer, sut, judge):
    """RejectEnhancedRC2Using40BitKeys is set. The SUT refuses messages with an Enhanced RC2 key that ends with 88 zero
    bits, and accepts messages with other keys.
    """
    secured = SecuredMessageSender(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)

    def build_message_with_rc2_key(level, algorithm, key, na=1):
        return encrypt_message(sut, secured.message(body=CLEAR_BODY, NA=na, NR=1), level, algorithm, key)

    dispositions = secured.send_and_read_dispositions(
        {
            "88 zero bits": build_message_with_rc2_key(ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY),
            "88 zero bits, without NA": build_message_with_rc2_key(
                ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY, 0
            ),
            "88 zero bits again": build_message_with_rc2_key(ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY),
            "another key of RC2": build_message_with_rc2_key(
                ENHANCED_PRIVACY_LEVEL, protection.RC2, SYMMETRIC_KEYS[128]
            ),
            "88 zero bits first": build_message_with_rc2_key(
                ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY[::-1]
            ),
            "88 zero bits with RC4": build_message_with_rc2_key(ENHANCED_PRIVACY_LEVEL, protection.RC4, PADDED_RC2_KEY),
            "RC2 of the Base provider": build_message_with_rc2_key(
                BASE_PRIVACY_LEVEL, protection.RC2, SYMMETRIC_KEYS[40]
            ),
            "other delivery": build_message_with_rc2_key(ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY),
        }
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED)
    answers = sorted({dispositions[name].answer for name in ("88 zero bits", "other delivery")})
    expected, observed = {"TRUE": BAD_ENCRYPTION_NACK_NAME}, {"TRUE": ", ".join(answers)}
    evidence = [*dispositions["88 zero bits"].frames]
    if sut.has("configure"):
        sut.configure(reject_enhanced_rc2_using_40_bit_keys=False)
        allowed = secured.send_and_read_dispositions(
            {"": build_message_with_rc2_key(ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY)}
        )[""]
        expected, observed = expected | {"FALSE": ARRIVAL_ACK_NAME}, observed | {"FALSE": allowed.answer}
        evidence += allowed.frames
    judge(
        "MQQB-3.1.1.3-19",
        "MQQB-3.1.5.8.3-71",
        expected=facts(**expected),
        observed=observed,
        case="RejectEnhancedRC2Using40BitKeys",
        evidence=evidence,
    )


EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES = (
    ("MQQB-3.1.5.8.3-51", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-85", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-51", "decrypted", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-85", "decrypted", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-51", "PrivacyLevel 2", "final", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 2", "answer", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-82", "an incomplete block", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-85", "an incomplete block", "final", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 2", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-88", "an incomplete block", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-51", "PrivacyLevel 7", "final", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-51", "PrivacyLevel 0", "final", BAD_ENCRYPTION_OR_SIGNATURE_NACK_EXPECTATION),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 0", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 7", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-82", "not a SIMPLEBLOB", "answer", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-85", "not a SIMPLEBLOB", "final", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-88", "not a SIMPLEBLOB", "kept", NOT_STORED_OUTCOME),
)
EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED = (
    ("MQQB-3.1.5.8.3-75", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-75", "decrypted", "body", CLEAR_BODY_TEXT),
    ("MQQB-3.1.5.8.3-75", "88 zero bits", "final", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.1.3-19", "88 zero bits", "final", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-78", "88 zero bits", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-75", "88 zero bits again", "final", BAD_ENCRYPTION_NACK_NAME),
    ("MQQB-3.1.5.8.3-78", "88 zero bits again", "kept", NOT_STORED_OUTCOME),
)


@malforms("MQMQ-2.2.19.3-20", "MQQB-2.4.2-01", "MQQB-2.4.2-D01")
@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES))
def test_undecryptable_transactional_message_has_final_ack(peer, sut, judge):
    """The peer sends transactional messages that the SUT cannot decrypt. The SUT sends FinalAcks of class
    BAD_ENCRYPTION. The SUT sends no FinalAck for a message that it can decrypt.
    """
    secured = SecuredMessageSender(peer, sut)
    dispositions = secured.send_and_read_dispositions(
        {
            "decrypted": _encrypt_transactional_message(
                secured, ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256]
            ),
            "PrivacyLevel 2": _encrypt_transactional_message(
                secured, 2, protection.RC4, SYMMETRIC_KEYS[40], for_level=BASE_PRIVACY_LEVEL
            ),
            "PrivacyLevel 0": _encrypt_transactional_message(
                secured, 0, protection.RC4, SYMMETRIC_KEYS[40], for_level=BASE_PRIVACY_LEVEL
            ),
            "PrivacyLevel 7": _encrypt_transactional_message(
                secured, 7, protection.RC4, SYMMETRIC_KEYS[40], for_level=BASE_PRIVACY_LEVEL
            ),
            "not a SIMPLEBLOB": _encrypt_transactional_message(
                secured, ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256], blob=b"\7" * 268
            ),
            "an incomplete block": _encrypt_transactional_message(
                secured, ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256], body=b"\x11" * 47
            ),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES)


@needs("security", "receive", "rejected_40_bit_keys")
@covers(*(rule for rule, *_ in EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED))
def test_transactional_message_with_rejected_rc2_key_has_final_ack(peer, sut, judge):
    """RejectEnhancedRC2Using40BitKeys is set. The SUT refuses a transactional message with a 40-bit RC2 key, and sends
    a FinalAck.
    """
    secured = SecuredMessageSender(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)
    dispositions = secured.send_and_read_dispositions(
        {
            "decrypted": _encrypt_transactional_message(
                secured, ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256]
            ),
            "88 zero bits": _encrypt_transactional_message(
                secured, ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY
            ),
            "88 zero bits again": _encrypt_transactional_message(
                secured, ENHANCED_PRIVACY_LEVEL, protection.RC2, PADDED_RC2_KEY
            ),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED)


def _encrypt_transactional_message(secured, level, algorithm, key, **changes):
    packet = secured.message(queue="transactional", body=CLEAR_BODY)
    return encrypt_message(secured.sut, packet, level, algorithm, key, **changes)
