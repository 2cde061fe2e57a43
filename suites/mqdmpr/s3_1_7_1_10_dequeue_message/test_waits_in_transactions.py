"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: the cursor of a receive that waits in a transaction."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.applications import Application, PendingRequest

LONG_READ_TIMEOUT_MS = 60_000


@needs("receive", "queue_control", "transactions")
@covers("MQDMPR-3.1.7.1.10-31")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_cursor_of_receive_that_waits_in_transaction_moves(peer, sut, judge, external):
    """A receive by a cursor waits in a transaction and gets an arriving message; then the transaction is aborted. The
    next receive by this cursor takes the following message, and a receive by a new cursor takes the first message.
    """
    application = Application(peer, sut, transactional=True)
    handle = sut.control.call("open_queue", queue=application.queue, access="receive")["handle"]
    cursor, fresh = (sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2))
    transaction = application.begin_transaction(external=external)
    waiting = PendingRequest(peer, "receive", cursor=cursor, timeout_ms=LONG_READ_TIMEOUT_MS, transaction=transaction)
    peer.settle()
    waits = not waiting.is_answered()
    connection = peer.open_raw()
    connection.send(application.build_message("first"))
    label = waiting.await_label()
    if external:
        application.end_transaction("prepare", transaction)
    application.end_transaction("abort", transaction)
    connection.send(application.build_message("second"))
    if not application.await_message_count(2):
        raise ConformanceFailure("the queue does not contain the returned message and the following message")
    later = [sut.read_label("receive", cursor=one) for one in (cursor, fresh)]
    judge(
        "MQDMPR-3.1.7.1.10-31",
        expected={"receive waits": True, "message of the receive": "first", "later receives": ["second", "first"]},
        observed={"receive waits": waits, "message of the receive": label, "later receives": later},
        evidence=connection.sent,
        case="receives by the cursor, and then by a new cursor",
    )
