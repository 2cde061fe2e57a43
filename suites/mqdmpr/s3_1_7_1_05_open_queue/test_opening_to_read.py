"""MS-MQDMPR 3.1.7.1.5 Open Queue: which queue a reader gets, and which names open none."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.peer.remote import Remote, RemoteQueue
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from harness.wire.rpc_qmcomm import (
    DENY_RECEIVE,
    DIRECT,
    JOURNAL,
    MULTICAST,
    PEEK_ACCESS,
    RECEIVE_ACCESS,
    SYSTEM,
    queue_format,
)
from suites.applications import REFUSED, tried
from suites.mqdmpr.steps.openings import OPENED, opened_and_closed, outcome
from suites.mqqp.steps.reading import brought, deliver

pytestmark = needs("qm2qm")

LIFETIME_S = 20
GROUP = bytes((234, 1, 1, 1)) + (80).to_bytes(4, "little")
"""A MULTICAST_ID: an address and a port. Spec: MS-MQMQ 2.2.10."""


@covers(
    "MQDMPR-3.1.7.1.5-48",
    "MQDMPR-3.1.7.1.5-116",
    "MQDMPR-3.1.7.1.5-118",
    "MQDMPR-3.1.7.1.5-121",
    "MQDMPR-3.1.7.1.5-122",
    "MQDMPR-3.1.7.1.5-125",
)
def test_each_opening_leads_to_its_queue(remote, judge):
    """Two queues are opened, one of them also to peek: each opening is one of its own, with the queue of its name."""
    plain = remote.open()
    admin = remote.open("admin", association=plain.association)
    peeking = remote.open(association=plain.association, access=PEEK_ACCESS)
    deliver(remote, ["first", "second"])
    deliver(remote, ["third"], queue="admin")
    openings = [plain, admin, peeking]
    calls = [one.opened for one in openings]
    reads = [one.read(PEEK_CURRENT) for one in openings]
    seen = [brought(read) for read in reads]
    evidence = [*calls, *reads]
    judge(
        "MQDMPR-3.1.7.1.5-48",
        "MQDMPR-3.1.7.1.5-118",
        "MQDMPR-3.1.7.1.5-125",
        expected=["first", "third", "first"],
        observed=seen,
        evidence=evidence,
    )
    judge("MQDMPR-3.1.7.1.5-121", expected=3, observed=len({one.handle for one in openings}), evidence=evidence)
    known = [plain.open_session(dwpContext=one.context, pQueue=one.context).outcome for one in openings]
    observed = [len({one.context for one in openings}), *known]
    judge("MQDMPR-3.1.7.1.5-122", expected=[3, *[OPENED] * 3], observed=observed, evidence=evidence)
    peeking.close()
    left = plain.read(PEEK_CURRENT)
    observed = [brought(left)]
    judge("MQDMPR-3.1.7.1.5-116", expected=["first"], observed=observed, evidence=left)


@goes_on()
@covers("MQDMPR-3.1.7.1.5-117")
def test_an_opening_has_the_access_that_was_asked_for(remote, judge):
    """A queue that is open to be peeked at can be had alone by another, one that is open to be received from cannot."""
    peeking = remote.open(access=PEEK_ACCESS)
    alone = partial(opened_and_closed, remote, peeking.association, share=DENY_RECEIVE)
    beside_peeking = alone()
    receiving = remote.open(association=peeking.association)
    beside_receiving = alone()
    taken = brought_after(remote, receiving)
    observed = [outcome(beside_peeking), outcome(beside_receiving), taken]
    evidence = [beside_peeking, beside_receiving]
    judge("MQDMPR-3.1.7.1.5-117", expected=[OPENED, REFUSED, "first"], observed=observed, evidence=evidence)


def brought_after(remote: Remote, receiving: RemoteQueue) -> str:
    """Return what a queue that is open to be received from gives when a message was put into it."""
    deliver(remote, ["first"])
    read = receiving.read(RECEIVE)
    if read.outcome == OPENED:
        receiving.end(read).settled()
    return brought(read)


@needs("send", "queue_control")
@covers("MQDMPR-3.1.7.1.5-48")
def test_what_is_sent_by_the_name_of_a_journal_is_not_in_its_queue(remote, sut, judge):
    """A message is sent by the private name of a queue's journal, one by its direct name, one to the queue itself: that
    alone is in the queue. In its journal, which can only be read, is none (MS-MQMQ 2.1.7).
    """
    queue = sut.new_queue("journaled")
    direct = rf"TCP:{sut.address}\{queue}"
    for name in (sut.private_format_name(queue), f"DIRECT={direct}"):
        tried(partial(sut.send, f"{name};JOURNAL", label="of a journal", time_to_reach_queue_s=LIFETIME_S))
    sut.send(f"DIRECT={direct}", label="first")
    opened = remote.open(form=queue_format(DIRECT, direct))
    journal = remote.open(form=queue_format(DIRECT, f"{direct};JOURNAL", SYSTEM | JOURNAL))
    evidence = [opened.opened, journal.opened]
    observed = [opened.labels(), journal.labels()]
    judge("MQDMPR-3.1.7.1.5-48", expected=[["first"], []], observed=observed, evidence=evidence)


@goes_on()
@covers("MQDMPR-3.1.7.1.5-09", "MQDMPR-3.1.7.1.5-38", "MQDMPR-3.1.7.1.5-46", "MQDMPR-3.1.7.1.5-51")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_names_that_open_nothing_to_read(remote, sut, judge, access):
    """Two queues in one name, the queue's name by HTTP, a multicast address, a queue that is not there, one of
    another computer: none is opened, and the queue by its own name is.
    """
    remote.empty()
    association = remote.associate()
    plain, admin = (sut.format_name(kind).removeprefix("DIRECT=") for kind in ("plain", "admin"))
    path = plain.partition("\\")[2]
    ways: dict[str, list[tuple[int, Any]]] = {
        "MQDMPR-3.1.7.1.5-09": [(DIRECT, f"{plain},DIRECT={admin}"), (DIRECT, f"{admin},DIRECT={plain}")],
        "MQDMPR-3.1.7.1.5-38": [(DIRECT, f"{scheme}://{sut.address}/msmq\\{path}") for scheme in ("HTTP", "HTTPS")],
        "MQDMPR-3.1.7.1.5-46": [(MULTICAST, GROUP)],
        "MQDMPR-3.1.7.1.5-51": [
            (DIRECT, f"{plain}-not-there"),
            (DIRECT, rf"TCP:{sut.address}\private$\{sut.own}"),
            (DIRECT, rf"TCP:{remote.peer.address}\private$\{sut.own}"),
        ],
    }
    by_its_name = opened_and_closed(remote, association, form=queue_format(DIRECT, plain), access=access)
    for rule, names in ways.items():
        calls = [opened_and_closed(remote, association, form=queue_format(*one), access=access) for one in names]
        observed = [outcome(call) for call in (by_its_name, *calls)]
        judge(rule, expected=[OPENED, *[REFUSED] * len(names)], observed=observed, evidence=calls)
