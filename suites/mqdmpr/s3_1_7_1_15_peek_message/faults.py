"""Faults of MS-MQDMPR 3.1.7.1.15 Peek Message."""

from __future__ import annotations

from harness.faults.calls import Given, replace_step_if, with_arguments, with_status
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.statuses import CursorStatus, Status


def _get_last_entry(given: Given) -> Entry | None:
    """Return the last entry of the queue, or None if the queue was deleted."""
    queue = given.queue_desc.QueueReference
    return None if queue is None else queue.MessagePositionList.Tail


def _get_first_open_queue(given: Given) -> OpenQueueDescriptor:
    return next(iter(given.qm.descriptors.values()))


add(
    "peek-by-cursor-returns-last-message",
    ("MQDMPR-3.1.7.1.15-10", "MQDMPR-3.1.7.1.15-12"),
    "A peek by a cursor returns the last message that the cursor could reach.",
    replace_step_if(
        Reading.peek_message,
        lambda given: given.cursor is not None and isinstance(_get_last_entry(given), MessagePosition),
        lambda given: given.answered(Status.MQ_OK, _get_last_entry(given)),
    ),
)
add(
    "peek-reads-first-opened-queue",
    "MQDMPR-3.1.7.1.15-06",
    "A peek without a cursor reads the queue that was opened first.",
    with_arguments(
        Reading.peek_message,
        queue_desc=lambda given: given.queue_desc if given.cursor is not None else _get_first_open_queue(given),
    ),
)
add(
    "successful-peek-returns-status-timeout",
    ("MQDMPR-3.1.7.1.15-13", "MQDMPR-3.1.7.1.15-59"),
    "A peek returns its message with MQ_ERROR_IO_TIMEOUT.",
    with_status(Reading.peek_message, Status.MQ_ERROR_IO_TIMEOUT),
)


@fault("peek-by-cursor-skips-received-message", breaks=("MQDMPR-3.1.7.1.15-15", "MQDMPR-3.1.7.1.15-16"))
class PeekByCursorSkipsReceivedMessage(Cursors):
    """A peek by a cursor whose message another reader has received returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


def _set_missing_timeout(instead_ms: int) -> Install:
    """Build a fault in which the queue manager uses a given timeout for each read without a timeout."""
    return with_arguments(
        Waiting.wait_for_new_message,
        timeout_ms=lambda given: instead_ms if given.timeout_ms is None else given.timeout_ms,
    )


add(
    "read-without-timeout-does-not-wait",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout does not wait.",
    _set_missing_timeout(0),
)
add(
    "read-without-timeout-waits-one-day",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout waits for one day.",
    _set_missing_timeout(86_400_000),
)


@fault(
    "message-search-from-front-skips-first-message",
    breaks=(
        "MQDMPR-3.1.7.1.10-38",
        "MQDMPR-3.1.7.1.15-38",
        "MQDMPR-3.1.7.1.15-58",
        "MQDMPR-3.1.7.3.2-06",
        "MQDMPR-3.1.7.3.2-09",
        "MQDMPR-3.1.7.3.3-10",
        "MQDMPR-3.1.7.3.3-15",
    ),
)
class MessageSearchFromFrontSkipsFirstMessage(Seeking):
    """A search from the front of a queue skips the first message if the queue has further messages."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is not SeekDirection.FORWARD or not isinstance(initial_position, Boundary):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found


add(
    "available-message-completes-no-pending-read",
    (
        "MQDMPR-3.1.7.1.9-23",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.10-30",
        "MQDMPR-3.1.7.1.14-24",
        "MQDMPR-3.1.7.1.14-29",
        "MQDMPR-3.1.7.1.15-26",
        "MQDMPR-3.1.7.1.15-31",
        "MQDMPR-3.1.7.1.15-51",
        "MQDMPR-3.1.7.1.15-52",
        "MQDMPR-3.1.7.1.16-D01",
        "MQDMPR-3.1.7.3.1-18",
        "MQDMPR-3.1.7.3.1-21",
        "MQDMPR-3.1.7.3.1-22",
        "MQDMPR-3.1.7.3.1-23",
    ),
    "A message that becomes available completes no pending read.",
    skip(Waiting.release_readers),
)
