"""MS-MQQB 3.1.1.6.1 Session Acknowledgment: the causes of a second SessionAck on a session of either side."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers
from suites.mqqb.steps.outgoing_session import await_session_of_sut

WINDOW_SIZE = 8
COUNT_OF_FULL_WINDOWS_TO_SEND = 3
LONG_ACK_TIMEOUT_MS = 120_000
"""An AckTimeout in ms that is so long that only full windows are acknowledged."""
GREATEST_TIMER_SPEED_UP = 2
"""The greatest speed-up of timers at which LONG_ACK_TIMEOUT_MS is still long enough for the check."""


@covers("MQQB-3.1.1.6.1-D01")
def test_each_full_window_is_acknowledged(peer, sut, judge):
    """The peer fills its window of eight messages three times. If the SUT acknowledges the first window before its
    timer expires, it also acknowledges the later windows.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    session = peer.open_raw(WindowSize=WINDOW_SIZE, AckTimeout=LONG_ACK_TIMEOUT_MS)
    for window in range(1, COUNT_OF_FULL_WINDOWS_TO_SEND + 1):
        sent = [session.send(peer.message()) for _ in range(WINDOW_SIZE)]
        ack = _poll_session_ack_of_message_count(session, window * WINDOW_SIZE)
        if window == 1:
            if ack is None:
                reason = "the SUT does not acknowledge a full window before its timer expires"
                judge.mark_not_exercised("MQQB-3.1.1.6.1-D01", reason=reason, evidence=sent)
                return
            continue
        judge(
            "MQQB-3.1.1.6.1-D01",
            expected=holds("the SUT acknowledges the full window", otherwise="no SessionAck of the full window"),
            observed=ack is not None,
            case=f"window {window}",
            evidence=[*sent, ack],
        )


@covers("MQQB-3.1.1.6.1-D01")
@pytest.mark.parametrize("opened_by", ["peer", "SUT"])
def test_messages_of_each_kind_are_acknowledged_in_turn(peer, sut, judge, opened_by):
    """On a session that the peer or the SUT opened, the peer sends a recoverable message, an express message and a
    recoverable message; it sends each message only after the preceding one has been acknowledged. The SUT acknowledges
    each message when the Session Ack Send Timer expires.
    """
    sut.limit_time_scale(10)
    session = await_session_of_sut(peer, sut) if opened_by == "SUT" else peer.open_raw(AckTimeout=ACK_TIMEOUT_MS)
    timeout_ms = int(
        session.connection_parameters_of_sut.AckTimeout
    )  # on a session of the SUT, the SUT chooses AckTimeout
    within_ms = sut.duration_ms(timeout_ms) + sut.slack_ms(timeout_ms)
    for number, build in enumerate((peer.recoverable_message, peer.message, peer.recoverable_message), 1):
        sent = session.send(build())
        ack = _poll_session_ack_of_message_count(session, number, within_ms)
        judge(
            "MQQB-3.1.1.6.1-D01",
            expected=holds("the SUT acknowledges the message", otherwise="no SessionAck of the message"),
            observed=ack is not None,
            case=f"message {number} on a session of the {opened_by}",
            evidence=[sent, ack],
        )
        if ack is None:
            return


def _poll_session_ack_of_message_count(session, count: int, within_ms: int | None = None):
    """Wait for the SessionAck that acknowledges the given number of messages."""
    return session.poll(
        "SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == count, within_ms=within_ms
    )
