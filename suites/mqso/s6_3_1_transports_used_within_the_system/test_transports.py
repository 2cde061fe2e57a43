"""MS-MQSO 6.3.1 Transports Used Within the System."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender, tags


@needs("send")
@covers("MQSO-6.3.1-01")
def test_what_is_for_http_does_not_come_by_the_binary_protocol(peer, sut, judge):
    """A queue manager sends a message for an HTTP name by no session of MS-MQQB."""
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.first(1)
    sender.acknowledge_all(session)
    over_http = f"DIRECT=HTTP://{peer.address}/msmq/private$/mqc-peer"
    sut.attempt(sut.send, over_http, body="message 2", application_tag=2)
    came = sender.collect_all(session, 2)
    other = sender.next_session(sut.connect_timeout_ms)
    by_another = [] if other is None else tags(sender.collect_all(other, 1))
    brought = sorted({*tags(came), *by_another})  # the first may come again, where its acknowledgment was late
    judge("MQSO-6.3.1-01", expected=[1], observed=brought, evidence=came)
