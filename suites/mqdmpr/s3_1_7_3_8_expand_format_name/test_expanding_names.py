"""MS-MQDMPR 3.1.7.3.8 Expand Format Name, and 3.1.7.1.5 Open Queue: the copies for the names of a multiple-element
format name.
"""

from __future__ import annotations

import pytest

from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.distribution_lists import receive_copies
from suites.mqmq.steps.layout import Layout

FIRST, OTHER_CASE, SECOND, THIRD = "mqc-expanded", "MQC-Expanded", "mqc-beside", "mqc-x"
ONE = {
    "twice": [FIRST, FIRST],
    "in another case": [FIRST, OTHER_CASE],
    "three times": [OTHER_CASE, FIRST, OTHER_CASE],
}
"""Lists of names that all are of one queue."""


def _copies(peer, sut, queues, count):
    """Let the SUT send a message to queues of the peer, in one list; return what comes, if it does not refuse."""
    names = (peer.direct_name(queue).upper() if queue == OTHER_CASE else peer.direct_name(queue) for queue in queues)
    return receive_copies(peer, sut, ",".join(names), count)


def _destination(frame):
    """Return the queue that a message is for, and whether the message names several."""
    layout = Layout(frame).of("UserHeader.DestinationQueue", "UserHeader.Flags.MQ")
    queue = str(layout["UserHeader.DestinationQueue"]).rstrip("\0").rpartition("\\")[2].lower()
    return {"queue": queue, "names_several": bool(layout["UserHeader.Flags.MQ"])}


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-18",
    "MQDMPR-3.1.7.3.8-20",
    "MQDMPR-3.1.7.3.8-21",
)
@pytest.mark.parametrize("queues", ONE.values(), ids=ONE)
def test_queue_named_repeatedly_gets_one_copy(peer, sut, judge, queues):
    """A queue that a multiple-element format name has several times, also in different case, gets one message, which
    names a single queue.
    """
    copies = _copies(peer, sut, queues, 1)
    single = {"queue": FIRST, "names_several": False}
    judge.all(expected=[single], observed=[_destination(frame) for frame in copies], evidence=copies)


@needs("send")
@covers("MQDMPR-3.1.7.3.8-05", "MQDMPR-3.1.7.3.8-06")
@pytest.mark.parametrize("queue", [FIRST, OTHER_CASE], ids=["as it is", "in another case"])
def test_queue_named_alone_gets_one_message(peer, sut, judge, queue):
    """A message to a single queue, in lower or mixed case, arrives there once and names a single queue."""
    copies = _copies(peer, sut, [queue], 1)
    single = {"queue": FIRST, "names_several": False}
    judge.all(expected=[single], observed=[_destination(frame) for frame in copies], evidence=copies)


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-24",
    "MQDMPR-3.1.7.1.5-33",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-10",
    "MQDMPR-3.1.7.3.8-24",
)
def test_each_queue_of_multiple_name_gets_one_copy(peer, sut, judge):
    """Of a name with three queues, one of them twice in different case, each queue gets one copy that names several
    queues.
    """
    copies = _copies(peer, sut, [FIRST, SECOND, OTHER_CASE, THIRD], 3)
    expected = any_order(*({"queue": queue, "names_several": True} for queue in (FIRST, SECOND, THIRD)))
    judge.all(expected=expected, observed=[_destination(frame) for frame in copies], evidence=copies)
