"""MS-MQSO 6.3.1 Transports Used Within the System: messages to HTTP and HTTPS names."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender

DIRECT_TCP_MESSAGE_TAG = 1
DELIVERY_MODES = ("express", "recoverable", "transactional")


@needs("send", "private_names")
@covers("MQSO-6.3.1-01")
def test_message_to_private_name_is_sent_over_mqqb(peer, sut, judge):
    """The SUT sends a message to a private format name of the peer. The message arrives on a session of MS-MQQB."""
    sender = Sender(peer, sut, peer.build_private_format_name_of_peer())
    sender.send(DIRECT_TCP_MESSAGE_TAG)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages(session, 1)
    judge(
        "MQSO-6.3.1-01",
        expected=[DIRECT_TCP_MESSAGE_TAG],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the messages on a session",
    )
    if session is not None:
        session.acknowledge_all()


@needs("send")
@covers("MQSO-6.3.1-01")
def test_message_to_http_name_is_not_sent_over_mqqb(peer, sut, judge):
    """Messages of each kind to HTTP and HTTPS names of the peer, with and without a port, do not arrive on a session of
    MS-MQQB. A message to a direct TCP name arrives.
    """
    sender = Sender(peer, sut)
    sender.send(DIRECT_TCP_MESSAGE_TAG)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    ports = {"HTTP": "", "http": ":80", "HTTPS": "", "https": ":443"}
    ways = [
        (f"DIRECT={scheme}://{peer.address}{port}/msmq/{path}", delivery)
        for (scheme, port), path in zip(ports.items(), ("private$/mqc-peer", "mqc-peer") * 2, strict=True)
        for delivery in DELIVERY_MODES
    ]
    names = dict(enumerate(ways, DIRECT_TCP_MESSAGE_TAG + 1))
    for tag, (name, delivery) in names.items():
        sut.attempt(sut.send, name, body=f"message {tag}", application_tag=tag, delivery=delivery)
    frames = sender.collect_messages_until_silence(session, len(frames) + 1)
    for _ in ways:
        other = sender.poll_session(sut.connect_timeout_ms)
        if other is None:
            break
        frames = [*frames, *sender.collect_messages_until_silence(other, 1)]
        other.acknowledge_all()
    over_mqqb = [f"{name} ({delivery})" for tag, (name, delivery) in names.items() if tag in Sender.list_tags(frames)]
    judge(
        "MQSO-6.3.1-01",
        expected=none("message to an HTTP name that arrives over MS-MQQB"),
        observed=over_mqqb,
        evidence=frames,
    )
