"""Faults of MS-MQQP 3.1.4.1, 3.1.4.3, 3.1.4.4, 3.1.4.7 and 3.1.6 that only a repeated use of a handle or cursor
reveals.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.surface.clock import Now


@fault("server-second-peek-next-returns-same-message", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"))
class ServerSecondPeekNextReturnsSameMessage(Cursors):
    """The server leaves a cursor at its message in every second PEEK_NEXT."""

    moves: dict[int, int] = {}  # noqa: RUF012 - a fault keeps its count here

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        count = self.moves[cursor.Handle] = self.moves.get(cursor.Handle, 0) + 1
        if count % 2 == 0:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("server-second-receive-of-handle-deletes-first-message", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerSecondReceiveOfHandleDeletesFirstMessage(RemoteReads):
    """When a handle receives a second message, the server deletes the message of the first receive, which is
    unfinished.
    """

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        earlier = self.__dict__.setdefault("earlier", {})
        position: MessagePosition | None = earlier.get(entry.OpenQueueDescriptorHandle)
        if position is not None and position.State.name == "LOCKED":
            position.QueueReference.MessagePositionList.remove(position)
        super().remote_receive(entry, descriptor, cursor, now)
        earlier[entry.OpenQueueDescriptorHandle] = entry.UserMessagePacket
