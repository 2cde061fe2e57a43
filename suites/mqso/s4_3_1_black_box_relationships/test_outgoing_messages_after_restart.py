"""MS-MQSO 4.3.1.2: acknowledged messages of an outgoing queue after a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender


@needs("send", "queue_control", "restart")
@covers("MQSO-4.3.1.2-D05")
def test_acknowledged_messages_are_not_sent_after_restart(peer, sut, judge):
    """The peer acknowledges a recoverable message and two transactional messages of the SUT. After a restart, the
    outgoing queue of the SUT contains no message, and the SUT sends none of these messages again.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-acknowledged"))
    for tag, delivery in enumerate(("recoverable", "transactional", "transactional"), 1):
        sender.send(tag, delivery=delivery)
    session, frames = sender.await_first_messages(3)
    session.acknowledge_all()
    ordered = [frame for frame in frames if frame["UserHeader"].TH]
    evidence = [*frames, session.send(build_order_ack(peer, ordered[-1]))]
    if not peer.eventually(lambda: sut.outgoing_queue(sender.to)["count"] == 0):
        raise ConformanceFailure("the outgoing queue still contains acknowledged messages")
    peer.settle()
    sut.restart()
    again = sender.poll_session(sut.connect_timeout_ms)
    sent = [] if again is None else sender.collect_messages(again, 1)
    observed = {
        "ApplicationTags_of_the_sent_messages": Sender.list_tags(sent),
        "number_of_waiting_messages": sut.outgoing_queue(sender.to)["count"],
    }
    expected = facts(ApplicationTags_of_the_sent_messages=[], number_of_waiting_messages=0)
    judge.all(expected=expected, observed=observed, evidence=evidence)
    if again is not None:
        again.acknowledge_all()
