"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: an OrderAck concerns only the sequence that it names."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import FIRST_RESEND_MS
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers("MQQB-3.1.5.6-09", "MQQB-3.1.5.6-13", "MQQB-3.1.6.5-01")
def test_order_ack_of_one_destination_leaves_sequence_of_other_unacknowledged(peer, second_host, sut, judge):
    """The SUT sends two transactional messages to the peer and two to a second queue manager. Both acknowledge them on
    the session, but only the peer sends an OrderAck. Later, the SUT resends both messages to the second queue manager,
    and none to the peer.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_alternately((2, 2), delivery="transactional")
    acknowledged = [destination.session.acknowledge_all() for destination in two.both]
    order_ack = two.first.session.send(build_order_ack(peer, two.first.session.messages[-1]))
    within_ms = 2 * sut.duration_ms(FIRST_RESEND_MS) + sut.slack_ms(FIRST_RESEND_MS)

    def list_resent_tags(destination) -> list[int]:
        return Sender.tags(destination.peer.inbox.copies)[len(destination.tags) :]

    peer.environment.run_until(lambda: len(list_resent_tags(two.second)) >= len(two.second.tags), within_ms)
    peer.settle()
    judge(
        "MQQB-3.1.5.6-09",
        "MQQB-3.1.6.5-01",
        expected=holds("both messages are resent to the second queue manager, which sent no OrderAck"),
        observed=list_resent_tags(two.second)[:2] == two.second.tags or f"resent: tags {list_resent_tags(two.second)}",
        evidence=[*acknowledged, order_ack, *second_host.inbox.copies],
    )
    judge(
        "MQQB-3.1.5.6-13",
        "MQQB-3.1.6.5-01",
        expected=holds("no message is resent to the peer, which sent an OrderAck"),
        observed=not list_resent_tags(two.first) or f"resent: tags {list_resent_tags(two.first)}",
        evidence=[*acknowledged, order_ack, *peer.inbox.copies],
    )
    for destination in two.both:
        if not destination.session.closed_by_sut:
            destination.acknowledge_transactional()
