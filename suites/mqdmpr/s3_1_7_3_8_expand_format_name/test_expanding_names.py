"""MS-MQDMPR 3.1.7.3.8 Expand Format Name, 3.1.7.1.5 Open Queue: the copies of a message that the queues of a
multiple-element format name get.
"""

from __future__ import annotations

import pytest

from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.distribution_lists import receive_copies
from suites.mqmq.steps.layout import Layout

FIRST_QUEUE, FIRST_QUEUE_OTHER_CASE, SECOND_QUEUE, THIRD_QUEUE = "mqc-expanded", "MQC-Expanded", "mqc-beside", "mqc-x"
NAMES_OF_ONE_QUEUE = {
    "twice": [FIRST_QUEUE, FIRST_QUEUE],
    "in another case": [FIRST_QUEUE, FIRST_QUEUE_OTHER_CASE],
    "three times": [FIRST_QUEUE_OTHER_CASE, FIRST_QUEUE, FIRST_QUEUE_OTHER_CASE],
}
"""Lists in which all names refer to one queue."""


def _send_copies(peer, sut, queues, count):
    """Let the SUT send a message to a list of queues of the peer; return the arriving packets, or the refusal."""
    names = (
        peer.direct_name(queue).upper() if queue == FIRST_QUEUE_OTHER_CASE else peer.direct_name(queue)
        for queue in queues
    )
    return receive_copies(peer, sut, ",".join(names), count)


def _read_destination(frame):
    """Return the destination queue of a message, and whether the message names several queues."""
    layout = Layout(frame).of("UserHeader.DestinationQueue", "UserHeader.Flags.MQ")
    queue = str(layout["UserHeader.DestinationQueue"]).rstrip("\0").rpartition("\\")[2].lower()
    return {"queue": queue, "message lists several queues": bool(layout["UserHeader.Flags.MQ"])}


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-18",
    "MQDMPR-3.1.7.3.8-20",
    "MQDMPR-3.1.7.3.8-21",
)
@pytest.mark.parametrize("queues", NAMES_OF_ONE_QUEUE.values(), ids=NAMES_OF_ONE_QUEUE)
def test_queue_named_repeatedly_gets_one_copy(peer, sut, judge, queues):
    """A multiple-element format name contains one queue several times, in different letter case, and no other queue:
    the queue gets one message, which lists a single destination.
    """
    copies = _send_copies(peer, sut, queues, 1)
    single = {"queue": FIRST_QUEUE, "message lists several queues": False}
    judge.all(
        expected=[single], observed=[_read_destination(frame) for frame in copies], evidence=copies, case="copies"
    )


@needs("send")
@covers("MQDMPR-3.1.7.3.8-05", "MQDMPR-3.1.7.3.8-06")
@pytest.mark.parametrize("queue", [FIRST_QUEUE, FIRST_QUEUE_OTHER_CASE], ids=["as it is", "in another case"])
def test_queue_named_alone_gets_one_message(peer, sut, judge, queue):
    """A message to a single queue, whose name is in lower or mixed case, arrives there once and lists a single
    destination.
    """
    copies = _send_copies(peer, sut, [queue], 1)
    single = {"queue": FIRST_QUEUE, "message lists several queues": False}
    judge.all(
        expected=[single], observed=[_read_destination(frame) for frame in copies], evidence=copies, case="copies"
    )


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.1.5-24",
    "MQDMPR-3.1.7.1.5-33",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-10",
    "MQDMPR-3.1.7.3.8-24",
)
def test_each_queue_of_multiple_name_gets_one_copy(peer, sut, judge):
    """A format name contains six queues, one of them twice in different case and one twice in the same case: each queue
    gets one copy, which lists several destinations. One of the queues is already open for sending.
    """
    more = ["mqc-c", "mqc-d", "mqc-e"]
    handle = None
    if sut.has("open_to_send"):
        handle = sut.control.call("open_to_send", to=peer.direct_name(SECOND_QUEUE))["handle"]
    named = [FIRST_QUEUE, SECOND_QUEUE, FIRST_QUEUE_OTHER_CASE, *more, SECOND_QUEUE, THIRD_QUEUE]
    queues = [FIRST_QUEUE, SECOND_QUEUE, THIRD_QUEUE, *more]
    copies = _send_copies(peer, sut, named, len(queues))
    if handle is not None:
        sut.attempt("close_queue", handle=handle)
    expected = any_order(*({"queue": queue, "message lists several queues": True} for queue in queues))
    judge.all(
        expected=expected, observed=[_read_destination(frame) for frame in copies], evidence=copies, case="copies"
    )
