"""MS-MQQB 3.1.5.9 Closing a Session. That an initiator connects again is judged with 3.1.6.1."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import opened, text
from suites.mqqb.steps.sender import Sender, eventually


@covers("MQQB-3.1.5.9-02")
@needs("inspect")
def test_closed_session_is_in_state_closed(peer, sut, judge):
    """A session that is OPEN, and that a SessionAck with wrong counts closes, is CLOSED (or gone) afterwards."""

    def states() -> list[str]:
        return [
            one["SessionState"]
            for one in sut.inspect()["Sessions"]
            if one["role"] == "acceptor" and text(one["RemoteQMGuid"]) == text(peer.identifier)
        ]

    session = opened(peer)
    if "OPEN" not in states():
        raise ConformanceFailure("the SUT shows no session in state OPEN after its ConnectionParameters response")
    wrong = session.send(session_ack(UserMsgSequenceNumber=0x7FFF))
    if not session.wait_closed():
        raise ConformanceFailure("the SUT did not close the session on wrong message counts")
    eventually(peer, lambda: set(states()) <= {"CLOSED"})
    judge(
        "MQQB-3.1.5.9-02",
        expected="CLOSED",
        observed=", ".join(sorted(set(states()))) or "CLOSED",
        evidence=[wrong],
    )


@covers("MQQB-3.1.5.9-03")
@needs("queue_control")
def test_outgoing_queue_of_a_closed_session_is_disconnected(peer, sut, judge):
    """The outgoing queue is Connected while the session is open, and Disconnected once the session was closed."""
    sender = Sender(peer, sut)

    def state() -> str:
        found = [one for one in sut.control.call("list")["outgoing"] if one["format_name"].lower() == sender.to.lower()]
        return str(found[0]["state"]) if found else "not listed"

    sender.send(1)
    session, _ = sender.first(1)
    before = state()
    ack = sender.acknowledge_all(session)
    session.close()
    eventually(peer, lambda: state() == "Disconnected")
    judge(
        "MQQB-3.1.5.9-03",
        expected="Connected, then Disconnected",
        observed=f"{before}, then {state()}",
        evidence=[ack],
    )
