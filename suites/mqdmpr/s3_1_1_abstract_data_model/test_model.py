"""MS-MQDMPR 3.1.1 Abstract Data Model, 3.1.1.10, 3.1.1.13: all protocols share one data model, some elements of which
can be observed only there.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, each, facts, holds, in_queue
from harness.peer.handshake import establish_request
from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from reference_qm.codec import NULL_GUID
from suites.applications import Application
from suites.messages import Sequence
from suites.mqqb.steps.pinging import ping_sut
from suites.mqqb.steps.sender import Sender

LONG_READ_TIMEOUT_MS = 600_000
RECEIVE_ACK_CLASS_NAME = "MQMSG_CLASS_ACK_RECEIVE"


@needs("qm2qm", "receive", "queues")
@covers("MQDMPR-3.1.1-07")
@varied("negative journaling", "response queue", read_by=("queue", "handle"))
def test_queue_is_shared_by_wire_remote_and_local_readers(remote, sut, judge):
    """The peer sends two messages. A remote reader receives the first, and an application receives the second.
    Afterwards, neither finds the message that the other has received.
    """
    queue = remote.open_with_messages("first", "second")
    stored_labels = sut.labels(sut.queue())
    read = queue.receive()
    labels_left = sut.labels(sut.queue())
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
    empty = queue.start_receive()
    judge(
        "MQDMPR-3.1.1-07",
        expected={
            "queue before the reads": in_queue("first", "second"),
            "label returned to the remote reader": "first",
            "queue after the reads": in_queue("second"),
            "third read": holds("a failure"),
        },
        observed={
            "queue before the reads": stored_labels,
            "label returned to the remote reader": read.label_or_outcome,
            "queue after the reads": labels_left,
            "third read": empty.failed or empty.label_or_outcome,
        },
        evidence=[read, empty],
    )


@needs("qm2qm", "send", "receive", "queue_control")
@covers("MQDMPR-3.1.1-07")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("negative journaling", "response queue", priority=("3", "0"), read_by=("queue", "handle"))
def test_messages_of_applications_and_of_peer_are_read_by_each_reader(remote, sut, judge, delivery):
    """Applications and the peer send messages to one queue in turn. A remote reader peeks at and receives the first
    message from the application and the first from the peer, and an application receives the next two messages. Both
    readers find the remaining messages.
    """
    kind = "transactional" if delivery == "transactional" else "plain"
    queue = remote.open(kind)
    sequence = Sequence(remote.peer)
    senders = ("application", "peer", "peer", "application", "application", "peer")
    labels = [f"{number} of the {sender}" for number, sender in enumerate(senders, 1)]
    connection = remote.peer.open_raw()
    for label, sender in zip(labels, senders, strict=True):
        if sender == "application":
            sut.send(sut.format_name(kind), label=label, body=label, delivery=delivery)
            continue
        user = {"DM": int(delivery != "express")}
        connection.send(
            sequence.message(label=label) if kind == "transactional" else remote.peer.message(user, label=label)
        )
        if not remote.peer.await_label(label, sut.queue(kind)):
            raise ConformanceFailure("the SUT did not store the messages of the peer")
    peeked = queue.peek()
    reads = []
    for _ in range(2):
        reads.append(queue.start_receive())
        if reads[-1].label is not None:
            queue.acknowledge(reads[-1])
    by_application = [sut.read_label("receive", queue=sut.queue(kind)) for _ in range(2)]
    last = queue.peek()
    left = sut.labels(sut.queue(kind))
    judge(
        "MQDMPR-3.1.1-07",
        expected={
            "labels returned to the remote reader": [labels[0], *labels[:2]],
            "labels returned to the application": labels[2:4],
            "last peek by the remote reader": labels[4],
            "queue": in_queue(*labels[4:]),
        },
        observed={
            "labels returned to the remote reader": [one.label or one.outcome for one in (peeked, *reads)],
            "labels returned to the application": by_application,
            "last peek by the remote reader": last.label or last.outcome,
            "queue": left,
        },
        evidence=[peeked, *reads, last],
    )


@needs("qm2qm", "receive", "queue_control")
@covers("MQDMPR-3.1.1-07", "MQDMPR-3.2.7.1-08")
@pytest.mark.parametrize("place", [pytest.param("mqc-sub", marks=needs("subqueues")), "journal"])
def test_messages_of_subqueue_and_journal_are_read_by_remote_reader(peer, remote, sut, judge, place):
    """An application moves a message into a subqueue, or receives a message from a queue with Journaling. A remote
    reader can peek at the message in the subqueue or in the journal. With a cursor that has not read a message yet, the
    reader cannot peek at the next message.
    """
    application = Application(peer, sut)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    there = f"{application.queue};{place}"
    packets = application.fill_queue("read")
    if place == "journal":
        application.receive()
    else:
        sut.control.call("create_queue", name=there)
        [identifier] = application.get_lookup_ids_by_label().values()
        sut.control.call("move", queue=application.queue, lookup_id=identifier, to=there)
    queue = remote.open(form=queue_format(DIRECT, rf"TCP:{sut.address}\{there}"))
    unread = queue.peek_next(hCursor=queue.open_cursor())
    peeked = queue.peek()
    judge(
        "MQDMPR-3.1.1-07",
        expected=facts(local_reader=["read"], remote_reader="read"),
        observed={"local_reader": application.labels(there), "remote_reader": peeked.label_or_outcome},
        evidence=[*packets, peeked],
    )
    judge(
        "MQDMPR-3.2.7.1-08",
        expected="MQ_ERROR_ILLEGAL_CURSOR_ACTION",
        observed=unread.outcome,
        evidence=unread,
        case="peek next by a new cursor",
    )


@needs("inspect")
@covers("MQDMPR-3.1.1-06")
def test_model_has_identifier_of_packets(sut, judge):
    """LocalQueueManager.Identifier is the GUID with which the SUT identifies itself in packets."""
    observed = sut.inspect_queue_manager()["Identifier"].lower()
    judge("MQDMPR-3.1.1-06", expected=str(sut.guid), observed=observed, case="Identifier of LocalQueueManager")


@needs("inspect", "send")
@covers("MQDMPR-3.1.1-06")
def test_packets_have_identifier_of_model(peer, sut, judge):
    """The GUIDs in the requests for sessions to two queues, the sources of express and recoverable messages, and the
    GUIDs in the responses to requests of the peer with and without ServerGuid are LocalQueueManager.Identifier of the
    SUT.
    """
    identifier = str(sut.inspect_queue_manager()["Identifier"]).lower()
    used, evidence = {}, []
    for case, server in (("without ServerGuid", NULL_GUID), ("with ServerGuid", sut.guid)):
        connection = peer.connect()
        connection.send(establish_request(peer, ServerGuid=server))
        response = connection.poll("EstablishConnection")
        if response is not None:
            used[f"ServerGuid of the response to a request {case}"] = response["EstablishConnectionHeader"].ServerGuid
            evidence.append(response)
        connection.close()
    exchange = ping_sut(peer) if sut.has("ping") else None
    if exchange is not None and exchange.ping is not None:
        used["QMGuid of a Ping Response"] = exchange.ping.QMGuid
        evidence.append(exchange.sent)
    sender = Sender(peer, sut)
    for delivery in ("recoverable", "express"):
        sender.to = peer.direct_name(f"mqc-identifier-{delivery}")
        sender.send(1, delivery=delivery)
        session = sender.poll_session()
        request = sender.find_establish_request(session)
        if session is None or request is None:
            raise ConformanceFailure("the SUT requested no session for its messages")
        used[f"ClientGuid for the {delivery} message"] = request["EstablishConnectionHeader"].ClientGuid
        evidence.append(request)
        for frame in sender.collect_messages_until_silence(session, 1) if session.record.closed_by is None else ():
            used[f"SourceQueueManager of the {delivery} message"] = frame["UserHeader"].SourceQueueManager
            evidence.append(frame)
            session.acknowledge_all()
    observed = {name: str(guid).strip("{}").lower() for name, guid in used.items()}
    judge("MQDMPR-3.1.1-06", expected=dict.fromkeys(observed, identifier), observed=observed, evidence=evidence)


@needs("inspect")
@covers("MQDMPR-3.1.1-06")
def test_acknowledgments_have_identifier_of_model(peer, sut, judge):
    """The sources of express and recoverable acknowledgments are LocalQueueManager.Identifier of the SUT."""
    identifier = str(sut.inspect_queue_manager()["Identifier"]).lower()
    sender = Sender(peer, sut, peer.direct_name("mqc-identifier"), own=True)
    sender.send(1)
    sender.send(2, delivery="recoverable")
    session, frames = sender.await_first_messages(2)
    session.acknowledge_all()
    observed = [str(frame["UserHeader"].SourceQueueManager).strip("{}").lower() for frame in frames]
    judge("MQDMPR-3.1.1-06", expected=each(identifier, "source"), observed=observed, evidence=frames)


@needs("inspect", "receive", "queues")
@covers("MQDMPR-3.1.1.10-02")
def test_pending_read_refers_to_cursor_only_if_given(sut, judge):
    """A peek and a receive by two cursors are pending, and then a peek and a receive without a cursor. The
    CursorReference of each read by a cursor is that cursor. The other reads have no CursorReference.
    """
    queue = sut.new_queue("waits")
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2)]
    requests = [
        sut.control.begin("peek_message", cursor=cursors[0], timeout_ms=LONG_READ_TIMEOUT_MS),
        sut.control.begin("receive", cursor=cursors[1], timeout_ms=LONG_READ_TIMEOUT_MS),
        sut.control.begin("peek_message", handle=handle, timeout_ms=LONG_READ_TIMEOUT_MS),
        sut.control.begin("receive", handle=handle, timeout_ms=LONG_READ_TIMEOUT_MS),
    ]
    found = [
        one
        for each in sut.inspect_queue(queue)["OpenQueueDescriptorCollection"]
        for one in each["WaitingMessageReadOperationCollection"]
    ]
    observed = [
        {"DestructiveRead": bool(one["DestructiveRead"]), "CursorReference": one["CursorReference"]} for one in found
    ]
    for request in requests:
        sut.control.call("cancel", request=request)
    expected = any_order(
        {"DestructiveRead": False, "CursorReference": cursors[0]},
        {"DestructiveRead": True, "CursorReference": cursors[1]},
        {"DestructiveRead": False, "CursorReference": None},
        {"DestructiveRead": True, "CursorReference": None},
    )
    judge("MQDMPR-3.1.1.10-02", expected=expected, observed=observed, case="pending peeks and pending receives")


TRANSACTION_OPERATION_RULES = ("MQDMPR-3.1.1.13-03", "MQDMPR-3.1.1.13-04", "MQDMPR-3.1.1.13-05")


@needs("inspect", "send", "receive", "queue_control", "transactions", "subqueues")
@covers(*TRANSACTION_OPERATION_RULES, "MQDMPR-3.1.1.13-06", "MQDMPR-3.1.1.13-07")
@varied("response queue", "time to be received", "queue quota", "queue privacy")
def test_transaction_lists_operation_for_each_message(peer, sut, judge):
    """A transaction sends, receives and moves a message. It lists an Enqueue, a Dequeue with a reason, and a Move whose
    target is the subqueue. Each further message that is sent, received, moved to a second subqueue, or sent to the
    peer's computer adds an operation of the same type. One message is received by its LookupIdentifier, and one from a
    queue with Journaling.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    journaled = sut.new_queue("journaled", transactional=True, journaling=True)
    sub = f"{queue};mqc-sub"
    second_sub = f"{queue};mqc-sub-2"
    for name in (sub, second_sub):
        sut.control.call("create_queue", name=name)
    labels = ["first", "second", "third", "fourth"]
    for label in labels:
        sut.send(to, label=label, body=label, delivery="transactional")
    lookup_ids = {one["label"]: lookup_id(one) for one in sut.messages("transactional")}
    if sorted(lookup_ids) != sorted(labels):
        raise ConformanceFailure(
            f"the queue contains the messages {sorted(lookup_ids)} instead of the four messages that were sent"
        )
    sut.send_here(journaled, ["journaled"], delivery="transactional")
    transaction = sut.control.call("begin")["transaction"]
    sut.send(to, label="sent", body="sent", transaction=transaction)
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.control.call("move", queue=queue, lookup_id=lookup_ids["second"], to=sub, transaction=transaction)
    sut.control.call("move", queue=queue, lookup_id=lookup_ids["third"], to=second_sub, transaction=transaction)
    sut.send(to, label="sent second", body="sent", transaction=transaction)
    sut.control.call(
        "receive_by_lookup_id", queue=queue, lookup_id=lookup_ids["fourth"], seek="current", transaction=transaction
    )
    sut.control.call("receive", queue=journaled, timeout_ms=0, transaction=transaction)
    sut.send(f"DIRECT=TCP:{peer.address}\\private$\\mqc-far", label="sent third", transaction=transaction)
    operations = _list_transaction_operations(sut, transaction)
    sut.control.call("abort", transaction=transaction)
    kinds = [one["OperationType"] for one in operations]
    for rule, kind, count in zip(TRANSACTION_OPERATION_RULES, ("Enqueue", "Dequeue", "Move"), (3, 3, 2), strict=True):
        judge(rule, expected=count, observed=kinds.count(kind), case=f"number of operations of type {kind}")
    targets = [str(one["TargetQueueReference"]).lower() for one in operations if one["OperationType"] == "Move"]
    judge(
        "MQDMPR-3.1.1.13-06",
        expected=["mqc-sub", "mqc-sub-2"],
        observed=[one.rpartition(";")[2] for one in targets],
        case="targets of the Move operations",
    )
    reasons = {kind: [one["DequeueReason"] for one in operations if one["OperationType"] == kind] for kind in kinds}
    judge(
        "MQDMPR-3.1.1.13-07",
        expected={"Enqueue": [None] * 3, "Dequeue": [RECEIVE_ACK_CLASS_NAME] * 3, "Move": [None] * 2},
        observed=reasons,
        case="DequeueReason of each operation",
    )


@needs("inspect", "send", "receive", "queue_control", "transactions", "subqueues")
@covers("MQDMPR-3.1.1.13-05", "MQDMPR-3.1.1.13-06")
@pytest.mark.parametrize(
    "restarts", [0, pytest.param(1, marks=needs("restart")), pytest.param(2, marks=needs("restart"))]
)
def test_prepared_moves_have_their_targets(sut, judge, restarts):
    """A coordinator prepares a transaction that moves messages from a queue to two subqueues, from one subqueue to the
    other, and from a subqueue to the queue. The operations of the transaction have the type Move and these targets, and
    still have them after one and after two restarts.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    first, second = (f"{queue};mqc-{name}" for name in ("first", "second"))
    for name in (first, second):
        sut.control.call("create_queue", name=name)
    moves = {"a": (queue, first), "b": (queue, second), "c": (first, second), "d": (second, queue)}
    for label in moves:
        sut.send(to, label=label, body=label, delivery="transactional")
    for label, (source, _) in moves.items():
        if source != queue:
            sut.control.call("move", queue=queue, lookup_id=_find_lookup_id(sut, queue, label), to=source)
    transaction = sut.control.call("begin", external=True)["transaction"]
    for label, (source, target) in moves.items():
        lookup = _find_lookup_id(sut, source, label)
        sut.control.call("move", queue=source, lookup_id=lookup, to=target, transaction=transaction)
    sut.control.call("prepare", transaction=transaction)
    for _ in range(restarts):
        sut.restart()
    operations = _list_transaction_operations(sut, transaction)
    targets = [str(one["TargetQueueReference"]).lower() for one in operations if one["OperationType"] == "Move"]
    sut.control.call("abort", transaction=transaction)
    judge(
        "MQDMPR-3.1.1.13-05",
        expected=["Move"] * len(moves),
        observed=[one["OperationType"] for one in operations],
        case="types of the operations",
    )
    judge(
        "MQDMPR-3.1.1.13-06",
        expected=any_order("mqc-first", "mqc-second", "mqc-second", "the queue"),
        observed=[one.partition(";")[2] or "the queue" for one in targets],
        case="targets of the Move operations",
    )


def _find_lookup_id(sut, queue, label):
    """Return the LookupIdentifier of the message with the given label in a queue; raise ConformanceFailure if the
    message is not there.
    """
    for one in sut.control.call("peek", queue=queue)["messages"]:
        if one["label"] == label:
            return lookup_id(one)
    raise ConformanceFailure(f"the message {label} is not in its queue")


def _list_transaction_operations(sut, transaction):
    transactions = {one["Identifier"].lower(): one for one in sut.inspect_queue_manager()["TransactionCollection"]}
    listed = transactions.get(transaction.lower())
    return [] if listed is None else list(listed["TransactionalOperationCollection"])
