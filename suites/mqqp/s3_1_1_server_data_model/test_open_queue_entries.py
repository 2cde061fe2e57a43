"""MS-MQQP 3.1.1.5 OpenQueueEntryCollection."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import each, facts
from harness.run.marks import covers, needs

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
OTHER_CLIENT_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d2")
"""The pLicGuid of a client that is not the peer."""


@covers("MQQP-3.1.1.5-01", "MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03", "MQQP-3.1.4.3-19")
def test_closing_one_of_four_open_queues_leaves_three_readable(remote, judge):
    """Two clients with different identifiers open a queue four times in total. One client purges the queue through one
    of its handles. Through the same handle, reads fail, expire and are cancelled, a receive is ended, and a cursor is
    closed. Then a message arrives, and peeks through all four handles return it. When one handle is closed, a peek
    through it is refused, and peeks through the other three succeed.
    """
    queue = remote.open_with_messages("purged")
    second = remote.open(association=queue.association)
    others = [remote.open(client=OTHER_CLIENT_GUID), remote.open()]
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
    every = [one.peek().label_or_outcome for one in (queue, second, *others)]
    evidence = [frame for one in (queue, second, *others) for frame in one.session.evidence]
    judge("MQQP-3.1.1.5-03", "MQQP-3.1.4.3-19", expected=each("first", "read"), observed=every, evidence=evidence)
    judge.conclude("MQQP-3.1.1.5-03")
    closed = second.close()
    after = [one.peek().label_or_outcome for one in (queue, second, *others)]
    expected = ["first", "MQ_ERROR_INVALID_PARAMETER", "first", "first"]
    evidence += closed.evidence
    of_it = {"read_of_the_open_queue": every[1], "read_of_the_closed_queue": after[1]}
    judge(
        "MQQP-3.1.1.5-01",
        expected=facts(read_of_the_open_queue="first", read_of_the_closed_queue=expected[1]),
        observed=of_it,
        evidence=evidence,
    )
    judge("MQQP-3.1.1.5-02", expected=expected, observed=after, evidence=evidence, case="reads of the four queues")
