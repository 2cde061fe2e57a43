"""MS-MQQB 3.1.7.11 Construction of a UserMessage Packet: what it is made of, and when it carries an acknowledgment.

UserMsgSequenceNumber counts the message itself: it is set once more when the message is sent (MS-MQQB 3.1.7.1.3).
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from suites.messages import a_message, recoverable_message
from suites.mqqb.opening import initiated, pass_time
from suites.mqqb.sender import Sender, messages

LABEL = "made of this"
NEARLY = 0.85
"""The part of the timer after which the SUT sends: three quarters are over, and there is time to act."""
EARLIER = 0.4
LAST_ACKED = "LastAckedRecoverableMsgSeqNumber"


@pytest.mark.needs("send", "set_timers", "inspect")
@pytest.mark.covers(
    "MQQB-3.1.7.11-01",
    "MQQB-3.1.7.11-02",
    "MQQB-3.1.7.11-03",
    "MQQB-3.1.7.11-05",
    "MQQB-3.1.7.11-06",
    "MQQB-3.1.7.11-07",
    "MQQB-3.1.7.11-08",
    "MQQB-3.1.7.11-09",
    "MQQB-3.1.7.11-10",
    "MQQB-3.1.7.11-11",
    "MQQB-3.1.7.11-12",
    "MQQB-3.1.7.11-13",
    "MQQB-3.1.7.11-14",
    "MQQB-3.1.7.11-15",
)
def test_a_message_carries_the_acknowledgment_that_is_nearly_due(peer, sut, judge):
    """The peer sends an express and two recoverable messages; the SUT sends soon after, when nearly due, and again."""
    sut.set_timers(scale=1)
    sender = Sender(peer, sut)
    (first,) = sender.send(1, label=LABEL)
    sender.send(2, delivery="recoverable")
    session, own = sender.first(2)
    made_of = f"{own[0]['UserHeader'].MessageID}, {own[0].record.MessagePropertiesHeader.Label}"
    judge(
        "MQQB-3.1.7.11-01",
        expected=f"{first.rpartition(chr(92))[2]}, {LABEL}",
        observed=made_of,
        evidence=own[0],
    )
    sender.acknowledge_all(session)
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = agreed.RecoverableAckTimeout
    sent = [session.send(packet(peer)) for packet in (a_message, recoverable_message, recoverable_message)]
    pass_time(peer, int(delay_ms * EARLIER))
    sender.send(3)
    early = sender.collect(session, 3)[2:]
    pass_time(peer, int(delay_ms * (NEARLY - EARLIER)))
    sender.send(4)
    nearly = sender.collect(session, 4)[3:]
    if len(early) != 1 or len(nearly) != 1:
        raise ConformanceFailure("the SUT's messages did not come, or no packets of a message")
    carrying, evidence = nearly[0], [*sent, *nearly]
    state = initiated(sut)
    sender.send(5)
    again = sender.collect(session, 5)[4:]
    has = {"soon after": early, "nearly due": nearly, "again": again}
    carried = ", ".join(when for when, frames in has.items() if carries(frames)) or "never"
    for rule in ("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"):
        judge(rule, expected="nearly due", observed=carried, evidence=[*early, *nearly, *again])
    judge("MQQB-3.1.7.11-11", expected=1, observed=carrying["BaseHeader"].SH, evidence=evidence)
    if not carries(nearly):
        raise ConformanceFailure("the SUT's message carried no SessionHeader although an acknowledgment was nearly due")
    header = carrying["SessionHeader"]
    for rule, name, expected in (
        ("MQQB-3.1.7.11-05", "AckSequenceNumber", 3),
        ("MQQB-3.1.7.11-06", "RecoverableMsgAckSeqNumber", 1),
        ("MQQB-3.1.7.11-07", "UserMsgSequenceNumber", 4),
        ("MQQB-3.1.7.11-08", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.7.11-09", "RecoverableMsgAckFlags", 0b11),
        ("MQQB-3.1.7.11-10", "WindowSize", agreed.WindowSize),
    ):
        judge(rule, expected=f"{name} {expected}", observed=f"{name} {getattr(header, name)}", evidence=evidence)
    judge("MQQB-3.1.7.11-13", expected=0, observed=state["UnackedReceivedMsgCount"], evidence=evidence)
    judge("MQQB-3.1.7.11-14", expected=2, observed=state[LAST_ACKED], evidence=evidence)

    sent.append(session.send(a_message(peer)))
    anew = session.quiet(int(delay_ms * EARLIER))
    judge(
        "MQQB-3.1.7.11-15",
        expected="nothing at the old expiry",
        observed=f"{'nothing' if anew else 'an acknowledgment'} at the old expiry",
        evidence=[carrying, sent[-1], session.last],
    )
    sent.append(session.send(recoverable_message(peer)))
    later = session.poll(
        "SessionAck", lambda one: one["SessionHeader"].AckSequenceNumber == 5, within_ms=delay_ms + sut.patience_ms
    )
    names = ("RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags")
    told = ", ".join(f"{name} {getattr(later['SessionHeader'], name)}" for name in names) if later else "no SessionAck"
    judge(
        "MQQB-3.1.7.11-12",
        expected="RecoverableMsgAckSeqNumber 3, RecoverableMsgAckFlags 1",
        observed=told,
        evidence=[carrying, *sent[-2:], later],
    )
    if messages(session):
        sender.acknowledge_all(session)


def carries(frames) -> bool:
    """Does a message carry a SessionHeader?"""
    return any(frame.record.SessionHeader is not None for frame in frames)
