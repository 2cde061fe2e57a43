"""MS-MQQP 3.1.4.1, 3.1.4.10: waiting reads and cursors in the abstract data model (MS-MQDMPR 3.1.1)."""

from __future__ import annotations

import re
from typing import Any

from harness.expectations import facts, one_of
from harness.peer.association import Call
from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

pytestmark = needs("qm2qm", "inspect")

LONG_READ_TIMEOUT_MS = 600_000
SAMPLE_REQUEST_ID = 0x6D71_0001
"""A dwRequestID that no other check uses."""


def read_descriptor_elements(sut: Sut, collection: str) -> list[dict[str, Any]]:
    """Return the elements of a collection in the OpenQueueDescriptors that belong to the check, as the verb ``inspect``
    shows them.
    """
    queues = sut.inspect()["QueueManager"]["QueueCollection"]
    ours = [one for one in queues if one["Pathname"].lower().endswith(sut.queue().lower())]
    return [element for queue in ours for one in queue["OpenQueueDescriptorCollection"] for element in one[collection]]


def list_states_of_waiting_reads(sut: Sut, request_ids: dict[str, int]) -> list[list[tuple[str, bool, bool]]]:
    """Return the waiting reads of each OpenQueueDescriptor that belongs to the check and has waiting reads: the name of
    the dwRequestID, DestructiveRead, and whether the read has a cursor.
    """
    queues = sut.inspect()["QueueManager"]["QueueCollection"]
    ours = [one for one in queues if one["Pathname"].lower().endswith(sut.queue().lower())]
    found = []
    for descriptor in (one for queue in ours for one in queue["OpenQueueDescriptorCollection"]):
        reads = []
        for one in descriptor["WaitingMessageReadOperationCollection"]:
            numbers = re.findall(r"\d+", str(one["Tag"]))
            name = next((name for name, number in request_ids.items() if str(number) in numbers), "unknown")
            name = name if one["DestructiveRead"] else "peek"  # the document gives a peek no tag (erratum E52)
            reads.append((name, bool(one["DestructiveRead"]), one.get("CursorReference") is not None))
        found += [sorted(reads)] if reads else []
    return sorted(found)


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "receive": ["MQQP-3.1.4.1-D15", "MQDMPR-3.1.7.3.1-10", "MQDMPR-3.1.7.3.1-14", "MQDMPR-3.1.7.3.1-25"]
        },
        Method.START_RECEIVE2: {
            "receive": ["MQQP-3.1.4.10-31", "MQDMPR-3.1.7.3.1-10", "MQDMPR-3.1.7.3.1-14", "MQDMPR-3.1.7.3.1-25"]
        },
    }
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_waiting_receive_is_kept_with_its_request_id(remote, sut, judge, by, rules):
    """A receive waits through one handle. A receive by a cursor, a second receive and two peeks wait through another
    handle. WaitingMessageReadOperationCollection of each OpenQueueDescriptor contains the reads of its handle, with
    their dwRequestIDs, their cursors and DestructiveRead. After RemoteQMCancelReceive for one read, only that read is
    missing.
    """
    queue, second = remote.open(), remote.open()
    request_ids = {
        name: SAMPLE_REQUEST_ID + number
        for number, name in enumerate(("plain", "by cursor", "other", "peek", "second peek"))
    }
    how = {"by": by, "ulTimeout": LONG_READ_TIMEOUT_MS}
    reads = [
        queue.begin_receive(dwRequestID=request_ids["plain"], **how),
        second.begin_receive(dwRequestID=request_ids["by cursor"], hCursor=second.open_cursor(), **how),
        second.begin_receive(dwRequestID=request_ids["other"], **how),
        *(second.begin(Action.PEEK_CURRENT, dwRequestID=request_ids[one], **how) for one in ("peek", "second peek")),
    ]
    for read in reads:
        read.state_after_silence()
    found = list_states_of_waiting_reads(sut, request_ids)
    second.cancel(request_ids["by cursor"])
    left = list_states_of_waiting_reads(sut, request_ids)
    queue.cancel(request_ids["plain"])
    last = list_states_of_waiting_reads(sut, request_ids)
    second.cancel(request_ids["other"])
    plain, by_cursor, other = ("plain", True, False), ("by cursor", True, True), ("other", True, False)
    peeks = [("peek", False, False)] * 2
    judge(
        *rules["receive"],
        expected=facts(
            waiting=[[by_cursor, other, *peeks], [plain]],
            after_the_first_cancel=[[other, *peeks], [plain]],
            after_the_second_cancel=[[other, *peeks]],
            after_the_last_cancel=[peeks],
        ),
        observed={
            "waiting": found,
            "after_the_first_cancel": left,
            "after_the_second_cancel": last,
            "after_the_last_cancel": list_states_of_waiting_reads(sut, request_ids),
        },
        evidence=[one for read in reads for one in read.evidence],
    )


@covers("MQDMPR-3.1.7.3.1-10", "MQDMPR-3.1.7.3.1-25")
def test_waiting_reads_by_cursors_are_kept_until_they_end(remote, sut, judge):
    """A peek by a cursor, a peek, and a receive by a cursor wait through one handle, and a peek waits through another.
    WaitingMessageReadOperationCollection contains them until a cancellation ends the peek by the cursor and the peek of
    the other handle, and a message ends the other reads.
    """
    queue, second = remote.open(), remote.open()
    request_ids = {name: SAMPLE_REQUEST_ID + number for number, name in enumerate(("by cursor", "peek", "other peek"))}
    waiting = {"ulTimeout": LONG_READ_TIMEOUT_MS}
    peeks = [
        queue.begin(Action.PEEK_CURRENT, dwRequestID=request_ids["peek"], hCursor=queue.open_cursor(), **waiting),
        second.begin(Action.PEEK_CURRENT, dwRequestID=request_ids["other peek"], **waiting),
        queue.begin(Action.PEEK_CURRENT, **waiting),
    ]
    reads = [
        *peeks,
        queue.begin_receive(dwRequestID=request_ids["by cursor"], hCursor=queue.open_cursor(), **waiting),
    ]
    for read in reads:
        read.state_after_silence()
    found = list_states_of_waiting_reads(sut, request_ids)
    queue.cancel(request_ids["peek"])
    second.cancel(request_ids["other peek"])
    states = [peek.state_after_silence() for peek in peeks[:2]]
    left = list_states_of_waiting_reads(sut, request_ids)
    remote.deliver(["a"])
    ends = [read.state_after_silence() for read in reads]
    names = [("peek", False, True), ("peek", False, False), ("peek", False, False), ("by cursor", True, True)]
    at_cursor, plain, _, receive = names

    def list_kept_reads(states):
        """Return the names of the reads that still wait, for each handle. A peek has no tag in the document (erratum
        E52), so a cancellation need not end a peek.
        """
        of_second = [plain] if states[1] == Call.WAITING else []
        of_first = sorted(name for number, name in enumerate(names) if number != 1 and states[number] == Call.WAITING)
        return sorted(one for one in (of_first, of_second) if one)

    judge(
        "MQDMPR-3.1.7.3.1-10",
        expected=[[receive, plain, at_cursor], [plain]],
        observed=found,
        evidence=reads,
        case="waiting reads of the handles",
    )
    judge(
        "MQDMPR-3.1.7.3.1-25",
        expected=facts(
            after_the_cancellations=list_kept_reads([*states, Call.WAITING, Call.WAITING]),
            after_the_arrival=list_kept_reads(ends),
        ),
        observed={"after_the_cancellations": left, "after_the_arrival": list_states_of_waiting_reads(sut, request_ids)},
        evidence=reads,
    )


@needs("receive")
@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"current": ["MQQP-3.1.4.1-D16"], "next": ["MQQP-3.1.4.1-D17"]},
        Method.START_RECEIVE2: {"current": ["MQQP-3.1.4.10-36"], "next": ["MQQP-3.1.4.10-40"]},
    }
)
def test_cursor_refers_to_message_that_was_read(remote, sut, judge, by, rules):
    """A new cursor has the state Unread. After each of two calls of PEEK_CURRENT, the cursor has the state Read and is
    at the first of two messages; after PEEK_NEXT, it has the state Read and is at the second message. After a further
    PEEK_NEXT, which does not wait, its state is WaitPeek or Unread (erratum E180).
    """
    queue = remote.open_with_messages("first", "second")
    known = {lookup_id(one): one["label"] for one in sut.messages()}
    cursor = queue.open_cursor()

    def get_cursor_position() -> tuple[str, str]:
        cursors = read_descriptor_elements(sut, "CursorCollection")
        return str(cursors[0]["CursorState"]), known.get(cursors[0]["LookupIdentifier"], "at no message of the queue")

    seen, reads = [get_cursor_position()], []
    for action in (Action.PEEK_CURRENT, Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.PEEK_NEXT):
        reads.append(queue.read(action, by=by, hCursor=cursor))
        seen.append(get_cursor_position())
    evidence = reads
    fresh, first, second = ("Unread", "at no message of the queue"), ("Read", "first"), ("Read", "second")
    judge(
        *rules["current"],
        expected=[fresh, first, first],
        observed=seen[:3],
        evidence=evidence,
        case="CursorState and message",
    )
    behind = one_of(("WaitPeek", "second"), ("Unread", "second"))
    expected = facts(CursorState_and_message=[first, second], after_the_last_message=behind)
    judge(
        *rules["next"],
        expected=expected,
        observed={"CursorState_and_message": seen[2:4], "after_the_last_message": seen[4]},
        evidence=evidence,
    )
