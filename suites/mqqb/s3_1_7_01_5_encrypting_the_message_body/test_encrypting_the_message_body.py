"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body, with 3.1.7.1.5.1 (errors), 3.1.7.1.5.2 (keys) and
3.1.1.3 (preferences).
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

import pytest

from harness.expectations import between, facts, fields, holds, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    AES_128,
    AES_192,
    AES_256,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    RC2,
    RC4,
)
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.caching import SecurityCaches, expect_current_time, inspect_queue_manager
from suites.mqqb.steps.opened_bodies import DecryptedMessage, EncryptionChoice, describe_encryption_choice
from suites.mqqb.steps.opening import (
    expect_recent_connection_history_entry,
    get_last_connection_history_entry,
    list_connection_history,
    private_name,
)
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

COUNT_OF_COMPARED_KEY_BYTES = 5
"""The size in bytes of the shortest symmetric key. Two new keys have different beginnings of this size."""
ZERO_KEY_END_BYTES = 3
"""If so many bytes at the end of a symmetric key are zero, the SUT has padded a shorter key."""
BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK = "a body that does not fill the last block"
LATER_MESSAGE_DELAY_MS, TIME_OVER_ONE_SECOND_MS = 3_000, 1_100
LONGEST_TIMER_IN_LIFETIMES = 100
"""The longest accepted duration of the cleanup timer, in lifetimes. A separate rule judges the exact duration."""
ENCRYPTION_CASES: dict[str, tuple[str, dict[str, str], EncryptionChoice, str]] = {
    "base, rc4": ("base", {"preferred_base": "rc4"}, (BASE_PROVIDER, RC4, 40), "MQQB-3.1.7.1.5-19"),
    "base, rc2": ("base", {"preferred_base": "rc2"}, (BASE_PROVIDER, RC2, 40), "MQQB-3.1.7.1.5-19"),
    "enhanced, rc4": ("enhanced", {"preferred_enhanced": "rc4"}, (ENHANCED_PROVIDER, RC4, 128), "MQQB-3.1.7.1.5-16"),
    "enhanced, rc2": ("enhanced", {"preferred_enhanced": "rc2"}, (ENHANCED_PROVIDER, RC2, 128), "MQQB-3.1.7.1.5-16"),
    "advanced, aes128": (
        "advanced",
        {"preferred_advanced": "aes128"},
        (ADVANCED_PROVIDER, AES_128, 128),
        "MQQB-3.1.7.1.5-14",
    ),
    "advanced, aes192": (
        "advanced",
        {"preferred_advanced": "aes192"},
        (ADVANCED_PROVIDER, AES_192, 192),
        "MQQB-3.1.7.1.5-14",
    ),
    "advanced, aes256": (
        "advanced",
        {"preferred_advanced": "aes256"},
        (ADVANCED_PROVIDER, AES_256, 256),
        "MQQB-3.1.7.1.5-14",
    ),
}
"""The privacy level, the preference, the resulting provider, algorithm and key length in bits, and the rule about that
choice.
"""
FULL_CACHE_COMPARISON_NAME, FIFTH_KEY_COMPARISON_NAME = (
    "CryptoAlgorithm in the full cache",
    "provider and CryptoAlgorithm after the fifth key",
)
REMAINING_CACHE_ENTRIES = [(ENHANCED_PROVIDER, RC4), (ENHANCED_PROVIDER, RC2), (ADVANCED_PROVIDER, AES_128)]
ENCRYPTION_CASE_BY_PRIVACY_LEVEL = {way[0]: way for way in ENCRYPTION_CASES.values()}
ENCRYPTION_CHOICES_BY_PRIVACY_LEVEL = {
    level: [way[2] for way in ENCRYPTION_CASES.values() if way[0] == level]
    for level in ENCRYPTION_CASE_BY_PRIVACY_LEVEL
}
"""For each privacy level, the provider, algorithm and key length in bits that some configuration chooses."""
RULE_AND_LEVEL_NUMBER_BY_PRIVACY_LEVEL = {
    "base": ("MQDMPR-3.1.1.12-06", 1),
    "enhanced": ("MQDMPR-3.1.1.12-07", 3),
    "advanced": ("MQDMPR-3.1.1.12-08", 5),
}
"""For each privacy level, its rule and its number in PrivacyLevel."""
SIGNING_ARGUMENTS = {"authentication_level": "sig20", "sender": ALICE.name}
ENCRYPTED_AND_CLEAR_MESSAGE_CASES: tuple[tuple[str, bool, dict[str, Any]], ...] = (
    ("without text", True, {"privacy_level": "advanced", "body": ""}),
    ("with a label", True, {"privacy_level": "advanced", "label": "a label"}),
    ("with a signature", True, {"privacy_level": "advanced", **SIGNING_ARGUMENTS}),
    ("with a signature and without a privacy level", False, SIGNING_ARGUMENTS),
    ("without a privacy level", False, {}),
)
"""Messages of the SUT, whether their body is encrypted, and the arguments that send them."""
NEEDED_SECURITY_FACILITIES = needs("security", "send", "private_names")


@NEEDED_SECURITY_FACILITIES
@covers(
    "MQQB-3.1.7.1.5-01",
    "MQDMPR-3.1.1.12-05",
    "MQQB-3.1.7.1.5-04",
    "MQQB-3.1.7.1.5-05",
    "MQQB-3.1.7.1.5-11",
    "MQQB-3.1.7.1.5-12",
    "MQQB-3.1.7.1.5-13",
    "MQQB-3.1.7.1.5-23",
    "MQQB-3.1.7.1.5-24",
    "MQQB-3.1.7.1.5-28",
    "MQQB-3.1.7.1.5-30",
    "MQDMPR-3.1.1.12-D55",
    "MQQB-3.1.7.1.5-35",
    "MQQB-3.1.7.1.5-36",
    "MQQB-3.1.7.1.5-38",
    "MQQB-3.1.7.1.5-40",
    "MQDMPR-3.1.7.1.32-D12",
    "MQQB-3.1.7.1.5-41",
    "MQDMPR-3.1.1.12-D66",
    "MQQB-3.1.7.1.5-42",
    "MQQB-3.1.7.1.5-14",
    "MQQB-3.1.7.1.5-16",
    "MQQB-3.1.7.1.5-19",
    "MQQB-3.1.7.1.5-37",
    "MQQB-3.1.7.1.5.2-03",
    "MQQB-3.1.7.1.5.2-04",
    "MQQB-3.1.7.1.5.2-05",
    "MQQB-2.4.2-D02",
    "MQQB-3.1.1.3-16",
    "MQQB-3.1.1.3-17",
    "MQQB-3.1.7.1-08",
    "MQSO-6.1.5.5-01",
    "MQSO-7.4.1.4.3-01",
    "MQSO-7.4.1.4.3-D01",
    "MQDMPR-3.1.1.12-04",
    "MQDMPR-3.1.7.1.32-D09",
    *(rule for rule, _ in RULE_AND_LEVEL_NUMBER_BY_PRIVACY_LEVEL.values()),
)
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_body_is_encrypted_by_requested_level_and_preferred_algorithm(peer, sut, judge, delivery):
    """The SUT sends a message without a privacy level, and then one message for each level and preferred algorithm: the
    first body is not encrypted; the SUT encrypts each other body with the required algorithm, and the peer can decrypt
    the body with its private keys.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    plain = DecryptedMessage(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, delivery=delivery))
    expected = holds("not encrypted", otherwise="encrypted")
    judge(
        "MQQB-3.1.7.1.5-01",
        "MQDMPR-3.1.1.12-05",
        expected=expected,
        observed=_is_body_in_clear(plain),
        case="body of a message without a privacy level",
        evidence=plain.frame,
    )
    known_keys: set[bytes] = set()
    for name, (level, preference, choice, rule_of_choice) in (
        ENCRYPTION_CASES if sut.has("configure") else ENCRYPTION_CASE_BY_PRIVACY_LEVEL
    ).items():
        if sut.has("configure"):
            sut.configure(**preference)
        found = DecryptedMessage(
            outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level=level, delivery=delivery)
        )
        if not sut.has("configure") and found.choice in ENCRYPTION_CHOICES_BY_PRIVACY_LEVEL[level]:
            choice = found.choice
        beginning = (found.key or found.blob)[:COUNT_OF_COMPARED_KEY_BYTES]
        new = bool(beginning) and beginning not in known_keys
        known_keys.add(beginning)
        for rule, value, expected, observed in (
            (
                rule_of_choice,
                "encryption",
                describe_encryption_choice(choice),
                describe_encryption_choice(found.choice),
            ),
            ("MQQB-3.1.7.1.5-23", "key", "a new key", "a new key" if new else "no new key"),
            ("MQQB-3.1.7.1.5-24", "key", "a new key", "a new key" if new else "no new key"),
            *_list_encryption_comparisons(found, choice),
        ):
            judge(rule, expected=expected, observed=observed, case=f"{value} ({name})", evidence=found.frame)
        rule, number = RULE_AND_LEVEL_NUMBER_BY_PRIVACY_LEVEL[level]
        judge(
            rule,
            expected=describe_encryption_choice(choice) | {"body": BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK},
            observed=describe_encryption_choice(found.choice) | {"body": found.body},
            case=f"encryption and body ({name})",
            evidence=found.frame,
        )
        judge(
            "MQDMPR-3.1.1.12-04",
            "MQDMPR-3.1.7.1.32-D09",
            expected=number,
            observed=found.properties.PrivacyLevel,
            case=f"PrivacyLevel ({name})",
            evidence=found.frame,
        )
        if level == "advanced":
            judge(
                "MQQB-3.1.7.1.5-37",
                expected=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK,
                observed=found.body,
                case=f"decrypted body ({name})",
                evidence=found.frame,
            )
            judge(
                "MQQB-3.1.1.3-16",
                "MQQB-3.1.1.3-17",
                expected=describe_encryption_choice(choice),
                observed=describe_encryption_choice(found.choice),
                case=f"encryption ({name})",
                evidence=found.frame,
            )
    for case, encrypted, how in ENCRYPTED_AND_CLEAR_MESSAGE_CASES:
        arguments = {"body": BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, "delivery": delivery} | how
        found = DecryptedMessage(outgoing.send(**arguments))
        opened = found.encrypted and found.body == arguments["body"]
        judge(
            "MQQB-3.1.7.1.5-01",
            expected="encrypted" if encrypted else "not encrypted",
            observed="encrypted" if opened else "wrongly encrypted" if found.encrypted else "not encrypted",
            case=f"body of a message {case}",
            evidence=found.frame,
        )
        if not encrypted:
            judge(
                "MQDMPR-3.1.1.12-05",
                expected=holds("not encrypted", otherwise="encrypted"),
                observed=_is_body_in_clear(found),
                case=f"body of a message {case}",
                evidence=found.frame,
            )
        judge(
            "MQDMPR-3.1.7.1.32-D12",
            expected=one_of(RC2, RC4, AES_128, AES_192, AES_256),
            observed=found.algorithm,
            case=f"EncryptionAlgorithm of a message {case}",
            evidence=found.frame,
        )
    large = BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK * 2_000
    found = DecryptedMessage(outgoing.send(body=large, privacy_level="base", delivery=delivery))
    judge(
        "MQQB-3.1.7.1.5-01",
        "MQQB-3.1.7.1-08",
        expected=holds("encrypted", otherwise="in clear"),
        observed=found.encrypted
        and BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK.encode() not in found.frame.data
        and found.body == large,
        case="body of more than 64 KB",
        evidence=found.frame,
    )
    size = len(found.properties.MessageBody)
    sizes = fields(MessageSize=size, AllocationBodySize=size)
    judge("MQQB-3.1.7.1.5-38", expected=sizes, observed=found.properties, evidence=found.frame)
    judge(
        "MQQB-3.1.7.1.5-36", expected=large, observed=found.body, case="body of more than 64 KB", evidence=found.frame
    )
    outgoing.end()


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1-08")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of arrival"))
def test_resent_message_is_encrypted_again(peer, sut, judge, delivery):
    """The SUT sends an encrypted message and resends it on a new session: the body is encrypted both times."""
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    frames = [outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="base", delivery=delivery)]
    assert outgoing.session is not None
    outgoing.session.close()
    again = outgoing.sender.await_session()
    frames += outgoing.sender.collect_messages_until_silence(again, 1)
    observed = [
        "not encrypted" if BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK.encode() in frame.data else "encrypted"
        for frame in frames
    ]
    judge.all(
        expected=["encrypted"] * 2,
        observed=observed,
        case="bodies of the message and of its resent copy",
        evidence=frames,
    )
    again.acknowledge_all()


def _describe_simple_blob(size: int, algorithm: int) -> dict[str, int]:
    """Return the size of a SIMPLEBLOB and the name of its algorithm, for verdicts."""
    return {"bytes": size, "sessionKeyAlgorithm": algorithm}


def _is_body_in_clear(message: DecryptedMessage) -> bool:
    """Return whether the SUT sent the body that ends within a cipher block, and did not encrypt it."""
    body = bytes(message.properties.MessageBody)
    return not message.encrypted and body == BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK.encode()


def _list_encryption_comparisons(
    found: DecryptedMessage, choice: EncryptionChoice
) -> tuple[tuple[str, str, Any, Any], ...]:
    """Return the rule, the name, the expected and the observed value of each comparison for an encrypted message."""
    provider, algorithm, _ = choice
    body = bytes(found.properties.MessageBody)
    hidden = found.encrypted and BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK.encode() not in found.frame.data
    block = {RC2: 8, RC4: 1}.get(algorithm, 16)
    whole = len(body) if block == 1 else (len(BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK) // block + 1) * block
    sizes = found.properties.MessageSize, found.properties.AllocationBodySize
    wanted, seen = describe_encryption_choice(choice), describe_encryption_choice(found.choice)
    blob = _describe_simple_blob(len(found.blob), struct.unpack("<I", found.blob[4:8].ljust(4, b"\0"))[0])
    opened, encrypted = holds("the peer can decrypt the key"), holds("encrypted", otherwise="not encrypted")
    is_key = found.key is not None
    whole_key = any((found.key or b"\1")[-ZERO_KEY_END_BYTES:]) or (provider, algorithm) == (ENHANCED_PROVIDER, RC2)
    blob_of_key = holds("the key is in a SIMPLEBLOB")
    return (
        ("MQQB-3.1.7.1-08", "body", encrypted, hidden),
        ("MQQB-3.1.7.1.5-01", "body", encrypted, hidden),
        ("MQQB-3.1.7.1.5-12", "encryption", wanted, seen),
        ("MQQB-3.1.7.1.5-13", "encryption", wanted, seen),
        ("MQQB-3.1.7.1.5-28", "encryption", wanted, seen),
        ("MQQB-3.1.7.1.5-28", "key", holds("the key is not a shorter key with zero bits at its end"), whole_key),
        ("MQQB-3.1.7.1.5-04", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQQB-3.1.7.1.5-05", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQQB-3.1.7.1.5-11", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQQB-3.1.7.1.5-35", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQQB-3.1.7.1.5-36", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQQB-3.1.7.1.5-30", "key", blob_of_key, is_key or found.blob.hex()[:32]),
        ("MQDMPR-3.1.1.12-D55", "key", blob_of_key, is_key or found.blob.hex()[:32]),
        ("MQQB-3.1.7.1.5-38", "MessageSize and AllocationBodySize", (whole, whole), sizes),
        ("MQQB-3.1.7.1.5-40", "EncryptionAlgorithm", algorithm, found.algorithm),
        ("MQDMPR-3.1.7.1.32-D12", "EncryptionAlgorithm", algorithm, found.algorithm),
        ("MQQB-3.1.7.1.5-41", "ProviderInfo", provider + "\0", found.provider),
        ("MQDMPR-3.1.1.12-D66", "ProviderInfo", provider + "\0", found.provider),
        ("MQQB-3.1.7.1.5-42", "SIMPLEBLOB", _describe_simple_blob(268, algorithm), blob),
        ("MQQB-3.1.7.1.5.2-03", "key", opened, is_key),
        ("MQQB-3.1.7.1.5.2-04", "key", opened, is_key),
        ("MQQB-3.1.7.1.5.2-05", "key", opened, is_key),
        ("MQQB-2.4.2-D02", "key", opened, is_key),
        ("MQSO-7.4.1.4.3-D01", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, found.body),
        ("MQSO-6.1.5.5-01", "encryption", wanted, seen),
        ("MQSO-7.4.1.4.3-01", "encryption", wanted, seen),
    )


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1.5-05", "MQQB-3.1.7.1.5.2-03")
@pytest.mark.parametrize(
    ("where", "delivery"),
    [
        ("here", "express"),
        ("here", "transactional"),
        pytest.param("in the directory", "express", marks=needs("directory")),
    ],
)
def test_message_after_key_lookup_is_sent_with_its_successor(peer, sut, judge, where, delivery):
    """The SUT has an express or a transactional message to encrypt, for which it must look up keys, and then a message
    without encryption. The SUT sends both messages.
    """
    sender = Sender(peer, sut, private_name(peer.identifier))
    with suppress(ControlRefused):
        sender.send(1, privacy_level="base", delivery=delivery)
    sender.send(2)
    session = sender.await_session()
    frames = sender.collect_messages(session, 2)
    came = sorted(Sender.list_tags(frames))
    judge.all(expected=[1, 2], observed=came, case="numbers of the messages sent", evidence=frames)
    session.acknowledge_all()
    for frame in frames:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))


@needs("security", "send", "configure", "private_names")
@covers("MQQB-3.1.7.1.5-17", "MQQB-3.1.7.1.5-29", "MQQB-3.1.1.3-18")
def test_enhanced_rc2_key_has_40_bits_only_when_configured(peer, sut, judge):
    """The SUT encrypts one message with RC2 and one with RC4 at level Enhanced. Only the RC2 key has 88 zero bits, and
    only if SendEnhancedRC2Using40BitKeys is TRUE.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    frames, found = [], {}
    for cut, preferred, delivery in (
        (True, "rc2", "express"),
        (True, "rc4", "express"),
        (False, "rc2", "express"),
        (True, "rc4", "recoverable"),  # a release with separate caches reuses the last Enhanced key of its algorithm
        (True, "rc2", "recoverable"),
    ):
        sut.configure(send_enhanced_rc2_using_40_bit_keys=cut, preferred_enhanced=preferred)
        sut.configure(send_symmetric_key_cache_size=1)
        opened = DecryptedMessage(
            outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="enhanced", delivery=delivery)
        )
        key = opened.key or b""
        frames.append(opened.frame)
        found[f"{preferred}, {40 if cut else 128} bits, {delivery}"] = len(key) == 16 and not any(key[5:])
        outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="base")
    expected = fields(
        {
            "rc2, 40 bits, express": True,
            "rc4, 40 bits, express": False,
            "rc2, 128 bits, express": False,
            "rc4, 40 bits, recoverable": False,
            "rc2, 40 bits, recoverable": True,
        }
    )
    judge.all(
        expected=expected,
        observed=found,
        case="key with 88 zero bits by algorithm and configured size",
        evidence=frames,
    )
    outgoing.end()


RULES_OF_SECOND_MESSAGE = (
    "MQQB-3.1.7.1.5-36",
    "MQQB-3.1.7.1.5-37",
    "MQQB-3.1.7.1.5-38",
    "MQQB-3.1.7.1.5-40",
    "MQQB-3.1.7.1.5-41",
    "MQQB-3.1.7.1.5-42",
)
"""The rules that the check judges by a message whose symmetric key the SUT has used before."""


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.7.1.5-21", "MQQB-3.1.7.1.5-22", "MQQB-3.1.7.1.5-32", *RULES_OF_SECOND_MESSAGE)
def test_second_message_of_level_reuses_symmetric_key(peer, sut, judge):
    """The SUT sends two messages of each of the three privacy levels: the second message of a level has the symmetric
    key of the first message of that level, and not the key of another level.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    levels = ("base", "enhanced", "advanced")
    rounds = [
        [
            DecryptedMessage(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level=level))
            for level in levels
        ]
        for _ in range(2)
    ]
    for level, first, again in zip(levels, *rounds, strict=True):
        same = again.blob == first.blob and again.body == BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK
        other = again.blob in {one.blob for one in rounds[0]} - {first.blob}
        expected, evidence = (
            holds("both messages have the same key", otherwise="the messages have different keys"),
            [first.frame, again.frame],
        )
        case = f"messages with the privacy level {level}"
        judge(
            "MQQB-3.1.7.1.5-21",
            "MQQB-3.1.7.1.5-32",
            expected=expected,
            observed=same or other,  # the key of another level is also a cached key: MQQB-3.1.7.1.5-22 judges which
            case=case,
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.7.1.5-22",
            expected=holds("the second message does not have the key of another level"),
            observed=not other or "the second message has the key of another level",
            case=case,
            evidence=evidence,
        )
        rows = [row for row in _list_encryption_comparisons(again, first.choice) if row[0] in RULES_OF_SECOND_MESSAGE]
        if level == "advanced":
            rows.append(("MQQB-3.1.7.1.5-37", "decrypted body", BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, again.body))
        for rule, value, wanted, observed in rows:
            judge(
                rule, expected=wanted, observed=observed, case=f"{value} (second message, {level})", evidence=evidence
            )
    outgoing.end()


DEFAULT_ENCRYPTION_BY_RULE = {
    "MQQB-3.1.3.1-21": ("base", (BASE_PROVIDER, RC4, 40)),
    "MQQB-3.1.3.1-20": ("enhanced", (ENHANCED_PROVIDER, RC4, 128)),
    "MQQB-3.1.3.1-19": ("advanced", (ADVANCED_PROVIDER, AES_256, 256)),
}
"""The default choice of each level, by rule."""


@NEEDED_SECURITY_FACILITIES
@covers(*DEFAULT_ENCRYPTION_BY_RULE)
def test_body_is_encrypted_by_default_algorithms_without_configuration(peer, sut, judge):
    """The SUT sends a message of each privacy level without any configuration, and again after a restart: the messages
    are encrypted with RC4 (40 bits), RC4 (128 bits) and AES (256 bits).
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    for when in ("first start", *(["restart"] if sut.has("restart") else [])):
        if when == "restart":
            outgoing.start_new_session()
            sut.restart()
        for rule, (level, choice) in DEFAULT_ENCRYPTION_BY_RULE.items():
            found = DecryptedMessage(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level=level))
            judge(
                rule,
                expected=describe_encryption_choice(choice),
                observed=describe_encryption_choice(found.choice),
                case=f"encryption after the {when}",
                evidence=found.frame,
            )
        outgoing.end()


@needs("security", "send", "configure", "private_names", "inspect")
@covers(
    "MQQB-3.1.7.1.5-21",
    "MQQB-3.1.7.1.5-22",
    "MQQB-3.1.7.1.5-25",
    "MQQB-3.1.7.1.5-26",
    "MQQB-3.1.7.1.5-27",
    "MQQB-3.1.7.1.5-31",
    "MQQB-3.1.7.1.5-32",
    "MQQB-3.1.7.1.5-33",
    "MQQB-3.1.7.1.5-34",
    "MQQB-3.1.1.3-10",
    "MQQB-3.1.1.3-11",
    "MQQB-3.1.1.3-13",
    "MQQB-3.1.1.3-14",
)
def test_new_symmetric_keys_are_cached_until_cache_is_full(peer, sut, judge):
    """The SUT sends messages of different privacy levels and algorithms. The SUT caches each new key once, and reuses
    cached keys. If the cache has a size of four, the SUT deletes the older half when it adds the fifth key.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    caches = SecurityCaches(sut)
    sut.configure(send_symmetric_key_cache_size=4, preferred_base="rc4", preferred_enhanced="rc4")
    outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK)
    before = len(caches.entries(SecurityCaches.SENT_KEY_CACHE))
    first = DecryptedMessage(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="base"))
    entries, now_s = caches.entries(SecurityCaches.SENT_KEY_CACHE), peer.environment.now().utc_s
    judge(
        "MQQB-3.1.7.1.5-32",
        expected=facts(number_of_cache_entries_before=0, number_of_cache_entries_after=1),
        observed={"number_of_cache_entries_before": before, "number_of_cache_entries_after": len(entries)},
        evidence=first.frame,
    )
    judge(
        "MQQB-3.1.1.3-10",
        "MQQB-3.1.1.3-11",
        expected=1,
        observed=len(entries),
        case="number of cache entries after the first message",
        evidence=first.frame,
    )
    judge.conclude("MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11")
    entry = entries[0] if entries else {"CachedTime": 0}
    for rule, element, expected in (
        ("MQQB-3.1.7.1.5-25", "RemoteQMGuid", str(peer.identifier)),
        ("MQQB-3.1.7.1.5-26", "CryptoServiceProvider", BASE_PROVIDER),
        ("MQQB-3.1.7.1.5-27", "CryptoAlgorithm", RC4),
    ):
        judge(rule, expected=expected, observed=entry.get(element), case=element, evidence=first.frame)
    judge(
        "MQQB-3.1.7.1.5-31",
        expected=expect_current_time(now_s),
        observed=entry["CachedTime"],
        case="CachedTime",
        evidence=first.frame,
    )
    due = sut.duration_ms(inspect_queue_manager(sut)["SymmetricKeyShortLifetime"])
    started = caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE)
    outgoing.end()
    peer.pass_time(LATER_MESSAGE_DELAY_MS)
    again = DecryptedMessage(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="base"))
    later = caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE)
    known, evidence = [len(entries), len(caches.entries(SecurityCaches.SENT_KEY_CACHE))], [first.frame, again.frame]
    judge(
        "MQQB-3.1.7.1.5-21",
        expected=[1, 1],
        observed=known,
        case="number of cache entries after the first and the second message",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.1.5-22",
        expected=holds("both messages have the same key", otherwise="the messages have different keys"),
        observed=bool(again.blob == first.blob and again.body == BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK),
        evidence=evidence,
    )
    running = later is not None and started is not None and later <= started - LATER_MESSAGE_DELAY_MS // 2
    soonest = due - sut.slack_ms(due) - sut.response_timeout_ms
    for rule, latest in (("MQQB-3.1.7.1.5-34", LONGEST_TIMER_IN_LIFETIMES * due), ("MQQB-3.1.1.3-14", due)):
        runs = started if running else f"{started}, then {later}"
        judge(
            rule,
            expected=between(soonest, latest),
            observed=runs,
            case="remaining ms of the cleanup timer",
            evidence=[first.frame, again.frame],
        )
    frames = []
    for level, preference, delivery in (
        ("base", {"preferred_base": "rc2"}, "express"),
        ("enhanced", {}, "recoverable"),
        ("enhanced", {"preferred_enhanced": "rc2"}, "express"),
    ):
        sut.configure(**preference)
        frames.append(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level=level, delivery=delivery))
    outgoing.end()
    peer.pass_time(TIME_OVER_ONE_SECOND_MS)
    enhanced = [
        entry["CryptoAlgorithm"]
        for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)
        if entry["CryptoServiceProvider"] == ENHANCED_PROVIDER
    ]
    judge(
        "MQQB-3.1.1.3-10",
        "MQQB-3.1.1.3-11",
        expected=sorted([RC2, RC4]),
        observed=sorted(enhanced),
        case="algorithms of the keys of the Enhanced provider in the cache",
        evidence=frames,
    )
    of_base = inspect_queue_manager(sut).get("SendBaseSymmetricKeyCache") or []
    judge(
        "MQQB-3.1.1.3-10",
        expected=sorted([RC2, RC4] * 2),
        observed=sorted(
            entry["CryptoAlgorithm"] for entry in (*of_base, *caches.entries(SecurityCaches.SENT_KEY_CACHE))
        ),
        case="algorithms of the keys of both providers in the caches",
        evidence=frames,
    )
    judge.conclude("MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11")
    full = [entry["CryptoAlgorithm"] for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)]
    sut.configure(preferred_advanced="aes128")
    frames.append(outgoing.send(body=BODY_THAT_ENDS_WITHIN_CIPHER_BLOCK, privacy_level="advanced"))
    left = [
        (entry["CryptoServiceProvider"], entry["CryptoAlgorithm"])
        for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)
    ]
    columns = (("MQQB-3.1.7.1.5-26", 0), ("MQQB-3.1.7.1.5-27", 1))
    for rule, at in (
        columns if known == [1, 1] else ()
    ):  # a sender that does not search its cache (-21) has other entries
        judge(
            rule,
            expected=[entry[at] for entry in REMAINING_CACHE_ENTRIES],
            observed=[entry[at] for entry in left],
            case="values in the cache after the fifth key",
            evidence=frames,
        )
    latest = max((entry["CachedTime"] for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)), default=0)
    judge(
        "MQQB-3.1.7.1.5-31",
        expected=holds("CachedTime of the newest entry is later", otherwise="CachedTime did not change"),
        observed=latest > entry["CachedTime"],
        evidence=frames,
    )
    seen = "several" if len(full) > 1 else str(len(full))
    judge(
        "MQQB-3.1.1.3-10",
        "MQQB-3.1.1.3-11",
        expected=facts(number_of_cache_entries_before=1, number_of_cache_entries_after="several"),
        observed={"number_of_cache_entries_before": len(entries), "number_of_cache_entries_after": seen},
        evidence=frames,
    )
    judge(
        "MQQB-3.1.7.1.5-33",
        "MQQB-3.1.1.3-13",
        expected={
            FULL_CACHE_COMPARISON_NAME: [RC4, RC2, RC4, RC2],
            FIFTH_KEY_COMPARISON_NAME: REMAINING_CACHE_ENTRIES,
        },
        observed={FULL_CACHE_COMPARISON_NAME: full, FIFTH_KEY_COMPARISON_NAME: left},
        evidence=frames,
    )
    outgoing.end()


UNENCRYPTABLE_CASES = {
    "direct": ("advanced", None, ("MQQB-3.1.7.1.5-03", "MQQB-3.1.7.1.5-39")),
    "keyless": ("advanced", GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS, ("MQQB-3.1.7.1.5-09", "MQQB-3.1.7.1.5-39")),
    "advanced": (
        "advanced",
        GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY,
        ("MQQB-3.1.7.1.5-15", "MQQB-3.1.7.1.5-20", "MQDMPR-3.1.7.1.32-D09"),
    ),
    "enhanced": (
        "enhanced",
        GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY,
        ("MQQB-3.1.7.1.5-18", "MQQB-3.1.7.1.5-20", "MQDMPR-3.1.7.1.32-D09"),
    ),
}
"""The privacy level, the GUID of the destination queue manager (None: a direct name), and the rules about a message
that the SUT cannot encrypt.
"""


@needs("security", "send", "private_names", "receive")
@covers("MQQB-3.1.7.1.5.1-01", "MQQB-3.1.7.1.5.1-02")
@pytest.mark.parametrize(
    ("level", "guid", "rules"),
    [
        pytest.param(level, guid, rules, id=name, marks=covers(*rules))
        for name, (level, guid, rules) in UNENCRYPTABLE_CASES.items()
    ],
)
@varied("time to be received", "label", acknowledgments=("none", "of receipt"))
def test_message_that_cannot_be_encrypted_is_not_sent(peer, sut, judge, level, guid, rules):
    """The SUT has a message without encryption, then messages of each delivery mode that it cannot encrypt, one of them
    with JN, and then another message without encryption. The SUT sends only the messages without encryption, and puts
    only the message with JN into a dead-letter queue.
    """
    if guid is not None:
        peer.configure(identifier=guid)
    to = peer.direct_name() if guid is None else private_name(guid)
    sender = Sender(peer, sut, to)
    sender.send(1)
    lost = sender.send(2, privacy_level=level)
    kept = sender.send(3, privacy_level=level, journal=["negative"])
    lost += sender.send(5, privacy_level=level, delivery="recoverable")
    lost += sender.send(6, privacy_level=level, delivery="transactional")
    if guid != GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY:
        lost += sender.send(7, privacy_level="base")
    sender.send(4)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 2)
    judge(
        *rules,
        "MQQB-3.1.7.1.5.1-01",
        expected=[1, 4],
        observed=Sender.list_tags(frames),
        case="numbers of the messages sent",
        evidence=frames,
    )
    judge.conclude("MQQB-3.1.7.1.5.1-01")

    def list_dead_letters():
        names = {lost[0]: "without JN", kept[0]: "with JN"}
        found = [one["message_id"] for one in sut.kept("system$;deadletter")]
        return [names[one] for one in found if one in names]

    peer.eventually(lambda: bool(list_dead_letters()))
    judge(
        "MQQB-3.1.7.1.5.1-02",
        expected=["with JN"],
        observed=list_dead_letters(),
        case="labels of the dead letters",
        evidence=frames,
    )
    session.acknowledge_all()


@needs("security", "send", "private_names", "management")
@covers("MQQB-3.1.7.1.5.1-03")
@pytest.mark.parametrize("kind", ["keyless", "direct"])
@varied("acknowledgments", "positive journaling", "negative journaling", "trace", "label")
def test_encryption_failure_is_in_connection_history(peer, sut, judge, kind):
    """The SUT has two messages to encrypt for a queue manager without public keys or for a direct format name:
    ConnectionHistory contains CertificateValidationFailure twice.
    """
    to = peer.direct_name("mqc-failures")
    if kind == "keyless":
        peer.configure(identifier=GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS)
        to = private_name(GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS)
    sender = Sender(peer, sut, to)
    sender.send(1, privacy_level="advanced")
    sender.send(2)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 1)
    entries = [one for one in list_connection_history(sut, to) if one["Status"] == "CertificateValidationFailure"]
    expected = expect_recent_connection_history_entry(peer, "CertificateValidationFailure", failed=True)
    judge(
        "MQQB-3.1.7.1.5.1-03", expected=expected, observed=get_last_connection_history_entry(entries), evidence=frames
    )
    session.acknowledge_all()
    sender.send(3, privacy_level="advanced")
    sender.send(4)
    frames += sender.collect_messages_until_silence(session, 2)[1:]
    again = [one for one in list_connection_history(sut, to) if one["Status"] == "CertificateValidationFailure"]
    judge(
        "MQQB-3.1.7.1.5.1-03",
        expected=1,
        observed=len(again) - len(entries),
        case="number of new entries after the second message",
        evidence=frames,
    )
    session.acknowledge_all()


@needs("security", "send", "receive")
@covers("MQQB-3.1.7.1.5.1-01", "MQQB-3.1.7.1.5.1-02", "MQQB-3.1.7.1.5.1-D01")
@pytest.mark.parametrize(
    ("delivery", "kept_in"), [("express", "plain"), ("recoverable", "plain"), ("transactional", "transactional")]
)
@varied("response queue", "trace", acknowledgments=("none", "of receipt"))
def test_message_that_cannot_be_encrypted_is_dead_letter_of_its_kind(peer, sut, judge, delivery, kept_in):
    """The SUT cannot encrypt a message with JN that is express, recoverable or transactional. The SUT puts the message
    into the transactional or the nontransactional dead-letter queue, as its kind requires, and not into the other
    queue. On the next session, the SUT neither sends the message nor puts the message into a dead-letter queue again.
    """
    sender = Sender(peer, sut)
    (lost,) = sender.send(1, privacy_level="advanced", journal=["negative"], delivery=delivery)
    sender.send(2)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 1)
    judge(
        "MQQB-3.1.7.1.5.1-01",
        expected=[2],
        observed=Sender.list_tags(frames),
        case="numbers of the messages sent",
        evidence=frames,
    )

    def is_message_in_queue(queue):
        return any(one["message_id"] == lost for one in sut.kept(queue))

    where = {"system$;deadxact": "transactional", "system$;deadletter": "plain"}
    peer.eventually(lambda: any(is_message_in_queue(queue) for queue in where))
    observed = ", ".join(name for queue, name in where.items() if is_message_in_queue(queue)) or "none"
    judge(
        "MQQB-3.1.7.1.5.1-02",
        "MQQB-3.1.7.1.5.1-D01",
        expected=kept_in,
        observed=observed,
        case="kinds of the dead-letter queues",
        evidence=frames,
    )
    session.acknowledge_all()
    session.close()
    sender.send(3)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 1)
    copies = [one["message_id"] for queue in where for one in sut.kept(queue)].count(lost)
    judge(
        "MQQB-3.1.7.1.5.1-01",
        expected={"numbers of the messages sent": [3], "further copies in the dead-letter queues": 0},
        observed={
            "numbers of the messages sent": Sender.list_tags(frames),
            "further copies in the dead-letter queues": max(copies - 1, 0),
        },
        case="after the next session was set up",
        evidence=frames,
    )
    session.acknowledge_all()
