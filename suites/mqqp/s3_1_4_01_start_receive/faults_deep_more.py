"""Faults of MS-MQQP 3.1.4.1, 3.1.4.3, 3.1.4.4, 3.1.4.7 and 3.1.6: violations that show after an earlier use."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-second-peek-next-returns-same-message", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"))
class SecondPeekNextStays(Cursors):
    """The server does not move a cursor in each second PEEK_NEXT."""

    moves: dict[int, int] = {}  # noqa: RUF012 - a fault keeps its count here

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        count = self.moves[cursor.Handle] = self.moves.get(cursor.Handle, 0) + 1
        if count % 2 == 0:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("server-purge-after-earlier-purge-does-nothing", breaks="MQQP-3.1.4.7-D01")
class SecondPurgeIgnored(RemoteOpening):
    """The server carries out only the first purge of a queue handle, and returns MQ_OK for later ones."""

    purged: frozenset[int] = frozenset()

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if call.arguments["hQueue"] in self.purged:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
            return
        self.purged |= {call.arguments["hQueue"]}
        super().purge_remote_queue(call, queue)


@fault("server-messages-after-purge-refused", breaks=("MQQP-3.1.4.7-10", "MQQP-3.1.4.7-D01"))
class LaterMessagesRefused(RemoteOpening):
    """The server refuses every message that arrives after a purge."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        queue.Quota = 0


@fault("server-read-through-handle-of-closed-first-opening", breaks="MQQP-3.1.4.4-07")
class ClosedHandleReadable(RemoteStarting):
    """The server reads through a closed handle as long as another handle of the queue is open."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        known = self.__dict__.setdefault("known", {})
        if found is not None:
            known[handle] = found
            return found
        closed = known.get(handle)
        if closed is None or closed.QueueReference is None:
            return None
        return closed if closed.QueueReference.OpenQueueDescriptorCollection else None

    def check_open_queue(self, desc: Desc) -> Status:
        if self.find_remote_descriptor(desc["hRemoteQueue"]) is not None:
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-second-receive-of-handle-deletes-first-message", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class SecondReceiveEndsFirst(RemoteReads):
    """The server deletes the message of an open receive when the same handle receives another message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        earlier = self.__dict__.setdefault("earlier", {})
        position: MessagePosition | None = earlier.get(entry.OpenQueueDescriptorHandle)
        if position is not None and position.State.name == "LOCKED":
            position.QueueReference.MessagePositionList.remove(position)
        super().remote_receive(entry, descriptor, cursor, now)
        earlier[entry.OpenQueueDescriptorHandle] = entry.UserMessagePacket


@fault("server-rundown-of-second-lost-connection-keeps-message", breaks=("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"))
class SecondLossKeepsMessage(RemoteEnding):
    """The server returns the messages of open receives to the queue only for the first connection that is lost."""

    calls: frozenset[object] = frozenset()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        self.calls |= {entry.call.association}
        if len(self.calls) < 2:
            super().run_down_remote_read(entry)


@fault("server-open-queue-after-close-refused", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.4.4-01"))
class ReopenRefused(RemoteOpening):
    """The server refuses the reads of a queue that was closed for remote reading before, also through a new handle."""

    closed: tuple[Queue, ...] = ()

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            self.closed += (descriptor.QueueReference,)
        super().close_open_queue_entry(entry)

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference in self.closed:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
