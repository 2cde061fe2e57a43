"""A connection on which the peer sends no packet, for the checks of MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import list_accepted_sessions


def open_connection_without_packets(peer: Peer, sut: Sut) -> dict[str, Any]:
    """Connect without sending a packet; return the session that the SUT shows for the connection."""
    known = len(list_accepted_sessions(sut))
    peer.connect()
    for _ in range(20):
        found = list_accepted_sessions(sut)
        if len(found) > known:
            return found[-1]
        peer.pass_time(max(1, sut.response_timeout_ms // 20))
    raise ConformanceFailure("the SUT shows no session for a new connection")
