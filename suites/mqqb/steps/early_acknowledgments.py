"""Steps in which the peer sends an acknowledgment on a session that the SUT opens, before the session is open."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.peer.conversation import Conversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.outgoing_session import OutgoingSession


def send_packet_before_session_of_sut_is_open(
    peer: Peer, sut: Sut, packet: Any, *, answered: bool
) -> tuple[Conversation, list[Frame | None]]:
    """Let the SUT open a session, and send a packet on its connection before the session is open; return the
    conversation and the packets.

    ``answered``: whether the peer first answers the SUT's EstablishConnection, so that the SUT waits for
    ConnectionParameters.
    """
    outgoing = OutgoingSession(peer, sut)
    outgoing.await_request()
    if answered:
        outgoing.respond()
    peer.open_raw().require_session_ack_for_message()
    sent = outgoing.connection.send(packet)
    return await_early_close(peer, outgoing.connection), [outgoing.request, sent, outgoing.connection.last]
