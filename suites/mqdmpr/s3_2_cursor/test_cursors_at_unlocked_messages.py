"""MS-MQDMPR 3.2.7.2 Get Message For Peek: cursors at messages that were locked and are available again."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Ack


@needs("qm2qm")
@covers("MQDMPR-3.2.7.2-24")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "second"])
def test_cursor_reads_message_that_remote_reader_returned(remote, judge, at):
    """Cursors of two handles are at the first or second of three messages. Three times, a reader locks the message and
    returns it to the queue: the reader with the cursor, another reader, and the other reader by its cursor. Each time,
    peeks by both cursors fail while the message is locked, and return the message afterwards.
    """
    labels = ["a", "b", "c"]
    queue, other = remote.open_with_messages(*labels), remote.open()
    cursors = [(reader, reader.open_cursor()) for reader in (queue, other)]
    for reader, cursor in cursors:
        reader.peek(hCursor=cursor).expect_success()
        for _ in range(at):
            reader.peek_next(hCursor=cursor).expect_success()
    before, after, evidence = [], [], []
    for reader, cursor in (cursors[0], (other, None), cursors[1]):
        others = []
        if cursor is None:
            others = [reader.start_receive().expect_success() for _ in range(at)]
        received = reader.start_receive(hCursor=cursor or 0).expect_success()
        before += [one.peek(hCursor=place) for one, place in cursors if place != cursor]
        ends = [reader.end(one, Ack.RR_NACK).expect_success() for one in (received, *others)]
        reads = [one.peek(hCursor=place) for one, place in cursors if place != cursor]
        after += reads
        evidence += [received, *ends, *reads]
    judge(
        "MQDMPR-3.2.7.2-24",
        expected=facts(peeks_while_it_is_locked=each(Call.FAILURE), peeks_after_its_return=each(labels[at])),
        observed={
            "peeks_while_it_is_locked": [read.label_or_failure for read in before],
            "peeks_after_its_return": [read.label_or_failure for read in after],
        },
        evidence=evidence,
    )


@needs("send", "receive", "queue_control", "transactions")
@covers("MQDMPR-3.2.7.2-24")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_cursor_reads_message_of_aborted_transaction(sut, judge, external):
    """A cursor of an application is at the second of three messages. A transaction receives the first two messages, and
    is aborted. Peeks by the cursor then return the second message, and a peek at the next message returns the third.
    """
    queue = sut.new_queue("aborted", transactional=True)
    labels = ["a", "b", "c"]
    sut.send_here(queue, labels, delivery="transactional")
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    places = [sut.read_label(verb, cursor=cursor) for verb in ("peek_message", "peek_next")]
    transaction = sut.control.call("begin", external=external)["transaction"]
    taken = [sut.read_label("receive", queue=queue, transaction=transaction) for _ in range(2)]
    sut.control.call("abort", transaction=transaction)
    reads = [sut.read_label(verb, cursor=cursor) for verb in ("peek_message", "peek_message", "peek_next")]
    end = [sut.attempt("close_cursor", cursor=cursor), sut.attempt("close_queue", handle=handle)]
    judge(
        "MQDMPR-3.2.7.2-24",
        expected=facts(
            earlier_peeks=["a", "b"], receives=["a", "b"], later_peeks=["b", "b", "c"], closes=each(Outcome.DONE)
        ),
        observed={"earlier_peeks": places, "receives": taken, "later_peeks": reads, "closes": end},
    )
