"""Messages that the SUT forwards unchanged to another queue manager (MS-MQQB 3.1.5.8.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.disposition import private_queue

DESTINATION_QUEUE_NUMBER = 1
APPLICATION_TAG_FIELD, MESSAGE_ID_FIELD = "MessagePropertiesHeader.ApplicationTag", "UserHeader.MessageID"


def forward_message(
    peer: Peer, sut: Sut, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **headers: Any
) -> tuple[Frame, Frame]:
    """Send the SUT a message for a private queue of the peer; return the sent and the forwarded message, whose bytes
    may be malformed.

    A message without optional headers is sent first. The SUT may forward the message on a new session or on the open
    session (E16). Raise ConformanceFailure if the SUT forwards no message.
    """
    sent, forwarded = send_for_forwarding(peer, sut, user, **headers)
    if forwarded is None:
        raise ConformanceFailure("the SUT did not forward the message")
    return sent, forwarded


def send_for_forwarding(
    peer: Peer, sut: Sut, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **headers: Any
) -> tuple[Frame, Frame | None]:
    """Send a message as ``forward_message`` does. Return the sent message and the message that the SUT forwards to the
    peer, or None instead of the latter if the peer gets no message.
    """
    if not peer.listens:
        peer.listen(ignore_incoming=True)
    first_tag, tag = (peer.next_message_id() & 0xFFFF for _ in range(2))
    to = private_queue(peer.identifier, DESTINATION_QUEUE_NUMBER)
    connection = peer.open_raw()
    connection.send(peer.message(to, destination=None, ApplicationTag=first_tag))
    packet = peer.message({**to, **user}, destination=None, ApplicationTag=tag, **headers)
    sent = connection.send(packet)
    number = sent["UserHeader"].MessageID

    def list_forwarded_frames() -> list[Frame]:
        return [
            frame
            for frame in peer.inbox.packets_with_possibly_malformed_messages
            if Layout(frame).fields.get(APPLICATION_TAG_FIELD) == tag
            or Layout(frame).fields.get(MESSAGE_ID_FIELD) == number
        ]

    peer.environment.run_until(lambda: bool(list_forwarded_frames()), sut.connect_timeout_ms + sut.response_timeout_ms)
    peer.inbox.acknowledge()
    return sent, next(iter(list_forwarded_frames()), None)
