"""MS-MQQB 3.1.7.1.1 General Processing, with 3.1.7.12: messages to two queues."""

from __future__ import annotations

from itertools import pairwise

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender


@needs("send")
@covers("MQQB-3.1.7.1.1-02", "MQQB-3.1.7.12-07")
def test_messages_to_two_queues_have_increasing_identifiers(peer, sut, judge):
    """The SUT sends messages 1 and 3 to one queue of the peer, and message 2 to a different queue. All three messages
    arrive, with increasing MessageIDs.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-one"))
    came = []
    for tag, queue in ((1, "mqc-one"), (2, "mqc-two"), (3, "mqc-one")):
        sender.to = peer.direct_name(queue)
        sender.send(tag)
        peer.inbox.wait(lambda frame, tag=tag: Sender.list_tags([frame]) == [tag])
        came += [frame for frame in peer.inbox.copies if Sender.list_tags([frame]) == [tag]][:1]
        peer.inbox.acknowledge()
    judge(
        "MQQB-3.1.7.12-07",
        expected=[1, 2, 3],
        observed=Sender.list_tags(came),
        case="numbers of the messages",
        evidence=came,
    )
    numbers = [int(frame["UserHeader"].MessageID) for frame in came]
    steps = [after - before & 0xFFFF_FFFF for before, after in pairwise(numbers)]
    judge(
        "MQQB-3.1.7.1.1-02",
        expected=holds("the MessageIDs of the messages increase"),
        observed=all(0 < step < 0x8000_0000 for step in steps) or str(numbers),
        evidence=came,
    )
