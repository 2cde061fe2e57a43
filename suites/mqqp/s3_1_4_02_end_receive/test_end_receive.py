"""MS-MQQP 3.1.4.2 RemoteQMEndReceive: the client acknowledges a received message, or returns it to the queue."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds, in_queue
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Ack, Action, LookupId, Method
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

INVALID_HANDLE_STATUS = "MQ_ERROR_INVALID_HANDLE"
LARGE_BODY_BYTES = 10_000
UNKNOWN_CONTEXT_FAULT = "fault nca_s_fault_context_mismatch"


@covers(
    "MQQP-3.1.4.2-01",
    "MQQP-3.1.4.2-06",
    "MQQP-3.1.4.2-07",
    "MQQP-3.1.4.2-08",
    "MQQP-3.1.4.2-12",
    "MQQP-3.1.4.2-16",
    "MQQP-3.1.4.2-D01",
    "MQDMPR-3.1.7.1.10-02",
    "MQDMPR-3.1.7.1.12-13",
    "MQDMPR-3.1.7.1.12-18",
    "MQDMPR-3.1.7.1.12-21",
)
@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"two phases": ["MQQP-3.1.4.1-D15"], "current": ["MQQP-3.1.4.1-D04"]},
        Method.START_RECEIVE2: {"two phases": ["MQQP-3.1.4.10-31"], "current": ["MQQP-3.1.4.10-D03"]},
    }
)
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_nack_returns_message_to_queue_and_ack_removes_it(remote, judge, by, rules, kind):
    """Two messages are received, so that other readers do not find them. After both receives end with RR_NACK, each of
    two readers can receive the first message again, and a cursor that has read this message reads it again. After
    RR_ACK for the first message, only the second message is in the queue. RemoteQMEndReceive returns the handle NULL;
    afterwards, the old handle is unknown.
    """
    queue, other = remote.open(kind), remote.open(kind)
    if kind == "plain":  # a large express message beside a recoverable one
        remote.send_messages_and_require_acks(
            [remote.peer.message({"DM": 0}, label="first", body=bytes(LARGE_BODY_BYTES))]
        )
        send_messages_to_queue(remote, kind, "second")
    else:
        send_messages_to_queue(remote, kind, "first", "second")
    cursor = other.open_cursor()
    at_cursor = [other.peek(by=by, hCursor=cursor)]
    first = queue.start_receive(by=by)
    hidden = other.peek().label_or_outcome
    beside = queue.start_receive(by=by)
    refused = queue.put_message_back(first)
    queue.put_message_back(beside)
    at_cursor.append(other.peek(by=by, hCursor=cursor))
    judge(
        *rules["current"],
        expected=each("first", "peek by a cursor"),
        observed=[one.label_or_outcome for one in at_cursor],
        evidence=at_cursor,
    )
    place = queue.labels()
    elsewhere = other.start_receive(by=by)
    other.put_message_back(elsewhere)
    back = queue.start_receive(by=by)
    seen = {
        "first_receive": first.label_or_outcome,
        "peek_by_the_other_reader": hidden,
        "end_with_RR_NACK": refused.outcome,
        "queue_after_RR_NACK": place,
        "receive_by_the_other_reader": elsewhere.label_or_outcome,
        "second_receive": back.label_or_outcome,
    }
    expected = facts(
        first_receive="first",
        peek_by_the_other_reader="second",
        end_with_RR_NACK="MQ_OK",
        queue_after_RR_NACK=in_queue("first", "second"),
        receive_by_the_other_reader="first",
        second_receive="first",
    )
    judge(
        *rules["two phases"],
        "MQQP-3.1.4.2-06",
        "MQDMPR-3.1.7.1.10-02",
        "MQDMPR-3.1.7.1.12-18",
        expected=expected,
        observed=seen,
        evidence=[refused, back],
    )
    taken = queue.acknowledge(back)
    left = [queue.labels(), other.labels()]
    gone = each(["second"])
    judge(
        "MQQP-3.1.4.2-01",
        "MQQP-3.1.4.2-07",
        "MQDMPR-3.1.7.1.12-13",
        expected=facts(end_with_RR_ACK="MQ_OK", queue_as_each_reader_sees_it=gone),
        observed={"end_with_RR_ACK": taken.outcome, "queue_as_each_reader_sees_it": left},
        evidence=taken.evidence,
    )
    again = queue.acknowledge(back)
    judge(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
        "MQDMPR-3.1.7.1.12-21",
        expected=facts(end_with_RR_NACK="MQ_OK", end_with_RR_ACK="MQ_OK"),
        observed={"end_with_RR_NACK": refused.outcome, "end_with_RR_ACK": taken.outcome},
        evidence=[refused, taken],
    )
    nulls = [call.has_null_handle for call in (refused, taken)]
    judge(
        "MQQP-3.1.4.2-16",
        expected=facts(the_returned_handle_is_NULL=each(True), call_with_the_old_handle=UNKNOWN_CONTEXT_FAULT),
        observed={"the_returned_handle_is_NULL": nulls, "call_with_the_old_handle": again.outcome},
        evidence=[taken, again],
    )
    seen = {
        "first_receive": first.label_or_outcome,
        "second_receive": back.label_or_outcome,
        "queue_after_RR_NACK": left,
    }
    judge(
        "MQQP-3.1.4.2-12",
        expected=facts(first_receive="first", second_receive="first", queue_after_RR_NACK=gone),
        observed=seen,
        evidence=taken.evidence,
    )


@covers("MQQP-3.1.4.2-10")
@sut_survives()
def test_end_receive_with_null_handle_is_refused(remote, judge):
    """RemoteQMEndReceive with the handle NULL returns MQ_ERROR_INVALID_HANDLE for each dwAck: before and after a queue
    is opened, while another receive is not ended, and after that receive has ended. Until then, the message of that
    receive stays locked.
    """
    association = remote.associate()

    def end_receive_with_null_handle() -> list[Call]:
        return [
            association.call("RemoteQMEndReceive", pphContext=RemoteQueue.NULL_HANDLE, dwAck=ack)
            for ack in (Ack.RR_NACK, Ack.RR_ACK)
        ]

    before = end_receive_with_null_handle()
    queue = remote.open_with_messages("first", "second", association=association)
    opened = end_receive_with_null_handle()
    peeked = queue.peek()
    held = queue.start_receive()
    beside = end_receive_with_null_handle()
    observed = {
        "ends_before_a_queue_is_open": [one.outcome for one in before],
        "ends_after_a_queue_is_open": [one.outcome for one in opened],
        "ends_beside_a_receive": [one.outcome for one in beside],
        "peek": peeked.label_or_outcome,
        "peek_beside_a_receive": queue.peek().label_or_outcome,
        "end_of_the_receive": queue.put_message_back(held).outcome,
    }
    ended = end_receive_with_null_handle()
    observed["ends_after_the_receive"] = [one.outcome for one in ended]
    expected = facts(
        ends_before_a_queue_is_open=each(INVALID_HANDLE_STATUS),
        ends_after_a_queue_is_open=each(INVALID_HANDLE_STATUS),
        ends_beside_a_receive=each(INVALID_HANDLE_STATUS),
        peek="first",
        peek_beside_a_receive="second",
        end_of_the_receive="MQ_OK",
        ends_after_the_receive=each(INVALID_HANDLE_STATUS),
    )
    judge("MQQP-3.1.4.2-10", expected=expected, observed=observed, evidence=[*before, *opened, *beside, *ended])


@needs("restart")
@covers("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-06", "MQQP-3.1.4.2-07", "MQQP-3.1.4.2-12")
def test_acknowledged_message_stays_removed_after_restart(remote, sut, judge):
    """A client receives three recoverable messages. It ends the first receive with RR_ACK and the second with RR_NACK,
    and does not end the third. After a restart of the SUT, the queue contains the second and the third message.
    """
    queue = remote.open_with_messages("first", "second", "third")
    received = [queue.start_receive() for _ in range(3)]
    ended, given_back = queue.acknowledge(received[0]), queue.put_message_back(received[1])
    sut.restart()
    left = remote.open().labels()
    observed = {
        "labels_received": [one.label_or_outcome for one in received],
        "end_with_RR_ACK": ended.outcome,
        "end_with_RR_NACK": given_back.outcome,
        "queue_after_the_restart": left,
    }
    expected = facts(
        labels_received=["first", "second", "third"],
        end_with_RR_ACK="MQ_OK",
        end_with_RR_NACK="MQ_OK",
        queue_after_the_restart=in_queue("second", "third"),
    )
    judge.all(expected=expected, observed=observed, evidence=[*received, ended, given_back])


@covers("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-06", "MQQP-3.1.4.2-12")
@covers("MQDMPR-3.1.7.1.10-38", "MQDMPR-3.1.7.1.12-13", "MQDMPR-3.1.7.1.12-18")
@pytest.mark.parametrize("ended_first", [0, 1, 2], ids=["first", "middle", "last"])
def test_end_receive_ends_receive_of_handle(remote, judge, ended_first):
    """One of three receives ends with RR_NACK: only its message is in the queue again. Of the other two receives, the
    later one then ends with RR_ACK, and the earlier one with RR_NACK: only the message of the later receive is removed.
    """
    labels = ["first", "second", "third"]
    queue = remote.open_with_messages(*labels)
    reads = [queue.start_receive() for _ in labels]
    ended = queue.put_message_back(reads[ended_first])
    free = queue.labels()
    returned, removed = (number for number in range(len(labels)) if number != ended_first)
    others = [queue.acknowledge(reads[removed]).outcome, queue.put_message_back(reads[returned]).outcome]
    at_the_end = [labels[number] for number in sorted((ended_first, returned))]
    back, last = [labels[ended_first]], queue.labels()
    seen = {
        "labels_received": [read.label_or_outcome for read in reads],
        "end_with_RR_NACK": ended.outcome,
        "queue_after_RR_NACK": free,
        "ends_of_the_others": others,
        "queue_at_the_end": last,
    }
    expected = facts(
        labels_received=labels,
        end_with_RR_NACK="MQ_OK",
        queue_after_RR_NACK=back,
        ends_of_the_others=["MQ_OK", "MQ_OK"],
        queue_at_the_end=at_the_end,
    )
    rules = ("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-06", "MQQP-3.1.4.2-12")
    judge(*rules, expected=expected, observed=seen, evidence=ended.evidence)
    judge("MQDMPR-3.1.7.1.12-18", expected=back, observed=free, evidence=ended, case="queue after RR_NACK")
    again = queue.start_receive().label_or_outcome
    case = "label returned by the next receive"
    judge("MQDMPR-3.1.7.1.10-38", expected=at_the_end[0], observed=again, evidence=ended, case=case)
    judge("MQDMPR-3.1.7.1.12-13", expected=at_the_end, observed=last, evidence=ended, case="queue at the end")


@covers("MQQP-3.1.4.2-D02")
@pytest.mark.parametrize("wrong", [0, 3, 4, 0x102, 0x1_0001, 0x8000_0001, 0xFFFF_FFFF], ids=hex)
@pytest.mark.parametrize("right", [Ack.RR_NACK, Ack.RR_ACK], ids=["nack", "ack"])
@sut_survives()
def test_end_receive_with_invalid_dw_ack_is_refused(remote, judge, wrong, right):
    """The SUT refuses a RemoteQMEndReceive whose dwAck is neither 1 nor 2. The message stays locked until a valid dwAck
    ends the receive.
    """
    queue = remote.open_with_messages("first", "second")
    read = queue.start_receive()
    call = queue.end(read, wrong)
    locked = queue.labels()
    ended = queue.end(read, right)
    observed = {
        "read": read.label_or_outcome,
        "end_with_an_invalid_dwAck_is_refused": call.is_refused,
        "labels_of_the_other_messages": locked,
        "end_with_a_valid_dwAck": ended.outcome,
        "queue_after_the_end": queue.labels(),
    }
    after = ["first", "second"] if right == Ack.RR_NACK else ["second"]
    expected = facts(
        read="first",
        end_with_an_invalid_dwAck_is_refused=True,
        labels_of_the_other_messages=["second"],
        end_with_a_valid_dwAck="MQ_OK",
        queue_after_the_end=after,
    )
    judge("MQQP-3.1.4.2-D02", expected=expected, observed=observed, evidence=[call, ended])


@covers("MQQP-3.1.4.2-06", "MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.2.2-07")
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT], ids=["receive", "peek"])
@pytest.mark.parametrize("by_cursor", [False, True], ids=["front", "cursor"])
def test_nack_gives_message_to_read_that_waits_already(remote, judge, action, by_cursor):
    """A receive locks the only message, and a read by a second client waits. When the receive ends with RR_NACK, the
    waiting read gets the message. If this read is a receive, it also ends with RR_NACK. The check repeats these steps
    with a second receive and a second waiting read.
    """
    queue, other = remote.open_with_messages("first"), remote.open()
    for _ in range(2):
        held = queue.start_receive()
        cursor = other.open_cursor() if by_cursor else 0
        waiting = other.begin(action, ulTimeout=INFINITE_TIMEOUT_MS, hCursor=cursor)
        before = waiting.state_after_silence()
        ended = queue.put_message_back(held)
        after = waiting.state_after_silence()
        observed = {
            "waiting_read_before_the_end": before,
            "end_with_RR_NACK": ended.outcome,
            "waiting_read_after_the_end": after,
        }
        expected = facts(
            waiting_read_before_the_end=waiting.WAITING, end_with_RR_NACK="MQ_OK", waiting_read_after_the_end="first"
        )
        judge.all(expected=expected, observed=observed, evidence=[*held.evidence, *ended.evidence])
        if action.is_receive and waiting.outcome == "MQ_OK":
            other.put_message_back(waiting)


@covers("MQQP-3.1.4.2-07", "MQQP-3.1.4.2-12")
def test_acknowledged_message_cannot_be_read_in_any_way(remote, judge):
    """A client receives three messages, by RemoteQMStartReceive, by a cursor and by RemoteQMStartReceiveByLookupId, and
    ends each receive with RR_ACK. Only the fourth message is in the queue. Cursors that had read the first message,
    lookups, and receives by another client return no acknowledged message.
    """
    labels = ["first", "second", "third", "fourth"]
    queue, other = remote.open_with_messages(*labels), remote.open()
    at_first, cursor = other.open_cursor(), queue.open_cursor()
    other.peek(hCursor=at_first).expect_success()
    reads = [queue.start_receive(by=Method.START_RECEIVE), queue.start_receive(hCursor=cursor)]
    reads.append(queue.look_up(Action.LOOKUP_RECEIVE_NEXT, LookupId.BEFORE_FIRST))
    ends = [queue.acknowledge(one) for one in reads]
    later = [
        other.peek(),
        other.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        other.peek_next(hCursor=at_first),
        other.start_receive(),
    ]
    observed = {
        "labels_received": [one.label_or_outcome for one in reads],
        "ends": [one.outcome for one in ends],
        "labels_read_afterwards": [one.label_or_outcome for one in later],
        "read_when_all_messages_are_received": queue.start_receive().label_or_failure,
    }
    expected = facts(
        labels_received=labels[:3],
        ends=each("MQ_OK"),
        labels_read_afterwards=each("fourth"),
        read_when_all_messages_are_received=Call.FAILURE_HRESULT_TEXT,
    )
    judge.all(expected=expected, observed=observed, evidence=[*reads, *ends, *later])


@covers("MQQP-3.1.4.2-16", "MQQP-3.1.4.2-D03")
@pytest.mark.parametrize("ack", [Ack.RR_NACK, Ack.RR_ACK], ids=["nack", "ack"])
@pytest.mark.parametrize("gone", ["closed", pytest.param("deleted", marks=needs("queue_control"))])
def test_end_receive_deletes_handle_when_queue_is_gone(remote, sut, judge, gone, ack):
    """The queue of a receive is closed or deleted before RemoteQMEndReceive. The call may return any status, but
    returns the handle NULL; afterwards, the old handle is unknown.
    """
    name = sut.new_queue("gone") if gone == "deleted" else sut.queue()
    path = rf"TCP:{sut.address}\{name}"
    queue = remote.open(form=queue_format(DIRECT, path))
    remote.send_messages_and_require_acks([remote.peer.recoverable_message(destination=path, label="first")])
    held = queue.start_receive()
    if gone == "deleted":
        sut.delete_queue(name)
    else:
        queue.close()
    ended = queue.end(held, ack)
    again = queue.end(held, ack)
    observed = {"the_returned_handle_is_NULL": ended.has_null_handle, "call_with_the_old_handle": again.outcome}
    judge(
        "MQQP-3.1.4.2-D03",
        expected=holds("a status is returned"),
        observed=ended.status is not None or ended.outcome,
        evidence=ended,
        case=f"end of a receive at a {gone} queue",
    )
    expected = facts(the_returned_handle_is_NULL=True, call_with_the_old_handle=UNKNOWN_CONTEXT_FAULT)
    judge("MQQP-3.1.4.2-16", expected=expected, observed=observed, evidence=[ended, again])
