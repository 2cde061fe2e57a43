"""MS-MQDMPR 3.1.7.1.3 Create Queue: new queues that share a property or a name with an earlier queue."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqdmpr.s3_1_7_1_03_create_queue.test_creating_queues import INITIAL_QUEUE_ATTRIBUTES
from suites.mqdmpr.steps.directory import Enterprise

pytestmark = needs("queue_control")

PROPERTIES_OF_DELETED_QUEUE: dict[str, Any] = {
    "transactional": True,
    "label": "deleted",
    "journaling": True,
    "quota_kb": 321,
    "journal_quota_kb": 123,
    "base_priority": 7,
}
PROPERTIES_OF_LATER_QUEUE: dict[str, Any] = {
    "transactional": False,
    "label": "",
    "journaling": False,
    "quota_kb": 0xFFFF_FFFF,
    "journal_quota_kb": 0xFFFF_FFFF,
    "base_priority": 0,
}
"""The default values of the properties. Spec: MS-MQDMPR 3.1.7.1.33."""
MS_BETWEEN_CREATIONS = 3_000
"""The time between the creations of two queues with the same name; a CreateTime is in seconds."""
PROPERTIES_BY_KIND_OF_JOURNALED_QUEUE: dict[str, dict[str, Any]] = {
    "plain": {},
    "limited": {"quota_kb": 2_000, "journal_quota_kb": 1_000},
    "limited too": {"quota_kb": 2_000, "journal_quota_kb": 1_000},
    "transactional": {"transactional": True},
    "transactional too": {"transactional": True, "journal_quota_kb": 1_000},
}


def _create_deleted_and_later_queue(peer, sut):
    """Create a queue, delete it after a while, and create a queue without properties with the same name; return this
    name, and a description of each of the two queues.
    """
    name = rf"private$\mqc-{sut.own}-again"
    peer.call_at_end_of_test(partial(sut.attempt, "delete_queue", name=name))
    sut.create_queue(name, **PROPERTIES_OF_DELETED_QUEUE)
    deleted = sut.inspect_queue(name) if sut.has("inspect") else {}
    peer.pass_time(MS_BETWEEN_CREATIONS)
    sut.delete_queue(name)
    sut.create_queue(name)
    return name, deleted, sut.inspect_queue(name) if sut.has("inspect") else {}


@covers("MQDMPR-3.1.7.1.3-02", "MQDMPR-3.1.7.1.3-06")
def test_queue_with_name_of_deleted_queue_is_new(peer, sut, judge):
    """A queue that is created without properties, with the name of a deleted queue with properties, has the default
    properties.
    """
    name, _, _ = _create_deleted_and_later_queue(peer, sut)
    shown = sut.control.call("get_queue", name=name)
    judge(
        "MQDMPR-3.1.7.1.3-02",
        "MQDMPR-3.1.7.1.3-06",
        expected=PROPERTIES_OF_LATER_QUEUE,
        observed={key: shown.get(key) for key in PROPERTIES_OF_LATER_QUEUE},
        case="properties of the later queue",
    )


@needs("inspect")
@covers("MQDMPR-3.1.7.1.3-D02")
def test_queue_with_name_of_deleted_queue_has_own_times(peer, sut, judge):
    """A queue with the name of a deleted queue is empty and inactive; its CreateTime and ModifyTime are later than the
    CreateTime of the deleted queue.
    """
    _, deleted, later = _create_deleted_and_later_queue(peer, sut)
    judge(
        "MQDMPR-3.1.7.1.3-D02",
        expected=INITIAL_QUEUE_ATTRIBUTES,
        observed={key: later.get(key) for key in INITIAL_QUEUE_ATTRIBUTES},
        case="later queue",
    )
    judge(
        "MQDMPR-3.1.7.1.3-D02",
        expected=each(holds("later than the CreateTime of the deleted queue"), "time"),
        observed={key: later[key] > deleted["CreateTime"] or later[key] for key in ("CreateTime", "ModifyTime")},
        case="times of the later queue",
    )


@needs("inspect", "directory", "environment")
@covers("MQDMPR-3.1.7.1.3-D02")
def test_new_public_queue_has_name_of_computer(peer, sut, judge):
    """The QualifiedPathname of a new public queue contains a computer name, the same as that of a private queue."""
    queues = {"public": Enterprise(peer, sut).create_queue(), "private": sut.new_queue("private")}
    names = {kind: sut.inspect_queue(name)["QualifiedPathname"] for kind, name in queues.items()}
    computer = names["private"].partition("\\")[0]
    judge(
        "MQDMPR-3.1.7.1.3-D02",
        expected={kind: rf"{computer}\{name}".lower() for kind, name in queues.items()},
        observed={kind: name.lower() for kind, name in names.items()},
        case="QualifiedPathname of a public and of a private queue",
    )


@needs("send", "receive")
@covers("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10")
def test_each_of_similar_queues_has_own_journal(sut, judge):
    """Of several queues, transactional or not, with and without quotas, each has its own journal, which stores the
    messages that are received from this queue.
    """
    queues = {
        kind: sut.new_queue("journaled", journaling=True, **properties)
        for kind, properties in PROPERTIES_BY_KIND_OF_JOURNALED_QUEUE.items()
    }
    for kind, name in queues.items():
        transactional = PROPERTIES_BY_KIND_OF_JOURNALED_QUEUE[kind].get("transactional")
        sut.send_here(name, [kind], delivery="transactional" if transactional else "express")
        sut.control.call("receive", queue=name, timeout_ms=0)
    judge(
        "MQDMPR-3.1.7.1.3-09",
        "MQDMPR-3.1.7.1.3-10",
        expected={kind: [kind] for kind in queues},
        observed={kind: sut.labels(f"{name};journal") for kind, name in queues.items()},
        case="labels in the journal of each queue",
    )
    for name in queues.values():
        sut.control.call("purge", queue=f"{name};journal")


@covers("MQDMPR-3.1.7.1.3-D07")
@pytest.mark.parametrize(
    "properties",
    [{"label": "shared"}, {"type": "6d71636f-6e66-4f72-8d00-00000000000d"}],
    ids=["label", "type"],
)
def test_queues_with_same_property_are_listed(sut, judge, properties):
    """Two queues with the same label, or with the same type, are both listed and can both be queried."""
    queues = [sut.new_queue("shared", **properties) for _ in range(2)]
    listed = {one["name"].lower() for one in sut.control.call("list")["queues"]}
    judge(
        "MQDMPR-3.1.7.1.3-D07",
        expected=each(True, "queue is listed"),
        observed={name: name.lower() in listed for name in queues},
    )
    judge(
        "MQDMPR-3.1.7.1.3-D07",
        expected=each(Outcome.DONE, "query"),
        observed={name: sut.attempt("get_queue", name=name) for name in queues},
    )
