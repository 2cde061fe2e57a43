"""MS-MQDMPR 3.1.7.1.5 Open Queue: the names by which a computer means itself."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import list_computer_names


@needs("send", "receive", "queue_control")
@covers("MQDMPR-3.1.7.1.5-59", "MQMQ-2.1.2-D01")
@pytest.mark.parametrize("host", [".", "localhost", "name", "name without domain"])
def test_a_message_by_each_name_of_this_computer_comes_into_its_queue(peer, sut, judge, host):
    """A message for a queue of this computer comes into it by each name of the computer: its own, that without its
    domain, and those by which every computer calls itself.
    """
    names = {"name": list_computer_names(sut)[0], "name without domain": list_computer_names(sut)[-1]}
    queue = sut.new_queue("own")
    taken = sut.attempt(sut.send, rf"DIRECT=OS:{names.get(host, host)}\{queue}", label=host)
    peer.eventually(lambda: sut.labels(queue) == [host])
    judge.all(expected={"send": Outcome.DONE, "queue": [host]}, observed={"send": taken, "queue": sut.labels(queue)})


@needs("send", "queue_control")
@covers("MQDMPR-3.1.7.1.5-61")
def test_a_queue_that_is_not_there_is_refused_by_the_name_of_this_computer(sut, judge):
    """A queue manager refuses a message for a queue that it does not have by the name of its own computer."""
    there = sut.new_queue("own")
    for name in list_computer_names(sut):
        expected = {there: Outcome.DONE, f"{there}-not-there": Outcome.REFUSED}
        observed = {queue: sut.attempt(sut.send, rf"DIRECT=OS:{name}\{queue}") for queue in expected}
        judge("MQDMPR-3.1.7.1.5-61", expected=expected, observed=observed, case=name)
