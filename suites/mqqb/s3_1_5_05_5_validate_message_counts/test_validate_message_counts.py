"""MS-MQQB 3.1.5.5.5 Validate Message Counts. The checks of 3.1.6.3 judge the restart of the Session Ack Wait Timer."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from suites.mqqb.steps.acknowledging import MESSAGE_AS_HEADER_CARRIER, SESSION_ACK_AS_HEADER_CARRIER
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut

WRONG_COUNT_CASES = (
    (-1, SESSION_ACK_AS_HEADER_CARRIER),
    (+1, MESSAGE_AS_HEADER_CARRIER),
    (0x100, MESSAGE_AS_HEADER_CARRIER),
    (0x8000, SESSION_ACK_AS_HEADER_CARRIER),
)
"""Pairs of a difference from the correct count and the packet that contains the wrong count."""
TIME_BEFORE_ACK_WAIT_TIMER_MS = 20_000
"""A time in ms that is shorter than the shortest Session Ack Wait Timer, because the expiry of that timer may also
close a session.
"""


@malforms("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07")
@sut_survives()
@covers("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01")
@pytest.mark.parametrize("field", ["UserMsgSequenceNumber", "RecoverableMsgSeqNumber"])
@pytest.mark.parametrize(("error", "carrier"), WRONG_COUNT_CASES)
def test_session_ack_with_wrong_message_count_closes_session(peer, sut, judge, field, error, carrier):
    """The peer sends two messages, one of them recoverable. The SUT accepts a SessionHeader that counts two messages,
    one of them recoverable, and closes the session when a SessionHeader has a wrong count. The SessionHeader is in a
    SessionAck or in a message.
    """
    session = peer.open_raw()
    session.send(peer.message())
    received: dict[str, Any] = {"UserMsgSequenceNumber": 2, "RecoverableMsgSeqNumber": 1}
    if (
        session.require_session_ack_for_message()["SessionHeader"].AckSequenceNumber
        != received["UserMsgSequenceNumber"]
    ):
        raise ConformanceFailure("the SUT does not count the messages that it received")
    if carrier == SESSION_ACK_AS_HEADER_CARRIER:
        session.send(session.build_session_ack(**received))
    else:
        received["UserMsgSequenceNumber"] += 1
        session.send(peer.message(session=received | {"WindowSize": 64}))
    session.require_session_ack_for_message()
    received = {name: count + 1 for name, count in received.items()}
    if carrier == SESSION_ACK_AS_HEADER_CARRIER:
        wrong = session.send(session.build_session_ack(**received | {field: received[field] + error & 0xFFFF}))
    else:
        received["UserMsgSequenceNumber"] += 1
        counted = received | {field: received[field] + error & 0xFFFF, "WindowSize": 64}
        wrong = session.send(peer.message(session=counted))
    session.wait_closed(min(sut.response_timeout_ms, sut.duration_ms(TIME_BEFORE_ACK_WAIT_TIMER_MS)))
    judge.all(
        expected=holds(f"the SUT closed the session because {field} differs by {error:+d} from the correct count"),
        observed=bool(session.closed_by_sut) or session.outcome(),
        evidence=[wrong],
    )


@malforms("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07")
@sut_survives()
@covers("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01")
@pytest.mark.parametrize("field", ["UserMsgSequenceNumber", "RecoverableMsgSeqNumber"])
@varied("priority", "response queue", "time to be received", "time to reach queue", "label")
def test_session_ack_with_wrong_message_count_closes_session_of_the_sut(peer, sut, judge, field):
    """On two sessions of the SUT, the peer sends a recoverable message and a SessionAck that counts this message. The
    SUT accepts the SessionAck. The SUT closes the session when a SessionAck counts one message more or less.
    """
    sender = Sender(peer, sut)
    for number, error in ((1, +1), (2, -1)):
        sender.send(number)
        session, sent = sender.await_first_messages(1)
        received: dict[str, Any] = {"UserMsgSequenceNumber": 1, "RecoverableMsgSeqNumber": 1, "AckSequenceNumber": 1}
        session.send(peer.recoverable_message())
        correct = session.send(session.build_session_ack(**received))
        peer.settle()
        if session.closed_by_sut:
            raise ConformanceFailure("the SUT ended its session after a SessionAck with correct counts")
        wrong = session.send(session.build_session_ack(**received | {field: 1 + error}))
        session.wait_closed(min(sut.response_timeout_ms, sut.duration_ms(TIME_BEFORE_ACK_WAIT_TIMER_MS)))
        judge.all(
            expected=holds(f"the SUT closed the session because {field} is {1 + error}"),
            observed=bool(session.closed_by_sut) or session.outcome(),
            case=f"difference of {error:+d}",
            evidence=[*sent, correct, wrong],
        )


@malforms("MQQB-3.1.6.4-06")
@needs("send", "pause", "receive")
@covers("MQQB-3.1.5.5.4-01", "MQQB-3.1.5.5.5-01")
def test_session_header_is_processed_while_queue_is_on_hold(peer, sut, judge):
    """The peer sends a SessionAck on a session whose queue is on hold. The SUT journals the acknowledged message with
    JP. When the peer then sends a SessionAck with a wrong count, the SUT closes the session.
    """
    sender = Sender(peer, sut)
    [kept] = sender.send(1, journal=["positive"], delivery="recoverable")
    session, sent = sender.await_first_messages(1)
    sut.pause(sender.to)
    frames = [session.acknowledge_all()]

    def list_journaled_identifiers() -> list[str]:
        return [one["message_id"] for one in sut.kept("system$;journal") if one["message_id"] == kept]

    peer.eventually(lambda: list_journaled_identifiers() == [kept])
    observed = list_journaled_identifiers()
    judge("MQQB-3.1.5.5.4-01", expected=[kept], observed=observed, case="journal", evidence=[*sent, *frames])
    frames.append(session.send(session.build_session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=1)))
    session.wait_closed(min(sut.response_timeout_ms, sut.duration_ms(TIME_BEFORE_ACK_WAIT_TIMER_MS)))
    judge(
        "MQQB-3.1.5.5.5-01",
        expected=holds("the SUT closed the session because UserMsgSequenceNumber is 1"),
        observed=bool(session.closed_by_sut) or session.outcome(),
        evidence=[*sent, *frames],
    )
    sut.resume(sender.to)


@needs("send")
@covers("MQQB-3.1.1.6.2-10", "MQQB-3.1.5.5.3-03", "MQQB-3.1.5.5.5-03")
@varied("negative journaling", "response queue", "time to be received", "time to reach queue")
def test_transactional_message_without_order_ack_comes_again(peer, sut, judge):
    """By a SessionAck, the peer acknowledges a recoverable message, and two transactional messages to a second queue.
    The SUT resends the transactional messages, which have no OrderAck. The SUT's next SessionAck counts all copies.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-peer")
    outgoing.send(1, "recoverable")
    sent = [*outgoing.send(), *outgoing.send(1, body="large" * 1_000)]
    ack = outgoing.session.acknowledge_all()
    judge.all(
        expected=RESENT_OUTCOME,
        observed=outgoing.await_resend(3),
        case="large message without an OrderAck",
        evidence=[*sent, ack],
    )
    judge.all(
        expected=holds("the first message comes again", otherwise="the first message does not come again"),
        observed=len(outgoing.copies(2)) > 1,
        evidence=[*sent, ack, *outgoing.copies(2)],
    )
    outgoing.session.request_acknowledgment()  # its SessionAck counts the message that was sent twice
