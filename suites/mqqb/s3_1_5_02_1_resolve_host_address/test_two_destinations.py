"""MS-MQQB 3.1.5.2.1 Resolve Host Address: sessions with two queue managers at different addresses."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers("MQQB-3.1.5.2.1-01", "MQQB-3.1.5.2.1-34")
def test_initiator_connects_to_each_destination(peer, second_host, sut, judge):
    """The SUT has an open session with the peer, and then sends a message to a second queue manager at another address:
    the SUT connects to that address.
    """
    two = TwoDestinations(peer, second_host, sut)
    for destination in two.both:
        destination.send()
        session = destination.sender.poll_session()
        judge.all(
            expected=holds(f"the SUT opens a session with the {destination.name}"),
            observed=session is not None or "no session",
            case=f"message to the {destination.name}",
            evidence=[] if session is None else session.received[:1],
        )
        if session is not None:
            session.acknowledge_all()
