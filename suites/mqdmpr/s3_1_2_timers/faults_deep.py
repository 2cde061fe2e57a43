"""Faults of MS-MQDMPR 3.1.2 Timers that only special cases show: two reads with different timeouts, and limits of
times.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault, only_if
from reference_qm.core.events import LifetimesChanged
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-waiting-read-restarts-timers-of-other-reads", breaks="MQDMPR-3.1.2.3-01")
class OneTimeoutForAll(Waiting):
    """When a read begins to wait, the timers of all other reads of the same OpenQueueDescriptor restart with the
    timeout of the new read.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        others = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in others:
            if timeout_ms is not None and reader.number in self.qm.readers:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)


@fault("queue-manager-message-of-long-lifetime-removed-at-once", breaks="MQDMPR-3.1.2.4-D01")
class NegativeLifetime(Lifetimes):
    """The queue manager removes at once a message whose TimeToBeReceived has the highest bit set but is not
    0xFFFFFFFF.
    """

    @only_if(lambda part, position: 0x80000000 <= position.MessageReference.TimeToBeReceived < 0xFFFFFFFF)
    def watch_received(self, position: MessagePosition) -> None:
        self.qm.to_be_received.add(position, 0)
        self.qm.post(LifetimesChanged())


@fault("queue-manager-transactional-message-of-lifetime-0-kept", breaks="MQDMPR-3.1.2.4-D02")
class ZeroIsNoLimit(Lifetimes):
    """The queue manager keeps a transactional message with TimeToBeReceived 0 forever."""

    @only_if(
        lambda part, position: (
            not position.MessageReference.TimeToBeReceived
            and position.MessageReference.TransactionIdentifier is not None
        )
    )
    def watch_received(self, position: MessagePosition) -> None:
        return


@fault("queue-manager-timeout-of-read-rounded-up-to-seconds", breaks="MQDMPR-3.1.2.3-02")
class WholeSeconds(Waiting):
    """The queue manager rounds the timeout of a pending read up to a whole number of seconds."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        timeout_ms = None if timeout_ms is None else -(-timeout_ms // 1_000) * 1_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
