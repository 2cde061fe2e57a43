"""Faults of MS-MQDMPR 3.2 Cursor, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.surface.clock import Now


@fault("cursor-peek-next-without-wait-stays-read", breaks="MQDMPR-3.2.7.3-15", blind=True)
class CursorPeekNextWithoutWaitStaysRead(Reading):
    """When a peek at the next message with timeout 0 finds no message, CursorState stays Read."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        before = cursor.CursorState
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)
        if timeout_ms == 0 and before is CursorState.READ and cursor.CursorState is CursorState.WAIT_PEEK:
            cursor.CursorState = before
