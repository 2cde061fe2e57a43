"""Faults that break rules of MS-MQQP 3.1.4.1 and 3.1.4.10 about the choice of the message that the server reads, and
the effects of the read.
"""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.rpc_calls import throw_refusals_as_rpc_faults
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, RemoteReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

# -- the source of a read ----------------------------------------------------------------------------------------------


@fault(
    "server-read-uses-first-open-queue",
    breaks=(
        "MQQP-3.1.4.10-20",
        "MQQP-3.1.4.11-29",
        "MQQP-3.1.4.1-D11",
        "MQDMPR-3.1.7.1.10-09",
        "MQDMPR-3.1.7.1.15-06",
    ),
)
class ServerReadUsesFirstOpenQueue(RemoteReadStarting):
    """The server reads the first open queue and ignores hRemoteQueue."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        return None if found is None else next(iter(self.qm.descriptors.values()))


@fault("server-read-uses-last-opened-cursor", breaks="MQQP-3.1.4.10-21")
class ServerReadUsesLastOpenedCursor(RemoteReadStarting):
    """The server reads by the cursor of the queue that was opened last, and ignores hCursor."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else next(reversed(descriptor.CursorCollection.values()))


# -- the manner of reading ---------------------------------------------------------------------------------------------


class _LastMessageReader(RemoteReads):
    def read_last_message(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None) -> bool:
        """Read the last message of the queue, unless the call names a cursor; return whether this method read the
        message.
        """
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
    "server-receive-takes-last-message",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-31"),
)
class ServerReceiveTakesLastMessage(_LastMessageReader):
    """A RECEIVE without a cursor receives the last message of the queue."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last_message(entry, descriptor, cursor):
            super().remote_receive(entry, descriptor, cursor, now)


@fault(
    "server-peek-current-reads-last-message",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-36"),
)
class ServerPeekCurrentReadsLastMessage(_LastMessageReader):
    """A PEEK_CURRENT without a cursor returns the last message of the queue."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last_message(entry, descriptor, cursor):
            super().remote_peek(entry, descriptor, cursor, now)


@fault(
    "server-peek-current-moves-cursor",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-36"),
)
class ServerPeekCurrentMovesCursor(RemoteReads):
    """The server moves the cursor to the next message at a PEEK_CURRENT."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if cursor is not None:
            self.qm.message_reading.peek_next_message(descriptor, lambda status, position: None, now, cursor, 0)


@fault(
    "server-receive-ignores-h-cursor",
    breaks=(
        "MQQP-3.1.4.1-D03",
        "MQQP-3.1.4.1-D15",
        "MQQP-3.1.4.10-D02",
        "MQQP-3.1.4.10-31",
        "MQQP-3.1.4.10-21",
        "MQQP-2.2.2.1-01",
    ),
)
class ServerReceiveIgnoresHCursor(RemoteReads):
    """A RECEIVE by a cursor receives the first message of the queue instead of the message at the cursor."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, None, now)


@fault(
    "server-ignores-ul-timeout-and-ends-reads-at-once",
    breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-D01", "MQQP-2.2.2.1-D01"),
)
class ServerIgnoresUlTimeoutAndEndsReadsAtOnce(RemoteReadStarting):
    """The server ends every read at once, as if ulTimeout were 0."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": 0})


@fault("server-read-with-ul-timeout-0-waits-one-minute", breaks="MQQP-3.1.4.1-D02")
class ServerReadWithUlTimeout0WaitsOneMinute(RemoteReadStarting):
    """The server lets a read with ulTimeout 0 wait for a minute."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": desc["ulTimeout"] or 60_000})


add(
    "server-start-receive-throws-errors",
    "MQQP-3.1.4.1-D21",
    "RemoteQMStartReceive throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteReadStarting.remote_qm_start_receive),
)
add(
    "server-start-receive2-throws-errors",
    "MQQP-3.1.4.10-D05",
    "RemoteQMStartReceive2 throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteReadStarting.remote_qm_start_receive2),
)


@fault(
    "server-receive-does-not-remove-message-from-queue",
    breaks=("MQQP-3.1.4.1-01", "MQQP-3.1.4.10-31", "MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-D02"),
)
class ServerReceiveDoesNotRemoveMessageFromQueue(RemoteReads):
    """A RECEIVE leaves the message in the queue."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "server-peek-current-removes-message-from-queue",
    breaks=(
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-D03",
    ),
)
class ServerPeekCurrentRemovesMessageFromQueue(RemoteReads):
    """A PEEK_CURRENT removes the message from the queue."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_receive(entry, descriptor, cursor, now)


@fault(
    "server-peek-next-does-not-move-cursor",
    breaks=(
        "MQQP-3.1.4.10-40",
        "MQQP-3.1.4.1-D05",
        "MQQP-3.1.4.1-D17",
        "MQQP-3.1.4.10-D04",
    ),
)
class ServerPeekNextDoesNotMoveCursor(RemoteReads):
    """A PEEK_NEXT returns the message at the cursor and does not move the cursor."""

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "server-adds-no-remote-read-entry-for-waiting-read",
    breaks=(
        "MQQP-3.1.4.10-24",
        "MQQP-3.1.4.10-30",
        "MQQP-3.1.1.3-01",
        "MQQP-3.1.4.1-D14",
    ),
)
class ServerAddsNoRemoteReadEntryForWaitingRead(RemoteReadStarting):
    """The server does not keep a waiting read in RemoteReadEntryCollection."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry


add(
    "server-completed-read-kept",
    (
        "MQQP-3.1.4.10-53",
        "MQQP-3.1.4.11-56",
        "MQQP-3.1.4.1-D18",
    ),
    "The server keeps a completed read in RemoteReadEntryCollection.",
    omit_step(RemoteReads.remove_remote_read_entry),
)
