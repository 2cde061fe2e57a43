"""MS-MQQB 3.1.5.8.7 Recoverable Message Processing. 01 and 14, the timer, are judged with 3.1.5.8.2."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.messages import recoverable_message
from suites.mqqb.steps.disposition import labels
from suites.mqqb.steps.exchanges import reception
from suites.mqqb.steps.opening import ACK_MS, check_alive, internal_bits, opened

FLAGS = 32
"""Bits of RecoverableMsgAckFlags."""
LATE_MS = ACK_MS // 2


@covers(
    "MQQB-3.1.5.8.7-02",
    "MQQB-3.1.5.8.7-03",
    "MQQB-3.1.5.8.7-04",
    "MQQB-3.1.5.8.7-05",
    "MQQB-3.1.5.8.7-06",
    "MQQB-3.1.5.8.7-07",
    "MQQB-3.1.5.8.7-08",
    "MQQB-3.1.5.8.7-09",
    "MQQB-3.1.5.8.7-10",
    "MQQB-3.1.5.8.7-11",
    "MQQB-3.1.5.8.7-15",
    "MQQB-3.1.5.8-09",
)
def test_the_message_after_32_is_acknowledged_at_once(peer, sut, judge):
    """32 recoverable messages wait for their acknowledgment; the next brings it, for those; then it has its own."""
    sut.slow_down(10)
    session = opened(peer, AckTimeout=ACK_MS, RecoverableAckTimeout=LATE_MS)
    window = session.received[-1]["ConnectionParametersHeader"].WindowSize
    if window <= FLAGS:
        raise ConformanceFailure(f"the SUT's window of {window} is full before the flags are")
    packets = [recoverable_message(peer) for _ in range(FLAGS)]
    sent = [session.send(packet) for packet in packets]
    early = not session.quiet(sut.duration_ms(LATE_MS) // 4)
    sent.append(session.send(recoverable_message(peer)))
    session.quiet(sut.duration_ms(LATE_MS) // 4)
    acks = [frame for frame in session.received[2:] if not early]
    count = "one" if len(acks) == 1 else "one before the last message" if early else "none"
    for rule in ("MQQB-3.1.5.8.7-02", "MQQB-3.1.5.8-09"):
        judge(rule, expected="one at once", observed=f"{count} at once", evidence=[*sent[-2:], session.last])
    if not acks:
        raise ConformanceFailure("no acknowledgment came with the message after 32")
    ack = acks[0]
    bits = internal_bits(ack)
    flags = int.from_bytes(ack.data[2:4], "little")
    evidence = [sent[0], sent[-1], ack]
    judge(
        "MQQB-3.1.5.8.7-03",
        expected="IN 1, SH 1",
        observed=f"IN {flags >> 3 & 1}, SH {flags >> 4 & 1}",
        evidence=evidence,
    )
    judge("MQQB-3.1.5.8.7-04", expected=1, observed=bits["PT"], evidence=evidence)
    if ack.kind != "SessionAck":
        raise ConformanceFailure("the acknowledgment is no SessionAck")
    header = ack["SessionHeader"]
    for rule, expected, observed in (
        ("MQQB-3.1.5.8.7-05", FLAGS + 1, header.AckSequenceNumber),
        ("MQQB-3.1.5.8.7-06", 1, header.RecoverableMsgAckSeqNumber),
        ("MQQB-3.1.5.8.7-07", 0, header.UserMsgSequenceNumber),
        ("MQQB-3.1.5.8.7-08", 0, header.RecoverableMsgSeqNumber),
        ("MQQB-3.1.5.8.7-09", 0xFFFF_FFFF, header.RecoverableMsgAckFlags),
        ("MQQB-3.1.5.8.7-10", window, header.WindowSize),
    ):
        judge(rule, expected=expected, observed=observed, evidence=evidence)
    judge.finished(
        "MQQB-3.1.5.8.7-02",
        "MQQB-3.1.5.8.7-03",
        "MQQB-3.1.5.8.7-04",
        "MQQB-3.1.5.8.7-05",
        "MQQB-3.1.5.8.7-06",
        "MQQB-3.1.5.8.7-07",
        "MQQB-3.1.5.8.7-08",
        "MQQB-3.1.5.8.7-09",
        "MQQB-3.1.5.8.7-10",
        "MQQB-3.1.5.8-09",
    )
    last = session.expect(
        "SessionAck", lambda frame: frame is not ack, within_ms=sut.duration_ms(LATE_MS) + sut.slack_ms(LATE_MS)
    )
    header = last["SessionHeader"]
    evidence = [sent[-1], ack, last]
    judge("MQQB-3.1.5.8.7-11", expected=FLAGS + 1, observed=header.RecoverableMsgAckSeqNumber, evidence=evidence)
    judge("MQQB-3.1.5.8.7-15", expected=1, observed=header.RecoverableMsgAckFlags, evidence=evidence)


@covers("MQQB-3.1.5.8.7-12")
@needs("receive", "restart")
def test_an_acknowledged_message_is_on_disk(peer, sut, judge):
    """A recoverable message that was acknowledged is in its queue after a restart."""
    done = reception(peer, recoverable_message(peer, label="on disk"), "on disk")
    queue = sut.queue()
    sut.restart()
    observed = "in its queue" if "on disk" in labels(sut, queue) else "gone"
    judge("MQQB-3.1.5.8.7-12", expected="in its queue", observed=observed, evidence=done.frames)


@covers("MQQB-3.1.5.8.7-13")
@pytest.mark.parametrize(("counted", "expected"), [(2, "open"), (3, "closed")])
def test_recoverable_messages_are_counted(peer, sut, judge, counted, expected):
    """After two recoverable messages the session stays open when the peer says so, and ends when it says three."""
    session = opened(peer)
    sent = [session.send(recoverable_message(peer)) for _ in range(2)]
    session.expect("SessionAck", within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS))
    sent.append(session.send(session_ack(UserMsgSequenceNumber=2, RecoverableMsgSeqNumber=counted)))
    if expected == "closed":
        session.wait_closed()
    else:
        session.quiet()
    observed = "closed" if session.closed_by_sut else "open"
    judge("MQQB-3.1.5.8.7-13", expected=expected, observed=observed, evidence=[*sent, session.last])
    if expected == observed == "open":
        check_alive(session)
