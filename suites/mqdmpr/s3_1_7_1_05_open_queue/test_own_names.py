"""MS-MQDMPR 3.1.7.1.5 Open Queue: direct format names with the names of the local computer."""

from __future__ import annotations

import pytest

from harness.expectations import in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import list_computer_names
from suites.mqdmpr.steps import openings


@needs("send", "receive", "queues")
@covers("MQDMPR-3.1.7.1.5-59", "MQMQ-2.1.2-D01")
@pytest.mark.parametrize("host", [".", "localhost", "name", "name without domain"])
def test_send_by_each_name_of_local_computer_is_stored(peer, sut, judge, host):
    """The SUT stores a message in a local queue when the computer in the direct format name is a period, localhost, or
    the computer's name with or without its domain.
    """
    names = {"name": list_computer_names(sut)[0], "name without domain": list_computer_names(sut)[-1]}
    queue = sut.new_queue("own")
    outcome = sut.attempt(sut.send, rf"DIRECT=OS:{names.get(host, host)}\{queue}", label=host)
    peer.eventually(lambda: sut.labels(queue) == [host])
    judge.all(
        expected={"send": Outcome.DONE, "queue": in_queue(host)}, observed={"send": outcome, "queue": sut.labels(queue)}
    )


@needs("send", "queues")
@covers("MQDMPR-3.1.7.1.5-61")
def test_send_to_missing_local_queue_is_refused_by_each_name(sut, judge):
    """For each name and for the IP address of the local computer in a direct format name, the SUT refuses a send to a
    missing queue and accepts a send to an existing queue.
    """
    existing = sut.new_queue("own")
    names = (*list_computer_names(sut), ".", "localhost", "LOCALHOST")
    for name in (f"TCP:{sut.address}", *(f"OS:{name}" for name in names)):
        expected = {existing: Outcome.DONE, f"{existing}-not-there": Outcome.REFUSED}
        observed = {queue: sut.attempt(sut.send, rf"DIRECT={name}\{queue}") for queue in expected}
        judge(
            "MQDMPR-3.1.7.1.5-61",
            expected=expected,
            observed=observed,
            case=f"outcome of the send to each queue of the computer {name}",
        )
        if sut.has("open_to_send"):
            opened = {queue: openings.open_to_send(sut, rf"DIRECT={name}\{queue}") for queue in expected}
            judge(
                "MQDMPR-3.1.7.1.5-61",
                expected=expected,
                observed=opened,
                case=f"outcome of the open of each queue of the computer {name}",
            )
