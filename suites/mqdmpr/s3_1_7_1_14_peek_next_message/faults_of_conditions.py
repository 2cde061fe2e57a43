"""Faults that break the rule MQDMPR-3.1.7.1.14-17 only under certain conditions."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.surface.clock import Now


class _PeekNextTimeoutChanger(MessageReading):
    """Change the timeout of a peek at the next message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change_timeout(self, timeout_ms: int | None, cursor: Cursor) -> int | None:
        """Return the time for which the peek waits."""
        return timeout_ms

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        self.count += 1
        super().peek_next_message(queue_desc, answered, now, cursor, self.change_timeout(timeout_ms, cursor), tag)


@fault("queue-manager-second-peek-next-does-not-wait", breaks="MQDMPR-3.1.7.1.14-17", blind=True)
class QueueManagerSecondPeekNextDoesNotWait(_PeekNextTimeoutChanger):
    """A peek at the next message waits only if no other peek of this kind is pending."""

    def change_timeout(self, timeout_ms: int | None, cursor: Cursor) -> int | None:
        pending = any(reader.CursorReference is not None for reader in self.qm.readers.values())
        return 0 if pending else timeout_ms


@fault("queue-manager-peek-next-waits-for-at-most-a-second", breaks="MQDMPR-3.1.7.1.14-17", blind=True)
class QueueManagerPeekNextWaitsForAtMostASecond(_PeekNextTimeoutChanger):
    """A peek at the next message waits for at most a second."""

    def change_timeout(self, timeout_ms: int | None, cursor: Cursor) -> int | None:
        return 1_000 if timeout_ms is None else min(timeout_ms, 1_000)


@fault("queue-manager-repeated-peek-next-waits-without-limit", breaks="MQDMPR-3.1.7.1.14-17", blind=True)
class QueueManagerRepeatedPeekNextWaitsWithoutLimit(_PeekNextTimeoutChanger):
    """After the first peek at the next message, the queue manager ignores the timeouts of later peeks of this kind."""

    def change_timeout(self, timeout_ms: int | None, cursor: Cursor) -> int | None:
        return None if self.count > 1 and timeout_ms else timeout_ms
