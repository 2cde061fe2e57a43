"""MS-MQDMPR 3.1.7.1.5 Open Queue: the names by which a computer means itself."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.applications import DONE, REFUSED, computer_names
from suites.mqdmpr.steps.openings import sent


@needs("send", "receive", "queue_control")
@covers("MQDMPR-3.1.7.1.5-59", "MQMQ-2.1.2-D01")
@pytest.mark.parametrize("host", [".", "localhost", "name", "name without domain"])
def test_a_message_by_each_name_of_this_computer_comes_into_its_queue(peer, sut, judge, host):
    """One that is sent by the name of the computer, by that without its domain, or by what every computer calls itself
    is in its queue; it does not stay in an outgoing one.
    """
    names = {"name": computer_names(sut)[0], "name without domain": computer_names(sut)[-1]}
    queue = sut.new_queue("own")
    taken = sent(sut, rf"DIRECT=OS:{names.get(host, host)}\{queue}", label=host)
    peer.eventually(lambda: sut.labels(queue) == [host])
    observed = [taken, sut.labels(queue)]
    judge.all(expected=[DONE, [host]], observed=observed)


@needs("send", "queue_control")
@covers("MQDMPR-3.1.7.1.5-61")
def test_a_queue_that_is_not_there_is_refused_by_the_name_of_this_computer(sut, judge):
    """Whether it has the computer's domain or not."""
    there = sut.new_queue("own")
    for name in computer_names(sut):
        observed = [sent(sut, rf"DIRECT=OS:{name}\{queue}") for queue in (there, f"{there}-not-there")]
        judge("MQDMPR-3.1.7.1.5-61", expected=[DONE, REFUSED], observed=observed)
