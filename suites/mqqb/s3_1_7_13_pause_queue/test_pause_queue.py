"""MS-MQQB 3.1.7.13 Pause Queue Event."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, packet
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender

WAIT_FOR_MESSAGE_ARRIVAL_MS = 50
"""A time in ms within which sent messages arrive. The time is shorter than 500 ms, the least delay of an acknowledgment
(2.2.2.1).
"""
LONGEST_PAUSE_ACK_DELAY_MS = 300
"""The longest accepted delay, in ms, of the SessionAck that a pause causes. This delay is shorter than the delay of an
ordinary SessionAck.
"""
PAUSED_WINDOW_SIZE = 1
"""The WindowSize in the SessionAck that the SUT sends when its queue is paused."""
LAST_ACKED_NUMBER_ELEMENT = "LastAckedRecoverableMsgSeqNumber"
LARGEST_WINDOW_SIZE = 512
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
    """The peer sends three messages, and an application pauses the SUT's outgoing queue. The SUT sends a SessionAck
    with the specified values at once, and does not send its next message.
    """
    to, session, own, sent = _exchange_three_messages(peer, sut)
    sut.pause(to)
    ack = session.poll("SessionAck", within_ms=LONGEST_PAUSE_ACK_DELAY_MS)
    for rule, name, expected in (
        ("MQQB-3.1.7.13-03", "AckSequenceNumber", 3),
        ("MQQB-3.1.7.13-04", "RecoverableMsgAckSeqNumber", 1),
        ("MQQB-3.1.7.13-05", "UserMsgSequenceNumber", 3),
        ("MQQB-3.1.7.13-06", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.7.13-07", "RecoverableMsgAckFlags", 0b11),
        ("MQQB-3.1.7.13-08", "WindowSize", PAUSED_WINDOW_SIZE),
    ):
        judge(rule, expected=fields({f"SessionHeader.{name}": expected}), observed=ack, evidence=[*own, *sent, ack])

    timeout_ms = session.connection_parameters_of_sut.RecoverableAckTimeout
    due_ms = sut.duration_ms(timeout_ms) + sut.slack_ms(timeout_ms)
    again = session.poll("SessionAck", within_ms=due_ms)
    once = holds("the messages are acknowledged once", otherwise="the messages are acknowledged again")
    judge("MQQB-3.1.7.13-01", "MQQB-3.1.7.13-11", expected=once, observed=again is None, evidence=[*sent, ack, again])
    judge.conclude("MQQB-3.1.7.13-01")

    sut.send(to, body="message 4", application_tag=4)
    judge(
        "MQQB-3.1.7.13-13",
        "MQDMPR-3.1.7.1.34-03",
        expected=holds("the SUT sent no packet", otherwise="the SUT sent a packet"),
        observed=bool(session.stays_quiet()),
        evidence=[ack, session.last],
    )

    sent = [session.send(peer.recoverable_message())]
    following = session.poll("SessionAck", within_ms=due_ms + sut.response_timeout_ms)
    evidence = [ack, *sent, following]
    flagged = fields({"SessionHeader.RecoverableMsgAckFlags": 1})
    judge("MQQB-3.1.7.13-10", expected=flagged, observed=following, evidence=evidence)
    numbered = fields({"SessionHeader.RecoverableMsgAckSeqNumber": 3})
    judge("MQQB-3.1.7.13-11", expected=numbered, observed=following, evidence=evidence)
    sut.resume(to)
    session.poll("UserMessage", lambda frame: frame.number > sent[-1].number)
    sut.send(to, body="message 5", application_tag=5, delivery="recoverable")
    session.poll("UserMessage", lambda frame: read_application_tag(frame) == 5)
    session.acknowledge_all()
    sent = [session.send(make()) for make in (*[peer.recoverable_message] * 5, peer.message)]
    peer.pass_time(WAIT_FOR_MESSAGE_ARRIVAL_MS)
    sut.pause(to)
    second = session.poll("SessionAck", lambda frame: frame.number > sent[-1].number)
    for rule, name, expected in (
        ("MQQB-3.1.7.13-03", "AckSequenceNumber", 10),
        ("MQQB-3.1.7.13-04", "RecoverableMsgAckSeqNumber", 4),
        ("MQQB-3.1.7.13-05", "UserMsgSequenceNumber", 5),
        ("MQQB-3.1.7.13-06", "RecoverableMsgSeqNumber", 2),
        ("MQQB-3.1.7.13-07", "RecoverableMsgAckFlags", 0b11111),
        ("MQQB-3.1.7.13-08", "WindowSize", PAUSED_WINDOW_SIZE),
    ):
        judge(
            rule,
            expected=packet("SessionAck", {f"SessionHeader.{name}": expected}),
            observed=second or session,
            case="second pause",
            evidence=[*sent, second],
        )
    sent.append(session.send(peer.recoverable_message()))
    last = session.poll(
        "SessionAck", lambda frame: frame.number > sent[-1].number, within_ms=due_ms + sut.response_timeout_ms
    )
    for rule, name, expected in (
        ("MQQB-3.1.7.13-10", "RecoverableMsgAckFlags", 1),
        ("MQQB-3.1.7.13-11", "RecoverableMsgAckSeqNumber", 9),
    ):
        judge(
            rule,
            expected=packet("SessionAck", {f"SessionHeader.{name}": expected}),
            observed=last or session,
            case="after the second pause",
            evidence=[*sent, last],
        )
    if last is None:
        return
    sut.resume(to)
    sut.pause(to)
    third = session.poll("SessionAck", lambda frame: frame.number > last.number)
    judge(
        "MQQB-3.1.7.13-03",
        expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": 11}),
        observed=third or session,
        case="pause without a new message",
        evidence=[*sent, third],
    )
    sut.resume(to)
    sut.send(to, body="message 6", application_tag=6)
    unacknowledged = session.poll("UserMessage", lambda frame: read_application_tag(frame) == 6)
    sut.pause(to)
    sut.send(to, body="message 7", application_tag=7)
    early = session.poll("UserMessage", lambda frame: read_application_tag(frame) == 7, within_ms=sut.quiet_ms)
    judge(
        "MQQB-3.1.7.13-13",
        "MQDMPR-3.1.7.1.34-03",
        expected=holds("the SUT did not send the message", otherwise="the SUT sent the message"),
        observed=early is None,
        case="message to a queue that was paused while a message was unacknowledged",
        evidence=[unacknowledged, early],
    )


@needs("send", "pause", "inspect")
@covers("MQQB-3.1.7.13-01", "MQQB-3.1.7.13-10", "MQQB-3.1.7.13-11", "MQQB-3.1.7.13-12")
@varied("time to be received", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_pause_stops_ack_timer_and_session_activity(peer, sut, judge):
    """The peer sends three messages, and an application pauses the SUT's outgoing queue. The SUT stops the Session Ack
    Send Timer, clears RecoverableMsgAckFlags, counts no received message as unacknowledged, and sets SessionActive to
    FALSE. A pause after further messages in both directions, a pause after an express message, and a pause while a
    message of the SUT is unacknowledged have the same effect.
    """
    to, session, _, sent = _exchange_three_messages(peer, sut)
    other, _ = peer.try_to_open_session()
    on_other = other.send(peer.recoverable_message()) if other else None
    peer.pass_time(WAIT_FOR_MESSAGE_ARRIVAL_MS)
    for case, acknowledged in (
        ("first pause", 2),
        ("second pause", 5),
        ("pause after an express message", 5),
        ("pause with an unacknowledged message of the SUT", 6),
    ):
        sut.pause(to)
        ack = session.poll(
            "SessionAck",
            lambda frame, after=sent[-1]: frame.number > after.number,
            within_ms=LONGEST_PAUSE_ACK_DELAY_MS,
        )
        state = find_initiated_session(sut, to)
        timer = state["timers"]["SessionAckSend"]
        judge(
            "MQQB-3.1.7.13-01",
            expected=holds(
                "the Session Ack Send Timer is stopped",
                otherwise=f"the Session Ack Send Timer runs for a further {timer} ms",
            ),
            observed=timer is None,
            case=case,
            evidence=[*sent, ack],
        )
        judge(
            "MQQB-3.1.7.13-10",
            expected=fields({"RecoverableMsgAckFlags": 0}),
            observed={"RecoverableMsgAckFlags": state["RecoverableMsgAckFlags"]},
            case=case,
            evidence=ack,
        )
        judge(
            "MQQB-3.1.7.13-11",
            expected=fields({"UnackedReceivedMsgCount": 0, LAST_ACKED_NUMBER_ELEMENT: acknowledged}),
            observed={name: state[name] for name in ("UnackedReceivedMsgCount", LAST_ACKED_NUMBER_ELEMENT)},
            case=case,
            evidence=ack,
        )
        judge(
            "MQQB-3.1.7.13-12",
            expected=fields({"SessionActive": False}),
            observed={"SessionActive": state["SessionActive"]},
            case=case,
            evidence=ack,
        )
        if case == "first pause":
            if other and on_other:
                judge(
                    "MQQB-3.1.7.13-01",
                    "MQQB-3.1.7.13-11",
                    expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1}),
                    observed=other.poll("SessionAck") or other,
                    case="message on a session of another queue",
                    evidence=[on_other],
                )
            sut.resume(to)
            sut.send(to, body="message 4", application_tag=4)
            session.poll("UserMessage", lambda frame: read_application_tag(frame) == 4)
            session.acknowledge_all()
            sent = [session.send(make()) for make in (*[peer.recoverable_message] * 3, peer.message)]
        elif case == "second pause":
            sut.resume(to)
            sent = [session.send(peer.message())]
        elif case == "pause after an express message":
            sut.resume(to)
            sut.send(to, body="message 5", application_tag=5)
            session.poll("UserMessage", lambda frame: read_application_tag(frame) == 5)
            sent = [session.send(peer.recoverable_message())]
        peer.pass_time(WAIT_FOR_MESSAGE_ARRIVAL_MS)
    sut.resume(to)
    session.acknowledge_all()


def _exchange_three_messages(peer, sut):
    """Exchange three messages in each direction; return the queue, the session, the SUT's messages and the peer's
    messages.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, delivery="recoverable")
    session, own = sender.await_first_messages(3)
    session.acknowledge_all()
    sent = [session.send(make()) for make in (peer.message, peer.recoverable_message, peer.recoverable_message)]
    peer.pass_time(WAIT_FOR_MESSAGE_ARRIVAL_MS)
    if any(frame.kind == "SessionAck" for frame in session.received):
        raise ConformanceFailure("the SUT acknowledged the messages before its queue was paused")
    return sender.to, session, own, sent


@needs("send", "pause", "queue_control")
@covers("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.7.2.3-03")
def test_pause_keeps_message_behind_full_window(peer, sut, judge):
    """The SUT fills its window, and three messages wait. An application pauses the queue, and then the peer
    acknowledges all sent messages. The SUT sends none of the waiting messages, and the queue is OnHold.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    window = session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > LARGEST_WINDOW_SIZE:
        raise ConformanceFailure(f"the SUT's window of {window} is too large to fill with messages")
    sender.send(*range(2, window + 4))
    sent = sender.collect_messages_until_silence(session, window)
    if len(sent) != window:
        raise ConformanceFailure(f"{len(sent)} messages arrived instead of the {window} messages of a full window")
    refusal = ""
    try:
        sut.pause(sender.to)
    except ControlRefused as refused:
        refusal = str(refused)
    ack = session.acknowledge_all()
    session.stays_quiet()
    state, last = sut.outgoing(sender.to)["state"], max(Sender.list_tags(session.messages))
    observed = {"reason of a refusal": refusal, "State of the queue": state, "number of the last message sent": last}
    expected = fields(
        {"reason of a refusal": "", "State of the queue": "OnHold", "number of the last message sent": window}
    )
    judge.all(expected=expected, observed=observed, evidence=[ack, session.last])


@needs("send", "pause")
@covers("MQDMPR-3.1.7.1.34-03")
def test_pause_does_not_stop_other_outgoing_queue(peer, sut, judge):
    """The SUT has messages for two queues of the peer, and an application pauses the outgoing queue to the first queue.
    All messages for the second queue arrive.
    """
    paused, other = peer.direct_name("mqc-paused"), peer.direct_name("mqc-other")
    sender = Sender(peer, sut, other)
    for tag in (1, 2):
        sut.send(paused, body="held", application_tag=10 + tag)
        sender.send(tag)
    sut.pause(paused)
    came = peer.inbox.wait(lambda frame: read_application_tag(frame) in (1, 2), 2)
    judge(
        "MQDMPR-3.1.7.1.34-03",
        expected=[1, 2],
        observed=sorted(Sender.list_tags(came)),
        evidence=came,
        case="ApplicationTags of the messages for the other queue",
    )
    sut.resume(paused)
    peer.inbox.acknowledge()


@needs("send", "pause", "queue_control")
@covers("MQQB-3.1.5.2.3-16", "MQQB-3.1.5.4.2-09", "MQQB-3.1.7.13-13")
@pytest.mark.parametrize("step", ["closed", "connected", "requested", "agreed"])
def test_queue_paused_while_session_opens_stays_on_hold(peer, sut, judge, step):
    """An application pauses the outgoing queue before the EstablishConnection response, before the ConnectionParameters
    response, or after both responses of the peer. When the session is open, the queue is OnHold, and the SUT does not
    send a new message. In a further case, the peer closes the connection before the pause; then the SUT may connect
    again, or may wait.
    """
    opening = OutgoingSession(peer, sut, to := peer.direct_name())
    opening.await_request()
    if step == "closed":
        opening.connection.close()
        peer.settle()
        sut.pause(to)
        retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        if opening.poll_request(sut.response_timeout_ms + retry_ms) is None:
            judge.all(
                expected="OnHold", observed=sut.outgoing(to)["state"], case="State of the queue without a session"
            )
            return
    if step == "connected":
        sut.pause(to)
    answer = opening.connection.send(establish_response(peer, opening.request))
    parameters = opening.connection.poll("ConnectionParameters")
    if step == "requested":
        sut.pause(to)
    if parameters is not None:
        answer = opening.connection.send(parameters_response(parameters))
    if step == "agreed":
        sut.pause(to)
    peer.settle()
    sut.send(to, body="on hold", application_tag=2)
    peer.settle()
    came = [tag for tag in Sender.list_tags(opening.connection.messages) if tag == 2]
    observed = {"State of the queue": sut.outgoing(to)["state"], "new messages sent": came}
    judge.all(
        expected=fields({"State of the queue": "OnHold", "new messages sent": []}), observed=observed, evidence=answer
    )
