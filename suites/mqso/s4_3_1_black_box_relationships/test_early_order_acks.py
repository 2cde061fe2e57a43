"""MS-MQSO 4.3.1.2: OrderAcks that arrive before the session acknowledgments of their messages."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import SequenceSentBySut


@needs("send", "queue_control")
@covers("MQSO-4.3.1.2-D05")
@pytest.mark.parametrize("count", [1, 3])
def test_order_ack_before_session_ack_removes_messages(peer, sut, judge, count):
    """The SUT sends transactional messages. The peer sends the OrderAck of the last message first, and the SessionAck
    afterwards. The SUT then removes all messages from its outgoing queue. The same holds for later messages.
    """
    outgoing = SequenceSentBySut(peer, sut, f"mqc-early-order-ack-{count}")

    def count_outgoing_messages() -> int:
        return sut.outgoing_queue(outgoing.to)["count"]

    counts, evidence = [], []
    for times in (1, 2):
        evidence += outgoing.send(count)
        counts.append(count_outgoing_messages())
        evidence.append(outgoing.send_order_ack(times * count))
        peer.settle()
        evidence.append(outgoing.send_session_ack())
        peer.eventually(lambda: count_outgoing_messages() == 0)
        counts.append(count_outgoing_messages())
    judge(
        "MQSO-4.3.1.2-D05",
        expected=[count, 0, count, 0],
        observed=counts,
        evidence=evidence,
        case="number of messages in the outgoing queue before and after each pair of acknowledgments",
    )
    outgoing.acknowledge_all()
