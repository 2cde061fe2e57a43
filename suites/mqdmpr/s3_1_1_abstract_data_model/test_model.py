"""MS-MQDMPR 3.1.1 Abstract Data Model, 3.1.1.10, 3.1.1.13: one model, and what only it shows."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.mqdmpr.steps.shown import descriptors, queue_manager
from suites.mqqb.steps.pinging import element
from suites.mqqp.steps.reading import FIRST, SECOND, brought

LONG_MS = 600_000
DEQUEUED = "MQMSG_CLASS_ACK_RECEIVE"


@needs("qm2qm", "receive", "queue_control")
@covers("MQDMPR-3.1.1-07")
def test_all_protocols_have_one_model(remote, sut, judge):
    """Messages that came by MS-MQQB are read by MS-MQQP and by an application; what one takes is gone for the other."""
    queue = remote.filled(FIRST, SECOND)
    seen = [sut.labels(sut.queue())]
    taken = queue.receive()
    seen.append(sut.labels(sut.queue()))
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
    left = queue.read()
    observed = [*seen, brought(taken), left.failed]
    expected = [[FIRST, SECOND], [SECOND], FIRST, True]
    judge("MQDMPR-3.1.1-07", expected=expected, observed=observed, evidence=[taken, left])


@needs("inspect")
@covers("MQDMPR-3.1.1-06")
def test_the_model_is_of_the_queue_manager_that_packets_name(sut, judge):
    """LocalQueueManager has the Identifier that the SUT is known by."""
    observed = element(queue_manager(sut), "Identifier").lower()
    judge("MQDMPR-3.1.1-06", expected=str(sut.guid), observed=observed)


@needs("inspect", "receive", "queue_control")
@covers("MQDMPR-3.1.1.10-02")
def test_a_read_that_waits_has_a_cursor_if_it_was_asked_for_by_one(sut, judge):
    """A receive waits, and a peek by a cursor: only that has one."""
    queue = sut.new_queue("waits")
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    requests = [
        sut.control.begin("receive", handle=handle, timeout_ms=LONG_MS),
        sut.control.begin("peek_message", cursor=cursor, timeout_ms=LONG_MS),
    ]
    found = [one for each in descriptors(sut, queue) for one in element(each, "WaitingMessageReadOperationCollection")]
    observed = sorted((bool(one["DestructiveRead"]), element(one, "CursorReference")) for one in found)
    for request in requests:
        sut.control.call("cancel", request=request)
    judge("MQDMPR-3.1.1.10-02", expected=[(False, cursor), (True, None)], observed=observed)


OPERATIONS = ("MQDMPR-3.1.1.13-03", "MQDMPR-3.1.1.13-04", "MQDMPR-3.1.1.13-05")


@needs("inspect", "send", "receive", "queue_control", "transactions", "subqueues")
@covers(*OPERATIONS, "MQDMPR-3.1.1.13-06", "MQDMPR-3.1.1.13-07")
def test_a_transaction_has_its_operations(sut, judge):
    """A transaction sends a message, receives one and moves one: three operations, one of each kind."""
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    sub = f"{queue};mqc-sub"
    sut.control.call("create_queue", name=sub)
    for label in (FIRST, SECOND):
        sut.send(to, label=label, body=label, delivery="transactional")
    there = {one["label"]: lookup_id(one) for one in sut.messages("transactional")}
    if sorted(there) != [FIRST, SECOND]:
        raise ConformanceFailure(f"{sorted(there)} are in the queue")
    transaction = sut.control.call("begin")["transaction"]
    sut.send(to, label="sent", body="sent", transaction=transaction)
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.control.call("move", queue=queue, lookup_id=there[SECOND], to=sub, transaction=transaction)
    found = {one["OperationType"]: one for one in _operations(sut, transaction)}
    sut.control.call("abort", transaction=transaction)
    for rule, kind in zip(OPERATIONS, ("Enqueue", "Dequeue", "Move"), strict=True):
        judge(rule, expected=kind, observed=kind if kind in found else f"{sorted(found)}")
    targets = {kind: str(element(one, "TargetQueueReference")).lower().endswith(sub) for kind, one in found.items()}
    judge("MQDMPR-3.1.1.13-06", expected=True, observed=targets.get("Move", "no Move"))
    reasons = {kind: element(one, "DequeueReason") for kind, one in found.items()}
    expected = {"Enqueue": None, "Dequeue": DEQUEUED, "Move": None}
    judge("MQDMPR-3.1.1.13-07", expected=expected, observed=reasons)


def _operations(sut: Sut, transaction: str) -> list[dict[str, Any]]:
    known = {one["Identifier"].lower(): one for one in element(queue_manager(sut), "TransactionCollection")}
    found = known.get(transaction.lower())
    return [] if found is None else list(element(found, "TransactionalOperationCollection"))
