"""Faults that break rules of MS-MQQP 3.1.4.2 RemoteQMEndReceive (Opnum 1)."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    call_on_unbound_context,
    change_answer_values,
    change_qm2qm_request_stub,
    replace_success_by_error,
    throw_refusals_as_rpc_faults,
)
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-end-receive-ack-leaves-message", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07", "MQDMPR-3.1.1-07"))
class ServerEndReceiveAckLeavesMessage(RemoteReadEnding):
    """RemoteQMEndReceive with RR_ACK leaves the message in the queue."""

    def is_message_delivered(self, ack: int) -> bool:
        return False


EndReceiveCallback = Callable[[Status], None]


@fault("server-end-receive-rr-ack-deletion-not-saved", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"))
class ServerEndReceiveRrAckDeletionNotSaved(TwoPhaseReading):
    """The server deletes a received message only in memory, so a recoverable message is in the queue again after a
    restart.
    """

    def end_with_deletion(self, position: MessagePosition, ended: EndReceiveCallback) -> None:
        position.QueueReference.MessagePositionList.remove(position)
        ended(Status.MQ_OK)


@fault("client-calls-end-receive-before-start-receive", breaks="MQQP-3.1.4.2-04")
class ClientCallsEndReceiveBeforeStartReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive before it calls the method that starts the receive."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        assert read.entry is not None
        yield from self.call_end_receive(read.entry, RemoteReadAck.RR_ACK)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        assert read.entry is not None
        yield from self.call_end_receive(read.entry, RemoteReadAck.RR_ACK)
        return (yield from super().start_receive2(read))


add(
    "client-end-receive-on-unknown-context",
    "MQQP-3.1.4.2-05",
    "The client calls RemoteQMEndReceive on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMEndReceive"),
)


@fault("server-end-receive-nack-removes-message", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveNackRemovesMessage(RemoteReadEnding):
    """RemoteQMEndReceive with RR_NACK removes the message."""

    def is_message_delivered(self, ack: int) -> bool:
        return True


@fault("server-nacked-message-moved-to-end", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackedMessageMovedToEnd(RemoteReadEnding):
    """RemoteQMEndReceive with RR_NACK puts the message at the end of its queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position is not None and position.State is MessagePositionState.AVAILABLE:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.AVAILABLE
            positions.insert(position)


add(
    "server-message-after-rr-nack-not-given-to-waiting-read",
    "MQQP-3.1.4.2-06",
    "After RR_NACK the server does not deliver the message to a read that is already waiting.",
    omit_step_during(RemoteReadEnding.end_remote_read, WaitingReads.pass_new_message_to_waiting_readers),
    blind=True,
)


@fault("server-end-receive-rr-nack-ends-all-open-receives", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-06"))
class ServerEndReceiveRrNackEndsAllOpenReceives(RemoteReadEnding):
    """The server makes the messages of all unfinished receives of the queue available when one of these receives ends
    with RR_NACK.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        if not delete_message and position is not None:
            for one in list(position.QueueReference.MessagePositionList):
                if one is not position:
                    self.qm.message_positions.unlock_message(one)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-rr-nack-puts-message-at-end", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveRrNackPutsMessageAtEnd(RemoteReadEnding):
    """The server puts the message of a receive that ends with RR_NACK at the end of its queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        super().end_remote_read(entry, delete_message, ended)
        if position is not None and not delete_message and position.State is MessagePositionState.AVAILABLE:
            self.qm.message_positions.move_message(position, position.QueueReference)


class _EndReceiveChanger(RemoteReadEnding):
    def choose_ended_message(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        """Return the message whose receive is ended, and whether the message is deleted."""
        assert entry.UserMessagePacket is not None
        return entry.UserMessagePacket, delete_message

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        entry.UserMessagePacket, delete_message = self.choose_ended_message(entry, delete_message)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-second-rr-nack-removes-message", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveSecondRrNackRemovesMessage(_EndReceiveChanger):
    """The server removes a message that RR_NACK returns to the queue for the second time."""

    returned_messages: tuple[MessagePosition, ...] = ()

    def choose_ended_message(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose_ended_message(entry, delete_message)
        again = position in self.returned_messages
        self.returned_messages += (position,)
        return position, delete or again


@fault("server-end-receive-rr-nack-removes-express-message", breaks=("MQQP-3.1.4.2-06", "MQQP-3.1.4.2-12"))
class ServerEndReceiveRrNackRemovesExpressMessage(_EndReceiveChanger):
    """The server removes an express message whose receive ends with RR_NACK."""

    def choose_ended_message(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose_ended_message(entry, delete_message)
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        return position, delete or express


@fault("server-rr-nack-deletes-transactional-message", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerRrNackDeletesTransactionalMessage(RemoteReadEnding):
    """The server removes a transactional message whose receive ends with RR_NACK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None and position.MessageReference.TransactionIdentifier is not None:
            delete_message = True
        super().end_remote_read(entry, delete_message, ended)


@fault("server-nacked-message-gone-after-restart", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackedMessageGoneAfterRestart(RemoteReadEnding):
    """A recoverable message whose receive ended with RR_NACK is lost at the next restart of the server."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position is not None and position.key:
            self.qm.disk.save(build_removal_change([position]))


@fault("server-message-nacked-twice-completes-no-read", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerMessageNackedTwiceCompletesNoRead(MessagePositions):
    """When RR_NACK returns a message to its queue for the second time, the message completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        nacked = self.__dict__.setdefault("nacked", set())
        if id(position) in nacked and position.State is MessagePositionState.LOCKED:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
        else:
            super().unlock_message(position)
        nacked.add(id(position))


@fault("server-rr-ack-of-second-receive-leaves-express-message", breaks="MQQP-3.1.4.2-07", blind=True)
class ServerRrAckOfSecondReceiveLeavesExpressMessage(RemoteReadEnding):
    """When a client ends a receive with RR_ACK, the server leaves an express message in its queue if an earlier receive
    by the same queue handle has ended.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        acked = self.__dict__.setdefault("acked", set())
        position = entry.UserMessagePacket
        assert position is not None
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if delete_message and express and entry.OpenQueueDescriptorHandle in acked:
            delete_message = False
        acked.add(entry.OpenQueueDescriptorHandle)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-ack-of-lookup-receive-leaves-message", breaks=("MQQP-3.1.4.2-07", "MQQP-3.1.4.2-12"), blind=True)
class ServerAckOfLookupReceiveLeavesMessage(RemoteReadEnding):
    """When a receive by LookupIdentifier ends with RR_ACK, the server leaves the message in the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        if "ByLookupId" in entry.call.method.name:
            delete_message = False
        super().end_remote_read(entry, delete_message, ended)


@fault(
    "server-successful-end-receive-returns-error",
    breaks=(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
    ),
)
class ServerSuccessfulEndReceiveReturnsError(RemoteReadEnding):
    """RemoteQMEndReceive returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, Return=replace_success_by_error), now)


@fault("server-end-receive-of-deleted-queue-returns-mq-ok", breaks=("MQQP-3.1.4.2-D01", "MQQP-3.1.4.2-08"))
class ServerEndReceiveOfDeletedQueueReturnsMqOk(RemoteReadEnding):
    """When the queue of a receive was deleted, RemoteQMEndReceive returns MQ_OK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        super().end_remote_read(entry, delete_message, lambda status: ended(Status.MQ_OK))


@fault("server-end-receive-of-purged-message-fails", breaks=("MQQP-3.1.4.2-08", "MQQP-3.1.4.2-D01"), blind=True)
class ServerEndReceiveOfPurgedMessageFails(RemoteReadEnding):
    """When the message of a receive was purged in the meantime, RemoteQMEndReceive returns a failure."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        purged = position is not None and position.State is MessagePositionState.PURGE_PENDING
        super().end_remote_read(
            entry, delete_message, lambda status: ended(Status.MQ_ERROR_MESSAGE_NOT_FOUND if purged else status)
        )


@fault(
    "server-end-receive-null-handle-accepted",
    breaks="MQQP-3.1.4.2-10",
)
class ServerEndReceiveNullHandleAccepted(RemoteReadEnding):
    """RemoteQMEndReceive with the context handle NULL returns MQ_OK."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, Return=Status.MQ_OK), now)


@fault("server-end-receive-null-handle-returns-invalid-parameter", breaks="MQQP-3.1.4.2-10")
class ServerEndReceiveNullHandleReturnsInvalidParameter(RemoteReadEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a RemoteQMEndReceive with the context handle
    NULL and RR_NACK.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is None and call.arguments["dwAck"] == RemoteReadAck.RR_NACK:
            call = change_answer_values(call, Return=Status.MQ_ERROR_INVALID_PARAMETER)
        super().remote_qm_end_receive(call, now)


@fault("server-returns-invalid-parameter-for-end-receive-of-null-handle", breaks="MQQP-3.1.4.2-10", blind=True)
class ServerReturnsInvalidParameterForEndReceiveOfNullHandle(RemoteReadEnding):
    """RemoteQMEndReceive with the context handle NULL returns MQ_ERROR_INVALID_PARAMETER while another receive is
    unfinished.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is None and any(
            position.State is MessagePositionState.LOCKED
            for queue in self.qm.adm.QueueCollection.values()
            for position in queue.MessagePositionList
        ):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, pphContext=None))
        else:
            super().remote_qm_end_receive(call, now)


@fault("server-end-receive-ends-first-receive", breaks="MQQP-3.1.4.2-11")
class ServerEndReceiveEndsFirstReceive(RemoteReadEnding):
    """RemoteQMEndReceive ends the receive of the first locked message of the queue instead of the receive of its
    context handle.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            positions = descriptor.QueueReference.MessagePositionList
            locked = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(locked, entry.UserMessagePacket)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-ends-first-locked-message", breaks="MQQP-3.1.4.2-11", blind=True)
class ServerEndReceiveEndsFirstLockedMessage(RemoteReadEnding):
    """RemoteQMEndReceive ignores its context handle, and deletes or keeps the first locked message of the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            positions = position.QueueReference.MessagePositionList
            held = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(held, position)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-ends-oldest-open-receive-of-queue", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-12"))
class ServerEndReceiveEndsOldestOpenReceiveOfQueue(_EndReceiveChanger):
    """The server ends the first unfinished receive of the queue, even if the context handle identifies
    another receive.
    """

    def choose_ended_message(self, entry: RemoteReadEntry, delete_message: bool) -> tuple[MessagePosition, bool]:
        position, delete = super().choose_ended_message(entry, delete_message)
        locked = [one for one in position.QueueReference.MessagePositionList if one.State.name == "LOCKED"]
        return [*locked, position][0], delete


@fault("server-end-receive-rr-nack-ends-oldest-receive", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-12"), blind=True)
class ServerEndReceiveRrNackEndsOldestReceive(RemoteReadEnding):
    """When a receive ends with RR_NACK, the server ends the oldest unfinished receive of the queue handle, even if the
    call names another receive.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        assert position is not None
        for other in position.QueueReference.MessagePositionList:
            if not delete_message and other.State is MessagePositionState.LOCKED and other is not position:
                entry.UserMessagePacket = other
                break
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-leaves-message-locked", breaks="MQQP-3.1.4.2-12")
class ServerEndReceiveLeavesMessageLocked(RemoteReadEnding):
    """RemoteQMEndReceive leaves the message locked."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        entry.ended = True
        ended(Status.MQ_OK)


@fault("server-end-receive-returns-ended-context-handle", breaks=("MQQP-3.1.4.2-16", "MQQP-2.2.1.2-01"))
class ServerEndReceiveReturnsEndedContextHandle(RemoteReadEnding):
    """RemoteQMEndReceive returns its context handle instead of NULL."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, pphContext=call.handle), now)


@fault("server-failed-end-receive-returns-context-handle-unchanged", breaks="MQQP-3.1.4.2-16", blind=True)
class ServerFailedEndReceiveReturnsContextHandleUnchanged(RemoteReadEnding):
    """When RemoteQMEndReceive fails, the server returns pphContext unchanged."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        handle = call.handle
        if handle is None:
            super().remote_qm_end_receive(call, now)
            return

        def answer_end(status: Status) -> None:
            kept = None if status is Status.MQ_OK else handle
            self.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=kept))

        self.end_remote_read(handle.state, self.is_message_delivered(call.arguments["dwAck"]), answer_end)


@fault("server-end-receive-context-handle-kept-after-rr-nack", breaks="MQQP-3.1.4.2-16")
class ServerEndReceiveContextHandleKeptAfterRrNack(RemoteReadEnding):
    """After RR_NACK, the server returns the context handle instead of NULL."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None and call.arguments["dwAck"] == RemoteReadAck.RR_NACK:
            call = change_answer_values(call, pphContext=call.handle)
        super().remote_qm_end_receive(call, now)


add(
    "server-end-receive-throws-errors",
    "MQQP-3.1.4.2-D03",
    "RemoteQMEndReceive throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteReadEnding.remote_qm_end_receive),
)


@fault("server-end-receive-of-closed-queue-raises-exception", breaks="MQQP-3.1.4.2-D03")
class ServerEndReceiveOfClosedQueueRaisesException(RemoteReadEnding):
    """The server raises an RPC exception when the queue of the receive was closed before RemoteQMEndReceive."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            if self.qm.remote_read_starting.find_remote_descriptor(handle) is None:
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
                return
        super().remote_qm_end_receive(call, now)


RR_NACK = bytes([1, 0, 0, 0])


RR_ACK = bytes([2, 0, 0, 0])


END_RECEIVE_ACKS = (RR_NACK, RR_ACK)


add(
    "server-end-receive-unlisted-ack-accepted",
    "MQQP-3.1.4.2-D02",
    "RemoteQMEndReceive treats a dwAck other than 1 and 2 as RR_NACK.",
    change_qm2qm_request_stub(
        "RemoteQMEndReceive", 24, lambda stub: stub[:20] + (stub[20:] if stub[20:] in END_RECEIVE_ACKS else RR_NACK)
    ),
)
