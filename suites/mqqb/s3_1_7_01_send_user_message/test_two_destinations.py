"""MS-MQQB 3.1.7.1 Send User Message Event: a system that sends to two queue managers at the same time."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers("MQQB-3.1.7.1.6-01", "MQQB-3.1.7.1-10")
def test_messages_arrive_at_their_own_destination(peer, second_host, sut, judge):
    """The SUT sends express messages alternately to the peer and to a second queue manager at another address. Each
    queue manager receives its own messages and no other message.
    """
    two = TwoDestinations(peer, second_host, sut)
    for destination in (*two.both_destinations, *two.both_destinations):
        destination.send()
    for destination in two.both_destinations:
        came = destination.sender.collect_messages_until_silence(destination.session, len(destination.tags))
        judge(
            "MQQB-3.1.7.1.6-01",
            "MQQB-3.1.7.1-10",
            expected=holds(f"messages with the tags {destination.tags}"),
            observed=Sender.list_tags(came) == destination.tags or f"messages with the tags {Sender.list_tags(came)}",
            case=f"messages that arrive at the {destination.name}",
            evidence=came,
        )
        destination.session.acknowledge_all()
