"""MS-MQMQ 2.1.7 Multiple-Element Format Names: lists of names while the directory is unavailable."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.run.marks import covers, needs, sut_survives
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise

DELIVERY_BY_TRANSACTIONAL_FLAG = {False: "express", True: "transactional"}


@sut_survives()
@needs("send", "queue_control", "receive", "several_queues", "private_names", "directory", "environment")
@covers("MQMQ-2.1.7-D02")
def test_lists_of_own_queues_are_resolved_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT sends express and transactional messages to lists of private and
    direct names of its own queues. Each queue of a list has its copy. A list that also has a distribution list is
    refused.
    """
    enterprise = Enterprise(peer, sut)
    queues = {
        transactional: [sut.new_queue(one, transactional=transactional) for one in ("first", "second", "third")]
        for transactional in DELIVERY_BY_TRANSACTIONAL_FLAG
    }
    lists = {
        transactional: [
            *(sut.private_format_name(one) for one in names[:2]),
            rf"DIRECT=TCP:{sut.address}\{names[2]}",
        ]
        for transactional, names in queues.items()
    }
    enterprise.go_offline()
    for transactional, delivery in DELIVERY_BY_TRANSACTIONAL_FLAG.items():
        to = ",".join(lists[transactional])
        sent = sut.attempt(sut.send, to, label=delivery, delivery=delivery)
        unknown = sut.attempt(sut.send, f"{to},DL={enterprise.peer.identifier}", label="refused", delivery=delivery)
        names = queues[transactional]
        peer.eventually(lambda names=names: all(sut.labels(one) for one in names))
        judge(
            "MQMQ-2.1.7-D02",
            expected=facts(
                send_to_names=Outcome.DONE,
                send_to_names_and_distribution_list=Outcome.REFUSED,
                labels_in_the_queues=each([delivery]),
            ),
            observed={
                "send_to_names": sent,
                "send_to_names_and_distribution_list": unknown,
                "labels_in_the_queues": [sut.labels(name) for name in names],
            },
            case=f"{delivery} message to a list of names",
        )
