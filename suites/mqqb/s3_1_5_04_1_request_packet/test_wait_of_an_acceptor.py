"""MS-MQQB 3.1.5.4.1 Request Packet: how long an acceptor waits for the acknowledgment of what it sends.

It sends FinalAcks on the session that it accepted, unless it opens one of its own for them (E16).
"""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers
from harness.wire import session_ack
from suites.messages import Sequence
from suites.mqqb.steps.opening import accepted, agree, respond

TIMEOUTS_MS = (20_000, 30_000)
LONGEST = 8
"""AckWaitTimeouts after which a session that is not closed counts as never closed."""
NEAR = 0.25
"""The tolerance of an instant, in AckWaitTimeouts."""


def _wait(peer, listener, ordinal, timeout_ms):
    """Leave a FinalAck without acknowledgment; return how long its session lasted, the AckTimeout, and the packets."""
    unit_ms = peer.sut.duration_ms(timeout_ms)
    connection = peer.open_raw(AckTimeout=timeout_ms)
    sent = connection.send(Sequence(peer, ordinal).message(queue="plain"))
    final = connection.poll("UserMessage")
    if final is None:
        return None, unit_ms, [sent]
    connection.wait_closed(int((LONGEST + NEAR) * unit_ms))
    ended = connection.record.closed_at_ms
    if ended is not None:  # the FinalAck comes again
        again, asked = accepted(listener)
        agree(again, respond(again, asked))
        again.send(session_ack(AckSequenceNumber=1, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=1))
        peer.settle()
        again.close()
    until = final.time_ms + (LONGEST + 1) * unit_ms if ended is None else ended
    return peer.took(final, until), unit_ms, [sent, final]


@covers("MQQB-3.1.5.4.1-03")
def test_an_acceptor_waits_by_the_ack_timeout_of_the_request(peer, sut, judge):
    """Two sessions with different AckTimeouts end the same whole number of them after an unacknowledged FinalAck."""
    listener = peer.listen_raw()
    waits, evidence = [], []
    for ordinal, timeout_ms in enumerate(TIMEOUTS_MS, 1):
        wait, unit_ms, packets = _wait(peer, listener, ordinal, timeout_ms)
        if wait is None:
            judge.mark_not_exercised(
                "MQQB-3.1.5.4.1-03", reason="its FinalAcks do not come on the session that it accepted"
            )
            return
        waits.append((wait, unit_ms))
        evidence += packets
    first, unit_ms = waits[0]
    whole = max(1, round(first.ms / unit_ms))
    kept = whole <= LONGEST and all(wait.is_near(whole * unit_ms, NEAR * unit_ms) for wait, unit_ms in waits)
    expected = holds(f"{whole} AckTimeouts each")
    observed = kept or f"{', '.join(f'{wait.ms / unit_ms:.2f}' for wait, unit_ms in waits)} AckTimeouts"
    judge("MQQB-3.1.5.4.1-03", expected=expected, observed=observed, evidence=evidence)
