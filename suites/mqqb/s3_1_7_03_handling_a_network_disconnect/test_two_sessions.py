"""MS-MQQB 3.1.7.3 Handling a Network Disconnect: the loss of one connection concerns only its own session."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers(
    "MQQB-3.1.7.3-01",
    "MQQB-3.1.7.1.6-03",
    "MQQB-3.1.5.9-D02",
    "MQQB-3.1.5.9-03",
)
def test_loss_of_one_connection_leaves_other_session_open(peer, second_host, sut, judge):
    """The SUT sends messages to the peer and to a second queue manager, which acknowledges them. The peer closes its
    connection. The session with the second queue manager stays open: the next message arrives on this session.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((2, 2), delivery="recoverable")
    open_session = two.second.session
    open_session.acknowledge_all()
    peer.settle()
    two.first.session.close()
    peer.settle()
    if sut.has("queue_control"):
        judge(
            "MQQB-3.1.7.1.6-03",
            "MQQB-3.1.5.9-03",
            expected="Connected",
            observed=sut.outgoing(two.second.sender.to)["state"],
            case="State of the queue to the second queue manager after the loss of the peer's connection",
            evidence=open_session.messages,
        )
    else:
        reason = "the SUT does not show the State of its queue"
        judge.mark_not_exercised("MQQB-3.1.7.1.6-03", "MQQB-3.1.5.9-03", reason=reason)
    two.second.send(delivery="recoverable")
    copies = second_host.inbox.wait(lambda frame: two.second.tags[-1] in Sender.list_tags([frame]))
    peer.settle()
    arrived = any(frame.connection is open_session.record for frame in copies)
    missed = "the SUT closed the session" if open_session.closed_by_sut else "no message arrived on the session"
    judge(
        "MQQB-3.1.7.3-01",
        "MQQB-3.1.5.9-D02",
        expected=holds("the session with the second queue manager is open, and the next message arrives on it"),
        observed=(arrived and not open_session.closed_by_sut) or missed,
        evidence=[*two.first.session.sent, *copies],
    )
    if not open_session.closed_by_sut:
        open_session.acknowledge_all()
    again = two.first.sender.poll_session()
    if again is not None:
        two.first.sender.collect_messages(again, 2)
        again.acknowledge_all()
