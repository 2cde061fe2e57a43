"""MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id: lookups of messages that were purged while locked."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.applications import Application
from suites.mqqp.steps.lookups import find_lookup_ids

NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"


@needs("qm2qm", "queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.3.3-39")
def test_message_purged_in_transaction_is_not_found(peer, remote, sut, judge):
    """A transaction has received the first of three messages, and a remote reader has locked the second, when the queue
    is purged. Lookups of all three messages return MQ_ERROR_MESSAGE_NOT_FOUND.
    """
    application = Application(peer, sut, transactional=True)
    application.fill_queue("a", "b", "c")
    queue = remote.open(form=queue_format(DIRECT, rf"TCP:{sut.address}\{application.queue}"))
    known = find_lookup_ids(queue, 3)
    transaction = application.begin_transaction()
    application.receive(transaction=transaction)
    lock = queue.start_receive().expect_success()
    queue.purge().expect_success()
    reads = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in known]
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.3.3-39",
        expected=each(NOT_FOUND_STATUS),
        observed=[read.outcome for read in reads],
        evidence=[lock, *reads],
        case="lookups of purged messages",
    )
