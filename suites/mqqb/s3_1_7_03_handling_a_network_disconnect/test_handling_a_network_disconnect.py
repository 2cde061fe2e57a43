"""MS-MQQB 3.1.7.3 Handling a Network Disconnect. The checks of 3.1.6.1 also judge the loss of an open session."""

from __future__ import annotations

import pytest

from harness.expectations import holds, none
from harness.peer.handshake import establish_request
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import list_accepted_sessions
from suites.mqqb.steps.outgoing_session import OutgoingSession

RETRY_INTERVAL_MS = 5_000
"""The default duration of the Session Retry Connect Timer in ms (note <45>)."""


@covers("MQQB-3.1.7.3-01")
@pytest.mark.parametrize("state", ["WAITING_ECR_MSG", "WAITING_CPR_MSG"])
def test_initiator_connects_again_after_loss_during_set_up(peer, sut, judge, state):
    """The peer drops the connection of the SUT before the session is open. The SUT connects again after the retry time,
    and does not wait for the expiry of the Session Initialization Timer.
    """
    outgoing = OutgoingSession(peer, sut)
    request = outgoing.await_request()
    if state == "WAITING_CPR_MSG":
        outgoing.respond()
    outgoing.connection.close()
    again = outgoing.poll_request(2 * sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    judge(
        "MQQB-3.1.7.3-01",
        expected=holds("the SUT connected again"),
        observed=again is not None or "not connected again",
        evidence=[request, again],
    )


@covers("MQQB-3.1.7.3-01")
@needs("inspect")
@pytest.mark.parametrize("state", ["OPEN", "WAITING_CP_MSG"])
def test_acceptor_closes_session_of_lost_connection(peer, sut, judge, state):
    """The peer has two sessions, and drops the connection of one session, which is open or waits for
    ConnectionParameters. The SUT then shows only one session of the peer, and acknowledges a message on that session.
    """
    session, beside = peer.open_raw() if state == "OPEN" else peer.connect(), peer.open_raw()
    if state != "OPEN":
        session.send(establish_request(peer))
        session.poll("EstablishConnection")
    before = len(list_accepted_sessions(sut))
    session.close()
    peer.eventually(lambda: len(list_accepted_sessions(sut)) < before)
    left = list_accepted_sessions(sut)[before - 1 :]
    judge(
        "MQQB-3.1.7.3-01",
        expected=none("session of the lost connection"),
        observed=[one["SessionState"] for one in left],
        evidence=[session.last],
    )
    beside.require_session_ack_for_message()
