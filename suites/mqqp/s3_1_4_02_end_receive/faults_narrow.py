"""Faults of MS-MQQP 3.1.4.2 and 3.1.6 that affect only one cause, one kind of message or one kind of receive."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-nack-of-transactional-message-deletes", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackOfTransactionalMessageDeletes(RemoteEnding):
    """The server removes a transactional message whose receive ends with RR_NACK."""

    def end_remote_read(self, entry, delete_message, ended):
        if entry.UserMessagePacket.MessageReference.TransactionIdentifier is not None:
            delete_message = True
        super().end_remote_read(entry, delete_message, ended)


@fault("server-nacked-message-gone-after-restart", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackedMessageGoneAfterRestart(RemoteEnding):
    """A recoverable message whose receive ended with RR_NACK is lost at the next restart of the server."""

    def end_remote_read(self, entry, delete_message, ended):
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position.key:
            from reference_qm.core.store.entries import build_removal_change

            self.qm.disk.save(build_removal_change([position]))


@fault("server-acked-message-readable-by-lookup", breaks="MQQP-3.1.4.2-07", blind=True)
class ServerAckedMessageReadableByLookup(RemoteEnding):
    """When a client ends a receive with RR_ACK, the server leaves an express message in its queue if an earlier receive
    by the same queue handle has ended.
    """

    def end_remote_read(self, entry, delete_message, ended):
        acked = self.__dict__.setdefault("acked", set())
        position = entry.UserMessagePacket
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if delete_message and express and entry.OpenQueueDescriptorHandle in acked:
            delete_message = False
        acked.add(entry.OpenQueueDescriptorHandle)
        super().end_remote_read(entry, delete_message, ended)


@fault("server-ack-of-lookup-receive-leaves-message", breaks=("MQQP-3.1.4.2-07", "MQQP-3.1.4.2-12"), blind=True)
class ServerAckOfLookupReceiveLeavesMessage(RemoteEnding):
    """When a receive by LookupIdentifier ends with RR_ACK, the server leaves the message in the queue."""

    def end_remote_read(self, entry, delete_message, ended):
        if "ByLookupId" in entry.call.method.name:
            delete_message = False
        super().end_remote_read(entry, delete_message, ended)


@fault("server-end-receive-of-purged-message-fails", breaks=("MQQP-3.1.4.2-08", "MQQP-3.1.4.2-D01"), blind=True)
class ServerEndReceiveOfPurgedMessageFails(RemoteEnding):
    """When the message of a receive was purged in the meantime, RemoteQMEndReceive returns a failure."""

    def end_remote_read(self, entry, delete_message, ended):
        purged = entry.UserMessagePacket.State is MessagePositionState.PURGE_PENDING
        super().end_remote_read(
            entry, delete_message, lambda status: ended(Status.MQ_ERROR_MESSAGE_NOT_FOUND if purged else status)
        )


@fault("server-end-receive-of-second-open-receive-only", breaks=("MQQP-3.1.4.2-11", "MQQP-3.1.4.2-12"), blind=True)
class ServerEndReceiveOfSecondOpenReceiveOnly(RemoteEnding):
    """When a receive ends with RR_NACK, the server ends the oldest unfinished receive of the queue handle, even if the
    call names another receive.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended) -> None:
        position = entry.UserMessagePacket
        assert position is not None
        for other in position.QueueReference.MessagePositionList:
            if not delete_message and other.State is MessagePositionState.LOCKED and other is not position:
                entry.UserMessagePacket = other
                break
        super().end_remote_read(entry, delete_message, ended)


@fault("server-null-handle-of-end-receive-invalid-parameter", breaks="MQQP-3.1.4.2-10", blind=True)
class ServerNullHandleOfEndReceiveInvalidParameter(RemoteEnding):
    """RemoteQMEndReceive with the context handle NULL returns MQ_ERROR_INVALID_PARAMETER while another receive is
    unfinished.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is None and any(
            position.State is MessagePositionState.LOCKED
            for queue in self.qm.adm.QueueCollection.values()
            for position in queue.MessagePositionList
        ):
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, pphContext=None))
        else:
            super().remote_qm_end_receive(call, now)


@fault("server-nack-moves-message-behind-its-priority", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackMovesMessageBehindItsPriority(Positions):
    """When RR_NACK returns a message to its queue for the second time, the message completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        nacked = self.__dict__.setdefault("nacked", set())
        if id(position) in nacked and position.State is MessagePositionState.LOCKED:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
        else:
            super().unlock_message(position)
        nacked.add(id(position))
