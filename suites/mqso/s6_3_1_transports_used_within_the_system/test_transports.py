"""MS-MQSO 6.3.1 Transports Used Within the System: messages to HTTP names."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender


@needs("send")
@covers("MQSO-6.3.1-01")
def test_message_to_http_name_is_not_sent_over_mqqb(peer, sut, judge):
    """A message to an HTTP name of the peer does not arrive on a session of MS-MQQB; a message to a direct TCP name
    arrives.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first(1)
    session.acknowledge_all()
    over_http = f"DIRECT=HTTP://{peer.address}/msmq/private$/mqc-peer"
    sut.attempt(sut.send, over_http, body="message 2", application_tag=2)
    frames = sender.collect_all(session, 2)
    other = sender.poll_session(sut.connect_timeout_ms)
    by_another = [] if other is None else Sender.tags(sender.collect_all(other, 1))
    delivered = sorted(
        {*Sender.tags(frames), *by_another}
    )  # the first may come again, where its acknowledgment was late
    judge(
        "MQSO-6.3.1-01", expected=[1], observed=delivered, evidence=frames, case="ApplicationTags of the sent messages"
    )
