"""MS-MQDMPR 3.1.7.1.5, 3.1.7.1.6: opening and closing queues."""

import itertools

import pytest
from core_network import guid, private
from queueing_made import PLAIN, Reads, direct, open_, queue_of

from reference_qm.model.enums import QueueAccessType as Access
from reference_qm.model.enums import QueueShareMode as Share
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CloseQueue, Inspect, OpenQueue, OpenToSend, ReceiveMessage

NONE, DENY = Share.DENY_NONE, Share.DENY_RECEIVE


def opened(host, name, access=Access.RECEIVE, share=NONE):
    return host.core.queue_opening.open_queue(name, access, share, host.network.now)


@pytest.mark.parametrize(
    "name", [direct(1), f"DIRECT=OS:host1\\{PLAIN}", private(1), f"{direct(1)};journal", f"{private(1)};JOURNAL"]
)
def test_a_local_queue_is_found_by_each_of_its_names(host, name):
    status, descriptor = opened(host, name)
    assert status is Status.MQ_OK
    journal = name.lower().endswith(";journal")
    assert descriptor.QueueReference is (queue_of(host).JournalQueueReference if journal else queue_of(host))
    assert (descriptor.AccessType, descriptor.ShareMode, descriptor.FormatName) == (Access.RECEIVE, NONE, name)
    assert descriptor.QueueReference.OpenQueueDescriptorCollection == {descriptor.Handle: descriptor}


def test_handles_of_open_queue_descriptors_are_unique(host):
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
def test_refused_opening_has_a_status_and_leaves_no_handle(host, name):
    format_name, access, share, status = REFUSED[name]
    assert opened(host, format_name, access, share) == (status, None)
    assert host.core.descriptors == {}


def shared(first, second):
    """Return whether two openings can share a queue, by the pairs that the section names. Spec: MS-MQDMPR 3.1.7.1.5."""
    (access, share), (wanted, mode) = first, second
    if share is DENY and access is Access.RECEIVE:
        return not (mode is DENY or wanted is Access.RECEIVE)
    if share is DENY and access in (Access.PEEK, Access.PEEK_ADMIN):
        return wanted is not Access.RECEIVE
    return not (access is Access.RECEIVE and share is NONE and mode is DENY)


MODES = list(itertools.product([Access.RECEIVE, Access.SEND, Access.PEEK, Access.PEEK_ADMIN], Share))


@pytest.mark.parametrize("first", MODES, ids=str)
@pytest.mark.parametrize("second", MODES, ids=str)
def test_share_modes_allow_or_deny_second_opening(host, first, second):
    _, held = opened(host, direct(1), *first)
    status, descriptor = opened(host, direct(1), *second)
    assert (status is Status.MQ_OK) is shared(first, second)
    assert status in (Status.MQ_OK, Status.MQ_ERROR_SHARING_VIOLATION)
    host.core.queue_opening.close_queue(held)
    if descriptor is not None:
        host.core.queue_opening.close_queue(descriptor)
    assert opened(host, direct(1), *second)[0] is Status.MQ_OK, "nothing is left of those that were closed"


def test_closing_open_queue_descriptor_ends_its_reads_and_cursors(host):
    reads, descriptor = Reads(host), open_(host)
    host.core.queue_cursors.open(descriptor)
    reads.call("tagged", "dequeue_message", descriptor, tag="t")
    reads.call("untagged", "peek_message", descriptor)
    host.core.queue_opening.close_queue(descriptor)
    assert reads.answers == dict.fromkeys(("tagged", "untagged"), (Status.MQ_ERROR_OPERATION_CANCELLED, None))
    assert (descriptor.CursorCollection, host.core.readers, host.core.next_due()) == ({}, {}, None)


def test_queue_handle_commands_open_close_and_share_a_queue(host):
    handle = host.ask(OpenQueue(PLAIN, deny_receive=True))["handle"]
    assert "MQ_ERROR_SHARING_VIOLATION" in host.refusal(ReceiveMessage(PLAIN))
    host.send(direct(1), b"mine")
    assert host.ask(ReceiveMessage(handle=handle))["message"]["body"] == "mine"
    host.ask(CloseQueue(handle))
    assert host.ask(ReceiveMessage(PLAIN)) == {"message": None}
    assert "a restart closes handles" in host.refusal(CloseQueue(handle))
    assert "access" in host.refusal(OpenQueue(PLAIN, access="steal"))
    peeking = host.ask(OpenQueue(PLAIN, access="peek"))["handle"]
    assert "opened only to peek" in host.refusal(ReceiveMessage(handle=peeking))
    assert "give exactly one of " in host.refusal(ReceiveMessage())
    assert "give exactly one of " in host.refusal(ReceiveMessage(PLAIN, handle=peeking))


def test_open_command_opens_queues_for_sending(host):
    several = f"{direct(9)},{direct(1)}"
    handle = host.ask(OpenToSend(several))["handle"]
    shown = {one["Handle"]: one for one in host.ask(Inspect())["adm"]["OpenQueueDescriptors"]}
    assert (shown[handle]["Multiple"], shown[handle]["QueueReference"], shown[handle]["AccessType"]) == (
        True,
        None,
        "SendAccess",
    )
    names = [shown[one]["FormatName"].lower() for one in shown[handle]["OpenQueueDescriptorCollection"]]
    assert names == [direct(1).lower(), direct(9).lower()]
    assert "MQ_ERROR_UNSUPPORTED_ACCESS_MODE" in host.refusal(OpenToSend(several, deny_receive=True))
    assert "MQ_ERROR_QUEUE_NOT_FOUND" in host.refusal(OpenToSend(direct(1, "private$\\none")))
    host.ask(CloseQueue(handle))
    assert host.core.descriptors == {}


def test_read_command_closes_its_open_queue_descriptor(host):
    host.ask(ReceiveMessage(PLAIN))
    token = host.begin(ReceiveMessage(PLAIN, timeout_ms=10))
    host.network.advance(10)
    assert host.answers[token] is not None
    assert (host.core.descriptors, queue_of(host).OpenQueueDescriptorCollection) == ({}, {})


def test_restart_closes_all_open_queue_descriptors(host):
    handle = host.ask(OpenQueue(PLAIN, deny_receive=True))["handle"]
    host.restart()
    assert "a restart closes handles" in host.refusal(CloseQueue(handle))
    assert host.ask(ReceiveMessage(PLAIN)) == {"message": None}
