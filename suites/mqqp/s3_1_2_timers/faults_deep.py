"""Faults of MS-MQQP 3.1.2 in the Call Timer, which only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc import Call


class _Timeout(RemoteStarting):
    def is_wrong(self, call: Call, desc: Desc) -> bool:
        """Return whether the read gets no Call Timer."""
        return False

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout and self.is_wrong(call, desc):
            entry.Timeout = 0xFFFFFFFF
        return entry


@fault("server-call-timer-of-start-receive2-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfStartReceive2NotStarted(_Timeout):
    """The server starts no Call Timer for RemoteQMStartReceive2."""

    def is_wrong(self, call: Call, desc: Desc) -> bool:
        return call.method.name == "RemoteQMStartReceive2"


@fault("server-call-timer-of-peek-next-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfPeekNextNotStarted(_Timeout):
    """The server starts no Call Timer for a PEEK_NEXT."""

    def is_wrong(self, call: Call, desc: Desc) -> bool:
        return bool(desc["ulAction"] == ReadAction.MQ_ACTION_PEEK_NEXT)


@fault("server-call-timer-of-read-by-cursor-not-started", breaks="MQQP-3.1.2-01")
class ServerCallTimerOfReadByCursorNotStarted(_Timeout):
    """The server starts no Call Timer for a receive by a cursor."""

    def is_wrong(self, call: Call, desc: Desc) -> bool:
        return bool(desc["hCursor"]) and desc["ulAction"] == 0


@fault("server-call-timer-of-third-waiting-read-not-started", breaks=("MQQP-3.1.2-01", "MQQP-3.1.2-02"))
class ServerCallTimerOfThirdWaitingReadNotStarted(_Timeout):
    """The server starts no Call Timer for a read while two reads wait on the same handle."""

    def is_wrong(self, call: Call, desc: Desc) -> bool:
        return len(self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])) > 2


@fault("server-call-timer-expiry-ends-all-reads-of-handle", breaks="MQQP-3.1.2-02")
class ServerCallTimerExpiryEndsAllReadsOfHandle(Waiting):
    """The server ends every waiting read of a handle when the Call Timer of one of them expires."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        descriptor = self.qm.readers[number].descriptor
        super().on_waiting_message_read_timer(number)
        for one in list(descriptor.WaitingMessageReadOperationCollection):
            super().on_waiting_message_read_timer(one.number)


@fault("server-call-timer-stopped-by-other-read-that-ends", breaks=("MQQP-3.1.2-01", "MQQP-3.1.2-02"))
class ServerCallTimerStoppedByOtherReadThatEnds(Waiting):
    """The server stops the Call Timers of all waiting reads of a handle when one of them gets a message."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        for one in reader.descriptor.WaitingMessageReadOperationCollection:
            self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, one.number))
        super().satisfy_reader(reader, position)


@fault("server-call-timer-limited-to-one-minute", breaks="MQQP-3.1.2-03")
class ServerCallTimerLimitedToOneMinute(RemoteStarting):
    """The server ends a waiting read after one minute, even if ulTimeout is greater."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = min(entry.Timeout, 60_000)
        return entry


@fault("server-call-timer-of-timeout-above-31-bits-infinite", breaks="MQQP-3.1.2-03")
class ServerCallTimerOfTimeoutAbove31BitsInfinite(RemoteStarting):
    """The server waits without a time limit when the highest bit of ulTimeout is set."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout >> 31:
            entry.Timeout = 0xFFFFFFFF
        return entry
