"""Faults of MS-MQQP 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("server-read-timeout-never-expires", breaks=("MQQP-3.1.2-01", "MQDMPR-3.1.2.3-D01"))
class ServerReadTimeoutNeverExpires(RemoteReads):
    """The server lets a read with a timeout wait forever."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout:
            entry.Timeout = INFINITE_MS
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-read-uses-timeout-of-first-read", breaks=("MQQP-3.1.2-02", "MQDMPR-3.1.2.3-01"))
class ServerReadUsesTimeoutOfFirstRead(RemoteReads):
    """The server uses the timeout of the first read for every waiting read."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first_ms = 0

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout:
            self._first_ms = self._first_ms or entry.Timeout
            entry.Timeout = self._first_ms
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-read-timeout-doubled", breaks=("MQQP-3.1.2-03", "MQDMPR-3.1.2.3-02"))
class ServerReadTimeoutDoubled(RemoteReads):
    """The server lets a read wait for twice its ulTimeout."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        entry.Timeout *= 2
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-new-wait-stops-other-timers", breaks="MQQP-3.1.2-02", blind=True)
class ServerNewWaitStopsOtherTimers(Waiting):
    """The server stops the timers of all waiting reads when a new read begins to wait."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Any,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Any = None,
    ) -> None:
        if timeout_ms:
            for number in self.qm.readers:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, number))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("server-read-timeout-rounded-to-seconds", breaks=("MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"), blind=True)
class ServerReadTimeoutRoundedToSeconds(Waiting):
    """The server rounds ulTimeout down to whole seconds."""

    def wait_for_new_message(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int | None, *arguments: Any, **named: Any
    ) -> None:
        whole = None if timeout_ms is None else timeout_ms // 1000 * 1000
        super().wait_for_new_message(queue_desc, whole, *arguments, **named)
