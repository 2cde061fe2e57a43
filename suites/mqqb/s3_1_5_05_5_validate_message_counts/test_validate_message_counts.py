"""MS-MQQB 3.1.5.5.5 Validate Message Counts. The Session Ack Wait Timer's restart is judged with 3.1.6.3."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from suites.mqqb.steps.acknowledging import BY_MESSAGE, BY_SESSION_ACK
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import RESENT, Outgoing

WRONG_COUNTS = ((-1, BY_SESSION_ACK), (+1, BY_MESSAGE), (0x100, BY_MESSAGE), (0x8000, BY_SESSION_ACK))
"""Pairs of a difference from the correct count and the packet that contains the wrong count."""
BEFORE_TIMER_MS = 20_000
"""A time in ms that is shorter than the shortest Session Ack Wait Timer, because the expiry of that timer may also
close a session.
"""


@malforms("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07")
@sut_survives()
@covers("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01")
@pytest.mark.parametrize("field", ["UserMsgSequenceNumber", "RecoverableMsgSeqNumber"])
@pytest.mark.parametrize(("error", "carrier"), WRONG_COUNTS)
def test_session_ack_with_wrong_message_count_closes_session(peer, sut, judge, field, error, carrier):
    """Two messages are sent, one of them recoverable: the SUT accepts a SessionHeader that counts two messages, one of
    them recoverable, and closes the session because of a SessionHeader with a wrong count. The SessionHeader is in a
    SessionAck or in a message.
    """
    session = peer.open_raw()
    session.send(peer.message())
    received: dict[str, Any] = {"UserMsgSequenceNumber": 2, "RecoverableMsgSeqNumber": 1}
    if session.check_alive()["SessionHeader"].AckSequenceNumber != received["UserMsgSequenceNumber"]:
        raise ConformanceFailure("the SUT does not count the messages that it received")
    if carrier == BY_SESSION_ACK:
        session.send(session.build_session_ack(**received))
    else:
        received["UserMsgSequenceNumber"] += 1
        session.send(peer.message(session=received | {"WindowSize": 64}))
    session.check_alive()
    received = {name: count + 1 for name, count in received.items()}
    if carrier == BY_SESSION_ACK:
        wrong = session.send(session.build_session_ack(**received | {field: received[field] + error & 0xFFFF}))
    else:
        received["UserMsgSequenceNumber"] += 1
        counted = received | {field: received[field] + error & 0xFFFF, "WindowSize": 64}
        wrong = session.send(peer.message(session=counted))
    session.wait_closed(min(sut.response_timeout_ms, sut.duration_ms(BEFORE_TIMER_MS)))
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
    """On a session of the SUT, the SUT accepts a SessionAck that counts no message of the peer, and closes the session
    because of a SessionAck that counts one message.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first(1)
    correct = session.send(session.build_session_ack(AckSequenceNumber=1))
    peer.settle()
    if session.closed_by_sut:
        raise ConformanceFailure("the SUT ended its session after a SessionAck with correct counts")
    counted: dict[str, Any] = {"AckSequenceNumber": 1, field: 1}
    wrong = session.send(session.build_session_ack(**counted))
    session.wait_closed(min(sut.response_timeout_ms, sut.duration_ms(BEFORE_TIMER_MS)))
    judge.all(
        expected=holds(f"the SUT closed the session because {field} is 1"),
        observed=bool(session.closed_by_sut) or session.outcome(),
        evidence=[*sent, correct, wrong],
    )


@needs("send")
@covers("MQQB-3.1.1.6.2-10", "MQQB-3.1.5.5.3-03", "MQQB-3.1.5.5.5-03")
@varied("negative journaling", "response queue", "time to be received", "time to reach queue")
def test_transactional_message_without_order_ack_comes_again(peer, sut, judge):
    """A SessionAck acknowledges a recoverable message and a transactional message to a second queue: the SUT resends
    the transactional message, which has no OrderAck. Its next SessionAck counts both copies.
    """
    beside = Outgoing(peer, sut, "mqc-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.open_beside("mqc-peer")
    outgoing.send(1, "recoverable")
    [sent] = outgoing.send()
    ack = outgoing.session.acknowledge_all()
    judge.all(
        expected=RESENT,
        observed=outgoing.await_resend(2),
        case="message without an OrderAck",
        evidence=[sent, ack],
    )
    outgoing.session.acknowledgment()  # its SessionAck counts the message that was sent twice
