"""MS-MQQB 3.1.7.1 Send User Message Event, 3.1.7.1.1 General Processing, 3.1.7.1.6 Sending the Packet.

MS-MQQB 3.1.7.16 Send User Message Wrapper: the SUT sends a dispatched message, and does not dispatch it again. The
checks of other sections also judge the steps that these sections describe.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import ADMINISTRATION_QUEUE_NAME, AcknowledgingReceiver
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.provoking import SecondQueueManager, make_sut_send_message
from suites.mqqb.steps.sender import Sender

RETRY_INTERVAL_MS = 40_000
"""A retry time in ms that is long enough to observe that no session exists."""
SECONDS_PER_HOUR = 3_600
LARGE_BODY = "a large body " * 800
LONGEST_LABEL = 249
"""The greatest number of characters in a label."""
LARGE_BODY_REPETITIONS = 120_000
"""The number of repetitions of a text in a body of more than 1 MB."""
ACK_REQUEST_NAME_BY_FLAG = {
    "PA": "positive_arrival",
    "PR": "positive_receive",
    "NA": "negative_arrival",
    "NR": "negative_receive",
}


@covers("MQQB-3.1.7.1-10", "MQQB-3.1.7.1.1-02", "MQQB-3.1.7.1.6-01", "MQQB-3.1.7.16-03")
def test_messages_arrive_with_increasing_identifiers_on_session_opened_for_them(peer, sut, judge):
    """The SUT sends six messages and an acknowledgment. All arrive on the session that it opened for them, with
    increasing MessageIDs. The sixth message has priority 0. Afterwards, a message to another queue arrives as well.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
    sender.send(1, 2)
    session = sender.await_session()
    sender.collect_messages(session, 2)
    sender.send(3, 4, 5)
    sender.send(6, **({"priority": 0} if sut.has("send") else {}))
    sender.collect_messages(session, 6)
    SecondQueueManager(peer, sender.to).send(7)
    came = sender.collect_messages_until_silence(session, 7)
    session.acknowledge_all()
    judge(
        "MQQB-3.1.7.1-10",
        "MQQB-3.1.7.1.6-01",
        "MQQB-3.1.7.16-03",
        expected=[1, 2, 3, 4, 5, 6, 7],
        observed=sorted(Sender.list_tags(came)),
        case="numbers of the messages on the session",
        evidence=came,
    )
    ids = [int(frame["UserHeader"].MessageID) for frame in sorted(came, key=lambda frame: Sender.list_tags([frame]))]
    judge(
        "MQQB-3.1.7.1.1-02",
        expected=holds("each MessageID is greater than the previous MessageID"),
        observed=(len(ids) == 7 and all(before < after for before, after in pairwise(ids))) or str(ids),
        evidence=came,
    )
    make_sut_send_message(peer, sut, peer.direct_name("mqc-beside"), tag=8)
    beside = peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [8])
    judge(
        "MQQB-3.1.7.16-03",
        expected=1,
        observed=len(beside),
        case="number of messages to another queue",
        evidence=[*came, *beside],
    )
    peer.inbox.acknowledge()


@needs("send")
@covers("MQQB-3.1.7.1-05", "MQQB-3.1.7.1.1-03", "MQQB-3.1.7.1-10")
def test_packet_has_properties_of_message(peer, sut, judge):
    """The SUT sends three messages with many properties. One message has the longest label; the second message has a
    body of more than 1 MB, no response queue and a very long TimeToBeReceived; the third message is recoverable and has
    the label of the second message. Each packet has the identifier and the properties of its message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
    answers = peer.direct_name("mqc-answers")
    priorities = {1: 7, 2: 1, 3: 1}
    labels = {1: "label 1".ljust(LONGEST_LABEL, "x"), 2: "label 2", 3: "label 2"}
    lifetimes = {1: 8_000, 2: 0x8000_0001, 3: 8_000}
    bodies = {1: "message 1", 2: "message 2" * LARGE_BODY_REPETITIONS, 3: "message 3"}
    ordinals = {}
    for tag, priority in priorities.items():
        identifier = sut.send(
            sender.to,
            application_tag=tag,
            body=bodies[tag],
            label=labels[tag],
            priority=priority,
            time_to_reach_queue_s=9_000,
            time_to_be_received_s=lifetimes[tag],
            journal=["positive"],
            delivery="recoverable" if tag == 3 else "express",
            **({"response_queue": answers} if tag == 1 else {}),
        )
        ordinals[tag] = int(identifier.rpartition("\\")[2])
    session = sender.await_session()
    came = sender.collect_messages(session, 3)
    session.acknowledge_all()
    judge("MQQB-3.1.7.1-10", expected=[1, 2, 3], observed=Sender.list_tags(came), case="messages sent", evidence=came)
    for tag, frame in zip(Sender.list_tags(came), came, strict=True):
        wanted = {
            "label": labels[tag],
            "body": bodies[tag],
            "priority": priorities[tag],
            "response": answers.removeprefix("DIRECT=") if tag == 1 else None,
            "TimeToReachQueue": 9_000,
            "TimeToBeReceived": lifetimes[tag],
            "journaled": 1,
            "MessageID": ordinals[tag],
        }
        judge(
            "MQQB-3.1.7.1-05",
            "MQQB-3.1.7.1.1-03",
            expected=wanted,
            observed=_get_message_properties(frame),
            evidence=frame,
        )


def _get_message_properties(frame) -> dict[str, Any]:
    """Return the properties of a message that the check sets."""
    base, user, properties = (frame[name] for name in ("BaseHeader", "UserHeader", "MessagePropertiesHeader"))
    return {
        "label": str(properties.Label).rstrip("\0"),
        "body": bytes(properties.MessageBody).decode(errors="replace"),
        "priority": int(base.PR),
        "response": user.ResponseQueue.DirectFormatName.removeprefix("DIRECT=").rstrip("\0") if user.RQ else None,
        "TimeToReachQueue": int(base.TimeToReachQueue),
        "TimeToBeReceived": int(user.TimeToBeReceived),
        "journaled": int(user.JP),
        "MessageID": int(user.MessageID),
    }


@needs("send")
@covers("MQQB-3.1.7.1.1-03")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("response queue", "trace")
def test_packet_has_requested_acknowledgments_journals_and_times(peer, sut, judge, delivery):
    """The SUT sends messages that request one or all kinds of acknowledgments, and one or both kinds of journaling: the
    packets have the bits for these requests and the requested lifetimes.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
    admin = peer.direct_name("mqc-acks")
    asked: list[dict[str, Any]] = [
        *({"acks": [one], "admin_queue": admin} for one in ACK_REQUEST_NAME_BY_FLAG.values()),
        {"acks": list(ACK_REQUEST_NAME_BY_FLAG.values()), "admin_queue": admin},
        *({"journal": journal} for journal in (["positive"], ["negative"], ["positive", "negative"])),
    ]
    wanted = {}
    for number, fields in enumerate(asked):
        given: dict[str, Any] = {
            "application_tag": 0xFFFF_FF00 + number,
            "time_to_be_received_s": SECONDS_PER_HOUR + number,
            **fields,
        }
        sut.send(
            sender.to, body=f"message {number}", delivery=delivery, time_to_reach_queue_s=2 * SECONDS_PER_HOUR, **given
        )
        wanted[given["application_tag"]] = (
            sorted([*fields.get("acks", []), *fields.get("journal", [])]),
            SECONDS_PER_HOUR + number,
            2 * SECONDS_PER_HOUR,
        )
    session = sender.await_session()
    came = sender.collect_messages_until_silence(session, len(asked))
    session.acknowledge_all()
    found = {frame["MessagePropertiesHeader"].ApplicationTag: frame for frame in came}
    for tag, expected in wanted.items():
        observed = _get_requests_and_lifetimes(found[tag]) if tag in found else "no message with this ApplicationTag"
        judge(
            "MQQB-3.1.7.1.1-03",
            expected=expected,
            observed=observed,
            case="requested acknowledgments, and TimeToBeReceived and TimeToReachQueue in seconds",
            evidence=found.get(tag) or came,
        )


def _get_requests_and_lifetimes(frame) -> tuple[list[str], int, int]:
    """Return the acknowledgments and the journaling that a packet requests, and its lifetimes in seconds."""
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    acks = [name for bit, name in ACK_REQUEST_NAME_BY_FLAG.items() if properties.getfieldval(bit)]
    journals = [name for bit, name in (("JP", "positive"), ("JN", "negative")) if user.getfieldval(bit)]
    return sorted(acks + journals), int(user.TimeToBeReceived), int(frame["BaseHeader"].TimeToReachQueue)


@needs("send", "pause")
@covers("MQQB-3.1.7.1-02", "MQQB-3.1.7.13-13")
@varied("acknowledgments", "response queue", "time to be received", "time to reach queue")
def test_message_of_paused_queue_is_sent_only_after_resume(peer, sut, judge):
    """An application pauses one outgoing queue of the SUT. Then messages of each delivery mode, an urgent message and
    an acknowledgment wait in this queue. The application also pauses a second outgoing queue, in which only its last
    message waits. The SUT sends the waiting messages of a queue only after the application has resumed this queue.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-connected"))
    beside = peer.direct_name("mqc-beside")
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    sut.send(beside, body="beside", application_tag=5)
    peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [5])
    sut.pause(sender.to)
    for tag, delivery in enumerate(("express", "recoverable", "transactional"), 2):
        sender.send(tag, delivery=delivery)
    sender.send(8, priority=7)
    SecondQueueManager(peer, sender.to).send(9)
    sender.collect_messages_until_silence(session, 1)
    held = [
        tag for tag in Sender.list_tags(session.messages) if tag not in (5, 7)
    ]  # the other queue may share it (E16)
    sut.send(beside, body="beside", application_tag=7)
    peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [7])
    sut.pause(beside)
    sut.send(beside, body="beside", application_tag=6)
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 6)
    after = sorted(set(Sender.list_tags(peer.inbox.messages)))
    sut.resume(beside)
    session.acknowledge_all()
    for frame in session.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))
    judge(
        "MQQB-3.1.7.1-02",
        "MQQB-3.1.7.13-13",
        expected=facts(messages_sent_while_paused=[1], messages_sent_after_the_resumption=[1, 2, 3, 4, 5, 7, 8, 9]),
        observed={"messages_sent_while_paused": held, "messages_sent_after_the_resumption": after},
        evidence=session.messages,
    )


@needs("send", "pause", "inspect")
@covers("MQQB-3.1.7.1-04", "MQQB-3.1.7.1.6-02")
@varied("positive journaling", "negative journaling", priority=("3", "0"))
def test_waiting_message_is_not_marked_as_transmitted(peer, sut, judge):
    """The SUT sends an express message, a transactional message and an acknowledgment, and a fourth message waits in
    the paused queue: OutgoingQueueReference of the session is this queue; Transmitted is FALSE only for the fourth
    message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-connected"))
    sender.send(1)
    session, came = sender.await_first_messages(1)
    shown = _find_session_of_outgoing_queue(sut, sender.to)
    judge(
        "MQQB-3.1.7.1-04",
        expected=sender.to,
        observed=str(read_data_model_element(shown, "OutgoingQueueReference")),
        case="OutgoingQueueReference",
        evidence=came,
    )
    judge.conclude("MQQB-3.1.7.1-04")
    sender.send(2, delivery="transactional")
    SecondQueueManager(peer, sender.to).send(3)
    sender.collect_messages_until_silence(session, 3)
    sut.pause(sender.to)
    sender.send(4)
    sender.collect_messages_until_silence(session, 3)
    shown = _find_session_of_outgoing_queue(sut, sender.to)
    done = [
        read_data_model_element(one, "Transmitted") for one in read_data_model_element(shown, "OutgoingMessageTable")
    ]
    judge(
        "MQQB-3.1.7.1.6-02",
        expected=[True, True, True, False],
        observed=done,
        case="Transmitted of the sent messages and the waiting message",
        evidence=session.messages,
    )
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 4)
    session.acknowledge_all()
    for frame in session.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))


def _find_session_of_outgoing_queue(sut, format_name: str) -> dict[str, Any]:
    """Return the session of the outgoing queue for a format name, or else a session that has messages."""
    shown = [one for one in sut.inspect()["Sessions"] if one["role"] == "initiator"]
    named = [one for one in shown if one["OutgoingQueueReference"] == format_name]
    found = named or [one for one in shown if one["OutgoingMessageTable"]]
    if not found:
        raise ConformanceFailure("the SUT shows no session for its messages")
    return found[0]


@needs("queue_control")
@covers("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04", "MQQB-3.1.7.1.6-06", "MQQB-3.1.7.16-06")
@varied("delivery", "negative journaling", "response queue", acknowledgments=("none", "of arrival"))
def test_messages_of_lost_session_are_sent_once_on_next(peer, sut, judge):
    """The SUT sends three messages, and the peer drops the connection without an acknowledgment. The queue still
    contains three messages and is not Connected, and another session stays open. An application adds a message. On the
    next session, which the peer also drops, and on the session after that, the SUT sends each message once. One message
    is urgent, and one message has a large body.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-lost"))
    sender.send(1)
    sender.send(2, **{"priority": 7} if sut.has("send") else {})
    sender.send(3, **{"body": LARGE_BODY} if sut.has("send") else {})
    session = sender.await_session()
    first = sender.collect_messages_until_silence(session, 3)
    judge(
        "MQQB-3.1.7.16-06",
        expected=[1, 2, 3],
        observed=sorted(Sender.list_tags(first)),
        case="numbers of the messages on the first session",
        evidence=first,
    )
    judge.conclude("MQQB-3.1.7.16-06")
    beside = peer.open_raw()
    if sut.has("set_timers"):
        sut.set_timers(session_retry_connect_ms=RETRY_INTERVAL_MS)
    session.close()

    def is_outgoing_queue_disconnected():
        return sut.outgoing(sender.to)["state"] != "Connected"

    seen = peer.eventually(is_outgoing_queue_disconnected)
    kept = sut.outgoing(sender.to)["count"]
    lost = holds("not Connected", otherwise="Connected")
    if seen or not peer.has_unawaited_connection:
        observed = {"state": seen, "messages_in_queue": kept}
        judge(
            "MQQB-3.1.7.1.6-03",
            expected=facts(state=lost, messages_in_queue=3),
            observed=observed,
            case="after the loss of the session",
            evidence=first,
        )
        judge("MQQB-3.1.7.1.6-06", expected=lost, observed=seen, case="State of the outgoing queue", evidence=first)
        remains = holds("open", otherwise="closed")
        judge(
            "MQQB-3.1.7.1.6-06",
            expected=remains,
            observed=not beside.closed_by_sut,
            case="other session",
            evidence=beside.last,
        )
        judge.conclude("MQQB-3.1.7.1.6-06")
    else:
        reason = "the SUT was connected again before the control channel showed the lost session"
        judge.mark_not_exercised("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-06", reason=reason)
    added = sut.has("send")
    if added:
        sender.send(4)
    every = [1, 2, 3, 4] if added else [1, 2, 3]
    again = None
    for turn in ("next", "third"):
        if again is not None:
            again.close()
            seen = peer.eventually(is_outgoing_queue_disconnected)
            if seen or not peer.has_unawaited_connection:
                judge(
                    "MQQB-3.1.7.1.6-03",
                    "MQQB-3.1.7.1.6-06",
                    expected=lost,
                    observed=seen,
                    case="State of the outgoing queue after the second loss",
                    evidence=again.last,
                )
                judge.conclude("MQQB-3.1.7.1.6-06")
        again = sender.poll_session(
            sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS) + sut.response_timeout_ms
        )
        later = [] if again is None else sender.collect_messages_until_silence(again, len(every))
        judge(
            "MQQB-3.1.7.1.6-04",
            *(["MQQB-3.1.7.1.6-03"] if turn == "third" else []),
            expected=every,
            observed=sorted(Sender.list_tags(later)),
            case=f"numbers of the messages on the {turn} session",
            evidence=[*first, *later],
        )
    if again is not None:
        again.acknowledge_all()


def _send_and_await_message(peer, sut, receiver) -> Frame:
    """Let an application send a message to the peer; return the packet of the message."""
    tag = peer.next_message_id()
    sut.send(peer.direct_name(ADMINISTRATION_QUEUE_NAME), body="between acknowledgments", application_tag=tag)

    def list_matching_messages() -> list[Frame]:
        return [frame for frame in receiver.messages if frame["MessagePropertiesHeader"].ApplicationTag == tag]

    if receiver.poll(list_matching_messages, 0) is None:
        raise ConformanceFailure("the message of the application did not arrive")
    return list_matching_messages()[0]


@covers("MQQB-3.1.7.1-12", "MQQB-3.1.7.1.1-02")
def test_acknowledgments_are_sent_like_application_messages(peer, sut, judge):
    """An application of the SUT sends two messages, and between them the peer requests an express and a recoverable
    acknowledgment of arrival: the MessageIDs of the acknowledgments are between the MessageIDs of the messages, the
    session counts the acknowledgments, and the SUT sends them again after the loss of the session.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    mixed = [] if not sut.has("send") else [_send_and_await_message(peer, sut, receiver)]
    sent = [receiver.send_packet(receiver.build_message({"DM": one}, properties={"PA": 1})) for one in (0, 1)]
    for seen in (0, 1):
        receiver.poll(receiver.list_admin_acks, seen)
    if len(receiver.list_admin_acks()) < 2:
        raise ConformanceFailure("fewer than two acknowledgments arrived in the administration queue")
    if mixed:
        mixed += [*receiver.list_admin_acks(), _send_and_await_message(peer, sut, receiver)]
        numbers = [int(frame["UserHeader"].MessageID) for frame in mixed]
        steps = [after - before & 0xFFFF_FFFF for before, after in pairwise(numbers)]
        judge(
            "MQQB-3.1.7.1.1-02",
            expected=holds("the MessageIDs of messages and acknowledgments increase"),
            observed=all(0 < step < 0x8000_0000 for step in steps) or str(numbers),
            evidence=mixed,
        )
    else:
        judge.mark_not_exercised("MQQB-3.1.7.1.1-02", reason="no application of the SUT can send messages")
    own = peer.inbox.conversation(receiver.list_admin_acks()[0])
    ack = own.request_acknowledgment()
    identifiers = {int(frame["UserHeader"].MessageID) for frame in receiver.list_admin_acks()}  # one may be 0 (E48)
    header = None if ack is None else ack["SessionHeader"]
    count = header and (int(header.UserMsgSequenceNumber), int(header.RecoverableMsgSeqNumber))
    number = (len(own.messages), sum(int(frame["UserHeader"].DM) for frame in own.messages))
    own.close()

    def list_copies():
        others = [frame for frame in peer.inbox.copies if frame.connection is not own.record]
        return [frame for frame in others if frame["UserHeader"].MessageID in identifiers]

    known = len(list_copies())
    receiver.poll(list_copies, known)
    again = len(list_copies()) > known
    judge(
        "MQQB-3.1.7.1-12",
        expected=facts(
            number_of_different_MessageIDs=2,
            messages_and_recoverable_messages_counted_by_the_session=number,
            messages_are_sent_again=True,
        ),
        observed={
            "number_of_different_MessageIDs": len(identifiers),
            "messages_and_recoverable_messages_counted_by_the_session": count,
            "messages_are_sent_again": again,
        },
        evidence=[*sent, *receiver.list_admin_acks(), *list_copies(), own.sent[-1], ack],
    )
    receiver.await_messages_of_sut(list_copies, known + 2)
