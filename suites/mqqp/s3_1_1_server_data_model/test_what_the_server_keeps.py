"""MS-MQQP 3.1.1.5 OpenQueueEntryCollection."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.run.marks import covers, needs

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


@covers("MQQP-3.1.1.5-01", "MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03", "MQQP-3.1.4.3-19")
def test_closing_one_of_three_open_queues_leaves_two_readable(remote, judge):
    """Two clients open a queue three times in total. One client purges the queue through one of the handles; through
    the same handle, reads fail, expire and are cancelled, a receive is ended, and a cursor is closed. Then a message
    arrives: peeks through each handle return the message. Then one handle is closed: a peek through the closed handle
    is refused, and peeks through the other two handles succeed.
    """
    queue = remote.open_with_messages("purged")
    second = remote.open(association=queue.association)
    third = remote.open()
    read = second.start_receive()
    if read.outcome == "MQ_OK":
        second.acknowledge(read)
    second.purge()
    number = remote.request_id()
    cursor = second.open_cursor()
    waiting = second.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    for fields in ({}, {"ulTimeout": 1}, {"hCursor": second.UNKNOWN_HANDLE}, {"dwRequestID": number}):
        second.start_receive(**fields)
    second.cancel(number)
    waiting.wait()
    second.close_cursor(cursor)
    remote.deliver(["first"])
    every = [one.peek().label_or_outcome for one in (queue, second, third)]
    evidence = [frame for one in (queue, second, third) for frame in one.session.evidence]
    judge("MQQP-3.1.1.5-03", "MQQP-3.1.4.3-19", expected=each("first", "read"), observed=every, evidence=evidence)
    judge.conclude("MQQP-3.1.1.5-03")
    closed = second.close()
    after = [one.peek().label_or_outcome for one in (queue, second, third)]
    expected = ["first", "MQ_ERROR_INVALID_PARAMETER", "first"]
    evidence += closed.evidence
    of_it = {"read_of_the_open_queue": every[1], "read_of_the_closed_queue": after[1]}
    judge(
        "MQQP-3.1.1.5-01",
        expected=facts(read_of_the_open_queue="first", read_of_the_closed_queue=expected[1]),
        observed=of_it,
        evidence=evidence,
    )
    judge("MQQP-3.1.1.5-02", expected=expected, observed=after, evidence=evidence, case="reads of the three queues")
