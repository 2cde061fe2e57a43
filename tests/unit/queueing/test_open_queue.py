"""MS-MQDMPR 3.1.7.1.5, 3.1.7.1.6: opening and closing queues."""

import pytest
from core_network import guid, private
from queueing_made import PLAIN, Reads, direct, open_, queue_of

from reference_qm.model.enums import QueueAccessType as Access
from reference_qm.model.enums import QueueShareMode as Share
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import ReceiveMessage

NONE, DENY = Share.DENY_NONE, Share.DENY_RECEIVE


def opened(host, name, access=Access.RECEIVE, share=NONE):
    return host.core.queue_opening.open_queue(name, access, share, host.network.now)


def test_handles_are_never_the_same(host):
    assert len({opened(host, direct(1), Access.PEEK)[1].Handle for _ in range(50)}) == 50


REFUSED = {
    "no format name": ("nonsense", Access.SEND, NONE, Status.MQ_ERROR_ILLEGAL_FORMATNAME),
    "http to receive": (
        "DIRECT=HTTP://host/msmq\\private$\\q",
        Access.RECEIVE,
        NONE,
        Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
    ),
    "multicast to peek": (
        "MULTICAST=224.0.0.1:80",
        Access.PEEK,
        NONE,
        Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
    ),
    "machine to send": (
        f"MACHINE={guid(1)}",
        Access.SEND,
        NONE,
        Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
    ),
    "journal to send": (f"{direct(1)};JOURNAL", Access.SEND, NONE, Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION),
    "several to receive": (
        f"{direct(8)},{direct(9)}",
        Access.RECEIVE,
        NONE,
        Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
    ),
    "several alone": (f"{direct(8)},{direct(9)}", Access.SEND, DENY, Status.MQ_ERROR_UNSUPPORTED_ACCESS_MODE),
    "remote to receive": (direct(9), Access.RECEIVE, NONE, Status.MQ_ERROR_QUEUE_NOT_FOUND),
    "none here, direct": (direct(1, "private$\\none"), Access.SEND, NONE, Status.MQ_ERROR_QUEUE_NOT_FOUND),
    "none here, private": (private(1, 99), Access.SEND, NONE, Status.MQ_ERROR_QUEUE_NOT_FOUND),
    "one of several": (f"{direct(9)},{private(1, 99)}", Access.SEND, NONE, Status.MQ_ERROR_QUEUE_NOT_FOUND),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_opened_has_a_status_and_leaves_nothing_open(host, name):
    format_name, access, share, status = REFUSED[name]
    assert opened(host, format_name, access, share) == (status, None)
    assert host.core.descriptors == {}


def test_closing_ends_what_waits_and_forgets_cursors(host):
    reads, descriptor = Reads(host), open_(host)
    host.core.cursors.open(descriptor)
    reads.call("tagged", "dequeue_message", descriptor, tag="t")
    reads.call("untagged", "peek_message", descriptor)
    host.core.queue_opening.close_queue(descriptor)
    assert reads.answers == dict.fromkeys(("tagged", "untagged"), (Status.MQ_ERROR_OPERATION_CANCELLED, None))
    assert (descriptor.CursorCollection, host.core.readers, host.core.next_due()) == ({}, {}, None)


def test_a_command_leaves_nothing_open(host):
    host.ask(ReceiveMessage(PLAIN))
    token = host.begin(ReceiveMessage(PLAIN, timeout_ms=10))
    host.network.advance(10)
    assert host.answers[token] is not None
    assert (host.core.descriptors, queue_of(host).OpenQueueDescriptorCollection) == ({}, {})
