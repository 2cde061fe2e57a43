"""MS-MQQB 3.1.7.13 Pause Queue Event."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.sender import Sender

ARRIVAL_MS = 50
"""A time in which sent messages arrive, below the 500 ms before any acknowledgment (2.2.2.1)."""
AT_ONCE_MS = 300
"""The longest time for the SessionAck of a pause, below the delay of an ordinary SessionAck."""
PAUSED_WINDOW = 1
"""The WindowSize in the SessionAck of a pause."""
LAST_ACKED = "LastAckedRecoverableMsgSeqNumber"
LARGEST_WINDOW = 512
"""The largest window that the check fills."""


@needs("send", "pause")
@covers(
    "MQQB-3.1.7.13-01",
    "MQQB-3.1.7.13-03",
    "MQQB-3.1.7.13-04",
    "MQQB-3.1.7.13-05",
    "MQQB-3.1.7.13-06",
    "MQQB-3.1.7.13-07",
    "MQQB-3.1.7.13-08",
    "MQQB-3.1.7.13-10",
    "MQQB-3.1.7.13-11",
    "MQQB-3.1.7.13-13",
    "MQDMPR-3.1.7.1.34-03",
)
def test_pause_acknowledges_received_messages_and_stops_sending(peer, sut, judge):
    """The peer sends three messages and the SUT's outgoing queue is paused: a SessionAck with its values comes at once,
    and the SUT's next message is not sent.
    """
    to, session, own, sent = _exchange_three_messages(peer, sut)
    sut.pause(to)
    ack = session.poll("SessionAck", within_ms=AT_ONCE_MS)
    for rule, name, expected in (
        ("MQQB-3.1.7.13-03", "AckSequenceNumber", 3),
        ("MQQB-3.1.7.13-04", "RecoverableMsgAckSeqNumber", 1),
        ("MQQB-3.1.7.13-05", "UserMsgSequenceNumber", 3),
        ("MQQB-3.1.7.13-06", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.7.13-07", "RecoverableMsgAckFlags", 0b11),
        ("MQQB-3.1.7.13-08", "WindowSize", PAUSED_WINDOW),
    ):
        judge(rule, expected=fields({f"SessionHeader.{name}": expected}), observed=ack, evidence=[*own, *sent, ack])
        judge.conclude(rule)

    timeout_ms = session.sut_parameters.RecoverableAckTimeout
    due_ms = sut.duration_ms(timeout_ms) + sut.slack_ms(timeout_ms)
    again = session.poll("SessionAck", within_ms=due_ms)
    once = holds("acknowledged once", otherwise="acknowledged again")
    judge("MQQB-3.1.7.13-01", "MQQB-3.1.7.13-11", expected=once, observed=again is None, evidence=[*sent, ack, again])
    judge.conclude("MQQB-3.1.7.13-01")

    sut.send(to, body="message 4", application_tag=4)
    judge(
        "MQQB-3.1.7.13-13",
        "MQDMPR-3.1.7.1.34-03",
        expected=holds("no packet", otherwise="a packet"),
        observed=bool(session.quiet()),
        evidence=[ack, session.last],
    )
    judge.conclude("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03")

    sent = [session.send(peer.recoverable_message())]
    following = session.poll("SessionAck", within_ms=due_ms + sut.response_timeout_ms)
    evidence = [ack, *sent, following]
    flagged = fields({"SessionHeader.RecoverableMsgAckFlags": 1})
    judge("MQQB-3.1.7.13-10", expected=flagged, observed=following, evidence=evidence)
    numbered = fields({"SessionHeader.RecoverableMsgAckSeqNumber": 3})
    judge("MQQB-3.1.7.13-11", expected=numbered, observed=following, evidence=evidence)


@needs("send", "pause", "inspect")
@covers("MQQB-3.1.7.13-01", "MQQB-3.1.7.13-11", "MQQB-3.1.7.13-12")
@varied("time to be received", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_pause_stops_ack_timer_and_session_activity(peer, sut, judge):
    """The peer sends three messages and the SUT's outgoing queue is paused: the Session Ack Send Timer is stopped,
    nothing is unacknowledged, and SessionActive is FALSE.
    """
    to, session, _, sent = _exchange_three_messages(peer, sut)
    sut.pause(to)
    ack = session.poll("SessionAck", within_ms=AT_ONCE_MS)
    state = find_initiated_session(sut, to)
    timer = state["timers"]["SessionAckSend"]
    judge(
        "MQQB-3.1.7.13-01",
        expected=holds("stopped", otherwise=f"{timer} ms left"),
        observed=timer is None,
        evidence=[*sent, ack],
    )
    judge(
        "MQQB-3.1.7.13-11",
        expected=fields({"UnackedReceivedMsgCount": 0, LAST_ACKED: 2}),
        observed={name: state[name] for name in ("UnackedReceivedMsgCount", LAST_ACKED)},
        evidence=ack,
    )
    judge("MQQB-3.1.7.13-12", expected=False, observed=state["SessionActive"], evidence=ack)


def _exchange_three_messages(peer, sut):
    """Return the SUT's queue name and session, its three messages, and three unacknowledged ones of the peer."""
    sut.slow_down(1)
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, delivery="recoverable")
    session, own = sender.await_first(3)
    session.acknowledge_all()
    sent = [session.send(make()) for make in (peer.message, peer.recoverable_message, peer.recoverable_message)]
    peer.pass_time(ARRIVAL_MS)
    if any(frame.kind == "SessionAck" for frame in session.received):
        raise ConformanceFailure("the SUT acknowledged the messages before its queue was paused")
    return sender.to, session, own, sent


@needs("send", "pause", "queue_control")
@covers("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.7.2.3-03")
def test_pause_keeps_message_behind_full_window(peer, sut, judge):
    """The SUT fills its window, one message waits, the queue is paused and the peer acknowledges all: the waiting
    message is not sent, and the queue is OnHold.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first(1)
    window = session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > LARGEST_WINDOW:
        raise ConformanceFailure(f"its window of {window} is too large to fill with messages")
    sender.send(*range(2, window + 2))
    sent = sender.collect_all(session, window)
    if len(sent) != window:
        raise ConformanceFailure(f"{len(sent)} messages came through a window of {window}")
    refusal = ""
    try:
        sut.pause(sender.to)
    except ControlRefused as refused:
        refusal = str(refused)
    ack = session.acknowledge_all()
    session.quiet()
    state, last = sut.outgoing(sender.to)["state"], max(Sender.tags(session.messages))
    observed = {"refusal": refusal, "state": state, "last message": last}
    expected = fields({"refusal": "", "state": "OnHold", "last message": window})
    judge.all(expected=expected, observed=observed, evidence=[ack, session.last])
