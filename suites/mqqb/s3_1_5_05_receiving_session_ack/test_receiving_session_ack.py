"""MS-MQQB 3.1.5.5 Receiving a SessionAck Packet. The steps 03 to 07 are judged where their subsections are."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import closed
from harness.peer.conversation import Conversation
from harness.peer.inbox import acknowledging
from harness.run.marks import covers, sut_survives
from harness.wire import session_ack
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.sender import Sender


@sut_survives()
@covers("MQQB-3.1.5.5-01")
@pytest.mark.parametrize("state", ["WAITING_EC_MSG", "WAITING_CP_MSG"])
def test_session_ack_before_the_acceptor_is_open_closes_the_session(peer, sut, judge, state):
    """A SessionAck that an open session takes ends one that is still being set up."""
    _accepted_when_open(peer.open_raw())
    early = peer.connect() if state == "WAITING_EC_MSG" else peer.request_session()
    sent = early.send(session_ack())
    judge("MQQB-3.1.5.5-01", expected=closed(), observed=await_early_close(peer, early), evidence=[sent])


@covers("MQQB-3.1.5.5-01")
@pytest.mark.parametrize(
    ("state", "answered_early"),
    [("WAITING_ECR_MSG", "EstablishConnectionHeader"), ("WAITING_CPR_MSG", "ConnectionParametersHeader")],
)
@sut_survives()
def test_session_ack_before_the_initiator_is_open_closes_the_session(peer, sut, judge, state, answered_early):
    """An initiator that gets a SessionAck in place of a response closes; later, on an open session, it takes it."""

    def ack_instead(packet: Any) -> Any:
        return session_ack() if packet.haslayer(answered_early) else packet

    sender = Sender(peer, sut)
    peer.tamper_accepted(ack_instead)
    sender.send(1)
    early = peer.await_session()
    peer.tamper_accepted(None)
    if early is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    asked = early.expect(answered_early.removesuffix("Header"))
    kept = judge(
        "MQQB-3.1.5.5-01", expected=closed(), observed=await_early_close(peer, early), evidence=[asked, early.last]
    )
    judge.conclude()
    if kept:
        later = sender.session()
        later.expect("UserMessage")
        _accepted_when_open(later)
        sender.acknowledge_all(later)


def _accepted_when_open(session: Conversation) -> None:
    """Show that the same SessionAck is no reason to close where it belongs."""
    session.send(acknowledging(session))
    session.check_alive()
