"""Faults that break the rule MQQP-3.1.6.2-02."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.rpc import Call
from suites.mqqp.s3_1_6_rundown.fault_steps import RundownReceiveCounter


class _RundownAcknowledger(RemoteReadEnding):
    def get_rundown_ack(self) -> bool:
        return True


add(
    "server-lost-client-message-removed",
    "MQQP-3.1.6.2-02",
    "When a client's connection is lost, the server removes the message of its open receive and leaves its queue open.",
    combine_installers(omit_step(RemoteQueueOpening.run_down_session), replace_part(_RundownAcknowledger)),
)


add(
    "server-lost-connection-message-removed",
    "MQQP-3.1.6.2-02",
    "The server removes the message of an open receive when the connection of its client is lost.",
    replace_part(_RundownAcknowledger),
)


@fault("server-rundown-returns-only-first-received-message-to-queue", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownReturnsOnlyFirstReceivedMessageToQueue(RemoteReadEnding):
    """When the connection of a client is lost, the server returns only the message of the first unended receive to the
    queue.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._queues: set[int] = set()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.OpenQueueDescriptorHandle not in self._queues:
            self._queues.add(entry.OpenQueueDescriptorHandle)
            super().run_down_remote_read(entry)


@fault("server-rundown-of-start-receive2-deletes-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownOfStartReceive2DeletesMessage(RemoteReadEnding):
    """The server deletes the message of an unfinished RemoteQMStartReceive2 when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        second = entry.call.method.name == "RemoteQMStartReceive2"
        if second and position is not None and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
            position.QueueReference.MessagePositionList.remove(position)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-puts-message-at-end-of-queue", breaks="MQQP-3.1.6.2-02")
class ServerRundownPutsMessageAtEndOfQueue(RemoteReadEnding):
    """The server puts the message of an unfinished receive at the end of the queue when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        super().run_down_remote_read(entry)
        if position is not None and position.State is MessagePositionState.AVAILABLE:
            self.qm.message_positions.move_message(position, position.QueueReference)


@fault("server-rundown-does-not-give-message-to-waiting-read", breaks="MQQP-3.1.6.2-02")
class ServerRundownDoesNotGiveMessageToWaitingRead(RemoteReadEnding):
    """At a rundown, the server returns the message of an unfinished receive to its queue, but does not deliver it to
    the waiting read of another client.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None and position.State is MessagePositionState.LOCKED and not entry.ended:
            entry.ended = True
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
        else:
            super().run_down_remote_read(entry)


def _remove_message_of_entry(entry: RemoteReadEntry) -> None:
    position = entry.UserMessagePacket
    if position is not None and not entry.ended:
        position.QueueReference.MessagePositionList.remove(position)


@fault("server-rundown-removes-message-of-second-receive", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesMessageOfSecondReceive(RundownReceiveCounter):
    """The server removes the message of the second unfinished receive of a handle when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.count(entry) == 1:
            super().run_down_remote_read(entry)
        else:
            _remove_message_of_entry(entry)


class _RundownMessageRemover(RemoteReadEnding):
    """Remove the messages of some unfinished receives; a subclass selects which."""

    def is_message_removed(self, entry: RemoteReadEntry) -> bool:
        raise NotImplementedError

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.is_message_removed(entry):
            _remove_message_of_entry(entry)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-removes-express-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesExpressMessage(_RundownMessageRemover):
    """The server removes an express message of an unfinished receive when the connection is lost."""

    def is_message_removed(self, entry: RemoteReadEntry) -> bool:
        position = entry.UserMessagePacket
        return position is not None and position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("server-rundown-removes-message-of-start-receive", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesMessageOfStartReceive(_RundownMessageRemover):
    """The server removes the message of an unfinished RemoteQMStartReceive when the connection is lost."""

    def is_message_removed(self, entry: RemoteReadEntry) -> bool:
        return entry.call.method.name == "RemoteQMStartReceive"


@fault("server-rundown-removes-transactional-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesTransactionalMessage(_RundownMessageRemover):
    """The server removes the message of an unfinished receive of a transactional queue when the connection is lost."""

    def is_message_removed(self, entry: RemoteReadEntry) -> bool:
        position = entry.UserMessagePacket
        return position is not None and position.QueueReference.Transactional


@fault("server-rundown-waiting-read-still-takes-message", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownWaitingReadStillTakesMessage(RemoteReadEnding):
    """When the connection of a client is lost, the server lets its waiting read wait, and removes the next message for
    this read.
    """

    def end_read_of_orphaned_call(self, call: Call) -> None:
        self.__dict__.setdefault("dead", set()).add(call)

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.call in self.__dict__.get("dead", ()):
            self.end_remote_read(entry, True, lambda status: None)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-recoverable-message-lost-at-restart", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownRecoverableMessageLostAtRestart(RemoteReadEnding):
    """A recoverable message that the server returned to the queue after the loss of a connection is missing after the
    next restart.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        super().run_down_remote_read(entry)
        from reference_qm.core.store.entries import build_removal_change

        if entry.UserMessagePacket is not None and entry.UserMessagePacket.key:
            self.qm.disk.save(build_removal_change([entry.UserMessagePacket]))


@fault("server-rundown-express-message-deleted", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownExpressMessageDeleted(RemoteReadEnding):
    """When the connection of a client is lost, the server deletes an express message whose receive is unfinished."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        assert position is not None
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and not entry.ended:
            self.qm.two_phase_reading.end_with_deletion(position, lambda status: None)
        else:
            super().run_down_remote_read(entry)
