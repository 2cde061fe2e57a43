"""Faults in the answers of RemoteQMCloseQueue: MQQP-3.1.4.4-05, MQQP-3.1.4.4-07, MQQP-3.1.4.4-16, MQQP-3.1.4.4-17."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values, replace_success_by_error
from reference_qm.core.part import QM
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


def _answer_with_null_handle(part: RemoteQueueOpening, call: Call, status: int) -> None:
    part.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=None))


@fault("server-close-queue-null-handle-invalid-parameter", breaks="MQQP-3.1.4.4-05", blind=True)
class ServerCloseQueueNullHandleInvalidParameter(RemoteQueueOpening):
    """RemoteQMCloseQueue with the context handle NULL returns MQ_ERROR_INVALID_PARAMETER."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is None:
            _answer_with_null_handle(self, call, Status.MQ_ERROR_INVALID_PARAMETER)
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-null-handle-mq-ok-while-queue-is-open", breaks="MQQP-3.1.4.4-05", blind=True)
class ServerCloseQueueNullHandleMqOkWhileQueueIsOpen(RemoteQueueOpening):
    """RemoteQMCloseQueue with the context handle NULL returns MQ_OK while a client has a queue open."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is None and list(self.qm.remote.OpenQueueEntryCollection):
            _answer_with_null_handle(self, call, Status.MQ_OK)
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-second-null-handle-accepted", breaks="MQQP-3.1.4.4-05", blind=True)
class ServerCloseQueueSecondNullHandleAccepted(RemoteQueueOpening):
    """The second RemoteQMCloseQueue with the context handle NULL returns MQ_OK."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused = False

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is None and self.refused:
            _answer_with_null_handle(self, call, Status.MQ_OK)
            return
        self.refused = self.refused or call.handle is None
        super().remote_qm_close_queue(call, now)


@fault("server-close-queue-null-handle-closes-last-queue", breaks="MQQP-3.1.4.4-05", blind=True)
class ServerCloseQueueNullHandleClosesLastQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue with the context handle NULL returns MQ_ERROR_INVALID_HANDLE, and closes the queue that was
    opened last.
    """

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        entries = list(self.qm.remote.OpenQueueEntryCollection)
        if call.handle is None and entries:
            descriptor = self.qm.remote_read_starting.find_remote_descriptor(entries[-1].OpenQueueDescriptorHandle)
            if descriptor is not None:
                self.qm.queue_opening.close_queue(descriptor)
        super().remote_qm_close_queue(call, now)


class _CloseAnswerChanger(RemoteQueueOpening):
    """Change the answer of RemoteQMCloseQueue for some entries; a subclass selects which."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        """Return whether the answer for the entry is changed."""
        raise NotImplementedError

    def change_answer(self, call: Call) -> Call:
        """Return the call with a changed answer."""
        raise NotImplementedError

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        concerned = call.handle is not None and self.is_close_answer_changed(call.handle.state)
        super().remote_qm_close_queue(self.change_answer(call) if concerned else call, now)


class _ClosedContextHandleReturner(_CloseAnswerChanger):
    """Return the context handle of RemoteQMCloseQueue unchanged for some entries; a subclass selects which."""

    def change_answer(self, call: Call) -> Call:
        return change_answer_values(call, pphContext=call.handle)


class _CloseQueueErrorReturner(_CloseAnswerChanger):
    """Return MQ_ERROR from RemoteQMCloseQueue for some entries; a subclass selects which."""

    def change_answer(self, call: Call) -> Call:
        return change_answer_values(call, Return=replace_success_by_error)


@fault("server-close-queue-with-waiting-read-returns-handle", breaks="MQQP-3.1.4.4-16", blind=True)
class ServerCloseQueueWithWaitingReadReturnsHandle(_ClosedContextHandleReturner):
    """RemoteQMCloseQueue returns its context handle if a read of the queue waits."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        return bool(self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle))


@fault("server-close-queue-returns-context-handle-if-other-queue-is-open", breaks="MQQP-3.1.4.4-16", blind=True)
class ServerCloseQueueReturnsContextHandleIfOtherQueueIsOpen(_ClosedContextHandleReturner):
    """RemoteQMCloseQueue returns its context handle while another queue is open."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        return len(list(self.qm.remote.OpenQueueEntryCollection)) > 1


@fault("server-close-queue-of-deleted-queue-returns-handle", breaks="MQQP-3.1.4.4-16", blind=True)
class ServerCloseQueueOfDeletedQueueReturnsHandle(_ClosedContextHandleReturner):
    """RemoteQMCloseQueue returns its context handle if the queue was deleted."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        return descriptor is None or descriptor.QueueReference is None


@fault("server-close-queue-with-open-cursor-returns-error", breaks="MQQP-3.1.4.4-17", blind=True)
class ServerCloseQueueWithOpenCursorReturnsError(_CloseQueueErrorReturner):
    """RemoteQMCloseQueue returns MQ_ERROR if the queue has an open cursor."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        return descriptor is not None and bool(descriptor.CursorCollection)


@fault("server-close-queue-while-other-queue-is-open-returns-error", breaks="MQQP-3.1.4.4-17", blind=True)
class ServerCloseQueueWhileOtherQueueIsOpenReturnsError(_CloseQueueErrorReturner):
    """RemoteQMCloseQueue returns MQ_ERROR while another queue is open."""

    def is_close_answer_changed(self, entry: OpenQueueEntry) -> bool:
        return len(list(self.qm.remote.OpenQueueEntryCollection)) > 1


@fault("server-close-queue-keeps-descriptor-open-if-no-read-waits", breaks="MQQP-3.1.4.4-07", blind=True)
class ServerCloseQueueKeepsDescriptorOpenIfNoReadWaits(RemoteQueueOpening):
    """RemoteQMCloseQueue answers with MQ_OK, but keeps the descriptor open for reads if no read of the queue waits."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        if self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
            super().close_open_queue_entry(entry)
