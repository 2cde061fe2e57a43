"""MS-MQQP 3.1.4.7 RemoteQMPurgeQueue."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import each, facts, in_queue, one_of, status
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.run.marks import covers, needs, sut_survives
from harness.sut.shown import lookup_id
from harness.wire.rpc_qm2qm import Ack
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqb.steps.disposition import (
    Q_PURGED,
    RECEIVE,
    AcknowledgingReceiver,
    format_message_classes,
    get_correlation_id,
    identifier,
    list_message_class_names,
)
from suites.mqqp.steps.reading import send_messages_to_queue
from suites.mqqp.steps.whole import MessageKind, UnchangedMessageExpectation, build_message_without_default_values

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


@covers(
    *("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-09", "MQQP-3.1.4.7-10", "MQQP-3.1.4.7-12"),
    "MQQP-3.1.1.3-01",
)
@sut_survives()
def test_purge_empties_open_queue_and_no_other(remote, judge):
    """RemoteQMPurgeQueue returns or throws MQ_ERROR_INVALID_HANDLE if it has the handle of an unknown or unopened
    queue, or a handle that purged a queue and was closed. With the second handle of an open queue, the method removes
    all messages from that queue, and none from a second queue, although the second queue was opened last. Further
    purges of the empty queue succeed, even through the handle on which reads wait. They change neither the waiting
    reads nor a cursor; one of these reads can still be cancelled.
    """
    queue = remote.open_with_messages("first", "second")
    admin = remote.open("admin", association=queue.association)
    ended = remote.open("admin", association=queue.association)
    ended.purge()
    ended.close().expect_success()
    remote.deliver(["first"], queue="admin")
    unopened = remote.open_remote(queue.association).expect_success().out.phQueue
    unknown = queue.association.call("RemoteQMPurgeQueue", hQueue=queue.UNKNOWN_HANDLE)
    closed = queue.association.call("RemoteQMPurgeQueue", hQueue=unopened)
    by_closed_handle = ended.purge()
    refused = "MQ_ERROR_INVALID_HANDLE"
    observed = {
        "purge_of_an_unopened_queue": closed.outcome_whether_thrown_or_returned,
        "purge_by_a_closed_handle": by_closed_handle.outcome_whether_thrown_or_returned,
        "purge_of_an_unknown_queue": unknown.outcome_whether_thrown_or_returned,
        "queue": queue.labels(),
        "second_queue": admin.labels(),
    }
    evidence = [*closed.evidence, *unknown.evidence, *by_closed_handle.evidence]
    judge(
        "MQQP-3.1.4.7-05",
        "MQQP-3.1.4.7-06",
        expected=facts(
            purge_of_an_unopened_queue=refused,
            purge_by_a_closed_handle=refused,
            purge_of_an_unknown_queue=refused,
            queue=in_queue("first", "second"),
            second_queue=in_queue("first"),
        ),
        observed=observed,
        evidence=evidence,
    )
    second = remote.open(association=queue.association)
    remote.open("admin", association=queue.association)
    cursor = queue.open_cursor()
    purged = second.purge()
    judge("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-10", expected=in_queue(), observed=queue.labels(), evidence=purged.evidence)
    waiting = queue.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    number = remote.request_id()
    other = queue.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    again, by_first = second.purge(), queue.purge()
    judge(
        "MQQP-3.1.4.7-03",
        "MQQP-3.1.4.7-05",
        "MQQP-3.1.4.7-12",
        expected=each(status("MQ_OK"), "purge"),
        observed=[purged, again, by_first],
        evidence=[purged, again, by_first],
    )
    before_cancel = other.state_after_silence()
    cancelled = queue.cancel(number)
    judge(
        "MQQP-3.1.1.3-01",
        expected=facts(read_after_purge=other.WAITING, cancel="MQ_OK"),
        observed={"read_after_purge": before_cancel, "cancel": cancelled.outcome},
        evidence=[other, cancelled],
    )
    other.wait()
    judge.conclude("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-12")
    still = waiting.state_after_silence()
    remote.deliver(["third", "fourth"])
    observed = {
        "read_after_purge": still,
        "read_after_arrival": waiting.wait().label_or_outcome,
        "peek_by_cursor": queue.peek(hCursor=cursor).label_or_outcome,
    }
    expected = facts(read_after_purge=waiting.WAITING, read_after_arrival="third", peek_by_cursor="fourth")
    judge("MQQP-3.1.4.7-10", expected=expected, observed=observed, evidence=[purged, again, waiting])
    judge.conclude("MQQP-3.1.4.7-10")
    judge("MQQP-3.1.4.7-09", expected=in_queue("first"), observed=admin.labels(), evidence=purged.evidence)


@needs("receive", "queue_control", "subqueues")
@covers("MQQP-3.1.4.7-09")
def test_purge_of_queue_leaves_its_subqueue(remote, sut, judge):
    """One of three messages in a queue is moved to a subqueue, one is received and copied to the journal of the queue,
    and one stays. Then the queue is purged. The moved message stays in the subqueue, and the copy stays in the journal.
    """
    name = sut.new_queue("purged", journaling=True)
    subqueue = f"{name};mqc-sub"
    sut.create_queue(subqueue)
    path = rf"TCP:{sut.address}\{name}"
    queue = remote.open(form=queue_format(DIRECT, path))
    sent = [remote.peer.recoverable_message(destination=path, label=label) for label in ("first", "second", "third")]
    remote.send_messages_and_require_acks(sent)

    def list_messages_of_queue(of: str) -> list[dict[str, Any]]:
        return list(sut.control.call("peek", queue=of, limit=3)["messages"])

    sut.control.call("move", queue=name, lookup_id=lookup_id(list_messages_of_queue(name)[0]), to=subqueue)
    queue.receive().expect_success()
    purged = queue.purge()
    observed = {
        "queue": queue.labels(),
        "subqueue": [one["label"] for one in list_messages_of_queue(subqueue)],
        "journal": [one["label"] for one in list_messages_of_queue(f"{name};journal")],
    }
    expected = facts(queue=[], subqueue=["first"], journal=["second"])
    judge.all(expected=expected, observed=observed, evidence=purged.evidence)


@needs("restart")
@covers("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10")
@pytest.mark.parametrize("kind", [MessageKind.RECOVERABLE, MessageKind.TRANSACTIONAL])
def test_purged_messages_stay_removed_after_restart(remote, sut, judge, kind):
    """Two messages are purged, a third message arrives, and the SUT restarts. The queue contains only the third
    message.
    """
    queue = remote.open(kind.queue)
    send_messages_to_queue(remote, kind.queue, "first", "second")
    purged = queue.purge()
    send_messages_to_queue(remote, kind.queue, "third")
    sut.restart()
    observed = {"purge": purged.outcome, "queue_after_the_restart": remote.open(kind.queue).labels()}
    expected = facts(purge="MQ_OK", queue_after_the_restart=in_queue("third"))
    judge.all(expected=expected, observed=observed, evidence=purged.evidence)


@covers("MQQP-3.1.4.7-D01", "MQDMPR-3.1.7.1.7-05")
def test_purge_removes_message_of_unended_receive(remote, judge):
    """One of two messages is received, the queue is purged, and the receive ends with RR_NACK. The queue is empty."""
    queue = remote.open_with_messages("first", "second")
    held = queue.start_receive().expect_success()
    purged = queue.purge()
    queue.put_message_back(held)
    observed = {"purge": purged.outcome, "queue": queue.labels()}
    judge.all(expected=facts(purge="MQ_OK", queue=in_queue()), observed=observed, evidence=[held, purged])


def send_message_and_purge_queue_again(remote: RemoteReaderOfSut, queue: RemoteQueue, kind: MessageKind) -> str:
    """Send a further message, and purge the queue again; return the outcome of the purge."""
    remote.send_messages_and_require_acks([build_message_without_default_values(remote.peer, "further", kind)])
    return queue.purge().outcome


@covers("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10")
@pytest.mark.parametrize("kind", MessageKind)
def test_purge_removes_all_messages(remote, judge, kind):
    """A queue contains messages of all priorities, one of them longer than an RPC fragment. After the purge, the queue
    is empty. A message that arrives later can be received with all its bytes, and a second purge removes the next
    message.
    """
    queue = remote.open(kind.queue)
    sent = [build_message_without_default_values(remote.peer, f"message {number}", kind) for number in range(4)]
    if kind != MessageKind.TRANSACTIONAL:
        delivery = {"DM": int(kind != MessageKind.EXPRESS)}
        sent += [remote.peer.message(delivery, base={"PR": one}, label=f"priority {one}") for one in range(8)]
    sent.append(build_message_without_default_values(remote.peer, "long", kind, body=bytes(100_000)))
    remote.send_messages_and_require_acks(sent)
    before = len(queue.labels())
    purged = queue.purge()
    left = queue.labels()
    later = build_message_without_default_values(remote.peer, "first", kind)
    remote.send_messages_and_require_acks([later])
    observed = {
        "number_of_messages_before_the_purge": before,
        "purge": purged.outcome,
        "queue_after_the_purge": left,
        "later_message": queue.receive(),
        "later_purge": send_message_and_purge_queue_again(remote, queue, kind),
        "queue_at_the_end": queue.labels(),
    }
    expected = facts(
        number_of_messages_before_the_purge=len(sent),
        purge="MQ_OK",
        queue_after_the_purge=in_queue(),
        later_message=UnchangedMessageExpectation(later),
        later_purge="MQ_OK",
        queue_at_the_end=in_queue(),
    )
    judge.all(expected=expected, observed=observed, evidence=purged.evidence)


@covers(
    *("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-03", "MQQP-3.1.4.7-10", "MQQP-3.1.4.7-12"),
    *("MQQP-3.1.4.2-08", "MQQP-3.1.4.2-12", "MQQP-3.1.4.2-D01"),
    *("MQQB-3.1.7.2.1-D03", "MQDMPR-3.1.7.1.7-05"),
)
@pytest.mark.parametrize("acknowledge", [Ack.RR_NACK, Ack.RR_ACK], ids=["nack", "ack"])
def test_purged_message_of_unended_receive_stays_removed(peer, remote, sut, judge, acknowledge):
    """One of three messages is received, and then the queue is purged. The queue is empty, and stays empty after the
    receive ends with RR_NACK or RR_ACK. After RR_NACK, the sender gets the acknowledgment Q_PURGED for the received
    message; after RR_ACK, the sender gets Q_PURGED or RECEIVE (MS-MQDMPR 3.1.7.1.12).
    """
    queue = remote.open()
    receiver = AcknowledgingReceiver(peer, sut)
    packets = [
        receiver.build_message({"DM": 1}, properties={"PR": 1, "NR": 1}, label=one)
        for one in ("first", "second", "third")
    ]
    sent = [receiver.send_packet(packet) for packet in packets]
    receiver.require_session_ack()
    received = queue.start_receive()
    purged = queue.purge()
    before = queue.labels()
    ended = queue.end(received, acknowledge)
    after = queue.labels()
    acks = receiver.await_acks(3)
    told = list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(sent[0])])
    told_of_others = [
        list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)])
        for one in sent[1:]
    ]
    remote.deliver(["fourth"])
    observed = {
        "label_of_the_unended_receive": received.label_or_outcome,
        "purge": purged.outcome,
        "end_of_the_receive": ended.outcome,
        "queue_before_the_end": before,
        "queue_after_the_end": after,
        "queue_after_the_next_message": queue.labels(),
    }
    evidence = [received, purged, ended]
    expected = facts(
        label_of_the_unended_receive="first",
        purge="MQ_OK",
        end_of_the_receive="MQ_OK",
        queue_before_the_end=in_queue(),
        queue_after_the_end=in_queue(),
        queue_after_the_next_message=in_queue("fourth"),
    )
    judge(
        "MQQP-3.1.4.7-D01",
        "MQQP-3.1.4.7-03",
        "MQQP-3.1.4.7-10",
        "MQQP-3.1.4.7-12",
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-12",
        "MQQP-3.1.4.2-D01",
        "MQDMPR-3.1.7.1.7-05",
        expected=expected,
        observed=observed,
        evidence=evidence,
    )
    reasons = (Q_PURGED,) if acknowledge == Ack.RR_NACK else (Q_PURGED, RECEIVE)
    told_of = one_of(*map(format_message_classes, reasons))
    judge(
        "MQQP-3.1.4.7-10",
        expected=each(format_message_classes(Q_PURGED), "purged message"),
        observed=told_of_others,
        evidence=evidence,
        case="classes of the acknowledgments",
    )
    judge("MQQB-3.1.7.2.1-D03", expected=told_of, observed=told, evidence=evidence, case="class of the acknowledgment")
