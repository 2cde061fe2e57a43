"""MS-MQMQ 2.2.19.2 UserHeader: messages whose administration queue and response queue are the same queue."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut


@needs("send")
@covers("MQMQ-2.2.19.2-32", "MQMQ-2.2.19.2-35")
@pytest.mark.parametrize("form", ["direct", "public", "private", "own"])
def test_message_with_equal_queues_contains_queue_of_each_flag(peer, sut, judge, form):
    """The SUT sends a message whose administration queue and response queue are the same queue. If AQ and RQ announce
    the same form of name, the packet contains both AdminQueue and ResponseQueue, with the same value.
    """
    queue = {
        "direct": peer.direct_name("mqc-both"),
        "public": f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}",
        "private": rf"PRIVATE={GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE}\0000001A",
        "own": rf"PRIVATE={sut.guid}\0000001A",
    }[form]
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(body="both", admin_queue=queue, response_queue=queue, acks=["negative_arrival"])
    outgoing.end()
    layout = Layout(frame).of(*(f"UserHeader.{one}" for one in ("Flags.AQ", "Flags.RQ", "AdminQueue", "ResponseQueue")))
    aq, rq, admin, response = layout.values()
    if aq != rq:
        judge.give_up(Verdict.NOT_EXERCISED, f"the queues have different forms: AQ is {aq}, and RQ is {rq}")
        return
    expected = holds("the packet contains the queue twice", otherwise="the queues differ or are missing")
    judge.all(expected=expected, observed=bool(aq) and ABSENT_FIELD != admin == response, evidence=frame)
