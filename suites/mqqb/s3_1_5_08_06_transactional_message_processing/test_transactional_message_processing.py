"""MS-MQQB 3.1.5.8.6 Transactional Message Processing; with it 3.1.1.6.2, 3.1.2.7 and 3.1.6.9, which say the same."""

from __future__ import annotations

import functools
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import Between, accepted_from, pass_time, text
from suites.mqqb.steps.ordering import ORDER_ACK_MS, Receiver, place
from suites.mqqb.steps.pinging import element
from suites.mqqb.steps.sender import eventually

LONGEST_MS = 10_000
"""MaximumOrderAckDelay (3.1.3.2), here in ms."""
PART = 0.6
"""Of OrderAckTimeout: after that the next message comes, while the timer runs."""
TIMED = 4
"""Timers run at most so many times faster where the check has to act while they run."""
IN_TIME = "after OrderAckTimeout"


def _came(sut: Sut, frame: Frame | None, since_ms: int) -> str:
    """Describe when an OrderAck came after an instant."""
    if frame is None:
        return "not sent"
    took_ms, due_ms = frame.time_ms - since_ms, sut.duration_ms(ORDER_ACK_MS)
    return IN_TIME if due_ms * 4 // 5 <= took_ms <= due_ms + sut.slack_ms(ORDER_ACK_MS) else f"after {took_ms} ms"


@covers(
    "MQQB-3.1.5.8.6-03",
    "MQQB-3.1.5.8.6-04",
    "MQQB-3.1.1.6.2-06",
    "MQQB-3.1.1.6.2-07",
    "MQQB-3.1.2.7-01",
    "MQQB-3.1.6.9-01",
)
def test_an_order_ack_is_sent_when_the_timer_expires(peer, sut, judge):
    """Twice a message comes while the timer does not run: its OrderAck comes OrderAckTimeout later."""
    receiver = Receiver(peer, sut)
    for number in (1, 2):
        sent = receiver.send()
        frame = receiver.poll_acknowledgment()
        when, evidence = _came(sut, frame, sent.time_ms), [sent, frame]
        for rule in ("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06", "MQQB-3.1.2.7-01"):
            judge(rule, expected=IN_TIME, observed=when, evidence=evidence)
        what = "nothing" if frame is None else f"OrderAck of message {place(frame).TxSequenceNumber}"
        for rule in ("MQQB-3.1.5.8.6-04", "MQQB-3.1.1.6.2-07", "MQQB-3.1.6.9-01"):
            judge(rule, expected=f"OrderAck of message {number}", observed=what, evidence=evidence)


@covers("MQQB-3.1.5.8.6-01", "MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-04", "MQQB-3.1.1.6.2-05")
def test_messages_put_the_order_ack_off_but_not_for_ever(peer, sut, judge):
    """Two messages have one OrderAck, after the second; while messages keep coming there is one all the same."""
    sut.slow_down(TIMED)
    receiver = Receiver(peer, sut)
    gap_ms = int(sut.duration_ms(ORDER_ACK_MS) * PART)
    sent = [receiver.send()]
    pass_time(peer, gap_ms)
    sent.append(receiver.send())
    frame = receiver.await_acknowledgment()
    if frame.time_ms < sent[-1].time_ms:
        raise ConformanceFailure("the OrderAck came before the second message did: it did not come while the timer ran")
    number = place(frame).TxSequenceNumber
    observed = f"message {number}, {_came(sut, frame, sent[-1].time_ms)} from the second"
    for rule in ("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05"):
        judge(rule, expected=f"message 2, {IN_TIME} from the second", observed=observed, evidence=[*sent, frame])

    known, begun_ms = len(receiver.acknowledgments()), peer.recorder.elapsed_ms()
    latest_ms = sut.duration_ms(LONGEST_MS + ORDER_ACK_MS) + sut.slack_ms(LONGEST_MS) + 1_000
    while len(receiver.acknowledgments()) == known and peer.recorder.elapsed_ms() - begun_ms < latest_ms:
        sent = [receiver.send()]
        pass_time(peer, gap_ms)
    acks = receiver.acknowledgments()[known:]
    expected = "acknowledged while messages came"
    observed = expected if acks else f"not acknowledged in {peer.recorder.elapsed_ms() - begun_ms} ms"
    for rule in ("MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-04"):
        judge(rule, expected=expected, observed=observed, evidence=[*sent, *acks])


@covers("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03")
def test_a_sequence_goes_on_with_the_last_message_accepted(peer, sut, judge):
    """1, 2, 4, then 3 and 4, then 2 and 3 again, then 6 without 5: each time only what is in order counts."""
    receiver = Receiver(peer, sut)
    for given, expected in (((1, 2, 4), 2), ((3, 4), 4), ((2, 3), 4), ((6,), 4)):
        sent = []
        for number in given:
            receiver.sequence.number = number - 1
            sent.append(receiver.send())
        frame = receiver.last_acknowledgment(expected)
        observed = "nothing" if frame is None else f"OrderAck of message {place(frame).TxSequenceNumber}"
        for rule in ("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03"):
            judge(rule, expected=f"OrderAck of message {expected}", observed=observed, evidence=[*sent, frame])


@needs("inspect")
@covers("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.6-08", "MQQB-3.1.6.9-02")
def test_rejections_are_counted_and_times_noted(peer, sut, judge):
    """After one message two come that do not follow, then the one that does; later the OrderAck is sent."""
    sut.slow_down(TIMED)
    receiver = Receiver(peer, sut)
    receiver.send()
    receiver.await_acknowledgment()
    before, shown_ms = _session(peer, sut), peer.recorder.elapsed_ms()
    first = _transfer(peer, sut)
    pass_time(peer, 3_000)
    rejected = []
    for count in (1, 2):
        receiver.sequence.number = 2
        rejected.append(receiver.send())
        eventually(peer, functools.partial(_has_rejected, peer, sut, count))
        session, transfer = _session(peer, sut), _transfer(peer, sut)
        judge("MQQB-3.1.5.8.6-05", expected=count, observed=element(session, "TxMessageRejectCount"), evidence=rejected)
        judge("MQQB-3.1.5.8.6-06", expected=count, observed=element(transfer, "RejectCount"), evidence=rejected)
    _later(peer, judge, "MQQB-3.1.5.8.6-08", first, transfer, "LastAccessTime", shown_ms, rejected)
    receiver.sequence.number = 1
    taken = receiver.send()
    eventually(peer, functools.partial(_has_rejected, peer, sut, 0))
    count = element(_session(peer, sut), "TxMessageRejectCount")
    judge("MQQB-3.1.5.8.6-07", expected=0, observed=count, evidence=[*rejected, taken])
    judge.finished("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.6-08")
    ack = receiver.await_acknowledgment()
    _later(peer, judge, "MQQB-3.1.6.9-02", before, _session(peer, sut), "LastOrderAckSendTime", shown_ms, [taken, ack])


def _later(peer, judge, rule, before, after, name, since_ms, evidence):
    """Judge that a time in s grew by what passed, whatever the SUT's clock is."""
    passed_s = (peer.recorder.elapsed_ms() - since_ms) / 1000
    grown = element(after, name) - element(before, name)
    judge(rule, expected=Between(2, int(passed_s) + 2), observed=grown, evidence=evidence)


def _has_rejected(peer: Peer, sut: Sut, count: int) -> bool:
    return bool(element(_session(peer, sut), "TxMessageRejectCount") == count)


def _session(peer: Peer, sut: Sut) -> dict[str, Any]:
    return accepted_from(sut, peer.identifier)


def _transfer(peer: Peer, sut: Sut) -> dict[str, Any]:
    """Return the IncomingTransactionalTransferInfo of the peer's sequence, the newest when it had others before."""
    name = sut.queue("transactional").lower()
    found = [
        one
        for queue in sut.inspect()["QueueManager"]["QueueCollection"]
        for one in element(queue, "IncomingTransactionalTransferInfoCollection")
        if queue["Pathname"].lower().endswith(name) and text(one["SenderIdentifier"]) == text(peer.identifier)
    ]
    if not found:
        raise ConformanceFailure("the SUT shows no IncomingTransactionalTransferInfo of the peer")
    return max(found, key=lambda one: one["LastAccessTime"])
