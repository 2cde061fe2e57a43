"""Messages that the SUT hands on to another queue manager, where they are sent as they came (MS-MQQB 3.1.5.8.5)."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.messages import a_message
from suites.mqqb.steps.disposition import private_queue
from suites.mqqb.steps.opening import opened
from suites.mqqb.steps.sender import Sender

QUEUE = 1


def handed_on(peer: Peer, sut: Sut, **headers: Any) -> tuple[Frame, Frame]:
    """Send the SUT a message for a private queue of the peer; return it as it was sent and as it comes back."""
    sender = Sender(peer, sut)
    tag = peer.message_id() & 0xFFFF
    packet = a_message(peer, private_queue(peer.identifier, QUEUE), destination=None, ApplicationTag=tag, **headers)
    sent = opened(peer).send(packet)
    session = sender.session()
    came = [frame for frame in sender.collect(session, 1) if frame["MessagePropertiesHeader"].ApplicationTag == tag]
    sender.acknowledge_all(session)
    if not came:
        raise ConformanceFailure("the SUT did not hand the message on")
    return sent, came[0]
