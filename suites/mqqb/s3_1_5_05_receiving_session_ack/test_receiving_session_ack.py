"""MS-MQQB 3.1.5.5 Receiving a SessionAck Packet.

The folders of the subsections judge rules 03 to 07 of this section.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut
from harness.peer.conversation import Conversation
from harness.run.marks import covers, sut_survives
from harness.wire import session_ack
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.sender import Sender


@sut_survives()
@covers("MQQB-3.1.5.5-01")
@pytest.mark.parametrize("state", ["WAITING_EC_MSG", "WAITING_CP_MSG"])
def test_session_ack_before_open_session_closes_connection(peer, sut, judge, state):
    """The SUT accepts a SessionAck on an open session. When the same SessionAck arrives on a session that is not yet
    open, the SUT closes that session.
    """
    _require_acceptance_of_session_ack(peer.open_raw())
    early = peer.connect() if state == "WAITING_EC_MSG" else peer.request_session()
    sent = early.send(session_ack())
    judge(
        "MQQB-3.1.5.5-01", expected=connection_closed_by_sut(), observed=await_early_close(peer, early), evidence=[sent]
    )


@covers("MQQB-3.1.5.5-01")
@pytest.mark.parametrize(
    ("state", "answered_early"),
    [("WAITING_ECR_MSG", "EstablishConnectionHeader"), ("WAITING_CPR_MSG", "ConnectionParametersHeader")],
)
@sut_survives()
def test_session_ack_instead_of_a_response_closes_session(peer, sut, judge, state, answered_early):
    """The peer sends a SessionAck instead of a response on a session of the SUT. The SUT closes that session. On the
    next session of the SUT, which is open, the SUT accepts a SessionAck.
    """

    def replace_with_session_ack(packet: Any) -> Any:
        return session_ack() if packet.haslayer(answered_early) else packet

    sender = Sender(peer, sut)
    peer.change_packets_of_accepted_sessions(replace_with_session_ack)
    sender.send(1)
    early = peer.await_session()
    peer.change_packets_of_accepted_sessions(None)
    if early is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    asked = early.expect(answered_early.removesuffix("Header"))
    is_closed = judge(
        "MQQB-3.1.5.5-01",
        expected=connection_closed_by_sut(),
        observed=await_early_close(peer, early),
        evidence=[asked, early.last],
    )
    judge.conclude()
    if is_closed:
        later = sender.await_session()
        later.expect("UserMessage")
        _require_acceptance_of_session_ack(later)
        later.acknowledge_all()


def _require_acceptance_of_session_ack(session: Conversation) -> None:
    """Send the SessionAck on an open session; raise ConformanceFailure unless the SUT accepts it."""
    session.send(session.build_session_ack())
    session.require_session_ack_for_message()
