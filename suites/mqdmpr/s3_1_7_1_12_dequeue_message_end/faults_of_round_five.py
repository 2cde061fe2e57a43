"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


def _was_read_by_cursor(entry: RemoteReadEntry) -> bool:
    second = entry.call.arguments.get("lpRemoteReadDesc2")
    desc = entry.call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
    return bool(desc["hCursor"])


@fault("queue-manager-refused-message-of-cursor-locked", breaks="MQDMPR-3.1.7.1.12-18", blind=True)
class QueueManagerRefusedMessageOfCursorLocked(RemoteReadEnding):
    """The queue manager does not make a message available again that was received by a cursor and whose receive ended
    with RR_NACK.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if (
            not delete_message
            and _was_read_by_cursor(entry)
            and position is not None
            and position.State is MessagePositionState.LOCKED
        ):
            entry.ended = True
            ended(Status.MQ_OK)
        else:
            super().end_remote_read(entry, delete_message, ended)


@fault("queue-manager-end-of-purged-message-already-received-returned", breaks="MQDMPR-3.1.7.1.12-21", blind=True)
class QueueManagerEndOfPurgedMessageAlreadyReceivedReturned(TwoPhaseReading):
    """If the queue was purged while its message was locked, the end of the receive with RR_NACK returns
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        purged = position.State is MessagePositionState.PURGE_PENDING and not delete_message

        def report_end(status: Status) -> None:
            ended(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED if purged and status is Status.MQ_OK else status)

        super().dequeue_message_end(queue_desc, position, delete_message, report_end, transactional)
