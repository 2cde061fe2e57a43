"""MS-MQDMPR 3.1.1 Abstract Data Model, 3.1.1.10, 3.1.1.13: all protocols share one model, and some elements are visible
only in the model.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, holds, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id

LONG_READ_TIMEOUT_MS = 600_000
ACK_RECEIVE = "MQMSG_CLASS_ACK_RECEIVE"


@needs("qm2qm", "receive", "queues")
@covers("MQDMPR-3.1.1-07")
@varied("negative journaling", "response queue", read_by=("queue", "handle"))
def test_queue_is_shared_by_wire_remote_and_local_readers(remote, sut, judge):
    """The peer sends two messages: a remote reader receives the first message and an application receives the second;
    afterwards neither reader finds a message that the other reader has received.
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


@needs("inspect")
@covers("MQDMPR-3.1.1-06")
def test_model_has_identifier_of_packets(sut, judge):
    """LocalQueueManager.Identifier is the GUID with which the SUT identifies itself in packets."""
    observed = sut.inspect_queue_manager()["Identifier"].lower()
    judge("MQDMPR-3.1.1-06", expected=str(sut.guid), observed=observed, case="Identifier of LocalQueueManager")


@needs("inspect", "receive", "queues")
@covers("MQDMPR-3.1.1.10-02")
def test_pending_read_refers_to_cursor_only_if_given(sut, judge):
    """One peek by a cursor and one receive without a cursor are pending: the CursorReference of the peek is that
    cursor, and the receive has no CursorReference.
    """
    queue = sut.new_queue("waits")
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    requests = [
        sut.control.begin("receive", handle=handle, timeout_ms=LONG_READ_TIMEOUT_MS),
        sut.control.begin("peek_message", cursor=cursor, timeout_ms=LONG_READ_TIMEOUT_MS),
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
        {"DestructiveRead": False, "CursorReference": cursor}, {"DestructiveRead": True, "CursorReference": None}
    )
    judge("MQDMPR-3.1.1.10-02", expected=expected, observed=observed, case="pending peek and pending receive")


OPERATION_RULES = ("MQDMPR-3.1.1.13-03", "MQDMPR-3.1.1.13-04", "MQDMPR-3.1.1.13-05")


@needs("inspect", "send", "receive", "queue_control", "transactions", "subqueues")
@covers(*OPERATION_RULES, "MQDMPR-3.1.1.13-06", "MQDMPR-3.1.1.13-07")
@varied("response queue", "time to be received", "queue quota", "queue privacy")
def test_transaction_lists_operation_for_each_message(peer, sut, judge):
    """A transaction that sends, receives and moves a message lists an Enqueue, a Dequeue with a reason, and a Move with
    the subqueue as target. A further message that is sent, received, moved to a second subqueue, and sent to the
    computer of the peer, adds an operation of the same type.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    sub = f"{queue};mqc-sub"
    second_sub = f"{queue};mqc-sub-2"
    for name in (sub, second_sub):
        sut.control.call("create_queue", name=name)
    labels = ["first", "second", "third", "fourth"]
    for label in labels:
        sut.send(to, label=label, body=label, delivery="transactional")
    lookup_ids = {one["label"]: lookup_id(one) for one in sut.messages("transactional")}
    if sorted(lookup_ids) != sorted(labels):
        raise ConformanceFailure(f"the queue contains the messages {sorted(lookup_ids)} instead of the four sent ones")
    transaction = sut.control.call("begin")["transaction"]
    sut.send(to, label="sent", body="sent", transaction=transaction)
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.control.call("move", queue=queue, lookup_id=lookup_ids["second"], to=sub, transaction=transaction)
    sut.control.call("move", queue=queue, lookup_id=lookup_ids["third"], to=second_sub, transaction=transaction)
    sut.send(to, label="sent second", body="sent", transaction=transaction)
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.send(f"DIRECT=TCP:{peer.address}\\private$\\mqc-far", label="sent third", transaction=transaction)
    operations = _list_operations(sut, transaction)
    sut.control.call("abort", transaction=transaction)
    kinds = [one["OperationType"] for one in operations]
    for rule, kind, count in zip(OPERATION_RULES, ("Enqueue", "Dequeue", "Move"), (3, 2, 2), strict=True):
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
        expected={"Enqueue": [None] * 3, "Dequeue": [ACK_RECEIVE] * 2, "Move": [None] * 2},
        observed=reasons,
        case="DequeueReason of each operation",
    )


def _list_operations(sut, transaction):
    transactions = {one["Identifier"].lower(): one for one in sut.inspect_queue_manager()["TransactionCollection"]}
    listed = transactions.get(transaction.lower())
    return [] if listed is None else list(listed["TransactionalOperationCollection"])
