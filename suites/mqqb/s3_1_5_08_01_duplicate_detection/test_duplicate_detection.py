"""MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, acknowledgment, between, holds
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.sut.provisioning import ALICE
from harness.sut.sut import Sut
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    IN_NO_QUEUE_OUTCOME,
    MISSING_QUEUE,
    AckClass,
    AcknowledgingReceiver,
    find_history_entry,
    find_queues_with_message,
    receive_first_message,
)
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, OTHER_GUID
from suites.mqqb.steps.secured import CLEAR_BODY, SENDER_TYPE_OF_NO_SENDER, SHA512, flip_signature_bit, sign_message
from suites.mqqb.steps.sender import list_tags

DELAY_BEFORE_DUPLICATE_S = 3
MESSAGE_COUNT = 5
HIGHEST_MESSAGE_ID_BIT = 0x8000_0000
LOWEST_REFUSED_HOP_COUNT = 0x1D
"""The lowest RC with which a message is refused: the receiver would forward it with RC 0x1E (E29)."""
HIGHEST_HOP_COUNT = 0x1F
"""The highest value of RC."""
SMALL_QUEUE_QUOTA_KB = 1
"""The quota of a queue that is full after one message of the check, in KB."""
SHORT_LIFETIME_S = 60
HISTORY_CLEANUP_TIMER_MS = 80_000
"""The duration of the MessageIDHistory Cleanup Timer in ms. Each expiry removes the entries whose age is at least this
duration, so an entry is kept for one to two durations.
"""
GREATEST_TIMER_SPEED_UP = HISTORY_CLEANUP_TIMER_MS // 2_000
"""The greatest speed-up of the cleanup timer. Its duration must be at least two seconds, because TimeStamps are whole
seconds.
"""


@malforms("MQMQ-2.2.18.1.3-02")
@sut_survives()
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-06", "MQQB-3.1.5.8.2-10")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_repeated_message_is_discarded(peer, sut, judge, recoverable):
    """The peer repeats three of five messages, on the same session and on the next. It also sends changed messages with
    a known identifier to the same queue and to another queue. The SUT stores each of the five messages once. The peer
    also sends four new messages; two of them are from another source and differ only in the highest bit of MessageID.
    The SUT stores each new message once.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user = {"DM": recoverable, "JN": 1}
    packets = [receiver.build_message(user, properties={"PA": 1}) for _ in range(MESSAGE_COUNT)]
    sent = [receiver.send_packet(packet) for packet in packets]
    receiver.await_acks(MESSAGE_COUNT)
    if sut.has("receive"):
        receive_first_message(sut, sut.queue())
    again = [packets[number] for number in (0, MESSAGE_COUNT // 2, MESSAGE_COUNT - 1)]
    changed = receiver.build_message(
        user | {"MessageID": packets[1]["UserHeader"].MessageID}, properties={"PA": 1}, body=b"another", label="another"
    )
    elsewhere = receiver.build_message(
        user | {"MessageID": packets[2]["UserHeader"].MessageID}, queue="admin", properties={"PA": 1}
    )
    others = [receiver.build_message(user, properties={"PA": 1}) for _ in range(2)]
    number = peer.next_message_id()
    for one in (number, number ^ HIGHEST_MESSAGE_ID_BIT):
        routed = {"SourceQueueManager": OTHER_GUID, "RC": 1, "MessageID": one}
        others.append(receiver.build_message(user | routed, properties={"PA": 1}))
    for packet in (*again, changed, elsewhere, others[0]):
        receiver.send_packet(packet)
    receiver.await_acks(MESSAGE_COUNT + 1)
    later = peer.open_raw()
    for packet in (*again, *others):
        later.send(packet)
    came = receiver.await_acks(MESSAGE_COUNT + len(others))
    judge.all(
        expected=acknowledged(*sent, *others),
        observed=came,
        evidence=[*sent, *later.sent[-len(again) - len(others) :], *came],
    )
    judge.all(
        expected=IN_NO_QUEUE_OUTCOME,
        observed=find_queues_with_message(sut, sent),
        case="repeated messages in the dead-letter queues",
        evidence=sent,
    )


@needs("queue_control")
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_repeated_message_is_discarded_before_any_other_step(peer, sut, judge, recoverable):
    """The peer repeats a message whose lifetime has expired since it first arrived, and a message whose queue has
    become full since then. The SUT sends no negative acknowledgment of these copies, because it acknowledged the
    messages before.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user = {"DM": recoverable}
    small = sut.new_queue("small", quota_kb=SMALL_QUEUE_QUOTA_KB)
    to_small = {"destination": rf"TCP:{sut.address}\{small}"}
    wanted: dict[str, Any] = {"properties": {"PA": 1, "NA": 1}}
    packets = [
        receiver.build_message(user, base={"TimeToReachQueue": SHORT_LIFETIME_S}, **wanted),
        receiver.build_message(user, body=b"x" * 700, **to_small, **wanted),
    ]
    sent = [receiver.send_packet(packet) for packet in packets]
    receiver.await_acks(2)
    full = receiver.send_packet(receiver.build_message(user, body=b"x" * 700, **to_small, **wanted))
    receiver.await_acks(3)
    peer.pass_time((SHORT_LIFETIME_S + 2) * 1_000)
    again = [receiver.send_packet(packet) for packet in packets]
    came = receiver.await_acks(4)
    expected = [
        *(acknowledgment(frame, AckClass.REACH_QUEUE) for frame in sent),
        acknowledgment(full, AckClass.Q_EXCEED_QUOTA),
    ]
    judge.all(expected=expected, observed=came, evidence=[*sent, full, *again, *came])


@malforms("MQMQ-2.2.18.1.3-02", "MQMQ-2.2.19.2-08")
@sut_survives()
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_known_message_is_discarded_although_it_would_be_refused(peer, sut, judge, recoverable):
    """The peer repeats a message with changes for which the SUT would refuse a new message: the copies name a missing
    queue, name a transactional queue, are expired, or have an invalid signature. If the SUT is a router, the peer also
    repeats a message for a queue of the peer, with too many hops. The SUT sends no negative acknowledgment of a copy,
    and forwards no copy.
    """
    if sut.has("insecure_nacks"):
        sut.enable_insecure_nacks()
    receiver = AcknowledgingReceiver(peer, sut)
    wanted: dict[str, Any] = {"properties": {"PA": 1, "NA": 1}}
    user = {"DM": recoverable, "JN": 1}
    sent = [receiver.send_packet(receiver.build_message(user, **wanted))]
    known = user | {"MessageID": sent[0]["UserHeader"].MessageID}
    copies = [
        receiver.build_message(known, destination=rf"TCP:{sut.address}\{MISSING_QUEUE}", **wanted),
        receiver.build_message(known, queue="transactional", **wanted),
        receiver.build_message(known | {"SentTime": 1}, base={"TimeToReachQueue": 1}, **wanted),
    ]
    if sut.has("security"):
        signed = receiver.build_message(
            known,
            security={"ST": SENDER_TYPE_OF_NO_SENDER, "DE": 1, "SenderCert": ALICE.certificate},
            body=CLEAR_BODY,
            properties={"PA": 1, "NA": 1, "HashAlgorithm": SHA512},
        )
        copies.append(flip_signature_bit(sign_message(signed)))
    if sut.has("private_names"):
        routed = receiver.add_admin_queue_fields(
            user | peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id())
        )
        first = peer.message(routed | {"MessageID": peer.next_message_id()}, destination=None, **wanted)
        sent.append(receiver.send_packet(first))
        routed["MessageID"] = first["UserHeader"].MessageID
        copies += [
            peer.message(routed | {"RC": hops}, destination=None, **wanted)
            for hops in (LOWEST_REFUSED_HOP_COUNT, HIGHEST_HOP_COUNT)
        ]
    again = [receiver.send_packet(packet) for packet in copies]
    last = receiver.send_packet(receiver.build_message(user, **wanted))
    came = receiver.await_acks(2)
    judge.all(expected=acknowledged(sent[0], last), observed=came, evidence=[*sent, *again, last, *came])

    forwarded = receiver.await_messages_of_sut(receiver.list_forwarded_messages, len(sent) - 1)
    if forwarded:
        judge.all(
            expected=[frame["UserHeader"].MessageID for frame in sent[1:]],
            observed=[frame["UserHeader"].MessageID for frame in forwarded],
            case="identifiers of the forwarded messages",
            evidence=[*sent, *again, *forwarded],
        )
    receiver.acknowledge_all()


@sut_survives()
@covers("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-10")
@pytest.mark.parametrize("queue", ["transactional", pytest.param("missing", marks=needs("insecure_nacks"))])
@varied("positive journaling", "destination", acknowledgments=("none", "of arrival"))
def test_repeated_refused_message_is_refused_once(peer, sut, judge, queue):
    """The peer sends a message twice to a queue that refuses it or does not exist. The SUT sends one negative
    acknowledgment for the message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    if queue == "missing":
        sut.enable_insecure_nacks()
        refused = receiver.build_message(destination=rf"TCP:{sut.address}\{MISSING_QUEUE}", properties={"NA": 1})
    else:
        refused = receiver.build_message(queue="transactional", properties={"NA": 1})
    sent = [receiver.send_packet(refused)]
    receiver.await_acks(1)
    sent += [receiver.send_packet(refused), receiver.send_packet(receiver.build_message(properties={"PA": 1}))]
    came = receiver.await_acks(2)
    reason = AckClass.BAD_DST_Q if queue == "missing" else AckClass.NOT_TRANSACTIONAL_MSG
    expected = [acknowledgment(sent[0], reason), acknowledgment(sent[2], AckClass.REACH_QUEUE)]
    judge.all(expected=expected, observed=came, evidence=[*sent, *came])


@needs("private_names")
@covers("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQSO-3.3.4.5-D01")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
@varied("time to reach queue", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_repeated_message_for_another_queue_manager_is_forwarded_once(peer, sut, judge, recoverable):
    """The peer sends three messages that are addressed to its own queue, two of them twice. The SUT forwards each
    message once.
    """
    peer.listen(ignore_incoming=True)
    connection = peer.open_raw()
    user = peer.build_fields_for_private_destination(peer.identifier, 1) | {"DM": recoverable}
    packets = [peer.message(user, destination=None, ApplicationTag=number) for number in (1, 2, 3)]
    sent = [connection.send(packets[number]) for number in (0, 0, 1, 1, 2)]

    if not peer.inbox.wait(lambda frame: list_tags([frame]) == [3]):
        raise ConformanceFailure("the SUT did not forward the last message")
    frames = peer.inbox.copies
    judge.all(
        expected=[1, 2, 3],
        observed=list_tags(frames),
        case="numbers of the forwarded messages",
        evidence=[*sent, *frames],
    )
    peer.inbox.acknowledge()


@malforms("MQMQ-2.2.18.1.3-02", "MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-D01")
def test_transactional_message_with_known_identifier_is_accepted(peer, sut, judge):
    """The SUT accepts transactional messages with a known identifier and a new sequence number, and discards messages
    with a known sequence number, on the same session and on a second session.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequence = Sequence(peer)
    sent = [receiver.send_packet(receiver.build_message(properties={"PA": 1}))]
    receiver.await_acks(1)
    known = {"MessageID": sent[0]["UserHeader"].MessageID}
    for user, number in ((known, 1), (known, 2), ({}, 2), (known, 2), (known, 3), ({}, 1), ({}, 4)):
        sequence.number = number - 1
        sent.append(receiver.send_packet(sequence.message(receiver.add_admin_queue_fields(user), properties={"PA": 1})))
    later = peer.open_raw()
    for number in (3, 5):
        sequence.number = number - 1
        sent.append(later.send(sequence.message(receiver.add_admin_queue_fields(), properties={"PA": 1})))
    came = receiver.await_acks(6)
    arriving = (sent[0], sent[1], sent[2], sent[5], sent[7], sent[9])
    judge.all(expected=acknowledged(*arriving), observed=came, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.2-11")
@needs("timers", "restart")
@varied("extension", "correlation", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_duplicate_extends_the_life_of_its_history_entry(peer, sut, judge):
    """The peer repeats one message before each expiry of its history entry, and repeats a second message after its
    entry has expired. Only the second message is accepted twice.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    cleanup_ms = sut.get_timer_duration_ms("message_id_history_cleanup_ms", HISTORY_CLEANUP_TIMER_MS)
    sut.restart()
    receiver = AcknowledgingReceiver(peer, sut)
    repeated, forgotten = (receiver.build_message(properties={"PA": 1}) for _ in range(2))
    sent = [receiver.send_packet(repeated), receiver.send_packet(forgotten)]
    receiver.await_acks(2)
    receiver.acknowledge_all()
    for turn in range(1, 4):
        peer.pass_time_until(sent[0], sut.duration_ms(cleanup_ms) * turn * 4 // 5)
        sent.append(receiver.send_packet(repeated))
    sent.append(receiver.send_packet(forgotten))
    came = receiver.await_acks(3)
    expected = acknowledged(sent[0], sent[1], sent[1])
    if expected.compare(came) is not None:
        peer.measure_duration(sent[0]).require_duration_without_long_stall(sut.duration_ms(cleanup_ms) // 10)
    judge.all(expected=expected, observed=came, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.1-03")
@needs("inspect")
def test_duplicate_updates_the_time_stamp_of_its_history_entry(peer, sut, judge):
    """The peer repeats a message after three seconds: TimeStamp of the message's history entry, in seconds since 1970,
    increases by three. TimeStamp is also in seconds since 1970 after the peer has repeated the message on a second
    session, together with a recoverable message.
    """
    session = peer.open_raw()
    packet = peer.message()
    sent = [session.send(packet)]
    peer.eventually(lambda: _read_history_time_stamp(sut, sent[0]) is not None)
    old_stamp = _read_history_time_stamp(sut, sent[0])
    peer.pass_time(DELAY_BEFORE_DUPLICATE_S * 1_000)
    sent.append(session.send(packet))
    peer.eventually(lambda: _read_history_time_stamp(sut, sent[0]) != old_stamp)
    new_stamp, now_s = _read_history_time_stamp(sut, sent[0]), peer.environment.now().utc_s
    if old_stamp is None or new_stamp is None:
        judge(
            "MQQB-3.1.5.8.1-02",
            expected=holds("the message has an entry in the history"),
            observed="no entry",
            evidence=sent,
        )
    else:
        took = peer.measure_duration(*sent)  # a busy tester may send the second message late
        earliest_ms, latest_ms = took.get_allowed_range(
            (DELAY_BEFORE_DUPLICATE_S - 1) * 1_000, took.ms + 2_000, (new_stamp - old_stamp) * 1_000
        )
        expected = between(earliest_ms // 1_000, latest_ms // 1_000)
        judge(
            "MQQB-3.1.5.8.1-02",
            expected=expected,
            observed=new_stamp - old_stamp,
            case="increase of TimeStamp in seconds",
            evidence=sent,
        )
    expected = between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)
    stamps = [new_stamp]
    recoverable = peer.message({"DM": 1})
    later = peer.open_raw()
    again = [later.send(one) for one in (packet, recoverable, recoverable)]
    peer.eventually(lambda: _read_history_time_stamp(sut, again[1]) is not None)
    peer.settle()
    stamps += [_read_history_time_stamp(sut, one) for one in again[:2]]
    cases = ("a duplicate", "a duplicate on a second session", "a recoverable duplicate")
    for case, stamp in zip(cases, stamps, strict=True):
        judge(
            "MQQB-3.1.5.8.1-03",
            expected=expected,
            observed="no entry" if stamp is None else stamp,
            case=f"TimeStamp of the history entry of {case}",
            evidence=[*sent, *again],
        )


def _read_history_time_stamp(sut: Sut, message: Frame) -> int | None:
    entry = find_history_entry(sut, message)
    return None if entry is None else entry["TimeStamp"]
