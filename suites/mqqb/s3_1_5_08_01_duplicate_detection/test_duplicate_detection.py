"""MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, acknowledgment, between, holds
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.sut import Sut
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    NOT_TRANSACTIONAL_MSG,
    REACH_QUEUE,
    AcknowledgingReceiver,
    history_entry,
    private_queue,
)
from suites.mqqb.steps.opening import CLOCK_S
from suites.mqqb.steps.sender import tags

LATER_S = 3
SEVERAL = 5
CLEANUP_MS = 80_000
"""The duration of the MessageIDHistory Cleanup Timer: not under two seconds, because TimeStamps are whole ones.

What is that old goes when it expires: so nothing is forgotten within one, and all within two.
"""
FASTEST = CLEANUP_MS // 2_000


@malforms("MQMQ-2.2.18.1.3-02")
@sut_survives()
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-06", "MQQB-3.1.5.8.2-10")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_a_message_that_comes_again_is_discarded(peer, sut, judge, recoverable):
    """Messages come; the first, one between and the last come again, one of them changed, then others: each arrives
    once, on the same session and on the next one.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user = {"DM": recoverable}
    packets = [receiver.asking(user, properties={"PA": 1}) for _ in range(SEVERAL)]
    sent = [receiver.give(packet) for packet in packets]
    receiver.await_acks(SEVERAL)
    again = [packets[number] for number in (0, SEVERAL // 2, SEVERAL - 1)]
    changed = receiver.asking(
        user | {"MessageID": packets[1]["UserHeader"].MessageID}, properties={"PA": 1}, body=b"another", label="another"
    )
    new = [receiver.asking(user, properties={"PA": 1}) for _ in range(2)]
    for packet in (*again, changed, new[0]):
        receiver.give(packet)
    receiver.await_acks(SEVERAL + 1)
    later = peer.open_raw()
    for packet in (*again, *new):
        later.send(packet)
    came = receiver.await_acks(SEVERAL + 2)
    judge.all(expected=acknowledged(*sent, *new), observed=came, evidence=[*sent, *later.sent[-len(again) :], *came])


@sut_survives()
@covers("MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-10")
def test_a_refused_message_that_comes_again_is_discarded(peer, sut, judge):
    """Twice a message comes that its queue does not take: it is refused once."""
    receiver = AcknowledgingReceiver(peer, sut)
    refused = receiver.asking(queue="transactional", properties={"NA": 1})
    sent = [receiver.give(refused)]
    receiver.await_acks(1)
    sent += [receiver.give(refused), receiver.give(receiver.asking(properties={"PA": 1}))]
    came = receiver.await_acks(2)
    expected = [acknowledgment(sent[0], NOT_TRANSACTIONAL_MSG), acknowledgment(sent[2], REACH_QUEUE)]
    judge.all(expected=expected, observed=came, evidence=[*sent, *came])


@needs("private_names")
@covers("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_a_message_for_another_that_comes_again_is_handed_on_once(peer, sut, judge, recoverable):
    """Of three messages for a queue of the peer two come twice: each goes to the peer once."""
    peer.listen(ignore_incoming=True)
    connection = peer.open_raw()
    user = private_queue(peer.identifier, 1) | {"DM": recoverable}
    packets = [peer.message(user, destination=None, ApplicationTag=number) for number in (1, 2, 3)]
    sent = [connection.send(packets[number]) for number in (0, 0, 1, 1, 2)]

    if not peer.inbox.wait(lambda frame: tags([frame]) == [3]):
        raise ConformanceFailure("the SUT did not hand the last message on")
    frames = peer.inbox.copies
    judge.all(expected=[1, 2, 3], observed=tags(frames), evidence=[*sent, *frames])
    peer.inbox.acknowledge()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-D01")
def test_a_transactional_message_is_no_duplicate(peer, sut, judge):
    """Transactional messages with the identifier of one that came arrive as well, but for those with a number that
    came: sequences decide.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequence = Sequence(peer)
    sent = [receiver.give(receiver.asking(properties={"PA": 1}))]
    receiver.await_acks(1)
    same = {"MessageID": sent[0]["UserHeader"].MessageID}
    for user, number in ((same, 1), (same, 2), ({}, 2), (same, 2), (same, 3), ({}, 1), ({}, 4)):
        sequence.number = number - 1
        sent.append(receiver.give(sequence.message(receiver.administered(user), properties={"PA": 1})))
    came = receiver.await_acks(5)
    arrives = (sent[0], sent[1], sent[2], sent[5], sent[7])
    judge.all(expected=acknowledged(*arrives), observed=came, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.2-07", "MQQB-3.1.5.8.2-11")
@needs("set_timers", "restart")
def test_a_duplicate_is_remembered_anew(peer, sut, judge):
    """One message comes again and again before it could be forgotten, another after it had to be: only that arrives
    twice.
    """
    sut.slow_down(FASTEST)
    sut.set_timers(message_id_history_cleanup_ms=CLEANUP_MS)
    sut.restart()
    receiver = AcknowledgingReceiver(peer, sut)
    kept, forgotten = (receiver.asking(properties={"PA": 1}) for _ in range(2))
    sent = [receiver.give(kept), receiver.give(forgotten)]
    receiver.await_acks(2)
    receiver.end()
    for turn in range(1, 4):
        peer.pass_time_until(sent[0], sut.duration_ms(CLEANUP_MS) * turn * 4 // 5)
        sent.append(receiver.give(kept))
    sent.append(receiver.give(forgotten))
    came = receiver.await_acks(3)
    expected = acknowledged(sent[0], sent[1], sent[1])
    if expected.compare(came) is not None:
        peer.took(sent[0]).check_steady(sut.duration_ms(CLEANUP_MS) // 10)
    judge.all(expected=expected, observed=came, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.1-03")
@needs("inspect")
def test_a_duplicate_makes_its_entry_new(peer, sut, judge):
    """The TimeStamp of a message that came again some seconds later is later by as much, in seconds since 1970."""
    session = peer.open_raw()
    packet = peer.message()
    sent = [session.send(packet)]
    peer.eventually(lambda: _stamp(sut, sent[0]) is not None)
    before = _stamp(sut, sent[0])
    peer.pass_time(LATER_S * 1_000)
    sent.append(session.send(packet))
    peer.eventually(lambda: _stamp(sut, sent[0]) != before)
    after, now_s = _stamp(sut, sent[0]), peer.environment.now().utc_s
    if before is None or after is None:
        judge("MQQB-3.1.5.8.1-02", expected=holds("an entry"), observed="no entry", evidence=sent)
    else:
        took = peer.took(*sent)  # a busy tester sends the second one later than it wants to
        earliest_ms, latest_ms = took.allowed((LATER_S - 1) * 1_000, took.ms + 2_000, (after - before) * 1_000)
        expected = between(earliest_ms // 1_000, latest_ms // 1_000)
        judge("MQQB-3.1.5.8.1-02", expected=expected, observed=after - before, evidence=sent)
    expected = between(now_s - CLOCK_S, now_s + CLOCK_S)
    judge("MQQB-3.1.5.8.1-03", expected=expected, observed=after, evidence=sent)


def _stamp(sut: Sut, message: Frame) -> int | None:
    entry = history_entry(sut, message)
    return None if entry is None else entry["TimeStamp"]
