"""MS-MQQB 3.1.5.8.3 Security: FinalAcks of refused messages that request no administration acknowledgment."""

from __future__ import annotations

from typing import Any

from harness.expectations import one_of
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import MALLORY
from harness.wire import protection
from harness.wire.protection import SIG20
from suites.mqqb.steps.secured import (
    SYMMETRIC_KEYS,
    Secured,
    encrypt_message,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

ADVANCED_PRIVACY_LEVEL = 5
FINAL_ACK_CASES = (
    ("MQQB-3.1.5.8.3-18", "signature", "final", "NACK_BAD_SIGNATURE"),
    ("MQQB-3.1.5.8.3-41", "certificate", "final", "NACK_BAD_SIGNATURE"),
    ("MQQB-3.1.5.8.3-85", "encryption", "final", "NACK_BAD_ENCRYPTION"),
    ("MQQB-3.1.5.8.3-124", "sender", "final", "NACK_ACCESS_DENIED"),
    ("MQQB-3.1.5.8.3-51", "privacy level", "final", one_of("NACK_BAD_ENCRYPTION", "NACK_BAD_SIGNATURE")),
)


@malforms("MQMQ-2.2.19.3-20")
@needs("security", "receive")
@covers(*(rule for rule, *_ in FINAL_ACK_CASES))
def test_refused_message_without_requests_has_final_ack(peer, sut, judge):
    """Transactional messages without a request for acknowledgments are refused for their signature, certificate,
    encryption, sender or privacy level: each causes a FinalAck with the class of its refusal.
    """
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    quiet: dict[str, Any] = {"queue": "transactional", "PA": 0, "NA": 0}
    stranger = {"SenderCert": MALLORY.certificate}
    packets = {
        "signature": flip_signature_bit(sign_message(secured.message(**quiet))),
        "certificate": sign_message(secured.message(**quiet, security=stranger), SIG20, MALLORY.key),
        "encryption": encrypt_message(
            sut,
            secured.message(**quiet),
            ADVANCED_PRIVACY_LEVEL,
            protection.AES_256,
            SYMMETRIC_KEYS[256],
            body=bytes(47),
        ),
        "sender": secured.message(MALLORY, **quiet),
        "privacy level": encrypt_message(
            sut, secured.message(**quiet), 2, protection.RC4, SYMMETRIC_KEYS[40], for_level=1
        ),
    }
    judge_dispositions(judge, secured, secured.dispositions(packets, "transactional"), FINAL_ACK_CASES)
