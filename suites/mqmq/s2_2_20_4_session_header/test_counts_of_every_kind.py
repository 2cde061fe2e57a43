"""MS-MQMQ 2.2.20.4 SessionHeader: the counts and flags of sessions with messages of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts, fields, holds
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqmq.steps.outgoing import HIGHEST_TIMER_ACCELERATION
from suites.mqmq.steps.session_headers import list_acknowledged_numbers
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    private_queue,
)
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

LARGE_BODY = bytes(range(256)) * 20
"""A body of more than 4 KiB."""
ACKNOWLEDGMENT_PROPERTIES = {"MessageClass": AckClass.REACH_QUEUE}
SHORT_LIFETIME_S = 2
MESSAGE_COUNT = 20
TAGS_OF_ACKNOWLEDGED_MESSAGES = {1, 2, 3, 5, 20}
"""The messages that the peer acknowledges as saved, with two SessionAcks."""


def _build_messages_of_every_kind(peer):
    """Return messages of several kinds: express, recoverable, transactional and traced messages, a duplicate,
    acknowledgments, and messages with a large body.
    """
    sequence = Sequence(peer)
    repeated = peer.recoverable_message(label="repeated")
    return [
        peer.message(),
        repeated,
        peer.message(debug={}),
        sequence.message(),
        repeated,
        peer.message(body=LARGE_BODY),
        peer.recoverable_message(body=LARGE_BODY),
        peer.message(queue="admin", properties=ACKNOWLEDGMENT_PROPERTIES),
        peer.recoverable_message(queue="admin", properties=ACKNOWLEDGMENT_PROPERTIES),
        sequence.message(body=LARGE_BODY),
        peer.recoverable_message(debug={}),
        peer.message(),
    ]


@covers(
    "MQMQ-2.2.20.4-01",
    "MQMQ-2.2.20.4-02",
    "MQMQ-2.2.20.4-04",
    "MQMQ-2.2.20.4-05",
    "MQMQ-2.2.20.4-06",
    "MQMQ-2.2.20.4-08",
)
def test_messages_of_every_kind_are_counted_and_flagged(peer, judge):
    """Messages of every kind arrive on a session. AckSequenceNumber is the number of messages, and each stored
    recoverable message has a flag. A SessionAck that counts all messages and the recoverable messages correctly leaves
    the session open. The first message on a second session has number 1.
    """
    session = peer.open_raw()
    packets = _build_messages_of_every_kind(peer)
    sent = [session.send(packet) for packet in packets]
    recoverable = [frame for frame in sent if frame["UserHeader"].DM == 1]
    saved = {number for number in range(1, len(recoverable) + 1) if number != 3}  # the third is the duplicate
    session.await_session_ack(len(sent))
    acks = [frame for frame in session.received if frame.kind == "SessionAck"]
    flagged = [number for frame in acks for number in list_acknowledged_numbers(frame["SessionHeader"])]
    if saved - set(flagged) and session.poll("SessionAck", within_ms=peer.sut.duration_ms(ACK_TIMEOUT_MS)):
        acks = [frame for frame in session.received if frame.kind == "SessionAck"]
        flagged = [number for frame in acks for number in list_acknowledged_numbers(frame["SessionHeader"])]
    if not acks:
        raise ConformanceFailure(f"the SUT acknowledged none of {len(sent)} messages: {session.outcome()}")
    evidence = [*sent, *acks]
    judge(
        "MQMQ-2.2.20.4-01",
        "MQMQ-2.2.20.4-02",
        "MQMQ-2.2.20.4-05",
        expected=len(sent),
        case="AckSequenceNumber after messages of every kind",
        observed=acks[-1]["SessionHeader"].AckSequenceNumber,
        evidence=evidence,
    )
    judge(
        "MQMQ-2.2.20.4-04",
        "MQMQ-2.2.20.4-06",
        "MQMQ-2.2.20.4-08",
        expected=facts(saved_messages_without_a_flag=[], flags_of_other_numbers=[], lowest_number=1),
        observed={
            "saved_messages_without_a_flag": sorted(saved - set(flagged)),
            "flags_of_other_numbers": sorted({*flagged} - {*range(1, len(recoverable) + 1)}),
            "lowest_number": min(flagged, default=0),
        },
        evidence=evidence,
    )
    counts = {"UserMsgSequenceNumber": len(sent), "RecoverableMsgSeqNumber": len(recoverable)}
    counted = session.send(session.build_session_ack(**counts))
    last = session.send(peer.message())
    answer = session.await_session_ack(len(sent) + 1)
    is_counted = answer is not None and answer["SessionHeader"].AckSequenceNumber == len(sent) + 1
    judge(
        "MQMQ-2.2.20.4-01",
        "MQMQ-2.2.20.4-04",
        expected=holds("the session stays open after a SessionAck with the numbers of sent messages"),
        observed=is_counted or session.outcome(),
        evidence=[*evidence, counted, last],
    )
    judge.conclude()
    other = peer.open_raw()
    first = other.send(peer.message())
    answer = other.await_session_ack(1)
    if answer is None:
        raise ConformanceFailure(f"the SUT acknowledged no message on the second session: {other.outcome()}")
    judge(
        "MQMQ-2.2.20.4-02",
        "MQMQ-2.2.20.4-05",
        expected=1,
        case="AckSequenceNumber on the second session",
        observed=answer["SessionHeader"].AckSequenceNumber,
        evidence=[*sent, first, answer],
    )


@needs("private_names")
@covers("MQMQ-2.2.20.4-02")
def test_refused_and_forwarded_messages_are_counted(peer, judge):
    """A message for a missing queue, a message for a queue of the peer, and a message for a queue of the SUT arrive on
    one session: AckSequenceNumber is 3.
    """
    peer.listen(ignore_incoming=True)
    session = peer.open_raw()
    to_peer = private_queue(peer.identifier, 1)
    packets = [
        peer.message(destination=peer.format_name_of_missing_queue),
        peer.message(to_peer, destination=None),
        peer.message(),
    ]
    sent = [session.send(packet) for packet in packets]
    answer = session.await_session_ack(len(sent))
    if answer is None or session.closed_by_sut:
        raise ConformanceFailure(f"the SUT did not acknowledge {len(sent)} messages: {session.outcome()}")
    judge.all(
        expected=len(sent),
        case="AckSequenceNumber after a refused, a forwarded and a stored message",
        observed=answer["SessionHeader"].AckSequenceNumber,
        evidence=[*sent, answer],
    )


@needs("send")
@covers(
    "MQMQ-2.2.20.4-01",
    "MQMQ-2.2.20.4-02",
    "MQMQ-2.2.20.4-03",
    "MQMQ-2.2.20.4-04",
    "MQMQ-2.2.20.4-05",
    "MQMQ-2.2.20.4-09",
    "MQMQ-2.2.20.4-10",
    "MQMQ-2.2.20.4-11",
)
def test_sent_messages_of_every_kind_are_counted_anew_on_each_session(peer, sut, judge):
    """The SUT sends express, recoverable and transactional messages, some with a large body, on one session. On the
    next session, it sends an express message, a recoverable message, and acknowledgments of an express and of a
    recoverable message. The counts in each SessionAck are the numbers of messages that the SUT sent on that session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-counts"))
    sender.send(1)
    sender.send(2, delivery="recoverable")
    sender.send(3, delivery="transactional")
    sender.send(4, body="large " * 1000)
    sender.send(5, body="large " * 1000, delivery="recoverable")
    session, sent = sender.await_first_messages(5)
    ack = _send_message_and_await_ack(session)
    counts = _count_messages_received_before_ack(session, ack) | {"AckSequenceNumber": 1}
    _judge_session_ack_counts(
        judge,
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-09"),
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        counts,
        [*sent, ack],
    )
    session.acknowledge_all()
    for frame in sent:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))
    peer.settle()
    session.close()
    peer.settle()
    sender.send(6)
    session = sender.await_session()
    again = sender.collect_messages(session, 1)
    ack = _send_message_and_await_ack(session)
    counts = _count_messages_received_before_ack(session, ack) | {"AckSequenceNumber": 1}
    _judge_session_ack_counts(
        judge,
        ("MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-03"),
        ("MQMQ-2.2.20.4-05", "MQMQ-2.2.20.4-11"),
        counts,
        [*sent, *again, ack],
    )
    session.acknowledge_all()
    sender.send(7, delivery="recoverable")
    again = sender.collect_messages(session, 2)
    ack = _send_message_and_await_ack(session)
    _judge_session_ack_counts(
        judge,
        (),
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        _count_messages_received_before_ack(session, ack),
        [*sent, *again, ack],
    )
    session.acknowledge_all()
    admin_queue = {"AdminQueue": sender.to.removeprefix("DIRECT=")}
    asked = session.send(peer.message(admin_queue, properties={"PA": 1}))
    again = sender.collect_messages(
        session, 3
    )  # an acknowledgment on another session does not count on this session (E16)
    ack = _send_message_and_await_ack(session)
    judge(
        "MQMQ-2.2.20.4-01",
        "MQMQ-2.2.20.4-09",
        expected=fields(_count_messages_received_before_ack(session, ack)),
        case="counts after an acknowledgment of arrival",
        observed=ack["SessionHeader"],
        evidence=[*again, asked, ack],
    )
    session.acknowledge_all()
    asked = session.send(peer.recoverable_message(admin_queue, properties={"PA": 1}))
    sender.send(8, delivery="recoverable")
    again = sender.collect_messages(session, 5)
    ack = _send_message_and_await_ack(session)
    _judge_session_ack_counts(
        judge,
        (),
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        _count_messages_received_before_ack(session, ack),
        [*again, asked, ack],
    )
    session.acknowledge_all()


@needs("send")
@covers("MQMQ-2.2.20.4-03", "MQMQ-2.2.20.4-10")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_message_that_expires_before_it_is_sent_is_not_counted(peer, sut, judge, delivery):
    """The window of a session is full, and the TimeToReachQueue of two waiting messages expires. Then the peer
    acknowledges the messages of the window, and the SUT sends a further message. The counts in a SessionAck are the
    numbers of messages that the SUT actually sent on the session.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    sender = Sender(peer, sut, peer.direct_name("mqc-expired"))
    session, window = sender.fill_window()
    expired = [window + 1, window + 2]
    sender.send(*expired, delivery=delivery, time_to_reach_queue_s=SHORT_LIFETIME_S)
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    session.acknowledge_all()
    sender.send(window + 3, delivery=delivery)
    peer.eventually(lambda: window + 3 in Sender.list_tags(session.messages))
    sent = session.messages
    if window + 3 not in Sender.list_tags(sent):
        raise ConformanceFailure("the SUT did not send the last message on the session")
    ack = _send_message_and_await_ack(session)
    counts, evidence = _count_messages_received_before_ack(session, ack), [sent[-1], ack]
    judge("MQMQ-2.2.20.4-03", expected=fields(counts), observed=ack["SessionHeader"], evidence=evidence)
    counts.pop("UserMsgSequenceNumber")  # product note <14> permits another value
    judge("MQMQ-2.2.20.4-10", expected=fields(counts), observed=ack["SessionHeader"], evidence=evidence)
    session.acknowledge_all()


def _judge_session_ack_counts(judge, of_all_messages, of_others, counts, evidence):
    """Judge the counts in a SessionAck, which is the last packet of the evidence. Judge UserMsgSequenceNumber only for
    the rules ``of_all_messages``, because product note <14> permits a different value.
    """
    header = evidence[-1]["SessionHeader"]
    others = {name: count for name, count in counts.items() if name != "UserMsgSequenceNumber"}
    for rules, expected in ((of_all_messages, counts), (of_others, others)):
        if rules:
            judge(*rules, expected=fields(expected), observed=header, evidence=evidence)


def _count_messages_received_before_ack(session, ack):
    """Return how many messages, and how many recoverable messages, of the SUT arrived before a SessionAck."""
    before = session.received[: session.received.index(ack)]
    sent = [frame for frame in before if frame.kind == "UserMessage"]
    recoverable = [frame for frame in sent if frame["UserHeader"].DM == 1]
    return {"UserMsgSequenceNumber": len(sent), "RecoverableMsgSeqNumber": len(recoverable)}


def _send_message_and_await_ack(session):
    """Send a message on a session, and return the SessionAck with which the SUT acknowledges it."""
    session.send(session.peer.message())
    count = sum(frame.kind == "UserMessage" for frame in session.sent)
    answer = session.await_session_ack(count)
    if answer is None:
        raise ConformanceFailure(f"the SUT acknowledged no message of the peer: {session.outcome()}")
    return answer


@needs("send")
@covers("MQMQ-2.2.20.4-D02")
def test_only_flagged_messages_are_not_sent_again(peer, sut, judge):
    """The SUT sends 20 recoverable messages. The peer acknowledges messages 1 and 2, and then messages 3, 5 and 20 by
    flags that begin at message 3, and closes the session. The SUT sends the other messages again on the next session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-gaps"))
    sender.send(*range(1, MESSAGE_COUNT + 1), delivery="recoverable")
    session, frames = sender.await_first_messages(MESSAGE_COUNT)
    for first, flags in ((1, 0b11), (3, 1 | 1 << 5 - 3 | 1 << 20 - 3)):
        header = {"RecoverableMsgAckSeqNumber": first, "RecoverableMsgAckFlags": flags}
        frames.append(session.send(session.build_session_ack(AckSequenceNumber=MESSAGE_COUNT, **header)))
    peer.settle()
    session.close()
    following = sender.poll_session()
    again = (
        []
        if following is None
        else sender.collect_messages_until_silence(following, MESSAGE_COUNT - len(TAGS_OF_ACKNOWLEDGED_MESSAGES))
    )
    judge.all(
        expected=sorted({*range(1, MESSAGE_COUNT + 1)} - TAGS_OF_ACKNOWLEDGED_MESSAGES),
        case="messages sent again",
        observed=sorted(sender.list_tags(again)),
        evidence=[*frames, *again],
    )
    if following is not None:
        following.acknowledge_all()


@covers("MQMQ-2.2.20.4-D03")
@pytest.mark.parametrize(
    ("delivery", "error"),
    [
        pytest.param("express", 0x100, id="express"),
        pytest.param("transactional", 0x100, id="transactional"),
        pytest.param("express", -1, id="express-too-low"),
        pytest.param("transactional", -1, id="transactional-too-low"),
    ],
)
def test_message_with_wrong_count_is_stored_before_the_session_closes(peer, sut, judge, delivery, error):
    """Three messages arrive, and then an express or transactional message whose UserMsgSequenceNumber is too high by
    256 or too low by 1. The SUT acknowledges the arrival of this message, and closes the session.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    for _ in range(3):
        receiver.send_packet(peer.message())
    headers: dict[str, Any] = {"properties": {"PA": 1}, "session": {"UserMsgSequenceNumber": 4 + error}}
    if delivery == "transactional":
        packet = Sequence(peer).message(receiver.add_admin_queue_fields(), **headers)
    else:
        packet = receiver.build_message({"DM": 0}, **headers)
    sent = receiver.send_packet(packet)
    closed = receiver.session.wait_closed()
    came = receiver.await_acks(1)
    judge.all(
        expected=facts(message_is_acknowledged=True, session_is_closed=True),
        observed={
            "message_is_acknowledged": identifier(sent) in {get_correlation_id(frame) for frame in came},
            "session_is_closed": closed,
        },
        evidence=[sent, *came],
    )
