"""MS-MQQB 3.1.5.4.2 Response Packet: the initiator stops the Session Initialization Timer of every session."""

from __future__ import annotations

import pytest

from harness.expectations import packet
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import INITIALIZATION_TIMER_MS, private_name
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message


@needs("timers")
@covers("MQQB-3.1.5.4.2-06")
@pytest.mark.parametrize("kind", ["opened again", pytest.param("private name", marks=needs("private_names"))])
def test_later_or_indirect_session_survives_initialization_timer(peer, sut, judge, kind):
    """A session has been open for longer than the Session Initialization Timer. The session is for a private name, or
    it follows an earlier session for the same name. The SUT sends its next message on this session.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    name = private_name(peer.identifier) if kind == "private name" else peer.direct_name()
    session = OutgoingSession(peer, sut, name)
    evidence = [session.open()]
    session.connection.acknowledge_all()
    if kind == "opened again":
        peer.settle()
        session.connection.close()
        peer.settle()
        make_sut_send_message(peer, sut, name, tag=2)
        evidence.append(session.open())
        session.connection.acknowledge_all()
    connection = session.connection
    peer.pass_time(sut.duration_ms(lasts_ms) + sut.slack_ms(lasts_ms))
    is_open = not connection.closed_by_sut
    make_sut_send_message(peer, sut, name, tag=3)
    message = connection.poll("UserMessage") if is_open else None
    judge(
        "MQQB-3.1.5.4.2-06",
        expected=packet("UserMessage"),
        observed=message or connection,
        case="next packet on the session",
        evidence=[*evidence, message],
    )
    if is_open:
        connection.acknowledge_all()
