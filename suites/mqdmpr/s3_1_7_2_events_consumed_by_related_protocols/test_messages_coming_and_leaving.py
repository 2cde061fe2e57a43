"""MS-MQDMPR 3.1.7.2.1, 3.1.7.2.2: messages that become available, and messages that are deleted."""

from __future__ import annotations

from itertools import pairwise

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, any_order, each, facts, in_queue, none
from harness.peer.association import Call
from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id
from harness.wire.rpc_qm2qm import Action
from suites.applications import Application
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqp.steps.lookups import find_lookup_ids

LONG_READ_TIMEOUT_MS = 600_000
LARGE_BODY = bytes(range(256)) * 40
MESSAGE_LIFETIME_S, INFINITE_LIFETIME_S = 4, 0xFFFFFFFF


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2-01", "MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2.2-07", "MQDMPR-3.1.7.2.2-14")
def test_arriving_message_completes_all_pending_peeks(remote, judge):
    """Four peeks with two handles are pending. All of them return the arriving message, which stays in the queue until
    an application receives it. A message with a large body also leaves the queue when it is received.
    """
    queue, other = remote.open_with_messages(), remote.open()
    reads = [one.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS) for one in (queue, queue, other, other)]
    states = [read.state_after_silence() for read in reads]
    remote.deliver(["first"])
    observed = [read.wait().label_or_outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.2.2-07",
        expected=facts(
            reads_before_an_arrival=each(Call.WAITING),
            read_by_the_first_handle="first",
            read_by_the_second_handle="first",
        ),
        observed={
            "reads_before_an_arrival": states,
            "read_by_the_first_handle": observed[0],
            "read_by_the_second_handle": observed[2],
        },
        evidence=reads,
    )
    labels = queue.labels()
    judge("MQDMPR-3.1.7.2.2-04", expected=["first"], observed=labels, evidence=reads, case="labels in the queue")
    judge(
        "MQDMPR-3.1.7.2.2-14",
        expected={"peeks": each("first"), "queue": in_queue("first")},
        observed={"peeks": observed, "queue": labels},
        evidence=reads,
    )
    receive = queue.start_receive()
    if receive.outcome == "MQ_OK":
        queue.acknowledge(receive)
    judge(
        "MQDMPR-3.1.7.2-01",
        expected={"before the receive": ["first"], "after the receive": []},
        observed={"before the receive": labels, "after the receive": queue.labels()},
        evidence=[*reads, receive],
        case="labels in the queue",
    )
    remote.send_messages_and_require_acks([remote.peer.recoverable_message(label="large", body=LARGE_BODY)])
    labels = queue.labels()
    large = queue.start_receive()
    if large.outcome == "MQ_OK":
        queue.acknowledge(large)
    judge(
        "MQDMPR-3.1.7.2-01",
        expected={"before the receive": ["large"], "after the receive": []},
        observed={"before the receive": labels, "after the receive": queue.labels()},
        evidence=large,
        case="labels in the queue of a large message",
    )


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.2.1-03", "MQDMPR-3.1.7.2.2-03")
@varied("application tag", "extension", "correlation")
def test_queue_bytes_follow_arriving_and_received_messages(peer, sut, judge):
    """Three messages arrive in a queue. Each message increases the size of the queue in bytes by at least the size of
    its body. An aborted receive does not change the size; each receive decreases the size, and the last receive
    decreases it to 0 (erratum E104).
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)

    def read_size_in_bytes() -> int:
        return sut.control.call("get_queue", name=application.queue)["bytes"]

    sizes = [read_size_in_bytes()]
    for label in ("a", "b" * 50, "c" * 120):
        application.fill_queue(label)
        sizes.append(read_size_in_bytes())
    stored_sizes = [after - before for before, after in pairwise(sizes)]
    evidence = list(application.sent.values())
    bodies = [len(bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in evidence]
    too_small = [
        f"{stored_size} of {body} bytes"
        for stored_size, body in zip(stored_sizes, bodies, strict=True)
        if stored_size < max(body, 1)
    ]
    transaction = application.begin_transaction()
    application.receive(transaction=transaction)
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.2.2-03",
        expected={
            "while empty": 0,
            "with each message": none("number smaller than the body of the message"),
            "after the abort": sizes[-1],
        },
        observed={"while empty": sizes[0], "with each message": too_small, "after the abort": read_size_in_bytes()},
        evidence=evidence,
        case="bytes of the queue",
    )
    remaining_sizes = []
    for _ in stored_sizes:
        application.receive()
        remaining_sizes.append(read_size_in_bytes())
    expected = [sum(stored_sizes[number:]) for number in range(1, len(stored_sizes) + 1)]
    judge(
        "MQDMPR-3.1.7.2.1-03",
        expected=expected,
        observed=remaining_sizes,
        evidence=evidence,
        case="bytes of the queue after each receive",
    )
    application.receiver.acknowledge_all()


@needs("queue_control", "receive", "subqueues")
@covers("MQDMPR-3.1.7.1.7-07", "MQDMPR-3.1.7.2.7-12")
def test_messages_that_leave_subqueue_are_acknowledged(peer, sut, judge):
    """Three messages arrive in a queue. One stays there, and two are moved to a subqueue, where one expires and the
    other is purged. The SUT acknowledges each moved message with the class that corresponds to its removal.
    """
    queue = sut.new_queue("parent")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    receiver = AcknowledgingReceiver(peer, sut)
    sent = {}
    for label, lifetime_s in (
        ("stays", INFINITE_LIFETIME_S),
        ("expires", MESSAGE_LIFETIME_S),
        ("purged", INFINITE_LIFETIME_S),
    ):
        user = receiver.add_admin_queue_fields({"TimeToBeReceived": lifetime_s})
        headers = {"destination": rf"TCP:{sut.address}\{queue}", "properties": {"PR": 1, "NR": 1}}
        sent[label] = receiver.send_packet(peer.message(user, label=label, **headers))
    if not peer.await_label("purged", queue):
        raise ConformanceFailure("the messages are not in the queue")
    for one in sut.control.call("peek", queue=queue)["messages"][1:]:
        sut.control.call("move", queue=queue, lookup_id=lookup_id(one), to=subqueue)
    peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)
    left = sut.labels(subqueue)
    sut.control.call("purge", queue=subqueue)
    receiver.await_acks(2)
    evidence = list(sent.values())
    for rule, value, label in (
        ("MQDMPR-3.1.7.2.7-12", AckClass.RECEIVE_TIMEOUT, "expires"),
        ("MQDMPR-3.1.7.1.7-07", AckClass.Q_PURGED, "purged"),
    ):
        found = receiver.list_acks_of_class(value, *sent.values())
        judge(rule, expected=acknowledged(sent[label], of_class=value), observed=found, evidence=[*evidence, *found])
    judge("MQDMPR-3.1.7.2.7-12", expected=in_queue("purged"), observed=left, evidence=evidence)
    judge("MQDMPR-3.1.7.1.7-07", expected=in_queue("stays"), observed=sut.labels(queue), evidence=evidence)
    receiver.acknowledge_all()


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2.1-05")
def test_deleted_messages_are_found_by_no_read(remote, judge):
    """A cursor is at the first of three messages, and lookups have found all of them. Another reader receives the first
    message, and the queue is purged while a cursor is at the second. Neither a read of the queue nor a lookup by
    LookupIdentifier returns any of the messages.
    """
    queue, other = remote.open_with_messages("first", "second", "third"), remote.open()
    known = find_lookup_ids(queue, 3)
    found = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one).label_or_outcome for one in known]
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    other.acknowledge(other.start_receive().expect_success()).expect_success()
    queue.peek_next(hCursor=cursor).expect_success()
    purge = queue.purge().expect_success()
    reads = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in known]
    judge(
        "MQDMPR-3.1.7.2.1-05",
        expected=facts(
            lookups_before=["first", "second", "third"],
            lookups_after_the_deletion=each(Call.FAILURE_HRESULT_TEXT, "lookup"),
            queue_after_the_deletion=[],
        ),
        observed={
            "lookups_before": found,
            "lookups_after_the_deletion": [read.label_or_failure for read in reads],
            "queue_after_the_deletion": queue.labels(),
        },
        evidence=[purge, *reads],
    )


@needs("receive", "queue_control")
@covers("MQDMPR-3.1.7.2.1-05")
def test_message_received_from_journal_leaves_journal(peer, sut, judge):
    """An application receives two messages of a journaled queue, and then receives both messages from the journal: the
    journal is empty.
    """
    application = Application(peer, sut)
    application.call("set_queue", name=application.queue, journaling=True)
    sent = application.fill_queue("first", "second")
    journal = f"{application.queue};journal"
    received = [application.receive(queue=queue) for queue in (application.queue, journal) for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.2.1-05",
        expected=facts(received=["first", "second"] * 2, queue=[], journal=[]),
        observed={"received": received, "queue": application.labels(), "journal": application.labels(journal)},
        evidence=sent,
    )


@needs("receive", "queue_control", "transactions", "subqueues")
@covers("MQDMPR-3.1.7.2.2-04")
def test_message_is_available_after_each_lock_move_and_commit(peer, sut, judge):
    """Two receives of one message are aborted one after another, another message is moved to a subqueue, and a
    transaction of the peer delivers two messages. Each of these messages can be received.
    """
    application = Application(peer, sut, transactional=True)
    connection = peer.open_raw()
    packets = [connection.send(application.build_message(label)) for label in ("locked twice", "moved")]
    application.await_message_count(2)
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    for _ in range(2):
        transaction = application.begin_transaction()
        application.receive(transaction=transaction)
        application.end_transaction("abort", transaction)
    moved = application.get_lookup_ids_by_label().get("moved", 0)
    application.call("move", queue=application.queue, lookup_id=moved, to=subqueue)
    for label, place in (("begins", {"LM": 0, "ID": 78}), ("ends", {"FM": 0, "ID": 78})):
        packets.append(connection.send(application.build_message(label, transaction=place)))
    application.await_message_count(3)
    judge(
        "MQDMPR-3.1.7.2.2-04",
        expected=facts(queue=["locked twice", "begins", "ends"], subqueue=["moved"]),
        observed={
            "queue": [application.receive() for _ in range(3)],
            "subqueue": [application.receive(queue=subqueue)],
        },
        case="labels received",
        evidence=packets,
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2.2-12")
def test_pending_receives_without_message_get_later_messages(remote, judge):
    """Through each of three handles of one queue, a receive waits. Three messages arrive one after another. Each of
    them completes one of the receives, and the other receives continue to wait.
    """
    reads = [remote.open().begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS) for _ in range(3)]
    for read in reads:
        read.state_after_silence()
    waiting = []
    for label in ("first", "second", "third"):
        remote.deliver([label])
        waiting.append([read.state_after_silence() for read in reads].count(Call.WAITING))
    judge(
        "MQDMPR-3.1.7.2.2-12",
        expected=facts(receives_that_wait_after_each_message=[2, 1, 0], labels=any_order("first", "second", "third")),
        observed={
            "receives_that_wait_after_each_message": waiting,
            "labels": [read.wait().label_or_outcome for read in reads],
        },
        evidence=reads,
    )
