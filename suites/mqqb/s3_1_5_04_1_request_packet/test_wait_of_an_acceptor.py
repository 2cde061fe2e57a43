"""MS-MQQB 3.1.5.4.1 Request Packet: the Session Ack Wait Timer of an acceptor.

The acceptor sends FinalAcks on the session that it accepted, unless it opens a separate session for them (E16).
"""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers
from harness.wire import session_ack
from suites.messages import Sequence
from suites.mqqb.steps.outgoing_session import OutgoingSession

ACK_TIMEOUTS_MS = (20_000, 30_000)
LONG_ACK_TIMEOUT_MS = 70_000
"""An AckTimeout that is measured only if the timers of the SUT can be accelerated."""
ACK_TIMEOUT_OF_OTHER_SESSIONS_MS = 90_000
"""The AckTimeout of another session, which is open beside the last measured session."""
LONGEST_WAIT_IN_TIMEOUTS = 8
"""The number of AckWaitTimeouts for which the check waits for the end of a session."""
TOLERANCE_IN_TIMEOUTS = 0.25
"""The tolerance of a measured time, in AckWaitTimeouts."""


def _measure_final_ack_wait(peer, listener, ordinal, timeout_ms, *, beside):
    """Leave a FinalAck unacknowledged. Return how long its session stays open, the AckTimeout, and the packets.
    ``beside``: whether a session with another AckTimeout is open.
    """
    unit_ms = peer.sut.duration_ms(timeout_ms)
    connection = peer.open_raw(AckTimeout=timeout_ms)
    other = peer.open_raw(AckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS) if beside else None
    sent = connection.send(Sequence(peer, ordinal).message(queue="plain"))
    final = connection.poll("UserMessage")
    if final is None:
        if other is None:
            return None, unit_ms, [sent]
        connection.close()  # the SUT may send its FinalAcks on the session that was opened last
        other.close()
        return _measure_final_ack_wait(peer, listener, ordinal, timeout_ms, beside=False)
    connection.wait_closed(int((LONGEST_WAIT_IN_TIMEOUTS + TOLERANCE_IN_TIMEOUTS) * unit_ms))
    ended = connection.record.closed_at_ms
    if ended is not None:  # the FinalAck comes again
        session = OutgoingSession(peer, peer.sut, listener=listener)
        session.open()
        again = session.connection
        again.send(session_ack(AckSequenceNumber=1, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=1))
        peer.settle()
        again.close()
    until = final.time_ms + (LONGEST_WAIT_IN_TIMEOUTS + 1) * unit_ms if ended is None else ended
    return peer.measure_duration(final, until), unit_ms, [sent, final]


@covers("MQQB-3.1.5.4.1-03", "MQQB-3.1.2.4-01")
def test_acceptor_waits_multiple_of_the_requested_ack_timeout(peer, sut, judge):
    """Sessions have an AckTimeout of 20 s, of 30 s and, if the SUT's timers can be accelerated, of 70 s. The peer
    acknowledges nothing. The SUT closes each session after the same whole number of AckTimeouts.
    """
    listener = peer.listen_without_core()
    waits, evidence = [], []
    timeouts_ms = (*ACK_TIMEOUTS_MS, *([LONG_ACK_TIMEOUT_MS] if sut.has("set_timers") else []))
    for ordinal, timeout_ms in enumerate(timeouts_ms, 1):
        wait, unit_ms, packets = _measure_final_ack_wait(
            peer, listener, ordinal, timeout_ms, beside=ordinal == len(timeouts_ms)
        )
        if wait is None:
            judge.mark_not_exercised(
                "MQQB-3.1.5.4.1-03",
                "MQQB-3.1.2.4-01",
                reason="the SUT sends its FinalAcks on a session other than the accepted session",
            )
            return
        waits.append((wait, unit_ms))
        evidence += packets
    first_wait, unit_ms = waits[0]
    whole = max(1, round(first_wait.ms / unit_ms))
    is_same = whole <= LONGEST_WAIT_IN_TIMEOUTS and all(
        wait.is_near_expected_duration(whole * unit_ms, TOLERANCE_IN_TIMEOUTS * unit_ms) for wait, unit_ms in waits
    )
    expected = holds(f"each session ends after {whole} times its AckTimeout")
    observed = is_same or f"{', '.join(f'{wait.ms / unit_ms:.2f}' for wait, unit_ms in waits)} AckTimeouts"
    judge("MQQB-3.1.5.4.1-03", "MQQB-3.1.2.4-01", expected=expected, observed=observed, evidence=evidence)
