"""MS-MQDMPR 3.1.7.1.5 Open Queue: the queue that a remote reader opens, and format names that cannot be opened for
reading.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from harness.expectations import distinct_values, each, in_queue
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import (
    DENY_NONE,
    DENY_RECEIVE,
    DIRECT,
    JOURNAL,
    MULTICAST,
    PEEK_ACCESS,
    PRIVATE,
    RECEIVE_ACCESS,
    SUBQUEUE,
    SUBQUEUE_SUFFIX,
    SYSTEM_QUEUE_SUFFIX,
    queue_format,
)
from suites.applications import Application
from suites.mqdmpr.steps import openings

pytestmark = needs("qm2qm")

MESSAGE_LIFETIME_S = 20
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0000
"""A number that no private queue has."""
MULTICAST_QUEUE_IDENTIFIERS = (
    bytes((234, 1, 1, 1)) + (80).to_bytes(4, "little"),
    bytes((239, 255, 255, 255)) + (65535).to_bytes(4, "little"),
)
"""Two MULTICAST_IDs: each consists of an address and a port. Spec: MS-MQMQ 2.2.10."""


@covers(
    "MQDMPR-3.1.7.1.5-48",
    "MQDMPR-3.1.7.1.5-116",
    "MQDMPR-3.1.7.1.5-118",
    "MQDMPR-3.1.7.1.5-121",
    "MQDMPR-3.1.7.1.5-122",
    "MQDMPR-3.1.7.1.5-125",
)
def test_each_opening_reads_its_queue_with_unique_handle(remote, judge):
    """Two queues are opened three times in total. A read through each handle returns the first message of its queue,
    all handles and contexts differ, and closing one handle leaves the others open.
    """
    reader = remote.open()
    admin = remote.open("admin", association=reader.association)
    peeking = remote.open(association=reader.association, access=PEEK_ACCESS)
    remote.deliver(["first", "second"])
    remote.deliver(["third"], queue="admin")
    readers = [reader, admin, peeking]
    calls = [one.opened for one in readers]
    reads = [one.peek() for one in readers]
    observed = [read.label_or_outcome for read in reads]
    evidence = [*calls, *reads]
    judge(
        "MQDMPR-3.1.7.1.5-48",
        "MQDMPR-3.1.7.1.5-118",
        "MQDMPR-3.1.7.1.5-125",
        expected=["first", "third", "first"],
        observed=observed,
        evidence=evidence,
        case="labels returned by the reads",
    )
    handles, contexts = [one.handle for one in readers], [one.context for one in readers]
    judge("MQDMPR-3.1.7.1.5-121", expected=distinct_values("handles", 3), observed=handles, evidence=evidence)
    outcomes = [reader.open_session(dwpContext=one.context, pQueue=one.context).outcome for one in readers]
    judge(
        "MQDMPR-3.1.7.1.5-122",
        expected={
            "contexts of the openings": distinct_values("contexts", 3),
            "outcomes of the openings": each(openings.OPENED_OUTCOME),
        },
        observed={"contexts of the openings": contexts, "outcomes of the openings": outcomes},
        evidence=evidence,
    )
    peeking.close()
    remaining = reader.peek()
    judge(
        "MQDMPR-3.1.7.1.5-116",
        "MQDMPR-3.1.7.1.5-125",
        expected="first",
        observed=remaining.label_or_outcome,
        evidence=remaining,
        case="label returned by the read",
    )


@covers("MQDMPR-3.1.7.1.5-116", "MQDMPR-3.1.7.1.5-121", "MQDMPR-3.1.7.1.5-122", "MQDMPR-3.1.7.1.5-125")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_each_opening_of_one_queue_with_one_access_has_descriptor_of_its_own(remote, judge, access):
    """One client opens a queue three times, and another opens it twice, always with the same access. The handles
    differ. When the first client has closed its first and its last handle, reads through the other handles return the
    first message.
    """
    first = remote.open(access=access)
    readers = [first, *(remote.open(association=first.association, access=access) for _ in range(2))]
    other = remote.open(access=access)
    readers += [other, remote.open(association=other.association, access=access)]
    remote.deliver(["first"])
    calls = [one.opened for one in readers]
    handles = [one.handle for one in readers]
    judge(
        "MQDMPR-3.1.7.1.5-116",
        "MQDMPR-3.1.7.1.5-121",
        "MQDMPR-3.1.7.1.5-125",
        expected=distinct_values("handles", len(readers)),
        observed=handles,
        evidence=calls,
    )
    contexts = [one.context for one in readers]
    judge("MQDMPR-3.1.7.1.5-122", expected=distinct_values("contexts", len(readers)), observed=contexts, evidence=calls)
    for one in (readers[0], readers[2]):
        one.close()
    reads = [readers[number].peek() for number in (1, 3, 4)]
    judge(
        "MQDMPR-3.1.7.1.5-116",
        "MQDMPR-3.1.7.1.5-125",
        expected=each("first", "label returned by a read"),
        observed=[read.label_or_outcome for read in reads],
        evidence=reads,
    )


@sut_survives()
@covers("MQDMPR-3.1.7.1.5-117")
def test_opening_has_requested_access(remote, judge):
    """While one reader has the queue open with PeekAccess, a second reader may open it with DenyReceive, to receive or
    to peek. While the first reader has the queue open with ReceiveAccess and can therefore receive a message, the SUT
    refuses the second reader.
    """
    peeking = remote.open(access=PEEK_ACCESS)
    open_alone = partial(openings.open_and_close_queue, remote, peeking.association, share=DENY_RECEIVE)
    beside_peeking = open_alone()
    peeking_beside_peeking = open_alone(access=PEEK_ACCESS)
    receiving = remote.open(association=peeking.association)
    beside_receiving = open_alone()
    remote.deliver(["first"])
    read = receiving.start_receive()
    if read.outcome == openings.OPENED_OUTCOME:
        receiving.acknowledge(read).expect_success()
    judge(
        "MQDMPR-3.1.7.1.5-117",
        expected={
            "open_while_the_first_reader_peeks": openings.OPENED_OUTCOME,
            "open_to_peek_while_the_first_reader_peeks": openings.OPENED_OUTCOME,
            "open_while_the_first_reader_receives": Outcome.REFUSED,
            "label returned by the first reader": "first",
        },
        observed={
            "open_while_the_first_reader_peeks": openings.get_opening_outcome(beside_peeking),
            "open_to_peek_while_the_first_reader_peeks": openings.get_opening_outcome(peeking_beside_peeking),
            "open_while_the_first_reader_receives": openings.get_opening_outcome(beside_receiving),
            "label returned by the first reader": read.label_or_outcome,
        },
        evidence=[beside_peeking, peeking_beside_peeking, beside_receiving],
    )


@needs("send", "queues")
@covers("MQDMPR-3.1.7.1.5-48", "MQDMPR-3.1.7.1.5-118", "MQDMPR-3.1.7.1.5-123")
def test_message_to_journal_name_is_in_neither_queue_nor_journal(remote, sut, judge):
    """The SUT sends a message to the format name of a journal, which can be opened only for reading. The SUT stores the
    message neither in the queue nor in its journal (MS-MQMQ 2.1.7). Queue and journal are opened by their direct and by
    their private format names. While the journal is open, the SUT refuses exclusive readers of the journal.
    """
    queue = sut.new_queue("journaled")
    direct = rf"TCP:{sut.address}\{queue}"
    for name in (sut.private_format_name(queue), f"DIRECT={direct}"):
        sut.attempt(sut.send, f"{name};JOURNAL", label="of a journal", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    sut.send(f"DIRECT={direct}", label="first")
    opened = remote.open(form=queue_format(DIRECT, direct))
    journal = remote.open(form=queue_format(DIRECT, f"{direct};JOURNAL", SYSTEM_QUEUE_SUFFIX | JOURNAL))
    evidence = [opened.opened, journal.opened]
    judge(
        "MQDMPR-3.1.7.1.5-48",
        "MQDMPR-3.1.7.1.5-118",
        expected={"queue": in_queue("first"), "journal": in_queue()},
        observed={"queue": opened.labels(), "journal": journal.labels()},
        evidence=evidence,
    )
    lineage, _, number = sut.private_format_name(queue).removeprefix("PRIVATE=").partition("\\")
    private = (UUID(lineage), int(number, 16))
    opened, journal = (
        remote.open(form=queue_format(PRIVATE, private, suffix)) for suffix in (0, SYSTEM_QUEUE_SUFFIX | JOURNAL)
    )
    judge(
        "MQDMPR-3.1.7.1.5-48",
        "MQDMPR-3.1.7.1.5-118",
        expected={"queue": in_queue("first"), "journal": in_queue()},
        observed={"queue": opened.labels(), "journal": journal.labels()},
        evidence=[opened.opened, journal.opened],
        case="opened by private format names",
    )
    beside = [
        openings.open_and_close_queue(
            remote,
            opened.association,
            form=queue_format(DIRECT, f"{direct};JOURNAL", SYSTEM_QUEUE_SUFFIX | JOURNAL),
            access=access,
            share=DENY_RECEIVE,
        )
        for access in (RECEIVE_ACCESS, PEEK_ACCESS)
    ]
    judge(
        "MQDMPR-3.1.7.1.5-123",
        expected=each(Outcome.REFUSED, "exclusive open of the journal"),
        observed=[openings.get_opening_outcome(call) for call in beside],
        evidence=beside,
    )


@needs("subqueues", "queue_control", "receive")
@covers("MQDMPR-3.1.7.1.5-48", "MQDMPR-3.1.7.1.5-118", "MQDMPR-3.1.7.1.5-124")
def test_subqueue_is_opened_apart_from_its_queue(peer, remote, sut, judge):
    """A subqueue is opened; then its queue is opened exclusively, by a name in capital letters. A read through each
    handle returns a message from the place that was opened: the subqueue or the queue. While the queue is open, the
    subqueue can be opened again.
    """
    application = Application(peer, sut)
    application.fill_queue("first", "second")
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    application.call(
        "move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()["second"], to=subqueue
    )
    address = rf"TCP:{sut.address}"
    subqueue_form = queue_format(SUBQUEUE, rf"{address}\{subqueue}", SUBQUEUE_SUFFIX)
    apart = remote.open(form=subqueue_form)
    read = apart.peek()
    judge(
        "MQDMPR-3.1.7.1.5-118",
        expected="second",
        observed=read.label_or_outcome,
        evidence=[apart.opened, read],
        case="label returned by the read of the subqueue",
    )
    judge.conclude("MQDMPR-3.1.7.1.5-118")
    opened = remote.open_remote(
        apart.association, form=queue_format(DIRECT, rf"{address}\{application.queue.upper()}"), share=DENY_RECEIVE
    )
    judge(
        "MQDMPR-3.1.7.1.5-48",
        expected=openings.OPENED_OUTCOME,
        observed=openings.get_opening_outcome(opened),
        evidence=opened,
        case="open of the queue",
    )
    judge.conclude("MQDMPR-3.1.7.1.5-48")
    again = remote.open_remote(apart.association, form=subqueue_form)
    judge(
        "MQDMPR-3.1.7.1.5-124",
        expected=openings.OPENED_OUTCOME,
        observed=openings.get_opening_outcome(again),
        evidence=[opened, again],
        case="second open of the subqueue",
    )
    openings.close_opened_queue(again)
    openings.close_opened_queue(opened)


@sut_survives()
@covers("MQDMPR-3.1.7.1.5-09", "MQDMPR-3.1.7.1.5-38", "MQDMPR-3.1.7.1.5-46", "MQDMPR-3.1.7.1.5-51")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
@varied("queue journaling", "queue quota", "queue privacy")
def test_name_that_cannot_be_read_is_refused(remote, sut, judge, access):
    """With DenyNone and with DenyReceive, a remote reader requests to open each of the following: several queues at
    once, an HTTP name, a multicast address, a missing queue, and a queue of another computer. The SUT refuses each
    request, but opens an existing local queue.
    """
    remote.empty_queue()
    association = remote.associate()
    plain_queue, admin_queue = (sut.format_name(kind).removeprefix("DIRECT=") for kind in ("plain", "admin"))
    path = plain_queue.partition("\\")[2]
    ways: dict[str, list[tuple[Any, ...]]] = {
        "MQDMPR-3.1.7.1.5-09": [
            (DIRECT, f"{plain_queue},DIRECT={admin_queue}"),
            (DIRECT, f"{admin_queue},DIRECT={plain_queue}"),
            (DIRECT, f"{admin_queue},DIRECT={plain_queue},DIRECT={plain_queue};JOURNAL"),
            (DIRECT, f"{admin_queue},DIRECT={plain_queue},DIRECT={remote.peer.direct_name()[7:]}"),
        ],
        "MQDMPR-3.1.7.1.5-38": [(DIRECT, f"{scheme}://{sut.address}/msmq\\{path}") for scheme in ("HTTP", "HTTPS")],
        "MQDMPR-3.1.7.1.5-46": [(MULTICAST, one) for one in MULTICAST_QUEUE_IDENTIFIERS],
        "MQDMPR-3.1.7.1.5-51": [
            (DIRECT, f"{plain_queue}-not-there"),
            (SUBQUEUE, f"{plain_queue};mqc-missing", SUBQUEUE_SUFFIX),
            (DIRECT, rf"TCP:{sut.address}\private$\{sut.own}"),
            (DIRECT, f"{plain_queue}-not-there;JOURNAL", SYSTEM_QUEUE_SUFFIX | JOURNAL),
            (PRIVATE, (UUID(str(sut.guid)), MISSING_PRIVATE_QUEUE_NUMBER)),
            (PRIVATE, (UUID(str(sut.guid)), MISSING_PRIVATE_QUEUE_NUMBER), SYSTEM_QUEUE_SUFFIX | JOURNAL),
            (DIRECT, rf"TCP:{remote.peer.address}\private$\{sut.own}"),
        ],
    }
    by_its_name = openings.open_and_close_queue(
        remote, association, form=queue_format(DIRECT, plain_queue), access=access
    )
    for rule, names in ways.items():
        calls = [
            openings.open_and_close_queue(remote, association, form=queue_format(*one), access=access, share=share)
            for one in names
            for share in (DENY_NONE, DENY_RECEIVE)
        ]
        judge(
            rule,
            expected={"open_by_the_queue_name": openings.OPENED_OUTCOME, "other_opens": each(Outcome.REFUSED)},
            observed={
                "open_by_the_queue_name": openings.get_opening_outcome(by_its_name),
                "other_opens": [openings.get_opening_outcome(call) for call in calls],
            },
            evidence=calls,
        )
