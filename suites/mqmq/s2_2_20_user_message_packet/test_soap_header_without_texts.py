"""MS-MQMQ 2.2.20.7 SoapHeader: messages that the SUT receives and that have no Header or no Body."""

from __future__ import annotations

import pytest

from harness.run.marks import covers
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

NO_TEXT = b""
"""A text without any WCHARs, not even a terminating null. Its length is 0, which is in the range of lengths."""


@pytest.mark.parametrize(
    ("header", "body"),
    [
        pytest.param(NO_TEXT, "<b/>", marks=covers("MQMQ-2.2.20.7-03"), id="no Header"),
        pytest.param("<a/>", NO_TEXT, marks=covers("MQMQ-2.2.20.7-06"), id="no Body"),
    ],
)
def test_message_with_soap_header_of_length_0_is_accepted(peer, sut, judge, header, body):
    """A message arrives whose SoapHeader has HeaderDataLength 0 or BodyDataLength 0, and a DebugHeader before it. The
    message is in its queue as it was sent.
    """
    label = f"soap {peer.next_message_id()}"
    packet = peer.recoverable_message(label=label, debug={}, soap={"Header": header, "Body": body})
    done = deliver_message(peer, packet, label)
    expected, observed = done.accepted_outcome, done.outcome
    if observed == expected and sut.has("receive"):
        found = next((one for one in sut.messages() if one["label"] == label), None)
        expected, observed = UNCHANGED_PROPERTIES_OUTCOME, describe_differences(done.frames[0], found, sut.guid)
    judge.all(expected=expected, observed=observed, evidence=done.frames)
