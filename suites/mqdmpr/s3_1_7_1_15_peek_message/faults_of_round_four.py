"""Faults that break rules of MS-MQDMPR 3.1.7.1.15 Peek Message, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status


@fault("server-remote-cursor-peek-at-received-message-returns-not-found", breaks="MQDMPR-3.1.7.1.15-16", blind=True)
class ServerRemoteCursorPeekAtReceivedMessageReturnsNotFound(RemoteReads):
    """The server answers a remote peek by a cursor whose message another reader has received with
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        received = status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
        if received and entry.Action is ReadAction.MQ_ACTION_PEEK_CURRENT:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        super().complete_remote_read(entry, status, position)


def _is_peek_by_cursor(reader: WaitingMessageReadOperation) -> bool:
    return not reader.DestructiveRead and reader.CursorReference is not None


@fault("queue-manager-arriving-message-completes-only-one-cursor-peek", breaks="MQDMPR-3.1.7.1.15-26", blind=True)
class QueueManagerArrivingMessageCompletesOnlyOneCursorPeek(WaitingReads):
    """The queue manager passes an arriving message only to the first pending peek by a cursor; the other pending peeks
    by cursors continue to wait.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        vars(self)["has_passed_message"] = False
        super().pass_new_message_to_waiting_readers(position)

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if _is_peek_by_cursor(reader):
            if vars(self).get("has_passed_message"):
                return
            vars(self)["has_passed_message"] = True
        super().pass_message_to_waiting_reader(reader, position)


@fault(
    "queue-manager-pending-peek-by-cursor-after-expired-peek-status-timeout", breaks="MQDMPR-3.1.7.1.15-31", blind=True
)
class QueueManagerPendingPeekByCursorAfterExpiredPeekStatusTimeout(WaitingReads):
    """The queue manager returns MQ_ERROR_IO_TIMEOUT for a pending peek that gets a message if an earlier peek by
    the same cursor has timed out.
    """

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if _is_peek_by_cursor(reader) and status is Status.MQ_ERROR_IO_TIMEOUT:
            vars(self).setdefault("timed_out_cursors", set()).add(reader.CursorReference)
        super().end_wait_without_message(reader, status)

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        timed_out = vars(self).get("timed_out_cursors", ())
        if not _is_peek_by_cursor(reader) or reader.CursorReference not in timed_out:
            super().pass_message_to_waiting_reader(reader, position)
            return
        assert reader.CursorReference is not None
        self._remove_waiting_reader(reader)
        self.qm.queue_cursors.on_message_available(reader.CursorReference, position)
        reader.answered(Status.MQ_ERROR_IO_TIMEOUT, None)
