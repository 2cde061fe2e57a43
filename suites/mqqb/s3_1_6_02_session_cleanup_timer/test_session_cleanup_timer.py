"""MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, varied
from suites.messages import Sequence
from suites.mqqb.steps.cleanup import (
    CLOSED_AFTER_1_CLEANUP_TIME_OUTCOME,
    CLOSED_AFTER_2_CLEANUP_TIMES_OUTCOME,
    LONGEST_WAIT_IN_CLEANUP_TIMES,
    describe_session_cleanup_time,
    limit_cleanup_timer_speed,
)
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.sender import Sender

LONGEST_ACK_TIMEOUT_MS = 120_000


@covers("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-3.1.6.2-03", "MQQB-3.1.2.2-01", "MQQB-3.1.5.8.2-13")
@needs("timers")
@varied("destination", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_idle_session_closes_after_one_cleanup_time_and_used_one_after_two(peer, sut, judge):
    """The peer opens five sessions. After half of the cleanup time, the peer sends one message on each of three
    sessions: an express message, a recoverable message, and a message that the SUT refuses. The SUT closes each idle
    session after one cleanup time, and each used session after two cleanup times. The document recommends, but does not
    require, that an idle session is closed; the document specifies the time.
    """
    cleanup_ms = limit_cleanup_timer_speed(sut)
    idle, other, accepted, refused = (peer.open_raw() for _ in range(4))
    stored = peer.open_raw(RecoverableAckTimeout=min(cleanup_ms * 7 // 10, LONGEST_ACK_TIMEOUT_MS))
    peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
    sent = [
        accepted.send(peer.message()),
        refused.send(peer.message(destination=peer.format_name_of_missing_queue)),
        stored.send(peer.recoverable_message()),
    ]
    for session in (idle, other, accepted, refused, stored):
        session.wait_closed(LONGEST_WAIT_IN_CLEANUP_TIMES * sut.duration_ms(cleanup_ms))

    ended, ended_accepted, *ended_others = (
        describe_session_cleanup_time(session, sut, cleanup_ms) for session in (idle, accepted, refused, stored)
    )
    first, second = CLOSED_AFTER_1_CLEANUP_TIME_OUTCOME, CLOSED_AFTER_2_CLEANUP_TIMES_OUTCOME
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed by the SUT", otherwise="still open"),
        observed=idle.record.closed_at_ms is not None,
        evidence=[idle.last],
        case="idle session",
    )
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed", otherwise="still open"),
        observed=accepted.record.closed_at_ms is not None,
        evidence=sent[:1],
        case="session that was used before",
    )
    judge(
        "MQQB-3.1.2.2-01",
        expected=[first] * 2,
        observed=[ended, describe_session_cleanup_time(other, sut, cleanup_ms)],
        case="idle sessions",
        evidence=[idle.last, other.last],
    )
    judge("MQQB-3.1.6.2-03", expected=second, observed=ended_accepted, case="used session", evidence=sent[:1])
    life_ms, later_ms = (
        None if session.record.closed_at_ms is None else peer.measure_duration(since, session.record.closed_at_ms).ms
        for session, since in ((idle, idle.received[0]), (stored, sent[2]))
    )
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed at most two lives of an idle session after its message", otherwise="closed later"),
        observed=life_ms is None or (later_ms is not None and later_ms <= 2 * life_ms),
        case="session whose message is acknowledged after the first cleanup time",
        evidence=sent[2:3],
    )
    judge(
        "MQQB-3.1.5.8.2-13",
        expected=[second] * 3,
        observed=[ended_accepted, *ended_others],
        case="sessions with an accepted, a refused and a recoverable message",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.6.2-01",
        expected=facts(idle_session=first, used_session=second),
        observed={"idle_session": ended, "used_session": ended_accepted},
        evidence=[idle.last, *sent],
    )


@covers("MQQB-3.1.6.2-03")
@needs("timers")
@varied("priority", "extension", "correlation", "label", "body", "destination")
def test_session_used_in_every_cleanup_time_stays_open(peer, sut, judge):
    """The peer sends one message in each of four successive periods of the Session Cleanup Timer; one of these messages
    is transactional, and the SUT refuses another: the session is still open after each period.
    """
    cleanup_ms = limit_cleanup_timer_speed(sut)
    used = peer.open_raw()
    packets = [
        peer.message(),
        peer.recoverable_message(),
        Sequence(peer).message(),
        peer.message(queue="transactional"),
    ]
    for times, one in enumerate(packets, 1):
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        sent = used.send(one)
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        judge(
            "MQQB-3.1.6.2-03",
            expected=holds("open", otherwise="closed"),
            observed=used.record.closed_at_ms is None,
            case=f"session after {times} time{'s' * (times > 1)} the duration of the Session Cleanup Timer",
            evidence=[sent],
        )


@covers("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-3.1.6.2-03")
@needs("set_timers", "send")
def test_session_of_initiator_closes_after_its_last_message(peer, sut, judge):
    """The SUT sends a message in each of three successive periods of the Session Cleanup Timer, and the peer
    acknowledges the message. The SUT keeps the session open during these three periods, and closes it at most two
    periods later.
    """
    cleanup_ms = limit_cleanup_timer_speed(sut)
    sender = Sender(peer, sut, peer.direct_name("mqc-cleaned-up"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    for tag in (2, 3):
        peer.pass_time(sut.duration_ms(cleanup_ms) * 9 // 10)
        sender.send(tag)
        sender.collect_messages(session, tag)
        if session.record.closed_by is not None:
            break
        session.acknowledge_all()
    peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
    judge(
        "MQQB-3.1.6.2-03",
        expected=holds("open", otherwise="closed"),
        observed=session.record.closed_at_ms is None,
        case="session half a cleanup time after its last message",
        evidence=sent,
    )
    session.wait_closed(2 * sut.duration_ms(cleanup_ms) + sut.slack_ms(cleanup_ms))
    judge(
        "MQQB-3.1.6.2-01",
        "MQQB-3.1.6.2-02",
        expected=holds("closed", otherwise="still open"),
        observed=session.record.closed_at_ms is not None,
        case="idle session",
        evidence=sent,
    )


@covers("MQQB-3.1.6.2-03")
@needs("timers")
def test_session_used_for_acknowledgments_only_stays_open(peer, sut, judge):
    """The SUT sends an acknowledgment on a session, and a second acknowledgment after 0.7 of the cleanup time: the
    session is still open after another 0.7 of the cleanup time.
    """
    part_ms = sut.duration_ms(limit_cleanup_timer_speed(sut)) * 7 // 10
    receiver = AcknowledgingReceiver(peer, sut)
    sent = []
    for count in (1, 2):
        receiver.session = peer.open_raw()
        sent.append(receiver.send_packet(receiver.build_message(properties={"PA": 1})))
        came = receiver.await_acks(count)
        receiver.acknowledge_all()
        peer.pass_time_until(sent[0], count * part_ms)
    if len(came) != len(sent):
        raise ConformanceFailure(f"{len(came)} of {len(sent)} acknowledgments arrived")
    session, last = (peer.inbox.conversation(ack) for ack in came)
    if session is not last:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT sent the acknowledgments on two sessions")
        return
    judge(
        "MQQB-3.1.6.2-03",
        expected=holds("open", otherwise="closed"),
        observed=session.record.closed_at_ms is None,
        case="session of the acknowledgments",
        evidence=[*sent, *came],
    )
