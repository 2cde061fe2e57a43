"""Faults that break rules of MS-MQQP 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc import Call
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


class _CallTimerOmitter(RemoteReadStarting):
    def has_no_call_timer(self, call: Call, desc: ReadDescription) -> bool:
        """Return whether the read gets no Call Timer."""
        return False

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout and self.has_no_call_timer(call, desc):
            entry.Timeout = 0xFFFFFFFF
        return entry


@fault("server-call-timer-of-start-receive2-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfStartReceive2NotStarted(_CallTimerOmitter):
    """The server starts no Call Timer for RemoteQMStartReceive2."""

    def has_no_call_timer(self, call: Call, desc: ReadDescription) -> bool:
        return call.method.name == "RemoteQMStartReceive2"


@fault("server-call-timer-of-peek-next-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfPeekNextNotStarted(_CallTimerOmitter):
    """The server starts no Call Timer for a PEEK_NEXT."""

    def has_no_call_timer(self, call: Call, desc: ReadDescription) -> bool:
        return bool(desc["ulAction"] == ReadAction.MQ_ACTION_PEEK_NEXT)


@fault("server-call-timer-of-read-by-cursor-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfReadByCursorNotStarted(_CallTimerOmitter):
    """The server starts no Call Timer for a receive by a cursor."""

    def has_no_call_timer(self, call: Call, desc: ReadDescription) -> bool:
        return bool(desc["hCursor"]) and desc["ulAction"] == 0


@fault("server-call-timer-of-third-waiting-read-not-started", breaks=("MQQP-3.1.2-01", "MQQP-3.1.2-02"))
class ServerCallTimerOfThirdWaitingReadNotStarted(_CallTimerOmitter):
    """The server starts no Call Timer for a read while two reads wait on the same handle."""

    def has_no_call_timer(self, call: Call, desc: ReadDescription) -> bool:
        return len(self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])) > 2


@fault(
    "server-call-timer-stopped-by-other-read-that-ends", breaks=("MQQP-3.1.2-01", "MQQP-3.1.2-02", "MQDMPR-3.1.2.3-01")
)
class ServerCallTimerStoppedByOtherReadThatEnds(WaitingReads):
    """The server stops the Call Timers of all waiting reads of a handle when one of them gets a message."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        for one in reader.descriptor.WaitingMessageReadOperationCollection:
            self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, one.number))
        super().pass_message_to_waiting_reader(reader, position)


@fault("server-waiting-read-uses-ul-timeout-of-first-read", breaks=("MQQP-3.1.2-02", "MQDMPR-3.1.2.3-01"))
class ServerWaitingReadUsesUlTimeoutOfFirstRead(RemoteReads):
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


@fault("server-stops-timers-of-waiting-reads-when-new-read-waits", breaks="MQQP-3.1.2-02", blind=True)
class ServerStopsTimersOfWaitingReadsWhenNewReadWaits(WaitingReads):
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


@fault("server-call-timer-expiry-ends-all-reads-of-handle", breaks="MQQP-3.1.2-02")
class ServerCallTimerExpiryEndsAllReadsOfHandle(WaitingReads):
    """The server ends every waiting read of a handle when the Call Timer of one of them expires."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        descriptor = self.qm.readers[number].descriptor
        super().on_waiting_message_read_timer(number)
        for one in list(descriptor.WaitingMessageReadOperationCollection):
            super().on_waiting_message_read_timer(one.number)


@fault("server-read-timeout-doubled", breaks=("MQQP-3.1.2-03", "MQDMPR-3.1.2.3-02"))
class ServerReadTimeoutDoubled(RemoteReads):
    """The server lets a read wait for twice its ulTimeout."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        entry.Timeout *= 2
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-read-timeout-rounded-to-seconds", breaks=("MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"), blind=True)
class ServerReadTimeoutRoundedToSeconds(WaitingReads):
    """The server rounds ulTimeout down to whole seconds."""

    def wait_for_new_message(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int | None, *arguments: Any, **named: Any
    ) -> None:
        whole = None if timeout_ms is None else timeout_ms // 1000 * 1000
        super().wait_for_new_message(queue_desc, whole, *arguments, **named)


@fault("server-call-timer-limited-to-one-minute", breaks="MQQP-3.1.2-03")
class ServerCallTimerLimitedToOneMinute(RemoteReadStarting):
    """The server ends a waiting read after one minute, even if ulTimeout is greater."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = min(entry.Timeout, 60_000)
        return entry


@fault("server-waits-forever-if-highest-bit-of-ul-timeout-is-set", breaks="MQQP-3.1.2-03")
class ServerWaitsForeverIfHighestBitOfUlTimeoutIsSet(RemoteReadStarting):
    """The server waits without a time limit when the highest bit of ulTimeout is set."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout >> 31:
            entry.Timeout = 0xFFFFFFFF
        return entry
