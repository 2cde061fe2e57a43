"""MS-MQDMPR 3.1.7.1.13, 3.1.7.3.3: reading by LookupIdentifier."""

from queueing_made import open_, put

from reference_qm.model.enums import MessageSeekAction as Seek
from reference_qm.model.statuses import Status

OK, NOT_FOUND = Status.MQ_OK, (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
EVENT = "read_by_lookup_identifier"


def test_one_that_was_received_while_a_cursor_is_at_it_is_said_to_be(host, reads):
    ids = put(host, "a", "b")
    descriptor = open_(host)
    cursor = host.core.cursors.open(descriptor)
    reads.call("peek", "peek_message", descriptor, cursor=cursor)
    reads.call("receive", "dequeue_message", descriptor)
    already = (Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
    assert reads.call("x", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == already
    assert reads.call("y", EVENT, descriptor, ids[0], Seek.NEXT, peek_operation=True) == (OK, "b")
    host.core.queue_opening.close_cursor(cursor)
    assert reads.call("z", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == NOT_FOUND
