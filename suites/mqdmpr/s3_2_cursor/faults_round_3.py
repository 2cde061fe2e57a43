"""Faults that break rules of MS-MQDMPR 3.2.7.6 Wait Time Expired."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status


@fault("queue-manager-cursor-of-cancelled-receive-not-moved", breaks="MQDMPR-3.2.7.6-04", blind=True)
class QueueManagerCursorOfCancelledReceiveNotMoved(Waiting):
    """When a pending receive by a cursor is cancelled, the cursor stays where it was."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cursor = reader.CursorReference
        if (
            status is not Status.MQ_ERROR_IO_TIMEOUT
            and cursor is not None
            and cursor.CursorState is CursorState.WAIT_RECEIVE
        ):
            cursor.CursorState = CursorState.UNREAD
        super().stop_reader(reader, status)
