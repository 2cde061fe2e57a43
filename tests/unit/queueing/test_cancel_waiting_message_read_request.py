"""MS-MQDMPR 3.1.7.1.17: waiting reads are cancelled."""

import pytest
from queueing_made import Reads, open_, queue_of

from reference_qm.model.statuses import Status

CANCELLED = (Status.MQ_ERROR_OPERATION_CANCELLED, None)


def cancel(host, tag):
    return host.core.waiting_reads.cancel_waiting_read(queue_of(host), tag, Status.MQ_ERROR_OPERATION_CANCELLED)


@pytest.mark.parametrize("event", ["dequeue_message", "peek_message"])
def test_cancel_by_tag_ends_only_the_waiting_read_with_that_tag(host, event):
    reads, descriptor = Reads(host), open_(host)
    for name in "abc":
        reads.call(name, event, descriptor, tag=None if name == "c" else name, timeout_ms=1_000)
    assert cancel(host, "b") is Status.MQ_OK
    assert reads.answers == {"b": CANCELLED}
    assert cancel(host, "b") is Status.STATUS_NOT_FOUND
    assert cancel(host, None) is Status.STATUS_NOT_FOUND
    host.network.advance(1_000)
    assert reads.answers["a"] == reads.answers["c"] == (Status.MQ_ERROR_IO_TIMEOUT, None)
