"""MS-MQMQ 2.2.20: the DebugHeader of messages that the SUT sends again on a new session."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.ordering import build_order_ack

TRACE_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000d9"
DELIVERIES = ("express", "recoverable", "transactional")


@needs("send")
@covers("MQMQ-2.2.20-06")
def test_message_sent_again_has_debug_header_with_dh(peer, sut, judge):
    """The SUT sends an express, a recoverable and a transactional message, which are traced. The peer closes the
    session without an acknowledgment, and the SUT sends the messages again. Each packet has DH set and contains a
    DebugHeader with the report queue.
    """
    outgoing = MessagesSentBySut(peer, sut)
    sent = [outgoing.send(body="traced", delivery=one, trace_queue=TRACE_QUEUE_GUID) for one in DELIVERIES]
    peer.inbox.conversation(sent[-1]).close()
    within_ms = sut.connect_timeout_ms + sut.response_timeout_ms
    peer.environment.run_until(
        lambda: len(peer.inbox.packets_with_possibly_malformed_messages) >= outgoing.seen + len(sent),
        within_ms,
    )
    again = peer.inbox.packets_with_possibly_malformed_messages[outgoing.seen :]
    if not again:
        raise ConformanceFailure("the SUT did not send its unacknowledged messages again")
    expected = fields(
        {"BaseHeader.Flags.DH": 1, "DebugHeader.Flags.QT": 1, "DebugHeader.QueueIdentifier": TRACE_QUEUE_GUID}
    )
    for case, frames in (("message", sent), ("message that is sent again", again)):
        for frame in frames:
            judge("MQMQ-2.2.20-06", expected=expected, observed=Layout(frame), case=case, evidence=frame)
    peer.inbox.acknowledge()
    peer.inbox.conversation(again[-1]).send(build_order_ack(peer, sent[-1]))
    peer.settle()
