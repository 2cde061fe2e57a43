"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: undefined privacy levels, hash and encryption algorithms."""

from __future__ import annotations

from harness.expectations import one_of
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.wire.protection import AES_256, RC2
from suites.mqqb.steps.secured import CLEAR_BODY, SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message, sign_message

ADVANCED_PRIVACY_LEVEL = 5
"""The PrivacyLevel at which bodies are encrypted with AES."""
UNLISTED_HASH_ALGORITHM, UNLISTED_CIPHER_ALGORITHM = 0x8099, 0x6699
UNDEFINED_ALGORITHM_BIT = 0x0001_0000
"""The lowest bit that no defined algorithm has."""
BAD_SIGNATURE_CLASS, BAD_ENCRYPTION_CLASS = "NACK_BAD_SIGNATURE", "NACK_BAD_ENCRYPTION"
REFUSAL_CLASSES_BY_RULE = {
    "MQMQ-2.2.19.3-21": (BAD_SIGNATURE_CLASS, BAD_ENCRYPTION_CLASS),
    "MQMQ-2.2.19.3-22": (BAD_SIGNATURE_CLASS,),
    "MQMQ-2.2.19.3-25": (BAD_ENCRYPTION_CLASS,),
}
"""For each rule, the allowed classes of the refusal; erratum E49 allows both classes for an undefined PrivacyLevel."""
ACCEPTED_CASE_BY_RULE = {
    "MQMQ-2.2.19.3-22": "unsigned",
    "MQMQ-2.2.19.3-25": "encrypted",
    "MQMQ-2.2.19.3-21": "encrypted",
}
"""For each rule, a similar message with a defined value, which the SUT must accept."""
ACCEPTED_OUTCOME = "ACK_REACH_QUEUE and the message is stored in its queue"


@malforms("MQMQ-2.2.19.3-20", "MQMQ-2.2.19.3-24", "MQMQ-2.2.19.3-26")
@sut_survives()
@needs("security", "receive")
@covers(*REFUSAL_CLASSES_BY_RULE)
def test_undefined_privacy_level_or_algorithm_is_refused(peer, sut, judge):
    """Messages with an undefined PrivacyLevel, HashAlgorithm or EncryptionAlgorithm get NACK_BAD_SIGNATURE or
    NACK_BAD_ENCRYPTION. An unsigned message with an undefined HashAlgorithm is accepted.
    """
    secured = SecuredMessageSender(peer, sut)

    def build_encrypted_message(**changes):
        return encrypt_message(
            sut, secured.message(body=CLEAR_BODY), ADVANCED_PRIVACY_LEVEL, AES_256, SYMMETRIC_KEYS[256], **changes
        )

    def set_unlisted_hash(packet, value=UNLISTED_HASH_ALGORITHM):
        packet["MessagePropertiesHeader"].HashAlgorithm = value
        return packet

    def set_undefined_hash_bit(packet):
        return set_unlisted_hash(packet, packet["MessagePropertiesHeader"].HashAlgorithm | UNDEFINED_ALGORITHM_BIT)

    def encrypt_at_privacy_level(level, like, key):
        return encrypt_message(sut, secured.message(body=CLEAR_BODY), level, RC2, key, for_level=like)

    dispositions = secured.send_and_read_dispositions(
        {
            "MQMQ-2.2.19.3-21, level 4": encrypt_message(
                sut, secured.message(body=CLEAR_BODY), 4, AES_256, SYMMETRIC_KEYS[256], for_level=ADVANCED_PRIVACY_LEVEL
            ),
            "MQMQ-2.2.19.3-21, level 2 like 1": encrypt_at_privacy_level(2, 1, SYMMETRIC_KEYS[40]),
            "MQMQ-2.2.19.3-21, level 2 like 3": encrypt_at_privacy_level(2, 3, SYMMETRIC_KEYS[128]),
            "MQMQ-2.2.19.3-21, level 4 like 3": encrypt_at_privacy_level(4, 3, SYMMETRIC_KEYS[128]),
            "MQMQ-2.2.19.3-21, level 7 like 5": encrypt_message(
                sut, secured.message(body=CLEAR_BODY), 7, AES_256, SYMMETRIC_KEYS[256], for_level=ADVANCED_PRIVACY_LEVEL
            ),
            "MQMQ-2.2.19.3-21, defined with a higher bit": encrypt_message(
                sut,
                secured.message(body=CLEAR_BODY),
                ADVANCED_PRIVACY_LEVEL | UNDEFINED_ALGORITHM_BIT,
                AES_256,
                SYMMETRIC_KEYS[256],
                for_level=ADVANCED_PRIVACY_LEVEL,
            ),
            "MQMQ-2.2.19.3-22, zero": set_unlisted_hash(sign_message(secured.message()), 0),
            "MQMQ-2.2.19.3-22, undefined": set_unlisted_hash(sign_message(secured.message())),
            "MQMQ-2.2.19.3-22, defined with a higher bit": set_undefined_hash_bit(sign_message(secured.message())),
            "MQMQ-2.2.19.3-25, undefined": build_encrypted_message(EncryptionAlgorithm=UNLISTED_CIPHER_ALGORITHM),
            "MQMQ-2.2.19.3-25, defined with a higher bit": build_encrypted_message(
                EncryptionAlgorithm=AES_256 | UNDEFINED_ALGORITHM_BIT
            ),
            "MQMQ-2.2.19.3-25, zero": build_encrypted_message(EncryptionAlgorithm=0),
            "unsigned": set_unlisted_hash(secured.message()),
            "encrypted": build_encrypted_message(),
        }
    )
    for rule, nacks in REFUSAL_CLASSES_BY_RULE.items():
        expected = one_of(*(secured.describe_refusal_without_storing(nack) for nack in nacks))
        for name, found in dispositions.items():
            of_rule, _, value = name.partition(", ")
            if of_rule == rule:
                case = f"acknowledgment ({value})"
                judge(rule, expected=expected, observed=found.silent_refusal, evidence=found.frames, case=case)
    for rule, name in ACCEPTED_CASE_BY_RULE.items():
        found = dispositions[name]
        judge(
            rule,
            expected=ACCEPTED_OUTCOME,
            observed=found.silent_refusal,
            evidence=found.frames,
            case="acknowledgment",
        )
