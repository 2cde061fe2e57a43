"""Faults of MS-MQQP 3.1.4.2 RemoteQMEndReceive that only special cases reveal."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.remote.enums import Ack
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

Ended = Callable[[Status], None]


class _End(RemoteEnding):
    def choose(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        """Return the message whose receive is ended, and whether the message is deleted."""
        assert entry.UserMessagePacket is not None
        return entry.UserMessagePacket, delete_message

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Ended) -> None:
        entry.UserMessagePacket, delete_message = self.choose(entry, delete_message)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-ends-oldest-open-receive-of-queue", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-12"))
class ServerEndReceiveEndsOldestOpenReceiveOfQueue(_End):
    """The server ends the first unfinished receive of the queue, even if the context handle identifies
    another receive.
    """

    def choose(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose(entry, delete_message)
        locked = [one for one in position.QueueReference.MessagePositionList if one.State.name == "LOCKED"]
        return [*locked, position][0], delete


@fault("server-end-receive-rr-nack-ends-all-open-receives", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-06"))
class ServerEndReceiveRrNackEndsAllOpenReceives(RemoteEnding):
    """The server makes the messages of all unfinished receives of the queue available when one of these receives ends
    with RR_NACK.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Ended) -> None:
        position = entry.UserMessagePacket
        if not delete_message and position is not None:
            for one in list(position.QueueReference.MessagePositionList):
                if one is not position:
                    self.qm.positions.unlock_message(one)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-rr-nack-puts-message-at-end", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveRrNackPutsMessageAtEnd(RemoteEnding):
    """The server puts the message of a receive that ends with RR_NACK at the end of its queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Ended) -> None:
        position = entry.UserMessagePacket
        super().end_remote_read(entry, delete_message, ended)
        if position is not None and not delete_message and position.State is MessagePositionState.AVAILABLE:
            self.qm.positions.move_message(position, position.QueueReference)


@fault("server-end-receive-second-rr-nack-removes-message", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveSecondRrNackRemovesMessage(_End):
    """The server removes a message that RR_NACK returns to the queue for the second time."""

    given_back: tuple[MessagePosition, ...] = ()

    def choose(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose(entry, delete_message)
        again = position in self.given_back
        self.given_back += (position,)
        return position, delete or again


@fault("server-end-receive-rr-nack-removes-express-message", breaks=("MQQP-3.1.4.2-06", "MQQP-3.1.4.2-12"))
class ServerEndReceiveRrNackRemovesExpressMessage(_End):
    """The server removes an express message whose receive ends with RR_NACK."""

    def choose(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose(entry, delete_message)
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        return position, delete or express


@fault("server-end-receive-rr-ack-deletion-not-saved", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"))
class ServerEndReceiveRrAckDeletionNotSaved(TwoPhaseReading):
    """The server deletes a received message only in memory, so a recoverable message is in the queue again after a
    restart.
    """

    def end_with_deletion(self, position: MessagePosition, ended: Ended) -> None:
        position.QueueReference.MessagePositionList.remove(position)
        ended(Status.MQ_OK)


@fault("server-end-receive-context-handle-kept-after-rr-nack", breaks="MQQP-3.1.4.2-16")
class ServerEndReceiveContextHandleKeptAfterRrNack(RemoteEnding):
    """After RR_NACK, the server returns the context handle instead of NULL."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None and call.arguments["dwAck"] == Ack.RR_NACK:
            call = change_answer_values(call, pphContext=call.handle)
        super().remote_qm_end_receive(call, now)


@fault("server-end-receive-of-closed-queue-thrown", breaks="MQQP-3.1.4.2-D03")
class ServerEndReceiveOfClosedQueueThrown(RemoteEnding):
    """The server raises an RPC exception when the queue of the receive was closed before RemoteQMEndReceive."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            if self.qm.remote_starting.find_remote_descriptor(handle) is None:
                self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
                return
        super().remote_qm_end_receive(call, now)


@fault("server-end-receive-null-handle-returns-invalid-parameter", breaks="MQQP-3.1.4.2-10")
class ServerEndReceiveNullHandleReturnsInvalidParameter(RemoteEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a RemoteQMEndReceive with the context handle
    NULL and RR_NACK.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is None and call.arguments["dwAck"] == Ack.RR_NACK:
            call = change_answer_values(call, Return=Status.MQ_ERROR_INVALID_PARAMETER)
        super().remote_qm_end_receive(call, now)


@fault("server-end-receive-of-deleted-queue-returns-mq-ok", breaks=("MQQP-3.1.4.2-D01", "MQQP-3.1.4.2-08"))
class ServerEndReceiveOfDeletedQueueReturnsMqOk(RemoteEnding):
    """When the queue of a receive was deleted, RemoteQMEndReceive returns MQ_OK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Ended) -> None:
        super().end_remote_read(entry, delete_message, lambda status: ended(Status.MQ_OK))
