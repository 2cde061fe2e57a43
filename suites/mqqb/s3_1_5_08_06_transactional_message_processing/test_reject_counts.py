"""MS-MQQB 3.1.5.8.6 Transactional Message Processing: reject counts and access times."""

from __future__ import annotations

import functools
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between
from harness.run.marks import covers, malforms, needs, varied
from suites.messages import Sequence
from suites.mqqb.s3_1_5_08_06_transactional_message_processing.listed_transfers import get_incoming_transfer_of_sequence
from suites.mqqb.steps.opening import OTHER_GUID, find_accepted_session, format_guid
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.pinging import read_data_model_element

GREATEST_TIMER_SPEED_UP = 4
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""
DELAY_BEFORE_LATER_MESSAGE_MS = 3_000
LEAST_INCREASE_OF_TIME_ELEMENT_S = 2
"""The time in s for which the check waits before the SUT sets a time element again, and the least increase of that
element in s.
"""


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("management", "queues")
@covers("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.6-08")
@varied("extension", "correlation", body=("short", "5,000 bytes"))
def test_transfers_of_queue_count_rejections_and_show_last_access(peer, sut, judge):
    """The peer sends three messages out of order, the last of them from an older sequence; then one message in order,
    another message out of order, and the first message of a new sequence. RejectCount in get_transfers is 1, 2 and 3
    after the first three messages, 1 after the next message out of order, and 0 after the last message. LastAccessTime
    increases.
    """
    older = Sequence(peer)
    receiver = Receiver(peer, sut)
    other = Sequence(peer, 3)
    peer.open_raw({"ClientGuid": OTHER_GUID}).send(other.message({"SourceQueueManager": OTHER_GUID}))
    early = {"SentTime": peer.environment.now().utc_s - 3_600}
    begun = receiver.send(early)
    receiver.await_acknowledgment()
    first = rejected = get_incoming_transfer_of_sequence(receiver)
    of_other = get_incoming_transfer_of_sequence(receiver, other)
    peer.pass_time(DELAY_BEFORE_LATER_MESSAGE_MS)
    sent: list[Frame] = []
    for count, (number, previous, accepted) in enumerate(((3, 2, 0), (1, 0, 0), (5, 4, 0), (2, 1, 1), (9, 8, 0)), 1):
        receiver.sequence.number = number - 1
        place = {"PreviousTxSequenceNumber": previous}
        if count == 3:
            place |= {"TxSequenceID": older.identifier}
        sent.append(receiver.send(early, transaction=place))
        if accepted:
            receiver.await_acknowledgment()
            peer.eventually(functools.partial(_has_reject_count, receiver, 0))
            transfer = get_incoming_transfer_of_sequence(receiver)
            _judge_time_increase(peer, judge, "MQQB-3.1.5.8.6-08", rejected, transfer, "LastAccessTime", sent[-2], sent)
            continue
        expected = count if count <= 3 else 1
        peer.eventually(functools.partial(_has_reject_count, receiver, expected))
        observed = get_incoming_transfer_of_sequence(receiver)["RejectCount"]
        judge(
            "MQQB-3.1.5.8.6-05",
            "MQQB-3.1.5.8.6-06",
            *["MQQB-3.1.5.8.6-07"] * (count > 3),
            expected=expected,
            observed=observed,
            evidence=sent,
            case="RejectCount",
        )
        if count == 1:
            judge(
                "MQQB-3.1.5.8.6-06",
                expected=0,
                observed=get_incoming_transfer_of_sequence(receiver, other)["RejectCount"],
                evidence=sent,
                case="RejectCount of the sequence of another sender",
            )
        if count in (1, 3):
            _judge_time_increase(
                peer,
                judge,
                "MQQB-3.1.5.8.6-08",
                first,
                get_incoming_transfer_of_sequence(receiver),
                "LastAccessTime",
                begun,
                sent,
            )
            rejected = get_incoming_transfer_of_sequence(receiver)
            peer.pass_time(DELAY_BEFORE_LATER_MESSAGE_MS)
    receiver.sequence = Sequence(peer, 2)
    sent.append(receiver.send())
    receiver.await_acknowledgment()
    judge(
        "MQQB-3.1.5.8.6-07",
        expected=0,
        observed=get_incoming_transfer_of_sequence(receiver)["RejectCount"],
        evidence=sent,
        case="RejectCount of a new sequence",
    )
    judge(
        "MQQB-3.1.5.8.6-08",
        expected=of_other["LastAccessTime"],
        observed=get_incoming_transfer_of_sequence(receiver, other)["LastAccessTime"],
        case="LastAccessTime of the sequence of another sender",
        evidence=sent,
    )


def _has_reject_count(receiver: Receiver, count: int) -> bool:
    return bool(get_incoming_transfer_of_sequence(receiver)["RejectCount"] == count)


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("inspect")
@covers("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.6-08", "MQQB-3.1.6.9-02")
def test_data_model_counts_rejections_and_shows_times(peer, sut, judge):
    """The peer sends two messages out of order, and then the missing message. RejectCount reaches 2 and returns to 0.
    LastAccessTime and LastOrderAckSendTime increase.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    receiver = Receiver(peer, sut)
    begun = receiver.send()
    receiver.await_acknowledgment()
    before = _find_session_of_peer(peer, sut)
    first = _find_newest_transfer_info(peer, sut)
    peer.pass_time(DELAY_BEFORE_LATER_MESSAGE_MS)
    rejected = []
    for count in (1, 2):
        receiver.sequence.number = 2
        rejected.append(receiver.send())
        peer.eventually(functools.partial(_has_session_reject_count, peer, sut, count))
        session, transfer = _find_session_of_peer(peer, sut), _find_newest_transfer_info(peer, sut)
        judge(
            "MQQB-3.1.5.8.6-05",
            expected=count,
            observed=read_data_model_element(session, "TxMessageRejectCount"),
            case="TxMessageRejectCount",
            evidence=rejected,
        )
        judge(
            "MQQB-3.1.5.8.6-06",
            expected=count,
            observed=read_data_model_element(transfer, "RejectCount"),
            case="RejectCount",
            evidence=rejected,
        )
    _judge_time_increase(peer, judge, "MQQB-3.1.5.8.6-08", first, transfer, "LastAccessTime", begun, rejected)
    receiver.sequence.number = 1
    taken = receiver.send()
    peer.eventually(functools.partial(_has_session_reject_count, peer, sut, 0))
    count = read_data_model_element(_find_session_of_peer(peer, sut), "TxMessageRejectCount")
    judge(
        "MQQB-3.1.5.8.6-07",
        expected=0,
        observed=count,
        case="RejectCount after the accepted message",
        evidence=[*rejected, taken],
    )
    judge.conclude("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.6-08")
    ack = receiver.await_acknowledgment()
    _judge_time_increase(
        peer,
        judge,
        "MQQB-3.1.6.9-02",
        before,
        _find_session_of_peer(peer, sut),
        "LastOrderAckSendTime",
        begun,
        [taken, ack],
    )


def _judge_time_increase(peer, judge, rule, before, after, name, since, evidence):
    """Judge that a time of the SUT, in seconds, increased as much as the tester's clock; the two clocks may differ."""
    passed, grown = (
        peer.measure_duration(since),
        read_data_model_element(after, name) - read_data_model_element(before, name),
    )
    latest_s = passed.ms // 1_000 + 2
    allowed_ms = passed.get_allowed_range(LEAST_INCREASE_OF_TIME_ELEMENT_S * 1_000, latest_s * 1_000, grown * 1_000)
    judge(
        rule,
        expected=between(*(ms // 1_000 for ms in allowed_ms)),
        observed=grown,
        case="increase of the time in seconds",
        evidence=evidence,
    )


def _has_session_reject_count(peer, sut, count: int) -> bool:
    return bool(read_data_model_element(_find_session_of_peer(peer, sut), "TxMessageRejectCount") == count)


def _find_session_of_peer(peer, sut) -> dict[str, Any]:
    return find_accepted_session(sut, peer.identifier)


def _find_newest_transfer_info(peer, sut) -> dict[str, Any]:
    """Return the IncomingTransactionalTransferInfo of the peer's sequences that has the latest LastAccessTime."""
    name = sut.queue("transactional").lower()
    found = [
        one
        for queue in sut.inspect()["QueueManager"]["QueueCollection"]
        for one in read_data_model_element(queue, "IncomingTransactionalTransferInfoCollection")
        if queue["Pathname"].lower().endswith(name)
        and format_guid(one["SenderIdentifier"]) == format_guid(peer.identifier)
    ]
    if not found:
        raise ConformanceFailure("the SUT shows no IncomingTransactionalTransferInfo of the peer")
    return max(found, key=lambda one: one["LastAccessTime"])
