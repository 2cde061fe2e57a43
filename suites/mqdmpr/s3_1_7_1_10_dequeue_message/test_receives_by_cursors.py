"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: receives by a cursor whose message was removed, and by a cursor behind all
messages, in and outside transactions.
"""

from __future__ import annotations

from functools import partial

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import get_label
from harness.wire.rpc_qm2qm import Method
from suites.applications import Application
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"
SHORT_READ_TIMEOUT_MS = 300
TRANSACTION_ARGUMENTS_BY_KIND_OF_TRANSACTION = {
    "no transaction": None,
    "internal transaction": pytest.param({}, marks=needs("transactions")),
    "coordinated transaction": pytest.param({"external": True}, marks=needs("transactions")),
}
"""The arguments of the request for the transaction in which the check receives."""


class CursorReader:
    """An application that receives by cursors, each time in a new transaction or outside a transaction."""

    def __init__(self, application, transaction):
        self.application = application
        self.transaction = transaction
        self.handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]

    def open_cursor_at_message(self, label):
        """Open a cursor, and let it peek until it is at the message with the given label, which the queue contains."""
        cursor = self.application.call("open_cursor", handle=self.handle)["cursor"]
        found = self.application.sut.read_label("peek_message", cursor=cursor)
        for _ in self.application.labels():
            if found == label:
                return cursor
            found = self.application.sut.read_label("peek_next", cursor=cursor)
        raise ConformanceFailure(f"the cursor did not reach the message {label}")

    def receive(self, cursor, timeout_ms=0):
        """Receive by a cursor in a new transaction, and commit it; return the labels of the received messages."""
        how = {}
        if self.transaction is not None:
            how["transaction"] = self.application.begin_transaction(**self.transaction)
        try:
            message = self.application.call("receive", cursor=cursor, timeout_ms=timeout_ms, **how)["message"]
        except ControlRefused:
            message = None
        if how and self.transaction:
            self.application.end_transaction("prepare", how["transaction"])
        if how:
            self.application.end_transaction("commit", how["transaction"])
        return [] if message is None else [get_label(message)]


def _receive_by_lookup_identifier(application):
    application.receive_by_label("b")


def _receive_by_other_handle(application):
    handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]
    for _ in "ab":
        application.sut.read_label("receive", handle=handle)


def _receive_in_open_transaction(application):
    transaction = application.begin_transaction()
    application.receive_by_label("b", transaction=transaction)
    application.peer.call_at_end_of_test(partial(application.sut.attempt, "abort", transaction=transaction))


def _receive_and_commit(application):
    transaction = application.begin_transaction()
    application.receive_by_label("b", transaction=transaction)
    application.end_transaction("commit", transaction)


def _purge_application_queue(application):
    application.call("purge", queue=application.queue)


@needs("receive", "queue_control")
@covers("MQDMPR-3.1.7.1.10-16")
@pytest.mark.parametrize(
    "way", TRANSACTION_ARGUMENTS_BY_KIND_OF_TRANSACTION.values(), ids=list(TRANSACTION_ARGUMENTS_BY_KIND_OF_TRANSACTION)
)
@varied("response queue", "queue journaling", "queue privacy")
def test_receive_by_cursor_at_removed_message_takes_no_other(peer, sut, judge, way):
    """Two cursors are at a message that is then received by LookupIdentifier, through another handle or in another
    transaction, or is purged. A further message arrives. A receive by each cursor, with and without a timeout, returns
    no message, and the other messages stay in the queue.
    """
    removals = {
        "received by LookupIdentifier": (_receive_by_lookup_identifier, "acde"),
        "received by another handle": (_receive_by_other_handle, "cde"),
        "purged": (_purge_application_queue, "e"),
    }
    if sut.has("transactions"):
        removals["locked by a transaction"] = (_receive_in_open_transaction, "acde")
        removals["received in a transaction"] = (_receive_and_commit, "acde")
    for case, (remove, left) in removals.items():
        application = Application(peer, sut, transactional=True)
        packets = application.fill_queue(*"abcd")
        reader = CursorReader(application, way)
        cursors = [reader.open_cursor_at_message("b") for _ in range(2)]
        remove(application)
        connection = peer.open_raw()
        packets.append(connection.send(application.build_message("e")))
        if not peer.await_label("e", application.queue):
            raise ConformanceFailure("the SUT did not store the further message")
        received = [reader.receive(*arguments) for arguments in zip(cursors, (0, SHORT_READ_TIMEOUT_MS), strict=True)]
        judge.all(
            expected={"messages received by the cursors": [[], []], "queue": in_queue(*left)},
            observed={"messages received by the cursors": received, "queue": application.labels()},
            evidence=packets,
            case=f"message that is {case}",
        )


@needs("receive", "queue_control")
@covers("MQDMPR-3.1.7.1.10-19")
@pytest.mark.parametrize(
    "way", TRANSACTION_ARGUMENTS_BY_KIND_OF_TRANSACTION.values(), ids=list(TRANSACTION_ARGUMENTS_BY_KIND_OF_TRANSACTION)
)
@varied("response queue", "queue journaling", "queue privacy")
def test_receive_by_cursor_behind_last_message_takes_no_other(peer, sut, judge, way):
    """A cursor receives the last message of a queue, which still contains earlier messages. Further receives by this
    cursor with timeout zero return no message. When another message has arrived, the cursor receives it, and then again
    returns no message.
    """
    application = Application(peer, sut, transactional=True)
    reader = CursorReader(application, way)
    packets = application.fill_queue(*"abc")
    cursor = reader.open_cursor_at_message("c")
    received = reader.receive(cursor)
    behind = [reader.receive(cursor) for _ in range(2)]
    packets += application.fill_queue("d")
    received += reader.receive(cursor)
    behind += [reader.receive(cursor) for _ in range(2)]
    judge.all(
        expected={
            "messages received by the cursor": ["c", "d"],
            "messages received at the end of the queue": [[]] * 4,
            "queue": in_queue("a", "b"),
        },
        observed={
            "messages received by the cursor": received,
            "messages received at the end of the queue": behind,
            "queue": application.labels(),
        },
        evidence=packets,
    )


@needs("qm2qm")
@parametrize_by_method_with_rules({Method.START_RECEIVE: {}, Method.START_RECEIVE2: {}})
@covers("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20", "MQDMPR-3.1.7.1.11-15")
def test_remote_receive_by_cursor_behind_last_message_finds_none(remote, judge, by, rules):
    """The first cursor has received the last of three messages, and the second cursor has received all of them; another
    reader has locked the messages before a third cursor. Receives with timeout zero by these cursors end with
    MQ_ERROR_MESSAGE_NOT_FOUND, and take no earlier message.
    """
    queue, other = remote.open_with_messages("first", "second", "third"), remote.open()
    cursor, second, third = (queue.open_cursor() for _ in range(3))
    queue.peek(by=by, hCursor=cursor).expect_success()
    for _ in range(2):
        queue.peek_next(by=by, hCursor=cursor).expect_success()
    last = queue.receive(by=by, hCursor=cursor)
    reads = [queue.start_receive(by=by, hCursor=cursor) for _ in range(2)]
    locked = [other.start_receive(by=by) for _ in range(2)]
    reads.append(queue.start_receive(by=by, hCursor=third))
    for one in locked:
        other.put_message_back(one)
    taken = [queue.start_receive(by=by, hCursor=second) for _ in range(2)]
    for one in taken:
        queue.put_message_back(one)
    reads += [queue.start_receive(by=by, hCursor=one) for one in (second, cursor)]
    judge.all(
        expected={
            "receives at the end of the queue": each(NOT_FOUND_STATUS),
            "other receives": ["third", "first", "second"],
        },
        observed={
            "receives at the end of the queue": [one.outcome for one in reads],
            "other receives": [one.label_or_outcome for one in (last, *taken)],
        },
        evidence=[last, *taken, *reads],
    )
    kept = [one.label_or_outcome for one in reads if one.outcome == "MQ_OK"]
    judge(
        "MQDMPR-3.1.7.1.10-19", expected=none("message received at the end of the queue"), observed=kept, evidence=reads
    )
