"""MS-MQQP 3.1.6.1 PCTX_RRSESSION_HANDLE_TYPE Rundown, 3.1.6.2 PCTX_REMOTEREAD_HANDLE_TYPE Rundown."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds, in_queue
from harness.judging.verdicts import Verdict
from harness.peer.association import Association, Call
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Action, Method, build_desc2
from harness.wire.rpc_qmcomm import DENY_NONE, DENY_RECEIVE, PEEK_ACCESS
from suites.mqqp.steps.reading import send_messages_to_queue
from suites.mqqp.steps.whole import MessageKind

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
MAX_REOPEN_ATTEMPTS = 8


@covers("MQQP-3.1.6.1-01")
@pytest.mark.parametrize("reading", ["idle", "with a read that waits", "with a receive that is not ended"])
def test_lost_client_leaves_no_queue_open(remote, judge, reading):
    """A client has two queues open, the second one to peek and with a cursor. Either the client denies sharing, or it
    shares the first queue and has a waiting or unfinished receive there. When the client loses its connection, a second
    client can open both queues exclusively and receive the next message. When the second client also loses its
    connection, a third client can open both queues.
    """
    queue = remote.open(share=DENY_RECEIVE if reading == "idle" else DENY_NONE)
    second = remote.open("transactional", association=queue.association, access=PEEK_ACCESS, share=DENY_RECEIVE)
    second.open_cursor()
    for one in (queue, second):
        one.close_context()
    if reading == "with a read that waits":
        queue.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS).state_after_silence()
    if reading == "with a receive that is not ended":
        remote.deliver(["first"])
        queue.start_receive().expect_success()
    beside = remote.open("admin")
    other = remote.associate()
    kinds = ("plain", "transactional")
    refused = [remote.open_remote(other, kind, share=DENY_RECEIVE) for kind in kinds]
    queue.association.close()
    opened, opened_too = (reopen_queue_exclusively(remote, other, kind) for kind in kinds)
    observed = {
        "open_before_the_loss": ["refused" if one.failed else one.outcome for one in refused],
        "open_after_the_loss": [opened.outcome, opened_too.outcome],
    }
    evidence = [*refused, opened, opened_too]
    judge.all(
        expected=facts(open_before_the_loss=each("refused"), open_after_the_loss=each("MQ_OK")),
        observed=observed,
        evidence=evidence,
    )
    if reading != "with a receive that is not ended":
        remote.deliver(["first"])
    remote.deliver(["second"], queue="admin")
    reopened = RemoteQueue(remote, other, opened)
    seen = [one.start_receive().label_or_outcome for one in (reopened, beside)]
    judge(
        "MQQP-3.1.6.1-01",
        expected=["first", "second"],
        case="labels returned by the reads",
        observed=seen,
        evidence=evidence,
    )
    for one in (reopened, RemoteQueue(remote, other, opened_too)):
        one.close_context()
    other.close()
    third = remote.associate()
    again = [reopen_queue_exclusively(remote, third, kind) for kind in kinds]
    judge(
        "MQQP-3.1.6.1-01",
        expected=each("MQ_OK"),
        observed=[one.outcome for one in again],
        case="opens after the loss of the second client",
        evidence=again,
    )


@covers("MQQP-3.1.6.1-01", "MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize("kind", MessageKind)
def test_message_of_lost_client_returns_to_queue(remote, judge, by, kind):
    """Two clients each receive a message, and the connection of one client closes. The message of this client is in the
    queue again. The handle of the other client stays open, and its message stays locked.
    """
    queue, other = remote.open(kind.queue), remote.open(kind.queue)
    if kind == MessageKind.EXPRESS:
        remote.send_messages_and_require_acks(
            [remote.peer.message({"DM": 0}, label=one) for one in ("first", "second", "third")]
        )
    else:
        send_messages_to_queue(remote, kind.queue, "first", "second", "third")
    received = queue.start_receive(by=by)
    kept = other.start_receive()
    hidden = other.labels()
    queue.association.close()
    remote.peer.settle()
    still = other.peek()
    judge(
        "MQQP-3.1.6.1-01",
        expected=holds("the other client's handle is open"),
        observed=still.outcome == "MQ_OK" or still.outcome,
        evidence=[still],
    )
    judge.conclude("MQQP-3.1.6.1-01")
    await_labels_in_queue(remote, other, ["first", "third"])
    observed = {
        "label_received_by_the_lost_client": received.label_or_outcome,
        "label_received_by_the_other_client": kept.label_or_outcome,
        "queue_before_the_loss": hidden,
        "queue_after_the_loss": other.labels(),
        "end_of_the_other_receive": other.acknowledge(kept).outcome,
    }
    expected = facts(
        label_received_by_the_lost_client="first",
        label_received_by_the_other_client="second",
        queue_before_the_loss=in_queue("third"),
        queue_after_the_loss=in_queue("first", "third"),
        end_of_the_other_receive="MQ_OK",
    )
    judge.all(expected=expected, observed=observed, evidence=[received, kept])


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_all_messages_of_lost_client_return_to_queue(remote, judge):
    """A client receives three of four messages, one of them by a cursor. After a wait, it also receives the only
    message of a second queue, at which a receive of another client waits. The connection of the first client closes.
    All four messages are then in the first queue, in order, and the waiting receive returns the message of the second
    queue. Then a third client receives a message and its connection closes; the message is in the queue again.
    """
    queue, other = remote.open_with_messages("first", "second", "third", "fourth"), remote.open()
    admin, waits = remote.open("admin", association=queue.association), remote.open("admin")
    waited = admin.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    waited.state_after_silence()
    remote.deliver(["alone"], queue="admin")
    received = [
        queue.start_receive(by=Method.START_RECEIVE),
        queue.start_receive(by=Method.START_RECEIVE, hCursor=queue.open_cursor()),
        queue.start_receive(),
        waited.wait(),
    ]
    waiting = waits.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    still = waiting.state_after_silence()
    hidden, everything = other.labels(), ["first", "second", "third", "fourth"]
    queue.association.close()
    await_labels_in_queue(remote, other, everything)
    after_the_loss, later = other.labels(), remote.open()
    received.append(later.start_receive())
    later.association.close()
    await_labels_in_queue(remote, other, everything)
    observed = {
        "received": [one.label_or_outcome for one in received],
        "queue_before_loss": hidden,
        "queue_after_loss": after_the_loss,
        "queue_after_second_loss": other.labels(),
        "waiting_receive_before_loss": still,
        "waiting_receive_after_loss": waiting.wait().label_or_outcome,
    }
    expected = facts(
        received=["first", "second", "third", "alone", "first"],
        queue_before_loss=["fourth"],
        queue_after_loss=everything,
        queue_after_second_loss=everything,
        waiting_receive_before_loss=Call.WAITING,
        waiting_receive_after_loss="alone",
    )
    judge.all(expected=expected, observed=observed, evidence=[*received, waiting])


@needs("restart")
@covers("MQQP-3.1.6.2-02")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
@pytest.mark.parametrize("lost", [True, False], ids=["lost before restart", "lost by restart"])
def test_message_of_lost_client_survives_restart(remote, sut, judge, kind, lost):
    """A client receives the first of two recoverable messages and does not end the receive. The SUT restarts, either
    after the client's connection was lost or while it is open. Both messages are in the queue, in order.
    """
    queue = remote.open(kind)
    send_messages_to_queue(remote, kind, "first", "second")
    received = queue.start_receive()
    if lost:
        queue.association.close()
        await_labels_in_queue(remote, remote.open(kind), ["first", "second"])
    sut.restart()
    observed = {"received": received.label_or_outcome, "queue_after_the_restart": remote.open(kind).labels()}
    expected = facts(received="first", queue_after_the_restart=in_queue("first", "second"))
    judge.all(expected=expected, observed=observed, evidence=[received])


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_receive_on_lost_separate_connection_is_rolled_back(remote, judge):
    """A queue is opened on one connection, and a message is received on a second connection, which closes. The message
    is in the queue again. A third connection, on which a receive waits, closes. That receive does not take the next
    message.
    """
    queue = remote.open_with_messages("first", "second")
    reading = remote.associate(QM2QM)
    read = reading.call(Method.START_RECEIVE2, lpRemoteReadDesc2=build_desc2(queue.description(Action.RECEIVE)))
    if read.outcome != "MQ_OK":
        judge.give_up(
            Verdict.NOT_EXERCISED, f"the SUT reads a queue only on the connection where it was opened: {read.outcome}"
        )
        return
    hidden = queue.labels()
    reading.close()
    await_labels_in_queue(remote, queue, ["first", "second"])
    observed = {"read": read.label_or_outcome, "queue_before_the_loss": hidden, "queue_after_the_loss": queue.labels()}
    queue.purge().expect_success()
    waiting_there = remote.associate(QM2QM)
    description = build_desc2(queue.description(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS))
    late = waiting_there.begin(Method.START_RECEIVE2, lpRemoteReadDesc2=description)
    observed["waiting_receive"] = late.state_after_silence()
    waiting_there.close()
    remote.deliver(["third"])
    await_labels_in_queue(remote, queue, ["third"])
    observed["queue_after_the_second_loss"] = queue.labels()
    expected = facts(
        read="first",
        queue_before_the_loss=in_queue("second"),
        queue_after_the_loss=in_queue("first", "second"),
        waiting_receive=Call.WAITING,
        queue_after_the_second_loss=in_queue("third"),
    )
    judge.all(expected=expected, observed=observed, evidence=[read, late])


def reopen_queue_exclusively(remote: RemoteReaderOfSut, association: Association, queue: str) -> Call:
    """Try to open a queue exclusively until the attempt succeeds, at most for the time that the SUT may take to
    answer.
    """
    call = remote.open_remote(association, queue, share=DENY_RECEIVE)
    for _ in range(MAX_REOPEN_ATTEMPTS):
        if not call.failed:
            break
        remote.peer.environment.run_until(lambda: False, remote.sut.response_timeout_ms // MAX_REOPEN_ATTEMPTS)
        call = remote.open_remote(association, queue, share=DENY_RECEIVE)
    return call


def await_labels_in_queue(remote: RemoteReaderOfSut, queue: RemoteQueue, labels: list[str]) -> None:
    """Wait until a queue contains the messages with the given labels, at most for the time that the SUT may take to
    answer.
    """
    for _ in range(MAX_REOPEN_ATTEMPTS):
        if queue.labels() == labels:
            return
        remote.peer.environment.run_until(lambda: False, remote.sut.response_timeout_ms // MAX_REOPEN_ATTEMPTS)
