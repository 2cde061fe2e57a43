"""MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event, with the duration of its timer in 3.1.2.6 and
resending in 3.1.7.1.3.
"""

from __future__ import annotations

from functools import partial

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.sequences import (
    FIRST_RESEND_INTERVAL_MS,
    NOT_RESENT_OUTCOME,
    RESENT_OUTCOME,
    SequenceSentBySut,
    get_transaction_header,
)

RESENT_AFTER_FIRST_RESEND_TIME_OUTCOME = "after the first resend time"
MESSAGE_COUNT = 12
LARGE_BODY = "body" * 2_500
LONGEST_ACK_TIMEOUT_MS = 120_000
"""The longest AckTimeout in ms (2.2.2.1). With this value, the Session Ack Wait Timer expires after the Transactional
Ack Wait Timer.
"""


@needs("send")
@covers("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02", "MQQB-3.1.7.1.3-09")
def test_message_of_later_sequence_without_order_ack_is_resent(peer, sut, judge):
    """The peer ends a sequence of the SUT by an OrderAck for its message. The peer acknowledges the message of the next
    sequence by a SessionAck, but sends no OrderAck. The SUT resends only this message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-resend-later")
    first = outgoing.send()
    outgoing.acknowledge_all()
    second = outgoing.send()
    ack = outgoing.send_session_ack()
    again = outgoing.await_resend(2)
    if sut.has("inspect"):
        count = find_initiated_session(sut, outgoing.to)["UnAckedMessageCount"]
        judge(
            "MQQB-3.1.6.5-02",
            expected=holds("UnAckedMessageCount counts the resent message"),
            observed=count > 0 or str(count),
            evidence=[*second, ack],
        )
    judge.all(
        expected={"later message": RESENT_OUTCOME, "number of copies of the first message": 1},
        observed={"later message": again, "number of copies of the first message": len(outgoing.copies(1))},
        evidence=[*first, *second, ack],
    )
    outgoing.acknowledge_all()


@needs("send")
@covers(
    "MQQB-3.1.6.5-01",
    "MQQB-3.1.6.5-02",
    "MQQB-3.1.1.6.2-09",
    "MQQB-3.1.1.6.2-10",
    "MQQB-3.1.2.6-01",
    "MQQB-3.1.7.1-09",
    "MQQB-3.1.7.1.3-09",
    "MQQB-3.1.7.1.3-10",
)
@varied("trace", "label")
def test_transactional_messages_without_order_ack_are_resent(peer, sut, judge):
    """The SUT sends four transactional messages, and the peer acknowledges all of them by a SessionAck; the peer sends
    an OrderAck for message 1 and refuses message 3. The SUT resends messages 2 and 4 after the resend time.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-resend")
    sent = outgoing.send(4)
    frames = [outgoing.send_session_ack(), outgoing.send_order_ack(1), outgoing.send_final_ack(3)]
    within_ms = (
        sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.response_timeout_ms
    )
    peer.environment.run_until(lambda: len(outgoing.copies(4)) > 1, within_ms)
    again = {number: outgoing.copies(number)[1:] for number in range(1, 5)}
    came = [number for number, copies in again.items() if copies]
    evidence = [*sent, *frames, *again[2], *again[4]]
    judge("MQQB-3.1.6.5-01", expected=[2, 4], observed=came, case="numbers of the resent messages", evidence=evidence)
    judge(
        "MQQB-3.1.6.5-02",
        "MQQB-3.1.1.6.2-09",
        "MQQB-3.1.1.6.2-10",
        "MQQB-3.1.7.1.3-09",
        expected=holds("resent", otherwise="not resent"),
        observed=bool(2 in came and 4 in came),
        evidence=evidence,
        case="both transactional messages",
    )
    copy = again[4][0] if again[4] else None
    previous = "not resent" if copy is None else get_transaction_header(copy).PreviousTxSequenceNumber
    judge(
        "MQQB-3.1.7.1-09",
        "MQQB-3.1.7.1.3-10",
        expected=2,
        observed=previous,
        case="PreviousTxSequenceNumber of the resent message",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.2.6-01",
        expected=RESENT_AFTER_FIRST_RESEND_TIME_OUTCOME,
        observed=_describe_resend_time(peer, frames[1], sent[-1], copy),
        case="resent message",
        evidence=evidence,
    )
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.6.5-01")
@varied("trace", "label", priority=("3", "7"))
def test_nontransactional_messages_are_not_resent(peer, sut, judge):
    """The SUT sends a transactional, an express, a recoverable and a second transactional message, and the peer
    acknowledges all of them by a SessionAck. When the Transactional Ack Wait Timer expires, the SUT resends only the
    two transactional messages, the second of which has a large body.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-resend-kinds")
    sent = [outgoing.send(delivery=one)[0] for one in ("transactional", "express", "recoverable")]
    sent += outgoing.send(body=LARGE_BODY)
    recoverable = [frame["UserHeader"].DM == 1 for frame in sent]
    if recoverable != [True, False, True, True]:
        raise ConformanceFailure("the SUT's messages arrived with a delivery mode other than the requested one")
    session, arrived = (
        outgoing.session,
        session_ack(AckSequenceNumber=4, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b101),
    )
    evidence = [*sent, session.send(arrived)]
    within_ms = (
        sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.response_timeout_ms
    )
    peer.environment.run_until(lambda: len(outgoing.copies(4)) > 1, within_ms)
    peer.pass_time(sut.quiet_ms)
    if outgoing.session is not session:
        raise ConformanceFailure(
            "the session ended before the timer expired: the SUT sent every message again on the next session"
        )
    again = {number: outgoing.copies(number)[1:] for number in range(1, 5)}
    came = [number for number, copies in again.items() if copies]
    evidence += [frame for copies in again.values() for frame in copies]
    judge("MQQB-3.1.6.5-01", expected=[1, 4], observed=came, case="numbers of the resent messages", evidence=evidence)
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02")
def test_transactional_messages_are_resent_at_every_expiry(peer, sut, judge):
    """The SUT sends twelve transactional messages, and the peer sends no OrderAck. The SUT resends each message at two
    expiries of the timer.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-resend-again")
    sent = outgoing.send(MESSAGE_COUNT)
    outgoing.send_session_ack()
    within_ms = (
        sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.response_timeout_ms
    )
    for turn in (2, 3):
        peer.environment.run_until(partial(_has_each_message_arrived, outgoing, turn), within_ms)
        outgoing.send_session_ack()
        missing = [number for number in range(1, MESSAGE_COUNT + 1) if len(outgoing.copies(number)) < turn]
        judge.all(
            expected=holds(
                f"every message arrived {turn} times", otherwise=f"messages that did not arrive {turn} times: {missing}"
            ),
            observed=not missing,
            evidence=sent,
        )
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02")
def test_transactional_messages_of_two_queues_are_resent(peer, sut, judge):
    """The SUT sends a transactional message to each of two queues of the peer, and the peer acknowledges each message
    by a SessionAck. The SUT resends both messages.
    """
    first = SequenceSentBySut(peer, sut, "mqc-resend-one")
    sent = first.send()
    first.send_session_ack()
    second = first.start_second_sequence("mqc-resend-two")
    sent += second.send()
    second.send_session_ack()
    within_ms = (
        sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.response_timeout_ms
    )
    peer.environment.run_until(lambda: all(len(one.copies(1)) > 1 for one in (first, second)), within_ms)
    came = [RESENT_OUTCOME if len(one.copies(1)) > 1 else NOT_RESENT_OUTCOME for one in (first, second)]
    judge.all(
        expected=[RESENT_OUTCOME, RESENT_OUTCOME], observed=came, case="messages of the two queues", evidence=sent
    )
    for one in (first, second):
        one.acknowledge_all()


def _has_each_message_arrived(outgoing, turn):
    """Return whether each message arrived the given number of times."""
    return all(len(outgoing.copies(number)) >= turn for number in range(1, MESSAGE_COUNT + 1))


def _describe_resend_time(peer, acknowledged, sent, copy):
    """Describe when the SUT resent a message: ResendInterval after it sent the message, or after the last OrderAck
    (erratum E46).
    """
    if copy is None:
        return "not resent"
    due_ms, took = peer.sut.duration_ms(FIRST_RESEND_INTERVAL_MS), peer.measure_duration(sent, copy)
    latest_ms = peer.measure_duration(sent, acknowledged).ms + due_ms + peer.sut.slack_ms(FIRST_RESEND_INTERVAL_MS)
    earliest_ms, latest_ms = took.get_allowed_range(due_ms * 4 // 5, latest_ms)
    return (
        RESENT_AFTER_FIRST_RESEND_TIME_OUTCOME
        if earliest_ms <= took.ms <= latest_ms
        else f"{took.ms} ms after it was sent"
    )


@needs("send", "set_timers")
@covers("MQQB-3.1.6.5-01")
@pytest.mark.parametrize("acknowledged", [0, 1, 2])
def test_message_without_session_ack_is_resent_as_well(peer, sut, judge, acknowledged):
    """The SUT sends three transactional messages, and the peer acknowledges none, one or two of them by a SessionAck.
    The SUT's timeout for SessionAcks is long. When the Transactional Ack Wait Timer expires, the SUT resends all three
    messages.
    """
    sut.set_timers(ack_wait_timeout_ms=LONGEST_ACK_TIMEOUT_MS)
    outgoing = SequenceSentBySut(peer, sut, "mqc-resend-early")
    sent = outgoing.send(3)
    session = outgoing.session
    if acknowledged:
        session.send(
            session_ack(
                AckSequenceNumber=acknowledged,
                RecoverableMsgAckSeqNumber=1,
                RecoverableMsgAckFlags=(1 << acknowledged) - 1,
            )
        )
    within_ms = (
        sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.response_timeout_ms
    )
    peer.environment.run_until(lambda: all(len(outgoing.copies(number)) > 1 for number in range(1, 4)), within_ms)
    again = [number for number in range(1, 4) if len(outgoing.copies(number)) > 1]
    judge("MQQB-3.1.6.5-01", expected=[1, 2, 3], observed=again, case="numbers of the resent messages", evidence=sent)
    outgoing.acknowledge_all()
