"""MS-MQQB 3.1.6.1 Session Retry Connect Timer Event, and what 3.1.5.9 and 3.1.7.3 say of connecting again."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.wire import session_ack
from suites.mqqb.sender import RETRY_MS, SET_UP, Sender, tags

AGAIN = "connected again after the retry time"


@pytest.mark.covers(
    "MQQB-3.1.5.9-04",
    "MQQB-3.1.6.1-01",
    "MQQB-3.1.6.1-03",
    "MQQB-3.1.6.1-10",
    "MQQB-3.1.7.3-01",
)
@pytest.mark.needs("send")
def test_initiator_connects_again_when_messages_are_left(peer, sut, judge):
    """After a lost connection the messages left come on a new session; with none left there is no new session.

    How long the retry time is, is judged only where it can be set (3.1.2.3 leaves it to the implementation).
    """
    if sut.has("set_timers"):
        sut.set_timers(session_retry_connect_ms=RETRY_MS)
    sender = Sender(peer, sut)
    sender.send(1, 2, 3)
    session = sender.session()
    if tags(sender.collect(session, 3)) != [1, 2, 3]:
        raise ConformanceFailure("the three messages did not come")
    ack = session.send(session_ack(AckSequenceNumber=1))
    session.close()

    again = sender.next_session()
    request = again.received[:1] if again else []
    for rule in ("MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01"):
        judge(rule, expected=AGAIN, observed=_reconnected(again, session, sut), evidence=[ack, *request])
    closed = "took the session for closed"
    observed = closed if again else "did nothing after the connection was lost"
    judge("MQQB-3.1.7.3-01", expected=closed, observed=observed, evidence=[ack, *request])
    observed = ", ".join(frame.kind for frame in again.received[:2]) if again else "not connected again"
    judge("MQQB-3.1.6.1-03", expected=", ".join(SET_UP), observed=observed or "nothing sent", evidence=[ack, *request])
    came = sorted(set(tags(sender.collect(again, 2)))) if again else []
    judge("MQQB-3.1.6.1-10", expected="messages [2, 3]", observed=f"messages {came}", evidence=[ack])
    if again is None:
        return

    ack = sender.acknowledge_all(again)
    again.close()
    stranger = sender.next_session(sut.duration_ms(2 * RETRY_MS) + sut.slack_ms(RETRY_MS))
    for rule in ("MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01"):
        judge(
            rule,
            expected="no new session with nothing left to send",
            observed="no new session with nothing left to send" if stranger is None else "a new session",
            evidence=[ack, *(stranger.received[:1] if stranger else [])],
        )


def _reconnected(again, session, sut):
    """Say when the SUT connected again after a session was lost."""
    if again is None:
        return "not connected again"
    if again.received and sut.has("set_timers"):
        took_ms, due_ms = again.received[0].time_ms - session.record.closed_at_ms, sut.duration_ms(RETRY_MS)
        if not due_ms * 4 // 5 <= took_ms <= due_ms + sut.slack_ms(RETRY_MS):
            return f"connected again after {took_ms} ms"
    return AGAIN
