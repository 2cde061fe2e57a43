"""MS-MQQP 3.1.4.1, 3.1.4.10: waiting reads and cursors in the abstract data model (MS-MQDMPR 3.1.1)."""

from __future__ import annotations

import re
from typing import Any

from harness.expectations import facts, fields, one_of
from harness.run.marks import needs, varied
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import for_each_method

pytestmark = needs("qm2qm", "inspect")

LONG_READ_TIMEOUT_MS = 600_000
REQUEST_ID = 0x6D71_0001
"""A dwRequestID that no other check uses."""


def show_descriptor_elements(sut: Sut, collection: str) -> list[dict[str, Any]]:
    """Return the elements that the verb `inspect` shows of a collection in the OpenQueueDescriptors of the check."""
    queues = sut.inspect()["QueueManager"]["QueueCollection"]
    ours = [one for one in queues if one["Pathname"].lower().endswith(sut.queue().lower())]
    return [element for queue in ours for one in queue["OpenQueueDescriptorCollection"] for element in one[collection]]


@for_each_method(
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
    """A receive waits: WaitingMessageReadOperationCollection contains one destructive read with the dwRequestID of the
    receive. After RemoteQMCancelReceive the collection is empty.
    """
    queue = remote.open()
    read = queue.begin_receive(by=by, dwRequestID=REQUEST_ID, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    found = show_descriptor_elements(sut, "WaitingMessageReadOperationCollection")
    known = [
        {
            "DestructiveRead": one["DestructiveRead"],
            "Tag_contains_the_dwRequestID": str(REQUEST_ID) in re.findall(r"\d+", str(one["Tag"])),
        }
        for one in found
    ]
    queue.cancel(REQUEST_ID)
    left = show_descriptor_elements(sut, "WaitingMessageReadOperationCollection")
    evidence = read.evidence
    judge(
        *rules["receive"],
        expected=facts(
            entries_before_the_cancel=[fields(DestructiveRead=True, Tag_contains_the_dwRequestID=True)],
            entries_after_the_cancel=[],
        ),
        observed={"entries_before_the_cancel": known, "entries_after_the_cancel": left},
        evidence=evidence,
    )


@needs("receive")
@for_each_method(
    {
        Method.START_RECEIVE: {"current": ["MQQP-3.1.4.1-D16"], "next": ["MQQP-3.1.4.1-D17"]},
        Method.START_RECEIVE2: {"current": ["MQQP-3.1.4.10-36"], "next": ["MQQP-3.1.4.10-40"]},
    }
)
def test_cursor_refers_to_message_that_was_read(remote, sut, judge, by, rules):
    """A new cursor has the state Unread. After each of two calls of PEEK_CURRENT, the cursor has the state Read and is
    at the first of two messages; after PEEK_NEXT, its state is Read, at the second message. After a further PEEK_NEXT,
    which does not wait, its state is WaitPeek or Unread (erratum E180).
    """
    queue = remote.open_with_messages("first", "second")
    known = {lookup_id(one): one["label"] for one in sut.messages()}
    cursor = queue.open_cursor()

    def get_cursor_position() -> tuple[str, str]:
        cursors = show_descriptor_elements(sut, "CursorCollection")
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
