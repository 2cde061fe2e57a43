"""MS-MQQB 3.1.7.13 Pause Queue Event: a pause beside a session with another queue manager."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.two_destinations import TwoDestinations

WAIT_FOR_MESSAGE_ARRIVAL_MS = 50
"""A time in ms within which sent messages arrive."""


@needs("send", "pause")
@covers("MQQB-3.1.7.13-04", "MQQB-3.1.7.13-06")
def test_ack_of_pause_has_counts_of_its_own_session(peer, second_host, sut, judge):
    """The SUT has sessions with the peer and with a second queue manager, on which it has sent different numbers of
    messages. An application pauses the queue for the peer: the SessionAck has the numbers of the session with the peer.
    """
    sut.limit_time_scale(1)
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((1, 3), delivery="recoverable")
    for destination in two.both_destinations:
        destination.session.acknowledge_all()
    session = two.first.session
    two.second.session.send(second_host.message())
    sent = [session.send(peer.recoverable_message()) for _ in range(2)]
    peer.pass_time(WAIT_FOR_MESSAGE_ARRIVAL_MS)
    if any(frame.kind == "SessionAck" for frame in session.received):
        raise ConformanceFailure("the SUT acknowledged the messages before its queue was paused")
    sut.pause(two.first.sender.to)
    ack = session.expect("SessionAck")
    for rule, name, expected in (
        ("MQQB-3.1.7.13-04", "RecoverableMsgAckSeqNumber", 1),
        ("MQQB-3.1.7.13-06", "RecoverableMsgSeqNumber", 1),
    ):
        judge(rule, expected=fields({f"SessionHeader.{name}": expected}), observed=ack, evidence=[*sent, ack])
    sut.resume(two.first.sender.to)
