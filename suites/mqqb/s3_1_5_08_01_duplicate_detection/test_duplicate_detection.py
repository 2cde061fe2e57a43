"""MS-MQQB 3.1.5.8.1 Duplicate Detection, 3.1.6.7 and 3.1.2.8 MessageIDHistory Cleanup Timer."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.messages import Sequence, a_message
from suites.mqqb.steps.fate import Fate, correlation, history_entry, identifier
from suites.mqqb.steps.opening import CLOCK_S, Between, opened, pass_time
from suites.mqqb.steps.sender import eventually

LATER_S = 3
CLEANUP_MS = 80_000
"""The duration of the timer in its check (set_timers): not under two seconds, because TimeStamps are whole ones."""
FASTEST = CLEANUP_MS // 2_000


@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_a_message_that_comes_again_is_discarded(peer, sut, judge, recoverable):
    """A message comes twice, then another: each asks to be told of its arrival, and each is told of once."""
    fate = Fate(peer, sut)
    first = fate.asking({"DM": recoverable}, properties={"PA": 1})
    sent = [fate.give(first)]
    fate.await_acks(1)
    sent += [fate.give(first), fate.give(fate.asking({"DM": recoverable}, properties={"PA": 1}))]
    came = fate.await_acks(2)
    expected = [identifier(sent[0]), identifier(sent[2])]
    for rule in ("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"):
        judge(rule, expected=expected, observed=[correlation(ack) for ack in came], evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-01")
def test_a_transactional_message_is_no_duplicate(peer, sut, judge):
    """A transactional message with the identifier of one that came is told of as well: sequences say what is new."""
    fate = Fate(peer, sut)
    sent = [fate.give(fate.asking(properties={"PA": 1}))]
    fate.await_acks(1)
    again = {"MessageID": sent[0]["UserHeader"].MessageID}
    sent.append(fate.give(Sequence(peer).message(fate.administered(again), properties={"PA": 1})))
    came = fate.await_acks(2)
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


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.5.8.2-11", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("inspect", "set_timers", "restart")
def test_old_entries_are_deleted_each_time_that_the_timer_expires(peer, sut, judge):
    """A message starts the timer, one comes between that and the first expiry, one before the second; we look at these.

    An entry goes when it is older than the duration: the earlier one at the second expiry, the other at the third.
    """
    sut.slow_down(FASTEST)
    sut.set_timers(message_id_history_cleanup_ms=CLEANUP_MS)
    sut.restart()
    session = opened(peer)
    starting = session.send(a_message(peer))

    def wait_until(durations: float) -> None:
        then_ms = starting.time_ms + int(sut.duration_ms(CLEANUP_MS) * durations)
        pass_time(peer, max(0, then_ms - peer.recorder.elapsed_ms()))

    wait_until(0.45)
    sent = [session.send(a_message(peer))]
    wait_until(1.45)
    sent.append(session.send(a_message(peer)))
    wait_until(1.75)
    seen = {1.75: _present(sut, sent)}
    wait_until(2.5)
    seen[2.5] = _present(sut, sent)
    wait_until(3.5)
    seen[3.5] = _present(sut, sent)
    for rule in ("MQQB-3.1.2.8-01", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.5.8.2-11"):
        judge(rule, expected="both, then second", observed=f"{seen[1.75]}, then {seen[2.5]}", evidence=sent)
    judge("MQQB-3.1.6.7-03", expected="none at the third expiry", observed=f"{seen[3.5]} at the third expiry")


def _stamp(sut: Sut, message: Frame) -> int | None:
    entry = history_entry(sut, message)
    return None if entry is None else int(entry["TimeStamp"])


def _present(sut: Sut, sent: list[Frame]) -> str:
    there = tuple(history_entry(sut, message) is not None for message in sent)
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "none"}[there]
