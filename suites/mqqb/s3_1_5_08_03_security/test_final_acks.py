"""MS-MQQB 3.1.5.8.3 Security: FinalAcks of refused messages that request no administration acknowledgment."""

from __future__ import annotations

from typing import Any

from harness.expectations import one_of
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import MALLORY
from harness.wire import protection
from harness.wire.protection import SIG20, SIG30
from suites.mqqb.steps.secured import (
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
REFUSAL_CAUSES = {
    "signature": ("MQQB-3.1.5.8.3-18", "MQQB-3.1.5.8.3-15", "MQQB-3.1.5.8.3-21", "NACK_BAD_SIGNATURE"),
    "signature in a list": ("MQQB-3.1.5.8.3-18", "MQQB-3.1.5.8.3-15", "MQQB-3.1.5.8.3-21", "NACK_BAD_SIGNATURE"),
    "certificate": ("MQQB-3.1.5.8.3-41", "MQQB-3.1.5.8.3-38", "MQQB-3.1.5.8.3-44", "NACK_BAD_SIGNATURE"),
    "encryption": ("MQQB-3.1.5.8.3-85", "MQQB-3.1.5.8.3-82", "MQQB-3.1.5.8.3-88", "NACK_BAD_ENCRYPTION"),
    "sender": ("MQQB-3.1.5.8.3-124", "MQQB-3.1.5.8.3-121", "MQQB-3.1.5.8.3-127", "NACK_ACCESS_DENIED"),
    "privacy level": (
        "MQQB-3.1.5.8.3-51",
        "MQQB-3.1.5.8.3-48",
        "MQQB-3.1.5.8.3-54",
        one_of("NACK_BAD_ENCRYPTION", "NACK_BAD_SIGNATURE"),
    ),
}
"""The causes of a refusal: the rules about the FinalAck, the administration acknowledgment and the
queue, and the class of the FinalAck.
"""
POSITIONS_OF_REFUSED_MESSAGES = (
    "first of a sequence",
    "second of a sequence",
    "first on the next session",
    "second on the next session",
)


def list_refusal_dispositions(causes):
    """Return the dispositions that are expected of transactional messages that are refused without an administration
    acknowledgment.
    """
    return [
        row
        for cause, (final, answer, kept, nack) in causes.items()
        for place in POSITIONS_OF_REFUSED_MESSAGES
        for row in (
            (final, f"{cause}, {place}", "final", nack),
            (answer, f"{cause}, {place}", "answer", "no acknowledgment"),
            (kept, f"{cause}, {place}", "kept", "not stored in its queue"),
        )
    ]


EXPECTED_DISPOSITIONS_OF_REFUSED_MESSAGES = [
    *list_refusal_dispositions(REFUSAL_CAUSES),
    *(
        ("MQQB-3.1.5.8.3-01", f"sender, {place}", "final", "NACK_ACCESS_DENIED")
        for place in POSITIONS_OF_REFUSED_MESSAGES
    ),
]
RULES_OF_REJECTED_KEYS = ("MQQB-3.1.5.8.3-75", "MQQB-3.1.5.8.3-72", "MQQB-3.1.5.8.3-78")
EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED = list_refusal_dispositions(
    {"40-bit key": (*RULES_OF_REJECTED_KEYS, "NACK_BAD_ENCRYPTION")}
)


@malforms("MQMQ-2.2.19.3-20")
@needs("security", "receive")
@covers(*sorted({rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_REFUSED_MESSAGES}))
def test_refused_message_without_requests_has_final_ack(peer, sut, judge):
    """Transactional messages that do not request NA are refused because of their signature, certificate, encryption,
    sender or privacy level, two in each sequence and on two sessions. Each causes a FinalAck with the class of its
    refusal, and no administration acknowledgment.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    stranger = {"SenderCert": MALLORY.certificate}

    def build_refused_message(cause, quiet):
        several: dict[str, Any] = {"several": True} if cause == "signature in a list" else {}
        if cause.startswith("signature"):
            version = SIG30 if several else SIG20
            return flip_signature_bit(sign_message(secured.message(**quiet, **several), version))
        if cause == "certificate":
            return sign_message(secured.message(**quiet, security=stranger), SIG20, MALLORY.key)
        if cause == "encryption":
            keys = ADVANCED_PRIVACY_LEVEL, protection.AES_256, SYMMETRIC_KEYS[256]
            return encrypt_message(sut, secured.message(**quiet), *keys, body=bytes(47))
        if cause == "sender":
            return secured.message(MALLORY, **quiet)
        return encrypt_message(
            sut, secured.message(**quiet), 2, protection.RC4, SYMMETRIC_KEYS[40], for_level=BASE_PRIVACY_LEVEL
        )

    dispositions = send_refused_messages_on_two_sessions(secured, REFUSAL_CAUSES, build_refused_message)
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_OF_REFUSED_MESSAGES)


@needs("security", "receive", "rejected_40_bit_keys")
@covers(*sorted({rule for rule, *_ in EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED}))
def test_message_with_rejected_key_without_requests_has_final_ack(peer, sut, judge):
    """Transactional messages that do not request NA are refused because of a 40-bit RC2 key, two in each sequence and
    on two sessions. Each causes a FinalAck with BAD_ENCRYPTION, and no administration acknowledgment.
    """
    secured = SecuredMessageSender(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)

    def build_refused_message(cause, quiet):
        key = SYMMETRIC_KEYS[40] + bytes(11)
        return encrypt_message(sut, secured.message(**quiet), ENHANCED_PRIVACY_LEVEL, protection.RC2, key)

    dispositions = send_refused_messages_on_two_sessions(secured, ["40-bit key"], build_refused_message)
    judge_dispositions(judge, secured, dispositions, EXPECTED_FINAL_ACK_DISPOSITIONS_IF_SESSION_KEY_IS_REJECTED)


def send_refused_messages_on_two_sessions(secured, causes, build):
    """Send two messages of one sequence for each cause, on each of two sessions; return their dispositions."""
    dispositions: dict[str, Any] = {}
    for places in (POSITIONS_OF_REFUSED_MESSAGES[:2], POSITIONS_OF_REFUSED_MESSAGES[2:]):
        if dispositions:
            secured.open_another_session()
        packets = {}
        for cause in causes:
            sequence = secured.create_sequence()
            for place in places:
                quiet: dict[str, Any] = {"queue": "transactional", "PA": 0, "NA": 0, "NR": 1, "sequence": sequence}
                packets[f"{cause}, {place}"] = build(cause, quiet)
        dispositions |= secured.send_and_read_dispositions(packets, "transactional")
    return dispositions
