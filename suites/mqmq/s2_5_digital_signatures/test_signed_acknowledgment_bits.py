"""MS-MQMQ 2.5.2, 2.5.3 Message Properties for Digital Signatures: the acknowledgment bits of messages that the SUT
signs.
"""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import is_signature
from suites.mqmq.s2_5_digital_signatures.test_digital_signatures import read_signature
from suites.mqmq.s2_5_digital_signatures.test_signatures_of_senders import (
    EVERY_ACKNOWLEDGMENT_REQUEST,
    SIGNATURE_TYPE_BY_NAME,
    is_signed_by_alice,
)
from suites.mqmq.steps.message_bytes import find_properties_header_offset
from suites.mqmq.steps.outgoing import MessagesSentBySut

VALID_SIGNATURE_OUTCOME = "valid"
ACKNOWLEDGMENT_BITS_MASK = 0x0F
"""The bits PA, PR, NA and NR of MessagePropertiesHeader.Flags."""


@needs("security", "send")
@pytest.mark.parametrize(
    ("level", "rule"),
    [
        pytest.param("sig20", "MQMQ-2.5.2-12", marks=covers("MQMQ-2.5.2-12"), id="sig20"),
        pytest.param("sig30", "MQMQ-2.5.3-14", marks=covers("MQMQ-2.5.3-14"), id="sig30"),
    ],
)
def test_signature_of_sender_covers_each_acknowledgment_bit(peer, sut, judge, level, rule):
    """The SUT signs messages that each request one kind of acknowledgment, and a message that requests all kinds. Each
    message has a valid signature of the requested type. A signature that is also invalid for all other values of the
    acknowledgment bits is not judged, because other properties or the hash may be wrong.
    """
    outgoing = MessagesSentBySut(peer, sut)
    signed = {"authentication_level": level, "sender": ALICE.name, "admin_queue": peer.direct_name("mqc-admin")}
    for acks in (*([one] for one in EVERY_ACKNOWLEDGMENT_REQUEST), EVERY_ACKNOWLEDGMENT_REQUEST):
        frame = outgoing.send(body="signed", acks=acks, **signed)
        judge(
            rule,
            expected=VALID_SIGNATURE_OUTCOME,
            observed=_describe_signed_bits(frame, level),
            case=f"signature of a message that requests {' and '.join(acks)} acknowledgments",
            evidence=frame,
        )
    outgoing.end()


def _describe_signed_bits(frame: Frame, level: str) -> str:
    """Return whether the signature of a message covers its acknowledgment bits or other values of these bits. Raise
    ConformanceFailure if the signature covers neither.
    """
    if is_signed_by_alice(frame, level):
        return VALID_SIGNATURE_OUTCOME
    value = read_signature(frame, SIGNATURE_TYPE_BY_NAME[level])
    at = find_properties_header_offset(frame.data)
    if at is None:
        raise ConformanceFailure("the signed message has no MessagePropertiesHeader")
    for bits in range(ACKNOWLEDGMENT_BITS_MASK + 1):
        data = frame.data[:at] + bytes([frame.data[at] & ~ACKNOWLEDGMENT_BITS_MASK | bits]) + frame.data[at + 1 :]
        if is_signature(bytes(value), data, SIGNATURE_TYPE_BY_NAME[level], ALICE.certificate):
            return f"the signature of a message with the acknowledgment bits 0x{bits:X}"
    raise ConformanceFailure("the signature is invalid: the SUT and the tester may hash different bytes (E81)")
