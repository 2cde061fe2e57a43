"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: labels, extensions and bodies of several lengths, received and
forwarded.
"""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

LABEL_EXTENSION_AND_BODY_CASES = (
    ("", b"", b""),
    ("l", b"e", b"b"),
    ("la", b"ex", b"bo"),
    ("lab", b"ext", b"bod"),
    ("label", b"", b"the body alone"),
    ("", b"the extension alone", b""),
    ("x" * 249, bytes(range(251)) * 2, bytes(range(253))),
    ("\U0001f4ec \u00e9", b"\0" * 5, b"\xff" * 7),
    (" blanks at both ends ", b" \0 ", b"zeros at the end\0\0\0"),
)
"""Labels, extensions and bodies: empty values, lengths with each remainder modulo 4, the longest label, and bytes that
are not text.
"""
LARGE_EXTENSION_AND_BODY_CASE = ("large", bytes(range(251)) * 300, bytes(range(253)) * 301)
"""A label, and an extension and a body of more than 65,536 bytes."""
EXTENSION_AND_BODY_RULES = (
    "MQMQ-2.2.19.3-D01",
    "MQDMPR-3.1.7.1.31-04",
    "MQDMPR-3.1.7.1.31-D02",
    "MQMQ-2.2.19.3-D05",
    "MQMQ-2.2.19.3-09",
    "MQMQ-2.2.19.3-17",
    "MQMQ-2.2.19.3-13",
    "MQMQ-2.2.19.3-16",
)
SAMPLE_CORRELATION_ID = bytes(range(100, 120))


def _build_message_fields(label, extension, body):
    return {
        "label": label,
        "ExtensionData": extension,
        "body": body,
        "CorrelationID": SAMPLE_CORRELATION_ID,
        "ApplicationTag": 0x8070_6050,
        "BodyType": 0x1011,
    }


@needs("receive")
@covers(*EXTENSION_AND_BODY_RULES)
@pytest.mark.parametrize(
    ("label", "extension", "body"), [*LABEL_EXTENSION_AND_BODY_CASES, LARGE_EXTENSION_AND_BODY_CASE]
)
@pytest.mark.parametrize("transactional", [False, True], ids=["recoverable", "transactional"])
def test_received_message_has_properties_as_sent(peer, sut, judge, label, extension, body, transactional):
    """Messages with labels, extensions and bodies of different lengths arrive. The application receives every property
    as it was sent.
    """
    fields = _build_message_fields(label, extension, body)
    packet = Sequence(peer).message(**fields) if transactional else peer.recoverable_message(**fields)
    queue = "transactional" if transactional else "plain"
    done = deliver_message(peer, packet, label, queue)
    sent = done.frames[0]["UserHeader"].MessageID
    found = [one for one in sut.messages(queue) if one["message_id"].endswith(f"\\{sent}")]
    observed = (
        describe_differences(done.frames[0], found[0] if found else None, sut.guid)
        if done.outcome == done.accepted_outcome
        else ""
    )
    judge.all(expected=UNCHANGED_PROPERTIES_OUTCOME, observed=observed or done.outcome, evidence=done.frames)


@needs("private_names")
@covers("MQMQ-2.2.19.3-D05", "MQMQ-2.2.19.3-17", "MQMQ-2.2.19.3-27")
@pytest.mark.parametrize(
    ("label", "extension", "body"), [*LABEL_EXTENSION_AND_BODY_CASES[1:5], LARGE_EXTENSION_AND_BODY_CASE]
)
def test_forwarded_message_has_properties_as_sent(peer, sut, judge, label, extension, body):
    """The SUT forwards messages with labels, extensions and bodies of different lengths. These fields, CorrelationID
    and BodyType are unchanged.
    """
    fields = _build_message_fields(label, extension, body)
    del fields["ApplicationTag"]
    sent, frame = forward_message(peer, sut, **fields)
    header = Layout(frame).fields
    for rule, name, part in (
        ("MQMQ-2.2.19.3-27", "ExtensionSize", extension),
        ("MQMQ-2.2.19.3-17", "MessageSize", body),
    ):
        size = header.get(f"MessagePropertiesHeader.{name}")
        judge(rule, expected=len(part), observed=size, case=name, evidence=[sent, frame])
    parts = ("Label", "ExtensionData", "MessageBody", "CorrelationID", "BodyType")
    before, after = ([each["MessagePropertiesHeader"].getfieldval(part) for part in parts] for each in (sent, frame))
    judge.all(
        expected=before,
        case="label, extension, body, CorrelationID and BodyType",
        observed=after,
        evidence=[sent, frame],
    )
