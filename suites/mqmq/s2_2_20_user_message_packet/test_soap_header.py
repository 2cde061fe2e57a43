"""MS-MQMQ 2.2.20.7 SoapHeader in messages that the SUT receives and forwards.

Messages that arrive over HTTP are not tested.
"""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

LARGE_BODY = bytes(range(256)) * 20
"""A body of more than 4 KiB."""
SOAP_HEADER_AND_BODY_TEXTS = (
    ("", ""),
    ("<a/>", "<b/>"),
    ("<Envelope/>", "<Body>of the peer</Body>"),
    ("<a/>", "<ab/>"),
    ("<ab/>", "<b/>"),
    ("x" * 1_001, "\U0001f4ec" * 333),
    ("x" * 0x8000, "<b/>"),
    ("<a/>", "y" * 0x8000),
    ("<a/>", "z" * 0x1_0000),
)
"""Texts of Header and Body: empty, of even and odd length, long, with characters of two WCHARs, and with lengths above
0x7FFF and 0xFFFF.
"""


def _build_destination_list(name):
    return {"Destination": [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name))]}


@covers("MQMQ-2.2.20.7-03", "MQDMPR-3.1.1.12-65", "MQMQ-2.2.20.7-06", "MQMQ-2.2.20.7-D01", "MQMQ-2.2.20-D02")
@pytest.mark.parametrize(("header", "body"), SOAP_HEADER_AND_BODY_TEXTS)
def test_message_with_soap_header_of_any_length_is_accepted(peer, sut, judge, header, body):
    """Messages arrive with a DebugHeader, a MultiQueueFormatHeader, and SoapHeaders of several lengths. Each message is
    in its queue as it was sent.
    """
    label = f"soap {peer.next_message_id()}"
    name = sut.format_name().removeprefix("DIRECT=")
    soap = {"Header": header, "Body": body}
    packet = peer.recoverable_message(
        label=label, body=LARGE_BODY, debug={}, soap=soap, mqf=_build_destination_list(name)
    )
    done = deliver_message(peer, packet, label)
    expected, observed = done.accepted_outcome, done.outcome
    if observed == expected and sut.has("receive"):
        found = next((one for one in sut.messages() if one["label"] == label), None)
        expected, observed = UNCHANGED_PROPERTIES_OUTCOME, describe_differences(done.frames[0], found, sut.guid)
    judge.all(expected=expected, observed=observed, evidence=done.frames)


@needs("private_names")
@covers("MQMQ-2.2.20.7-03", "MQMQ-2.2.20.7-D01")
@pytest.mark.parametrize(("header", "body"), SOAP_HEADER_AND_BODY_TEXTS[1:5])
def test_forwarded_message_keeps_soap_header(peer, sut, judge, header, body):
    """The SUT forwards a message with a SoapHeader: both sections are unchanged, and so is their length."""
    listed = _build_destination_list(rf"TCP:{peer.address}\private$\mqc-listed")
    sent, frame = forward_message(peer, sut, soap={"Header": header, "Body": body}, mqf=listed)
    lengths = {"SoapHeader.HeaderDataLength": len(header) + 1, "SoapHeader.Header": f"{header}\0"}
    judge("MQMQ-2.2.20.7-03", expected=fields(lengths), observed=Layout(frame), evidence=[sent, frame])
    parts = ("HeaderSectionID", "Header", "BodySectionID", "Body")
    before, after = ([each["SoapHeader"].getfieldval(part) for part in parts] for each in (sent, frame))
    judge(
        "MQMQ-2.2.20.7-D01",
        expected=before,
        case="HeaderSectionID, Header, BodySectionID and Body",
        observed=after,
        evidence=[sent, frame],
    )
