"""MS-MQDMPR 3.2.7.2 Get Message For Peek: cursors at messages that were locked and are available again."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack
from suites.mqqp.steps.reading import send_messages_to_queue


@needs("qm2qm")
@covers("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24", "MQDMPR-3.2.7.2-27")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "second"])
def test_cursor_reads_message_that_remote_reader_returned(remote, judge, at):
    """Cursors of two handles are at the first or second of three messages. Three times, a reader locks the message and
    returns it to the queue: through the first handle, through the second handle, and by a third cursor. Each time,
    peeks by both cursors fail while the message is locked, and return the message afterwards.
    """
    labels = ["a", "b", "c"]
    queue, other = remote.open_with_messages(*labels), remote.open()
    third = other.open_cursor()
    cursors = [(reader, reader.open_cursor()) for reader in (queue, other)]
    for reader, cursor in (*cursors, (other, third)):
        reader.peek(hCursor=cursor).expect_success()
        for _ in range(at):
            reader.peek_next(hCursor=cursor).expect_success()
    before, after, evidence = [], [], []
    for reader, cursor in ((queue, 0), (other, 0), (other, third)):
        earlier = [] if cursor else [reader.start_receive().expect_success() for _ in range(at)]
        received = reader.start_receive(hCursor=cursor).expect_success()
        before += [one.peek(hCursor=place) for one, place in cursors]
        ends = [reader.end(one, Ack.RR_NACK).expect_success() for one in (received, *earlier)]
        reads = [one.peek(hCursor=place) for one, place in cursors]
        after += reads
        evidence += [received, *ends, *reads]
    _judge_peeks(judge, before, after, labels[at], evidence)


@needs("qm2qm", "receive", "transactions")
@covers("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24", "MQDMPR-3.2.7.2-27")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_cursor_reads_message_of_aborted_transaction(remote, sut, judge, external):
    """A cursor of a remote reader is at the second of three transactional messages. A transaction of an application
    receives the first two messages, and is aborted. Peeks by the cursor fail before the abort, and return the second
    message after it.
    """
    queue = remote.open("transactional")
    send_messages_to_queue(remote, "transactional", "a", "b", "c")
    cursor = queue.open_cursor()
    places = [queue.peek(hCursor=cursor), queue.peek_next(hCursor=cursor)]
    transaction = sut.control.call("begin", external=external)["transaction"]
    name = sut.queue("transactional")
    taken = [sut.read_label("receive", queue=name, transaction=transaction) for _ in range(2)]
    if [*(read.label_or_outcome for read in places), *taken] != ["a", "b", "a", "b"]:
        raise ConformanceFailure("the cursor or the transaction did not read the first two messages")
    locked = queue.peek(hCursor=cursor)
    sut.control.call("abort", transaction=transaction)
    reads = [queue.peek(hCursor=cursor) for _ in range(2)]
    _judge_peeks(judge, [locked], reads, "b", [*places, locked, *reads])


def _judge_peeks(judge, before: list[Call], after: list[Call], label: str, evidence: list[Any]) -> None:
    """Judge peeks at a message while it is locked, and after its return."""
    judge(
        "MQDMPR-3.2.7.2-27",
        expected=each(Call.FAILURE_HRESULT_TEXT, "peek"),
        observed=[read.label_or_failure for read in before],
        case="peeks at the locked message",
        evidence=before,
    )
    judge(
        "MQDMPR-3.2.7.2-23",
        expected=each(label, "peek"),
        observed=[read.label_or_outcome for read in after],
        case="labels of the peeks after the return of the message",
        evidence=evidence,
    )
    judge(
        "MQDMPR-3.2.7.2-24",
        expected=each("MQ_OK", "peek"),
        observed=[read.outcome for read in after],
        case="results of the peeks after the return of the message",
        evidence=evidence,
    )
