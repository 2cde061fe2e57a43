"""MS-MQQB 3.1.7.11 Construction of a UserMessage Packet: its parts, and when it carries an acknowledgment.

UserMsgSequenceNumber counts the message itself: it is set once more when the message is sent (MS-MQQB 3.1.7.1.3).
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import initiated
from suites.mqqb.steps.sender import PEER_WINDOW, Sender, is_recoverable

LABEL = "made of this"
NEARLY = 0.85
"""The part of the timer after which the SUT sends: three quarters are over, and there is time to act."""
EARLIER = 0.4
DUE = 0.75
ATTEMPTS = 5
"""A busy machine may act too early or too late; no more often than that."""
LAST_ACKED = "LastAckedRecoverableMsgSeqNumber"


OF_WHAT_IS_CARRIED = (
    "MQQB-3.1.7.11-01",
    "MQDMPR-3.1.7.1.30-04",
    "MQQB-3.1.7.11-02",
    "MQQB-3.1.7.11-03",
    "MQQB-3.1.7.11-05",
    "MQQB-3.1.7.11-06",
    "MQQB-3.1.7.11-07",
    "MQQB-3.1.7.11-08",
    "MQQB-3.1.7.11-09",
    "MQQB-3.1.7.11-10",
    "MQQB-3.1.7.11-11",
)

NEVER_DUE = "it never sent when an acknowledgment was nearly due: it stood still"


@needs("send")
@covers(*OF_WHAT_IS_CARRIED, "MQQB-3.1.7.11-12", "MQQB-3.1.7.11-15")
def test_a_message_carries_the_acknowledgment_that_is_nearly_due(peer, sut, judge):
    """The peer sends an express and two recoverable messages; the SUT sends soon after, when nearly due, and again.

    The window of the peer is another.
    """
    peer.configure(window_size=PEER_WINDOW)
    sut.slow_down(1)
    sender = Sender(peer, sut)
    (first,) = sender.send(1, label=LABEL)
    sender.send(2, delivery="recoverable")
    session, own = sender.await_first(2)
    label = str(own[0]["MessagePropertiesHeader"].Label).rstrip("\0")
    made_of = {"MessageID": own[0]["UserHeader"].MessageID, "Label": label}
    judge(
        "MQQB-3.1.7.11-01",
        "MQDMPR-3.1.7.1.30-04",
        expected=fields(MessageID=int(first.rpartition("\\")[2]), Label=LABEL),
        observed=made_of,
        evidence=own[0],
    )
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = agreed.RecoverableAckTimeout
    stalls = 0
    for attempt in range(1, ATTEMPTS + 1):
        session.acknowledge_all()
        before, received, recoverable = len(session.messages), 3 * attempt, 2 * attempt
        sent = [session.send(make()) for make in (peer.message, peer.recoverable_message, peer.recoverable_message)]
        early, nearly = (_one_more(sender, session, sent[0], int(delay_ms * part)) for part in (EARLIER, NEARLY))
        if peer.took(sent[0], early[-1]).ms < delay_ms * DUE and carries(nearly):
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.stood_still(sent[0].time_ms, peer.recorder.elapsed_ms())
    if stalls == ATTEMPTS:
        session.acknowledge_all()
        judge.give_up(Verdict.NOT_EXERCISED, NEVER_DUE)
        return
    carrying, evidence = nearly[-1], [*sent, *nearly]
    again = _one_more(sender, session, sent[0])
    has = {"soon after": early, "nearly due": nearly, "again": again}
    carried = [when for when, frames in has.items() if carries(frames)]
    judge(
        "MQQB-3.1.7.11-02",
        "MQQB-3.1.7.11-03",
        expected=["nearly due"],
        observed=carried,
        evidence=[*early, *nearly, *again],
    )
    judge("MQQB-3.1.7.11-11", expected=1, observed=carrying["BaseHeader"].SH, evidence=evidence)
    if not carries(nearly):
        raise ConformanceFailure("the SUT's message carried no SessionHeader although an acknowledgment was nearly due")
    header = carrying["SessionHeader"]
    for rule, name, expected in (
        ("MQQB-3.1.7.11-05", "AckSequenceNumber", received),
        ("MQQB-3.1.7.11-06", "RecoverableMsgAckSeqNumber", recoverable - 1),
        ("MQQB-3.1.7.11-07", "UserMsgSequenceNumber", before + 2),
        ("MQQB-3.1.7.11-08", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.7.11-09", "RecoverableMsgAckFlags", 0b11),
        ("MQQB-3.1.7.11-10", "WindowSize", agreed.WindowSize),
    ):
        judge(rule, expected=fields({name: expected}), observed=header, evidence=evidence)
    judge.conclude(*OF_WHAT_IS_CARRIED)

    sent.append(session.send(peer.message()))
    anew = session.quiet(int(delay_ms * EARLIER))
    judge(
        "MQQB-3.1.7.11-15",
        expected=holds("no acknowledgment at the old expiry"),
        observed=anew,
        evidence=[carrying, sent[-1], session.last],
    )
    judge.conclude("MQQB-3.1.7.11-15")
    sent.append(session.send(peer.recoverable_message()))
    later = session.poll(
        "SessionAck",
        lambda one: one["SessionHeader"].AckSequenceNumber == received + 2,
        within_ms=delay_ms + sut.response_timeout_ms,
    )
    flagged = {"SessionHeader.RecoverableMsgAckSeqNumber": recoverable + 1, "SessionHeader.RecoverableMsgAckFlags": 1}
    judge(
        "MQQB-3.1.7.11-12",
        expected=fields(flagged),
        observed=later,
        evidence=[carrying, *sent[-2:], later],
    )
    if session.messages:
        session.acknowledge_all()


@needs("inspect")
@covers("MQQB-3.1.7.11-13", "MQQB-3.1.7.11-14")
def test_what_a_message_acknowledged_counts_as_acknowledged(peer, sut, judge):
    """After a message of the SUT that carries the acknowledgment of three of the peer nothing is unacknowledged."""
    sut.slow_down(1)
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first(1)
    delay_ms = session.received[1]["ConnectionParametersHeader"].RecoverableAckTimeout
    stalls = 0
    for _ in range(ATTEMPTS):
        session.acknowledge_all()
        sent = [session.send(make()) for make in (peer.message, peer.recoverable_message, peer.recoverable_message)]
        frames = _one_more(sender, session, sent[0], int(delay_ms * NEARLY))
        if carries(frames):
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.stood_still(sent[0].time_ms, peer.recorder.elapsed_ms())
    else:
        if stalls == ATTEMPTS:
            session.acknowledge_all()
            judge.give_up(Verdict.NOT_EXERCISED, NEVER_DUE)
            return
        raise ConformanceFailure("no message of the SUT carried an acknowledgment")
    state, evidence = initiated(sut, sender.to), [*sent, *frames]
    judge("MQQB-3.1.7.11-13", expected=0, observed=state["UnackedReceivedMsgCount"], evidence=evidence)
    recoverable = sum(frame.kind == "UserMessage" and is_recoverable(frame) for frame in session.sent)
    judge("MQQB-3.1.7.11-14", expected=recoverable, observed=state[LAST_ACKED], evidence=evidence)
    session.acknowledge_all()


def _one_more(sender: Sender, session, since, after_ms: int = 0):
    """Let the SUT send a message so long after a packet of the peer; return its packet."""
    sender.peer.pass_time_until(since, after_ms)
    known = len(session.messages)
    sender.send(known + 1)
    came = sender.collect(session, known + 1)[known:]
    if len(came) != 1:
        raise ConformanceFailure(f"of one message of the SUT {len(came)} packets came")
    return came


def carries(frames) -> bool:
    """Return whether one of several packets has a SessionHeader."""
    return any(bool(frame["BaseHeader"].SH) for frame in frames)
