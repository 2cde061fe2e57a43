"""Messages that the SUT hands on to another queue manager, where they are sent as they came (MS-MQQB 3.1.5.8.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.party import NONE
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.disposition import private_queue

QUEUE = 1
TAG = "MessagePropertiesHeader.ApplicationTag"


def handed_on(peer: Peer, sut: Sut, user: Mapping[str, Any] = NONE, **headers: Any) -> tuple[Frame, Frame]:
    """Send the SUT a message for a private queue of the peer; return it as it was sent and as it comes back.

    A message without any optional header goes before it. It comes on a session that the SUT opens, or on the one that
    is open already (E16), and need be no packet.
    """
    peer.listen(ignore_incoming=True)
    plain, tag = (peer.message_id() & 0xFFFF for _ in range(2))
    to = private_queue(peer.identifier, QUEUE)
    connection = peer.open_raw()
    connection.send(peer.message(to, destination=None, ApplicationTag=plain))
    packet = peer.message({**to, **user}, destination=None, ApplicationTag=tag, **headers)
    sent = connection.send(packet)

    def came() -> list[Frame]:
        return [frame for frame in peer.inbox.pieces if Layout(frame).fields.get(TAG) == tag]

    peer.environment.run_until(lambda: bool(came()), sut.connect_timeout_ms + sut.response_timeout_ms)
    peer.inbox.acknowledge()
    if not came():
        raise ConformanceFailure("the SUT did not hand the message on")
    return sent, came()[0]
