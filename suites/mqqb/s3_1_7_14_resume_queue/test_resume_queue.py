"""MS-MQQB 3.1.7.14 Resume Queue Event."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.conversation import Conversation
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender


@needs("send", "pause")
@covers("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04", "MQDMPR-3.1.4.15-03")
@varied("time to be received", "time to reach queue", priority=("3", "0"))
def test_resumed_queue_sends_waiting_messages(peer, sut, judge):
    """An express, a recoverable and a transactional message wait in the SUT's paused outgoing queue, whose session is
    open. When an application resumes the queue, the SUT sends all three messages. The application pauses the queue
    again, and a further message waits. When the queue is resumed again, the SUT sends this message.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    sut.pause(sender.to)
    for tag, delivery in enumerate(("express", "recoverable", "transactional"), 2):
        sender.send(tag, delivery=delivery)
    sender.collect_messages_until_silence(session, 1)
    if list_tags_after_first_message(session):
        raise ConformanceFailure("the SUT sends messages of a paused queue (MS-MQQB 3.1.7.13)")
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 4)
    first_sent = sorted(list_tags_after_first_message(session))
    session.acknowledge_all()
    sut.pause(sender.to)
    sender.send(5)
    session.stays_quiet()
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 5)
    judge.all(
        expected={"first resumption": [2, 3, 4], "second resumption": [2, 3, 4, 5]},
        observed={
            "first resumption": first_sent,
            "second resumption": sorted(list_tags_after_first_message(session)),
        },
        case="numbers of the messages sent after the resumption",
        evidence=[*sent, *session.messages, session.last],
    )
    session.acknowledge_all()
    for frame in session.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))


@needs("send", "pause", "inspect")
@covers("MQQB-3.1.7.14-07")
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of arrival"))
def test_session_is_active_after_resume_with_message_in_flight(peer, sut, judge):
    """An application pauses and resumes the SUT's outgoing queue twice while a message is unacknowledged. Each time,
    SessionActive is TRUE.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    _, sent = sender.await_first_messages(1)
    for turn in ("first", "second"):
        sut.pause(sender.to)
        if find_initiated_session(sut, sender.to)["SessionActive"]:
            raise ConformanceFailure("SessionActive is still TRUE when the queue is paused (MS-MQQB 3.1.7.13)")
        sut.resume(sender.to)
        judge(
            "MQQB-3.1.7.14-07",
            expected=True,
            observed=find_initiated_session(sut, sender.to)["SessionActive"],
            case=f"SessionActive after the {turn} resumption",
            evidence=sent,
        )
        judge.conclude("MQQB-3.1.7.14-07")


@needs("send", "pause", "queue_control")
@covers(
    "MQQB-3.1.5.9-03",
    "MQQB-3.1.5.9-04",
    "MQQB-3.1.7.14-01",
    "MQQB-3.1.7.14-02",
    "MQQB-3.1.7.14-03",
    "MQQB-3.1.7.14-04",
    "MQDMPR-3.1.4.14-03",
    "MQDMPR-3.1.4.15-03",
    "MQDMPR-3.1.7.2.3-03",
    "MQDMPR-3.1.7.2.4-03",
)
@pytest.mark.parametrize("waiting", ["sent and not acknowledged", "sent while paused"])
@varied("response queue", "trace", acknowledgments=("none", "of receipt"))
def test_resumed_queue_without_session_establishes_one(peer, sut, judge, waiting):
    """An application pauses the SUT's outgoing queue, and the session of this queue is lost, in either order. The SUT
    opens no session within two retry times, not even for a new message. When the application resumes the queue, the SUT
    opens a session and sends all waiting messages.
    """
    sut.limit_time_scale(4)  # otherwise a Ping Response may be too late, and no second attempt follows
    sender = Sender(peer, sut)
    sender.send(1, 2)
    session, sent = sender.await_first_messages(2)
    if waiting == "sent while paused":
        session.acknowledge_all()
        session.stays_quiet()
    else:
        sut.pause(sender.to)
    session.close()
    if not peer.eventually(lambda: sut.outgoing(sender.to)["state"] != "Connected"):
        raise ConformanceFailure("the SUT did not notice the loss of its session")
    if waiting == "sent while paused":
        sut.pause(sender.to)
    early = sender.poll_session(sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.5.9-04",
        expected=holds(
            "the SUT opens no session while its queue is on hold",
            otherwise="the SUT opens a session while its queue is on hold",
        ),
        observed=early is None,
        evidence=[*sent, *(early.received if early else [])],
    )
    judge(
        "MQQB-3.1.5.9-03",
        "MQDMPR-3.1.7.2.3-03",
        expected="OnHold",
        observed=sut.outgoing(sender.to)["state"],
        case="State of the paused queue",
        evidence=sent,
    )
    judge.conclude("MQQB-3.1.5.9-03", "MQQB-3.1.5.9-04")
    if waiting == "sent while paused":
        sender.send(3, 4)
    later = early or sender.poll_session(sut.connect_timeout_ms)
    judge(
        "MQDMPR-3.1.4.14-03",
        expected=holds("the SUT opens no session while its queue is paused"),
        observed=later is None,
        evidence=[*sent, *(later.received if later else [])],
    )
    if later is not None:
        raise ConformanceFailure("the SUT establishes a session for a paused queue (MS-MQQB 3.1.7.12)")
    sut.resume(sender.to)
    again = sender.poll_session(sut.response_timeout_ms)
    judge(
        "MQQB-3.1.7.14-01",
        "MQQB-3.1.7.14-03",
        "MQDMPR-3.1.4.15-03",
        "MQDMPR-3.1.7.2.4-03",
        expected=holds(
            "the SUT opens a session when its queue is resumed",
            otherwise="the SUT opens no session when its queue is resumed",
        ),
        observed=bool(again),
        evidence=[*sent, *(again.received if again else [])],
    )
    came = [] if again is None else sender.collect_messages_until_silence(again, 2)
    judge(
        "MQQB-3.1.7.14-02",
        "MQQB-3.1.7.14-04",
        expected=[3, 4] if waiting == "sent while paused" else [1, 2],
        observed=sorted(set(Sender.list_tags(came))),
        case="messages on the new session",
        evidence=[*sent, *came],
    )
    if again is not None:
        again.acknowledge_all()


@needs("send", "pause", "queue_control")
@covers("MQDMPR-3.1.7.2.4-03")
def test_resumed_empty_queue_leaves_on_hold_each_time(peer, sut, judge):
    """An application pauses two outgoing queues of the SUT, of which one has no message. While the other queue stays
    paused, the application resumes the empty queue, pauses this queue again, and resumes this queue again. After each
    resumption the State of the queue is not OnHold.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    other = peer.direct_name(f"{sut.own}-held")
    sut.send(other, label="held")
    sut.pause(other)
    states = []
    for _ in range(2):
        sut.pause(sender.to)
        paused = sut.outgoing(sender.to)["state"]
        sut.resume(sender.to)
        states.append((paused, sut.outgoing(sender.to)["state"] == "OnHold"))
    judge(
        "MQDMPR-3.1.7.2.4-03",
        expected=[("OnHold", False)] * 2,
        observed=states,
        case="State of the paused queue, and whether the State is OnHold after the resumption",
        evidence=sent,
    )
    sut.resume(other)


def list_tags_after_first_message(session: Conversation) -> list[int]:
    """Return the tags of the messages after the first message, in order; a tag that a resent message repeats is listed
    once (erratum E65).
    """
    return [tag for tag in dict.fromkeys(Sender.list_tags(session.messages)) if tag != 1]
