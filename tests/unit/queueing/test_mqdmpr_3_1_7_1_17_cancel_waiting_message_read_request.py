"""MS-MQDMPR 3.1.7.1.17: cancelling reads that wait."""

import pytest
from queueing_made import PLAIN, Reads, open_, put, queue_of

from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CancelWaiting, ReceiveMessage
from reference_qm.surface.effects import Rejected
from reference_qm.surface.inputs import Stopped

CANCELLED = (Status.MQ_ERROR_OPERATION_CANCELLED, None)


def cancel(host, tag):
    return host.core.waiting.cancel_waiting_read(queue_of(host), tag, Status.MQ_ERROR_OPERATION_CANCELLED)


@pytest.mark.parametrize("event", ["dequeue_message", "peek_message"])
def test_the_read_with_the_tag_ends_and_no_other(host, event):
    reads, descriptor = Reads(host), open_(host)
    for name in "abc":
        reads.call(name, event, descriptor, tag=None if name == "c" else name, timeout_ms=1_000)
    assert cancel(host, "b") is Status.MQ_OK
    assert reads.answers == {"b": CANCELLED}
    assert cancel(host, "b") is Status.STATUS_NOT_FOUND
    assert cancel(host, None) is Status.STATUS_NOT_FOUND
    host.network.advance(1_000)
    assert reads.answers["a"] == reads.answers["c"] == (Status.MQ_ERROR_IO_TIMEOUT, None)


def test_a_cancelled_read_takes_nothing(host):
    reads = Reads(host)
    reads.call("a", "dequeue_message", open_(host), tag="a")
    cancel(host, "a")
    put(host, "message")
    assert host.bodies() == ["message"]


def test_a_command_is_cancelled_by_its_token(host):
    token = host.begin(ReceiveMessage(PLAIN, timeout_ms=10_000))
    assert host.ask(CancelWaiting(token)) == {"cancelled": True}
    assert isinstance(host.answers[token], Rejected)
    assert host.ask(CancelWaiting(token)) == {"cancelled": False}
    put(host, "message")
    assert host.bodies() == ["message"]


def test_what_waits_is_answered_when_the_queue_manager_stops(host):
    token = host.begin(ReceiveMessage(PLAIN, timeout_ms=10_000))
    host.handle(Stopped())
    assert "MQ_ERROR_OPERATION_CANCELLED" in host.answers[token].error
    assert host.core.next_due() is None
