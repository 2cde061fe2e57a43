"""Faults in the fields of REMOTEREADDESC when several cursors, reads or queue handles exist, or when a read waits."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

DW_SIZE_OFFSETS = {"RemoteQMStartReceive": (36, 40)}
"""For each method with a REMOTEREADDESC: the offset of dwSize in the answer in NDR and in NDR64."""
DW_SIZE_OFFSETS_OF_REMOTEREADDESC2 = (56, 56)
TOO_GREAT_DW_SIZE = 0x00420001


@fault("server-ignores-h-cursor-of-waiting-read", breaks="MQQP-2.2.2.1-01", blind=True)
class ServerIgnoresHCursorOfWaitingRead(WaitingReads):
    """A read with a nonzero hCursor that has to wait is answered with the first message of the queue, not with the
    message after the cursor.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if queue_desc.RemoteReadState is not RemoteReadState.NONE and timeout_ms != 0:
            cursor = None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("server-ignores-h-cursor-of-second-receive-by-same-cursor", breaks="MQQP-2.2.2.1-01", blind=True)
class ServerIgnoresHCursorOfSecondReceiveBySameCursor(RemoteReads):
    """In a receive by a cursor that was used before, the acceptor ignores hCursor and takes the first message of the
    queue.
    """

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self._record_cursor_use(cursor)
        super().remote_peek(entry, descriptor, cursor, now)

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        used = cursor is not None and self._record_cursor_use(cursor)
        super().remote_receive(entry, descriptor, None if used else cursor, now)

    def _record_cursor_use(self, cursor: Cursor | None) -> bool:
        if cursor is None:
            return False
        uses: set[int] = self.__dict__.setdefault("uses", set())
        was_used = cursor.Handle in uses
        uses.add(cursor.Handle)
        return was_used


@fault("server-read-cancels-equal-dw-request-ids-of-other-handles", breaks="MQQP-2.2.2.1-04", blind=True)
class ServerReadCancelsEqualDwRequestIdsOfOtherHandles(RemoteReadEnding):
    """When a client cancels a read, the acceptor also cancels the reads with the same dwRequestID that wait with other
    queue handles.
    """

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        for entry in list(self.qm.remote.RemoteReadEntryCollection):
            if entry.RequestId == given["dwRequestID"] and entry.OpenQueueDescriptorHandle != given["hQueue"]:
                self.cancel_remote_read(entry, CANCELED_STATUS)
        super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-compares-low-16-bits-of-dw-request-id", breaks="MQQP-2.2.2.1-04", blind=True)
class ServerCancelComparesLow16BitsOfDwRequestId(RemoteReadEnding):
    """The acceptor cancels the first read whose dwRequestID has the given low 16 bits."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for entry in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue):
            if (entry.RequestId ^ request_id) & 0xFFFF == 0:
                return Status.MQ_OK, entry
        return super().find_read_to_cancel(h_queue, request_id)


class _ReadMethodWithWrongDwSize:
    """A method that answers with a wrong dwSize."""

    def __init__(self, method: Any, size: int, qm: QueueManager) -> None:
        self._method = method
        self._size = size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def build_out_parameters(self, values: Any, encoding: Any, arguments: Any) -> bytes:
        stub: bytes = self._method.build_out_parameters(values, encoding, arguments)
        offsets = DW_SIZE_OFFSETS.get(self._method.name, DW_SIZE_OFFSETS_OF_REMOTEREADDESC2)
        at = offsets[encoding.wide]
        size = int.from_bytes(stub[at : at + 4], "little") + self._size
        return stub[:at] + size.to_bytes(4, "little") + stub[at + 4 :]


@fault("server-dw-size-of-peek-is-4-bytes-above-size-of-lp-buffer", breaks="MQQP-2.2.2.1-D02", blind=True)
class ServerDwSizeOfPeekIs4BytesAboveSizeOfLpBuffer(RemoteReads):
    """When the acceptor returns a message for a peek, dwSize is 4 bytes greater than lpBuffer."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.UserMessagePacket is not None and entry.Action not in RECEIVE_ACTIONS:
            call.method = _ReadMethodWithWrongDwSize(call.method, 4, self.qm)  # type: ignore[assignment]
        super().answer_read(call, status, entry)


@fault("server-dw-size-of-timed-out-read-is-0x00420001", breaks="MQQP-2.2.2.1-D02", blind=True)
class ServerDwSizeOfTimedOutReadIs0x00420001(RemoteReads):
    """When a read finds no message in time, the acceptor sets dwSize to 0x00420001."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT:
            call.method = _ReadMethodWithWrongDwSize(call.method, TOO_GREAT_DW_SIZE, self.qm)  # type: ignore[assignment]
        super().answer_read(call, status, entry)
