"""MS-MQMQ 2.2.18.1.5.2 DirectQueueFormatName: the queue names in the acknowledgments that the SUT sends."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.disposition import ADMINISTRATION_QUEUE_NAME, AcknowledgingReceiver

ACK_REACH_QUEUE_CLASS = 2
DIRECT_QUEUE_TYPE = 7


@needs("queues")
@covers("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02")
@pytest.mark.parametrize("length", [0, 1], ids=["odd", "even"])
def test_direct_names_in_acknowledgment_have_count_terminator_and_padding(peer, sut, judge, length):
    """The peer sends a message to the direct name of a queue, with a direct name of its own as administration queue. In
    the SUT's acknowledgment, the names of the destination and of the response queue have the count of their bytes,
    their null and their padding, so that the fields after them follow.
    """
    queue = sut.new_queue("acknowledged" + "x" * length)
    receiver = AcknowledgingReceiver(peer, sut)
    name = rf"TCP:{sut.address}\{queue}"
    sent = receiver.send_packet(receiver.build_message(properties={"PA": 1}, destination=name))
    peer.eventually(lambda: bool(peer.inbox.packets_with_possibly_malformed_messages))
    if not peer.inbox.packets_with_possibly_malformed_messages:
        raise ConformanceFailure("the SUT sent no acknowledgment")
    frame = peer.inbox.packets_with_possibly_malformed_messages[0]
    observed = Layout(frame)
    expected = {
        "UserHeader.DestinationQueue": rf"tcp:{peer.address}\private$\{ADMINISTRATION_QUEUE_NAME}".lower() + "\0",
        "MessagePropertiesHeader.MessageClass": ACK_REACH_QUEUE_CLASS,
        "bytes after the last header": 0,
    }
    if observed.fields.get("UserHeader.Flags.RQ") == DIRECT_QUEUE_TYPE:
        expected["UserHeader.ResponseQueue"] = name.lower() + "\0"
    judge.all(expected=fields(expected), observed=observed, evidence=[sent, frame])
