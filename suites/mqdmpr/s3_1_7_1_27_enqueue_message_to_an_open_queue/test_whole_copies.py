"""MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue: the properties of copies, and copies in transactions."""

from __future__ import annotations

import pytest

from harness.expectations import each, in_queue, none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("send", "queue_control", "receive", "several_queues")


@covers("MQDMPR-3.1.7.1.27-12", "MQDMPR-3.1.7.3.8-18")
def test_each_queue_of_a_name_gets_one_whole_copy(peer, sut, judge):
    """An application sends a message in which every property differs from its default to three queues; the name of the
    first queue is listed three times, in different letter case. Each queue has one copy with all properties.
    """
    applications = [Application(peer, sut) for _ in range(3)]
    packets = applications[0].fill_queue("of the peer", PR=0)
    first, second, third = (sut.direct_name(one.queue) for one in applications)
    fields = {
        "label": "copy",
        "body": "the whole body",
        "body_type": 8,
        "application_tag": 0x8000_0001,
        "priority": 6,
        "delivery": "recoverable",
        "time_to_reach_queue_s": 3_601,
        "time_to_be_received_s": 7_201,
        "acks": ["negative_arrival", "negative_receive"],
        "admin_queue": peer.direct_name("mqc-acks"),
        "response_queue": peer.direct_name("mqc-responses"),
        "journal": ["negative"],
    }
    outcome = sut.attempt(sut.send, ",".join((first, second, first, third, first.swapcase())), **fields)
    peer.eventually(lambda: all("copy" in one.labels() for one in applications))
    judge(
        "MQDMPR-3.1.7.3.8-18",
        expected={
            "send": Outcome.DONE,
            "queues": [in_queue("copy", "of the peer"), in_queue("copy"), in_queue("copy")],
        },
        observed={"send": outcome, "queues": [one.labels() for one in applications]},
        evidence=packets,
    )
    copies = [message for one in applications for message in one.messages() if message["label"] == "copy"]
    shown = {name for copy in copies for name in copy}
    changed = [
        f"copy {number}: {name}"
        for number, copy in enumerate(copies, start=1)
        for name, value in fields.items()
        if name in shown and _normalize_property_value(copy.get(name)) != _normalize_property_value(value)
    ]
    judge(
        "MQDMPR-3.1.7.1.27-12",
        expected={"number of copies": 3, "properties": none("changed property")},
        observed={"number of copies": len(copies), "properties": changed},
        evidence=packets,
    )


def _normalize_property_value(value):
    """Return a value in a form in which two values can be compared: lists are sorted, and format names are in lower
    case.
    """
    if isinstance(value, list):
        return sorted(value)
    return value.lower() if isinstance(value, str) else value


@needs("transactions")
@covers("MQDMPR-3.1.7.1.27-14", "MQDMPR-3.1.7.1.27-19")
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_copies_of_transaction_are_stored_at_its_end(peer, sut, judge, end):
    """An application sends two messages to three transactional queues in a transaction: the queues stay empty until the
    transaction ends. After a commit, each queue has both messages; after an abort, no queue has a message.
    """
    queues = [sut.new_queue("copies", transactional=True) for _ in range(3)]
    to = ",".join(sut.direct_name(queue) for queue in queues)
    transaction = sut.control.call("begin")["transaction"]
    outcomes = [sut.attempt(sut.send, to, label=label, transaction=transaction) for label in "ab"]
    early = [sut.labels(queue) for queue in queues]
    sut.control.call(end, transaction=transaction)
    peer.settle()
    judge.all(
        expected={
            "sends": [Outcome.DONE] * 2,
            "queues before the end": each(in_queue()),
            "queues after the end": each(in_queue(*"ab") if end == "commit" else in_queue()),
        },
        observed={
            "sends": outcomes,
            "queues before the end": early,
            "queues after the end": [sut.labels(queue) for queue in queues],
        },
    )
