"""MS-MQDMPR 3.1.7.1.13, 3.1.7.3.3: reading by LookupIdentifier."""

from queueing_made import PLAIN, open_, put

from reference_qm.model.enums import MessageSeekAction as Seek
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import ReadByLookupIdentifier

OK, NOT_FOUND = Status.MQ_OK, (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
EVENT = "read_by_lookup_identifier"


def test_lookup_of_a_received_message_under_a_cursor_returns_already_received(host, reads):
    ids = put(host, "a", "b")
    descriptor = open_(host)
    cursor = host.core.queue_cursors.open(descriptor)
    reads.call("peek", "peek_message", descriptor, cursor=cursor)
    reads.call("receive", "dequeue_message", descriptor)
    already = (Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
    assert reads.call("x", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == already
    assert reads.call("y", EVENT, descriptor, ids[0], Seek.NEXT, peek_operation=True) == (OK, "b")
    host.core.queue_opening.close_cursor(cursor)
    assert reads.call("z", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == NOT_FOUND


def test_lookup_command_reads_current_next_and_last_message(host):
    ids = put(host, "a", "b", "c")
    asked = host.ask(ReadByLookupIdentifier(ids[0], "next", peek=True, queue=PLAIN))["message"]
    assert (asked["body"], asked["lookup_id"]) == ("b", ids[1])
    assert host.ask(ReadByLookupIdentifier(seek="last", queue=PLAIN))["message"]["body"] == "c"
    assert "MQ_ERROR_MESSAGE_NOT_FOUND (0xC00E0088)" in host.refusal(ReadByLookupIdentifier(ids[2], queue=PLAIN))
    assert "seek" in host.refusal(ReadByLookupIdentifier(ids[0], "here", queue=PLAIN))
