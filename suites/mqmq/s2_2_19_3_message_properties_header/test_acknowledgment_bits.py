"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: the acknowledgments for which PA, PR, NA and NR ask."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    NOT_TRANSACTIONAL_Q,
    REACH_QUEUE,
    AcknowledgingReceiver,
    correlation,
    identifier,
    message_class,
)


@covers("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-03")
@pytest.mark.parametrize(
    ("queue", "expected"),
    [("transactional", [REACH_QUEUE]), ("plain", [NOT_TRANSACTIONAL_Q])],
    ids=["taken", "refused"],
)
def test_transactional_message_is_acknowledged_only_on_request(peer, sut, judge, queue, expected):
    """Two transactional messages arrive, one with PA and NA: it gets an acknowledgment of its arrival or refusal,
    and the other gets none.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequence = Sequence(peer)
    sent = [
        receiver.give(sequence.message(receiver.administered() if bits else {}, queue=queue, properties=bits))
        for bits in ({}, {"PA": 1, "NA": 1})
    ]
    came = receiver.await_acks(1)
    without, asking = ([message_class(ack) for ack in came if correlation(ack) == identifier(one)] for one in sent)
    found = {"without": without, "asking": asking}
    judge.all(expected=facts(without=[], asking=expected), observed=found, evidence=[*sent, *came])
    receiver.end()
