"""MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event; with it 3.1.2.6, its duration, and 3.1.7.1.3 of sending again."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import RESEND_MS, Outgoing, header

IN_TIME = "after the first resend time"


@needs("send")
@covers(
    "MQQB-3.1.6.5-01",
    "MQQB-3.1.6.5-02",
    "MQQB-3.1.1.6.2-09",
    "MQQB-3.1.1.6.2-10",
    "MQQB-3.1.2.6-01",
    "MQQB-3.1.7.1.3-09",
    "MQQB-3.1.7.1.3-10",
)
def test_messages_without_order_ack_are_sent_again(peer, sut, judge):
    """Of four messages, all acknowledged on the session, 1 is acknowledged in order, 3 refused: 2 and 4 come again."""
    outgoing = Outgoing(peer, sut, "mqc-resend")
    sent = outgoing.send(4)
    frames = [outgoing.on_session(), outgoing.acknowledge(1), outgoing.finish(3)]
    within_ms = sut.duration_ms(RESEND_MS) + sut.slack_ms(RESEND_MS) + sut.response_timeout_ms
    peer.environment.run_until(lambda: len(outgoing.copies(4)) > 1, within_ms)
    again = {number: outgoing.copies(number)[1:] for number in range(1, 5)}
    came = [number for number, copies in again.items() if copies]
    evidence = [*sent, *frames, *again[2], *again[4]]
    judge("MQQB-3.1.6.5-01", expected="[2, 4]", observed=str(came), evidence=evidence)
    for rule in ("MQQB-3.1.6.5-02", "MQQB-3.1.1.6.2-09", "MQQB-3.1.1.6.2-10", "MQQB-3.1.7.1.3-09"):
        observed = "sent again" if 2 in came and 4 in came else "not sent again"
        judge(rule, expected="sent again", observed=observed, evidence=evidence)
    copy = again[4][0] if again[4] else None
    previous = "not sent again" if copy is None else f"after message {header(copy).PreviousTxSequenceNumber}"
    judge("MQQB-3.1.7.1.3-10", expected="after message 2", observed=previous, evidence=evidence)
    judge("MQQB-3.1.2.6-01", expected=IN_TIME, observed=_when(sut, frames[1], sent[-1], copy), evidence=evidence)
    outgoing.settle()


def _when(sut, acknowledged, sent, copy):
    """Describe when a message came again: ResendInterval after it was sent, or after the last OrderAck (E46)."""
    if copy is None:
        return "not sent again"
    due_ms = sut.duration_ms(RESEND_MS)
    soonest, latest = sent.time_ms + due_ms * 4 // 5, acknowledged.time_ms + due_ms + sut.slack_ms(RESEND_MS)
    return IN_TIME if soonest <= copy.time_ms <= latest else f"{copy.time_ms - sent.time_ms} ms after it was sent"
