"""Faults of MS-MQQP 3.1.4.1, 3.1.4.10: from where and how a message is read."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from harness.faults.rpc_calls import throwing
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

# -- what is read from ------------------------------------------------------------------------------------------------


@fault(
    "remote-other-queue-read",
    breaks=(
        "MQQP-3.1.4.10-20",
        "MQQP-3.1.4.11-29",
        "MQQP-3.1.4.1-D11",
        "MQDMPR-3.1.7.1.10-09",
        "MQDMPR-3.1.7.1.15-06",
    ),
)
class OtherQueueRead(RemoteStarting):
    """The first queue that is open is read."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        return None if found is None else next(iter(self.qm.descriptors.values()))


@fault("remote-other-cursor-used", breaks="MQQP-3.1.4.10-21")
class OtherCursorUsed(RemoteStarting):
    """The last cursor is used."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else next(reversed(descriptor.CursorCollection.values()))


# -- how it is read ---------------------------------------------------------------------------------------------------


class _LastRead(RemoteReads):
    def read_last(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None) -> bool:
        """Read the last message that there is, where none is named by a cursor."""
        queue = descriptor.QueueReference
        if cursor is not None or queue is None or not queue.MessagePositionList:
            return False
        self.remote_read_by_lookup(entry, descriptor, LAST_LOOKUP_ID)
        return True

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action in (ReadAction.MQ_ACTION_RECEIVE, ReadAction.MQ_ACTION_PEEK_CURRENT):
            return MessageSeekAction.LAST
        return super().get_lookup_operation(action, lookup_id)


@fault(
    "remote-receive-last",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-31"),
)
class ReceiveLast(_LastRead):
    """A receive takes the last message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last(entry, descriptor, cursor):
            super().remote_receive(entry, descriptor, cursor, now)


@fault(
    "remote-peek-last",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-36"),
)
class PeekLast(_LastRead):
    """A peek reads the last message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last(entry, descriptor, cursor):
            super().remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-peek-moves",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-36"),
)
class PeekMoves(RemoteReads):
    """PEEK_CURRENT moves the cursor."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if cursor is not None:
            self.qm.reading.peek_next_message(descriptor, lambda status, position: None, now, cursor, 0)


@fault(
    "remote-receive-ignores-cursor",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-21"),
)
class ReceiveIgnoresCursor(RemoteReads):
    """A receive takes the first message, wherever the cursor is."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, None, now)


@fault("remote-time-out-ignored", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-D01", "MQQP-2.2.2.1-D01"))
class TimeOutIgnored(RemoteStarting):
    """No read waits."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": 0})


@fault("remote-no-time-out-waits", breaks="MQQP-3.1.4.1-D02")
class NoTimeOutWaits(RemoteStarting):
    """A read without a time-out waits for a minute."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": desc["ulTimeout"] or 60_000})


add(
    "remote-start-throws",
    "MQQP-3.1.4.1-D21",
    "RemoteQMStartReceive throws what it refuses.",
    throwing(RemoteStarting.remote_qm_start_receive),
)
add(
    "remote-start2-throws",
    "MQQP-3.1.4.10-D05",
    "RemoteQMStartReceive2 throws what it refuses.",
    throwing(RemoteStarting.remote_qm_start_receive2),
)


@fault(
    "remote-receive-peeks",
    breaks=("MQQP-3.1.4.1-01", "MQQP-3.1.4.10-31", "MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-D02"),
)
class ReceivePeeks(RemoteReads):
    """A receive leaves the message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-peek-takes",
    breaks=(
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-D03",
    ),
)
class PeekTakes(RemoteReads):
    """A peek takes the message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_receive(entry, descriptor, cursor, now)


@fault(
    "remote-peek-next-stays",
    breaks=(
        "MQQP-3.1.4.10-40",
        "MQQP-3.1.4.1-D05",
        "MQQP-3.1.4.1-D17",
        "MQQP-3.1.4.10-D04",
    ),
)
class PeekNextStays(RemoteReads):
    """PEEK_NEXT stays."""

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-read-not-kept",
    breaks=(
        "MQQP-3.1.4.10-24",
        "MQQP-3.1.4.10-30",
        "MQQP-3.1.1.3-01",
        "MQQP-3.1.4.1-D14",
    ),
)
class ReadNotKept(RemoteStarting):
    """A read that waits is not in the collection."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry


add(
    "remote-read-not-removed",
    (
        "MQQP-3.1.4.10-53",
        "MQQP-3.1.4.11-56",
        "MQQP-3.1.4.1-D18",
    ),
    "A read that is over stays in the collection.",
    skip(RemoteReads.remove_remote_read_entry),
)
