"""MS-MQQP 3.1.4.1, 3.1.4.7, 3.1.4.10, 3.1.4.11: handles of a queue that is deleted while it is open."""

from __future__ import annotations

from harness.expectations import each, facts, holds, none, one_of
from harness.peer.association import Call
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import Action, LookupId, Method
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

LONG_READ_TIMEOUT_MS = 600_000
DELETED_QUEUE_STATUSES = one_of("MQ_ERROR_QUEUE_NOT_AVAILABLE", "MQ_ERROR_INVALID_PARAMETER")
"""The statuses that erratum E170 allows for a read of a deleted queue."""
UNKNOWN_CONTEXT_FAULT = "fault nca_s_fault_context_mismatch"


def _read_with_each_action(queue, by, cursor):
    """Start every kind of read that a method supports, without and with a timeout; return the reads by kind."""
    if by == Method.START_RECEIVE_BY_LOOKUP_ID:
        return {
            kind: [queue.read(action, by=by, lookup_id=LookupId.BEFORE_FIRST)]
            for kind, action in (("peek", Action.LOOKUP_PEEK_NEXT), ("receive", Action.LOOKUP_RECEIVE_NEXT))
        }
    return {
        kind: [
            queue.read(action, by=by, hCursor=at, ulTimeout=timeout_ms)
            for at in places
            for timeout_ms in (0, LONG_READ_TIMEOUT_MS)
        ]
        for kind, action, places in (
            ("receive", Action.RECEIVE, (0, cursor)),
            ("peek", Action.PEEK_CURRENT, (0, cursor)),
            ("next", Action.PEEK_NEXT, (cursor,)),
        )
    }


@needs("qm2qm", "queue_control")
@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "failure": ["MQQP-3.1.4.1-10", "MQQP-3.1.4.1-D20"],
            "receive": ["MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04"],
            "peek": ["MQDMPR-3.1.7.1.15-04"],
            "next": ["MQDMPR-3.1.7.1.14-04"],
        },
        Method.START_RECEIVE2: {
            "failure": ["MQQP-3.1.4.10-10", "MQQP-3.1.4.10-55"],
            "thrown": ["MQQP-3.1.4.10-D05"],
            "receive": ["MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04"],
            "peek": ["MQDMPR-3.1.7.1.15-04"],
            "next": ["MQDMPR-3.1.7.1.14-04"],
        },
        Method.START_RECEIVE_BY_LOOKUP_ID: {
            "failure": ["MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"],
            "peek": ["MQDMPR-3.1.7.1.13-07"],
            "receive": ["MQDMPR-3.1.7.1.13-07"],
        },
    }
)
@covers(
    "MQQP-3.1.4.7-03",
    "MQQP-3.1.4.4-D01",
    "MQQP-3.1.4.4-15",
    "MQQP-3.1.4.4-16",
    "MQQP-3.1.4.2-08",
    "MQQP-3.1.4.2-D01",
    "MQDMPR-3.1.7.1.12-04",
)
@sut_survives()
def test_reads_of_deleted_queue_fail(remote, sut, judge, by, rules):
    """A queue is deleted while it is open. Its waiting reads, new reads, the end of a receive, and a purge fail. Reads
    still fail when a new queue with the same name contains a message. A second open queue can still be read.
    """
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    queue, beside = remote.open(form=queue_format(DIRECT, path)), remote.open_with_messages("second")
    cursor, unread = (queue.open_cursor() for _ in range(2))
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(destination=path, label=one) for one in ("first", *"abc")]
    )
    held = queue.start_receive(hCursor=unread)
    also_held = [queue.start_receive() for _ in range(3)]
    waits = []
    if by != Method.START_RECEIVE_BY_LOOKUP_ID:
        waits = [
            queue.begin(action, by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
            for action in (Action.RECEIVE, Action.PEEK_CURRENT)
        ]
        waits.append(queue.begin_receive(by=by, hCursor=unread, ulTimeout=LONG_READ_TIMEOUT_MS))
        for read in waits:
            read.state_after_silence()
    sut.delete_queue(name)
    ends = [read.wait().label_or_failure for read in waits]
    made = _read_with_each_action(queue, by, cursor)
    end = queue.acknowledge(held)
    ends_of_others = [queue.put_message_back(also_held[0]), queue.acknowledge(also_held[1])]
    purged = queue.purge()
    sut.create_queue(name)
    remote.send_messages_and_require_acks([remote.peer.recoverable_message(destination=path, label="new")])
    ends_of_others.append(queue.acknowledge(also_held[2]))
    for kind, calls in _read_with_each_action(queue, by, cursor).items():
        made[kind] += calls
    for kind, calls in made.items():
        outcomes = [call.outcome for call in calls]
        judge(
            *rules[kind],
            expected=each(DELETED_QUEUE_STATUSES, "peek next" if kind == "next" else kind),
            observed=outcomes,
            evidence=calls,
            errata="E170",
        )
    judge(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
        "MQDMPR-3.1.7.1.12-04",
        expected=DELETED_QUEUE_STATUSES,
        observed=end.outcome,
        evidence=[held, end],
        errata="E170",
        case="end of the receive",
    )
    judge(
        "MQQP-3.1.4.2-D01",
        "MQDMPR-3.1.7.1.12-04",
        expected=each(DELETED_QUEUE_STATUSES),
        observed=[one.outcome for one in ends_of_others],
        evidence=[*also_held, *ends_of_others],
        errata="E170",
        case="negative end, second end, and end after a queue with the same name was created",
    )
    closed = queue.close()
    judge(
        "MQQP-3.1.4.4-D01",
        expected=none("fault"),
        observed=[closed.outcome] if closed.thrown is not None else [],
        evidence=closed.evidence,
        case="close of the deleted queue",
    )
    if closed.out is not None:
        judge(
            "MQQP-3.1.4.4-16",
            expected=queue.NULL_HANDLE,
            observed=bytes(closed.out.pphContext),
            evidence=closed.evidence,
            case="handle that the close of the deleted queue returns",
        )
        again = queue.close()
        judge(
            "MQQP-3.1.4.4-15",
            expected=UNKNOWN_CONTEXT_FAULT,
            observed=again.outcome,
            evidence=[closed, again],
            case="second close of the deleted queue by the old handle",
        )
    else:
        rules_of_handle = ("MQQP-3.1.4.4-15", "MQQP-3.1.4.4-16")
        judge.mark_not_exercised(*rules_of_handle, reason="the SUT returned no handle", evidence=closed.evidence)
    reads = [call for calls in made.values() for call in calls]
    if "thrown" in rules:
        faults = [read.outcome for read in (*waits, *reads) if read.thrown is not None]
        judge(*rules["thrown"], expected=none("fault"), observed=faults, evidence=[*waits, *reads])
    then = beside.receive().label_or_outcome
    observed = {
        "reads_of_the_deleted_queue": [*ends, *(one.label_or_failure for one in reads)],
        "read_of_the_other_queue": then,
    }
    judge(
        "MQQP-3.1.4.7-03",
        expected=holds("the purge fails"),
        observed=purged.outcome != "MQ_OK" or purged.outcome,
        evidence=purged.evidence,
    )
    expected = facts(
        reads_of_the_deleted_queue=each(Call.FAILURE_HRESULT_TEXT, "read"), read_of_the_other_queue="second"
    )
    judge(*rules["failure"], expected=expected, observed=observed, evidence=[*waits, *reads])
