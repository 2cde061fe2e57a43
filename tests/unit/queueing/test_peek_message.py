"""MS-MQDMPR 3.1.7.1.14, 3.1.7.1.15, 3.1.7.1.1, 3.1.7.1.2, 3.2.7: peeking, with and without a cursor."""

import pytest

from reference_qm.model.statuses import Status


@pytest.fixture
def cursor(host, descriptor):
    return host.core.cursors.open(descriptor)


def test_closing_a_cursor_ends_what_waits_with_it_and_nothing_else(host, reads, descriptor, cursor):
    other = host.core.cursors.open(descriptor)
    reads.call("gone", "peek_message", descriptor, cursor=cursor)
    reads.call("stays", "peek_message", descriptor, cursor=other)
    host.core.queue_opening.close_cursor(cursor)
    assert reads.answers == {"gone": (Status.MQ_ERROR_OPERATION_CANCELLED, None)}
    assert descriptor.CursorCollection == {other.Handle: other}
