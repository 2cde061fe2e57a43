"""Faults of MS-MQQP 3.1.2 Timers."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.surface.clock import Now


@fault("remote-no-call-timer", breaks=("MQQP-3.1.2-01", "MQDMPR-3.1.2.3-D01"))
class NoCallTimer(RemoteReads):
    """A read with a time-out waits for ever."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout:
            entry.Timeout = INFINITE_MS
        super().remote_receive(entry, descriptor, cursor, now)


@fault("remote-one-call-timer", breaks=("MQQP-3.1.2-02", "MQDMPR-3.1.2.3-01"))
class OneCallTimer(RemoteReads):
    """All calls have the time-out of the first."""

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


@fault("remote-call-timer-doubled", breaks=("MQQP-3.1.2-03", "MQDMPR-3.1.2.3-02"))
class CallTimerDoubled(RemoteReads):
    """A read waits twice its time-out."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        entry.Timeout *= 2
        super().remote_receive(entry, descriptor, cursor, now)
