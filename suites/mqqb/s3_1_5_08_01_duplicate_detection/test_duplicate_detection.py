"""MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.run.marks import covers, goes_on, needs
from harness.sut.sut import Sut
from suites.messages import Sequence, a_message
from suites.mqqb.steps.disposition import AcknowledgingReceiver, correlation, history_entry, identifier
from suites.mqqb.steps.opening import CLOCK_S, Between, opened, pass_time
from suites.mqqb.steps.sender import eventually

LATER_S = 3


@goes_on()
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_a_message_that_comes_again_is_discarded(peer, sut, judge, recoverable):
    """A message comes twice, then another: each asks for an acknowledgment of its arrival, and has one."""
    receiver = AcknowledgingReceiver(peer, sut)
    first = receiver.asking({"DM": recoverable}, properties={"PA": 1})
    sent = [receiver.give(first)]
    receiver.await_acks(1)
    sent += [receiver.give(first), receiver.give(receiver.asking({"DM": recoverable}, properties={"PA": 1}))]
    came = receiver.await_acks(2)
    expected = [identifier(sent[0]), identifier(sent[2])]
    for rule in ("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"):
        judge(rule, expected=expected, observed=[correlation(ack) for ack in came], evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-01")
def test_a_transactional_message_is_no_duplicate(peer, sut, judge):
    """A transactional message with the identifier of one that came is acknowledged as well: its sequence decides."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [receiver.give(receiver.asking(properties={"PA": 1}))]
    receiver.await_acks(1)
    again = {"MessageID": sent[0]["UserHeader"].MessageID}
    sent.append(receiver.give(Sequence(peer).message(receiver.administered(again), properties={"PA": 1})))
    came = receiver.await_acks(2)
    expected = [identifier(message) for message in sent]
    observed = [correlation(ack) for ack in came]
    judge("MQQB-3.1.5.8.1-01", expected=expected, observed=observed, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.1-03")
@needs("inspect")
def test_a_duplicate_makes_its_entry_new(peer, sut, judge):
    """The TimeStamp of a message that came again some seconds later is later by as much, in seconds since 1970."""
    session = opened(peer)
    packet = a_message(peer)
    sent = [session.send(packet)]
    eventually(peer, lambda: _stamp(sut, sent[0]) is not None)
    before = _stamp(sut, sent[0])
    pass_time(peer, LATER_S * 1_000)
    sent.append(session.send(packet))
    eventually(peer, lambda: _stamp(sut, sent[0]) != before)
    after, now_s = _stamp(sut, sent[0]), peer.environment.now().utc_s
    observed = "no entry" if before is None or after is None else after - before
    judge("MQQB-3.1.5.8.1-02", expected=Between(LATER_S - 1, LATER_S + 2), observed=observed, evidence=sent)
    expected = Between(now_s - CLOCK_S, now_s + CLOCK_S)
    judge("MQQB-3.1.5.8.1-03", expected=expected, observed=after, evidence=sent)


def _stamp(sut: Sut, message: Frame) -> int | None:
    entry = history_entry(sut, message)
    return None if entry is None else int(entry["TimeStamp"])
