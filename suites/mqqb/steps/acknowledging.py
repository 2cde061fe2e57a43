"""Steps with which the peer acknowledges messages of the SUT, in each kind of packet that can contain a
SessionHeader.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.peer.conversation import USER_MESSAGE_KIND, Conversation

SESSION_ACK_AS_HEADER_CARRIER, MESSAGE_AS_HEADER_CARRIER = "SessionAck", "message"
"""The kinds of packets of the peer that can contain a SessionHeader."""


def send_session_header_in_carrier(carrier: str, session: Conversation, **header: Any) -> Frame:
    """Send a SessionHeader in a SessionAck, or in a new express message to the plain queue."""
    count = sum(frame.kind == USER_MESSAGE_KIND for frame in session.sent)
    if carrier == SESSION_ACK_AS_HEADER_CARRIER:
        return session.send(session.build_session_ack(**{"UserMsgSequenceNumber": count, **header}))
    counted = {"UserMsgSequenceNumber": count + 1, "WindowSize": 64}
    return session.send(session.peer.message(session=counted | header))
