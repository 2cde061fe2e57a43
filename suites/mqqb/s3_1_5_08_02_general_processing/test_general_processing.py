"""MS-MQQB 3.1.5.8.2 General Processing: the counts, session elements and history entries of each message."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, holds, none, packet, packets
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs, varied
from suites.applications import list_computer_names
from suites.messages import Sequence
from suites.mqqb.steps.disposition import MISSING_QUEUE, QueueType, find_history_entry
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, OTHER_GUID, find_accepted_session, format_guid
from suites.mqqb.steps.ordering import Receiver, get_private_queue_number

ACK_DELAY_MS = ACK_TIMEOUT_MS // 2
MESSAGE_COUNT_THAT_NEEDS_7_BITS = 64
LONG_ACK_TIMEOUT_MS = 120_000
"""An AckTimeout in ms that is so long that no acknowledgment is sent during a check."""
DELAY_BEFORE_LATER_MESSAGE_S = 2
HIGHEST_MESSAGE_ID_BIT = 0x8000_0000
GREATEST_TIMER_SPEED_UP = 10
"""The greatest speed-up of timers at which the check still has time to act."""


@covers("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8.2-03", "MQQB-3.1.5.8.2-12", "MQQB-3.1.5.8-04", "MQQB-3.1.5.8.7-01")
@varied("priority", "negative journaling", "destination", "body")
def test_session_ack_comes_half_the_timeout_after_the_first_message(peer, sut, judge):
    """The peer sends an express message on a second session, and three express messages on the first session. The SUT
    acknowledges the three messages together when half of AckTimeout has passed since the first of them arrived. While
    no message arrives, the SUT sends no acknowledgment. It acknowledges a later message separately.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS)
    peer.open_raw(AckTimeout=ACK_TIMEOUT_MS).send(peer.message())
    sent = [session.send(peer.message())]
    session.stays_quiet(sut.duration_ms(ACK_DELAY_MS) // 2)
    sent += [session.send(peer.message()) for _ in range(2)]
    ack = session.poll("SessionAck", within_ms=sut.duration_ms(2 * ACK_DELAY_MS) + sut.slack_ms(ACK_DELAY_MS))
    if ack is None:
        judge(
            "MQQB-3.1.5.8.2-02",
            "MQQB-3.1.5.8.2-03",
            "MQQB-3.1.5.8.2-12",
            expected=packet("SessionAck"),
            observed=session,
            case="acknowledgment of three messages",
            evidence=sent,
        )
        raise ConformanceFailure("the SUT does not acknowledge messages")
    evidence = [*sent, ack]
    judge(
        "MQQB-3.1.5.8.2-02",
        "MQQB-3.1.5.8-04",
        expected=3,
        observed=ack["SessionHeader"].AckSequenceNumber,
        case="AckSequenceNumber of the SessionAck",
        evidence=evidence,
    )
    due_ms, took = sut.duration_ms(ACK_DELAY_MS), peer.measure_duration(sent[0], ack)
    expected = between(*took.expect_timer_duration(ACK_DELAY_MS))
    judge(
        "MQQB-3.1.5.8.2-12",
        "MQQB-3.1.5.8.7-01",
        expected=expected,
        observed=took.ms,
        case="ms until the SessionAck",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8-04", "MQQB-3.1.5.8.7-01")
    session.stays_quiet(due_ms + sut.slack_ms(ACK_DELAY_MS))
    sent.append(session.send(peer.message()))
    session.stays_quiet(due_ms + sut.slack_ms(ACK_DELAY_MS))
    later = session.poll("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 4)
    if later is not None:
        took = peer.measure_duration(sent[-1], later)
        judge(
            "MQQB-3.1.5.8.2-12",
            expected=between(*took.expect_timer_duration(ACK_DELAY_MS)),
            observed=took.ms,
            case="ms until the second SessionAck",
            evidence=[sent[-1], later],
        )
    else:
        judge("MQQB-3.1.5.8.2-12", expected=packet("SessionAck"), observed=session, evidence=sent[-1:])
    acks = [frame["SessionHeader"].AckSequenceNumber for frame in session.received if frame.kind == "SessionAck"]
    judge(
        "MQQB-3.1.5.8.2-03",
        expected=[3, 4],
        observed=acks,
        case="AckSequenceNumbers",
        evidence=[*sent, *session.received[2:]],
    )


@covers("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8.2-03", "MQQB-3.1.5.8.2-12")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
@varied("acknowledgments", "time to be received", "time to reach queue", "extension", "correlation", "body")
def test_refused_message_is_acknowledged_on_its_session(peer, sut, judge, recoverable):
    """The peer sends only one message on a session, and addresses it to a missing queue. The SUT sends a SessionAck
    that counts the message.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS)
    nowhere = rf"TCP:{sut.address}\{MISSING_QUEUE}"
    sent = session.send(peer.message({"DM": recoverable}, destination=nowhere))
    ack = session.poll("SessionAck", within_ms=sut.duration_ms(2 * ACK_DELAY_MS) + sut.slack_ms(ACK_DELAY_MS))
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
    judge("MQQB-3.1.5.8.2-03", "MQQB-3.1.5.8.2-12", expected=expected, observed=ack or session, evidence=[sent, ack])
    counted = [sent, *_send_messages_that_are_not_stored(peer, sut, session)]
    last = session.request_acknowledgment()
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": len(counted) + 1})
    judge(
        "MQQB-3.1.5.8.2-02",
        "MQQB-3.1.5.8.2-03",
        expected=expected,
        observed=last or session,
        evidence=[*counted, last],
    )


def _send_messages_that_are_not_stored(peer, sut, session):
    """Send an expired message, a transactional message after a gap in its sequence, and messages to a missing queue;
    return the packets. The number of messages is so high that the message numbers need seven bits.
    """
    sent_s = peer.environment.now().utc_s - 3_600
    gap = {"TxSequenceNumber": 9, "PreviousTxSequenceNumber": 8}
    nowhere = rf"TCP:{sut.address}\{MISSING_QUEUE}"
    packets_ = [
        peer.message({"SentTime": sent_s, "DM": 1}, base={"TimeToReachQueue": 1}),
        peer.message({"SentTime": sent_s, "DM": 0}, base={"TimeToReachQueue": 1}),
        Sequence(peer, ordinal=14).message(transaction=gap),
        *(peer.message(destination=nowhere) for _ in range(MESSAGE_COUNT_THAT_NEEDS_7_BITS)),
    ]
    return [session.send(one) for one in packets_]


@covers("MQQB-3.1.5.8.2-03", "MQQB-3.1.5.8.2-04", "MQQB-3.1.5.8.2-13")
@needs("inspect", "queues")
@varied("time to be received", acknowledgments=("none", "of arrival"), body=("short", "5,000 bytes"))
def test_session_elements_change_with_each_message(peer, sut, judge):
    """The peer opens two sessions. On the first, it sends a transactional message to a private name and a message to a
    direct name. At each step, the elements of the SUT's first session have the specified values.
    """
    number = _get_transactional_queue_number(sut)
    session = peer.open_raw(AckTimeout=LONG_ACK_TIMEOUT_MS)
    peer.open_raw({"ClientGuid": OTHER_GUID})
    states = [find_accepted_session(sut, peer.identifier)]
    sent = []
    to_name = peer.message(destination=rf"OS:{next(iter(list_computer_names(sut)), '.')}\{sut.queue()}")
    for message in (
        Sequence(peer).message(peer.build_fields_for_private_destination(sut.guid, number), destination=None),
        to_name,
    ):
        sent.append(session.send(message))
        peer.eventually(lambda: find_history_entry(sut, sent[-1]) is not None)
        states.append(find_accepted_session(sut, peer.identifier))
    for rule, name, expected in (
        ("MQQB-3.1.5.8.2-03", "UnackedReceivedMsgCount", [0, 1, 2]),
        ("MQQB-3.1.5.8.2-04", "DirectFormatSession", [False, False, True]),
        ("MQQB-3.1.5.8.2-13", "SessionActive", [False, True, True]),
    ):
        judge(
            rule,
            expected=expected,
            observed=[state[name] for state in states],
            case=f"{name} before and after the messages",
            evidence=sent,
        )


@covers("MQQB-3.1.5.8.2-04", "MQQB-3.1.7.17-07", "MQQB-3.1.7.17-D11")
@needs("queues", "private_names")
@varied("priority", "time to be received", "queue journaling", "queue quota", "queue privacy")
def test_order_acks_follow_the_names_of_the_session(peer, sut, judge):
    """While the peer addresses all messages of a session to private names, the SUT sends OrderAcks to a private name;
    after a message to a direct name, the SUT sends OrderAcks to a direct name.
    """
    receiver = Receiver(peer, sut)
    user = peer.build_fields_for_private_destination(
        sut.guid, get_private_queue_number(sut, sut.queue("transactional"))
    )
    evidence: list[Frame | None] = []
    observed: list[Frame | None] = []
    for number in (1, 2):
        evidence.append(receiver.send(user, destination=None))
        frame = receiver.await_last_acknowledgment(number)
        observed.append(frame)
        evidence += [frame, receiver.session.send(peer.message())]
    expected = packets(
        *(
            packet("UserMessage", {"UserHeader.DQ": queue})
            for queue in (QueueType.QUEUE_ON_DESTINATION, QueueType.DIRECT)
        )
    )
    judge.all(expected=expected, observed=observed, evidence=evidence)


@covers("MQQB-3.1.5.8.2-06", "MQQB-3.1.5.8.2-07", "MQQB-3.1.5.8.2-08", "MQQB-3.1.5.8.2-10")
@needs("inspect")
@varied("application tag", "extension", "correlation", priority=("3", "7"))
def test_each_message_has_an_entry_in_the_history(peer, sut, judge):
    """The peer sends an express message with a SentTime of an hour ago, a recoverable, a transactional and a refused
    message, a message from another source whose MessageID has its highest bit set, and messages for another queue
    manager. Each message has an entry in MessageIDHistoryTable, with its source, its MessageID and its time in seconds
    since 1970.
    """
    session = peer.open_raw()
    known = _read_history_time_stamps(sut)
    first = peer.message({"SentTime": peer.environment.now().utc_s - 3_600})
    expired = {"SentTime": peer.environment.now().utc_s - 3_600}
    packets = [first, peer.recoverable_message(), Sequence(peer).message()]
    from_other_source = {"SourceQueueManager": OTHER_GUID, "MessageID": peer.next_message_id() | HIGHEST_MESSAGE_ID_BIT}
    packets.append(peer.message(from_other_source | {"RC": 1}))
    packets.append(peer.message(expired, base={"TimeToReachQueue": 1}, body=bytes(5_000)))
    packets.append(peer.message(destination=rf"TCP:{sut.address}\{MISSING_QUEUE}"))
    if sut.has("private_names"):
        for fields in ({}, {"DM": 1}):
            elsewhere = peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id())
            packets.append(peer.message(elsewhere | fields, destination=None))
    sent = [session.send(packets[0])]
    peer.pass_time(DELAY_BEFORE_LATER_MESSAGE_S * 1_000)
    sent += [session.send(one) for one in packets[1:]]
    peer.eventually(lambda: find_history_entry(sut, sent[-1]) is not None)
    own = {
        name: stamp
        for name, stamp in _read_history_time_stamps(sut).items()
        if name.startswith((f"{peer.identifier} ", f"{OTHER_GUID} "))
    }
    new = {name: stamp for name, stamp in own.items() if name not in known}
    now_s = peer.environment.now().utc_s
    judge(
        "MQQB-3.1.5.8.2-10",
        expected=len(sent),
        observed=len(new),
        case="number of new entries in the history",
        evidence=sent,
    )
    expected = sorted(
        f"{format_guid(message['UserHeader'].SourceQueueManager)} {message['UserHeader'].MessageID}" for message in sent
    )
    judge(
        "MQQB-3.1.5.8.2-06",
        expected=expected,
        observed=sorted(new),
        case="sources and MessageIDs of the new entries",
        evidence=sent,
    )
    stamps = new.values()
    wrong = [stamp for stamp in stamps if abs(stamp - now_s) > CLOCK_TOLERANCE_S]
    judge(
        "MQQB-3.1.5.8.2-07",
        "MQQB-3.1.5.8.2-08",
        expected=none(f"history entry with a TimeStamp other than {now_s}"),
        observed=wrong,
        evidence=sent,
    )
    entries = [find_history_entry(sut, one) for one in (sent[0], sent[-1])]
    first_s, last_s = (0 if entry is None else int(entry["TimeStamp"]) for entry in entries)
    judge(
        "MQQB-3.1.5.8.2-07",
        expected=holds("later", otherwise="not later"),
        observed=last_s > first_s,
        case=f"TimeStamp of a message that arrived {DELAY_BEFORE_LATER_MESSAGE_S} seconds after another",
        evidence=sent,
    )


def _read_history_time_stamps(sut):
    """Return the TimeStamps of MessageIDHistoryTable by source and MessageID."""
    table = sut.inspect()["QueueManager"]["MessageIDHistoryTable"]
    names = [
        (format_guid(each["MessageIdentifier"]["QueueManagerGuid"]), each["MessageIdentifier"]["Ordinal"])
        for each in table
    ]
    return {f"{guid} {ordinal}": each["TimeStamp"] for (guid, ordinal), each in zip(names, table, strict=True)}


def _get_transactional_queue_number(sut):
    """Return the number of the SUT's transactional queue, for use in a private name."""
    name = sut.queue("transactional")
    for queue in sut.inspect()["QueueManager"]["QueueCollection"]:
        if queue["Pathname"].lower() == name.lower():
            return int(queue["PrivateQueueNumber"])
    raise ConformanceFailure(f"the SUT shows no queue {name}")
