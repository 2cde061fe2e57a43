"""MS-MQDMPR 3.1.1.2 Queue: journals, which are system queues, are not in the directory."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

PROPERTIES_BY_KIND_OF_QUEUE: dict[str, dict[str, Any]] = {
    "without journaling": {},
    "with journaling": {"journaling": True},
    "with a limited journal": {"journaling": True, "journal_quota_kb": 1_000, "label": "journaled"},
    "transactional with journaling": {"journaling": True, "transactional": True},
}


@needs("environment", "queue_control", "directory")
@covers("MQDMPR-3.1.1.2-18")
@pytest.mark.parametrize("kind", PROPERTIES_BY_KIND_OF_QUEUE)
def test_journal_of_public_queue_is_not_in_directory(peer, sut, judge, kind):
    """A public queue is in the directory, but its journal is not: after the creation of the queue, after a message was
    received from the queue, and after its journaling was changed.
    """
    enterprise = Enterprise(peer, sut)
    queue = enterprise.create_queue(**PROPERTIES_BY_KIND_OF_QUEUE[kind])
    journaling = PROPERTIES_BY_KIND_OF_QUEUE[kind].get("journaling", False)
    object_of_queue = enterprise.read_directory_object(queue)
    if not object_of_queue:
        raise ConformanceFailure("the directory contains no object of the public queue")
    published = []

    def look_up_journal(time):
        found = enterprise.read_directory_object(f"{queue};journal")
        if found and found["identifier"] != object_of_queue["identifier"]:  # not the object of the queue itself
            published.append(time)

    look_up_journal("after the creation")
    if sut.has("send") and sut.has("receive"):
        transactional = PROPERTIES_BY_KIND_OF_QUEUE[kind].get("transactional", False)
        sut.send_here(queue, ["journaled"], delivery="transactional" if transactional else "express")
        if sut.read_label("receive", queue=queue) != "journaled":
            raise ConformanceFailure("the message was not received from the public queue")
        look_up_journal("after a receive")
    for changed in (not journaling, journaling):
        sut.control.call("set_queue", name=queue, journaling=changed)
        look_up_journal(f"after journaling was set to {changed}")
    judge.all(expected=none("journal in the directory"), observed=published, case=f"journal of a queue {kind}")
