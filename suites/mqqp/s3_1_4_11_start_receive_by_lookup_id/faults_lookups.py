"""Faults of MS-MQQP 3.1.4.11: the queue, the message and the size of a read by LookupId."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, RemoteReadState
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call

ReadDescription = dict[str, Any]
SeekResult = tuple[Status, MessagePosition | None]
LOOKUP_RESULT_RULE = "MQQP-3.1.4.11-37"
ZERO_REMOTE_QUEUE_RULE = "MQQP-3.1.4.11-22"
OPENED_QUEUE_RULE = "MQQP-3.1.4.11-25"
LOOKUP_RECEIVE_REMOVAL_RULE = "MQQP-3.1.4.11-D04"


# -- the message


@fault("server-lookup-of-unknown-id-returns-first-message", breaks=LOOKUP_RESULT_RULE, blind=True)
class ServerLookupOfUnknownIdReturnsFirstMessage(MessageSearch):
    """A read of the message with an unknown LookupId returns the first message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found[1] is None and lookup_action is MessageSeekAction.CURRENT:
            first = self.seek_available(queue.MessagePositionList.Start, peek_operation)
            return (Status.MQ_OK, first) if first is not None else found
        return found


@fault("server-lookup-returns-message-of-other-open-queue", breaks=LOOKUP_RESULT_RULE, blind=True)
class ServerLookupReturnsMessageOfOtherOpenQueue(MessageSearch):
    """A read by the LookupId of a message of another open queue returns that message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        for descriptor in self.qm.descriptors.values():
            other = descriptor.QueueReference
            if found[1] is None and other is not None and descriptor.RemoteReadState is not RemoteReadState.NONE:
                found = super().seek_with_identifier(other, lookup_id, peek_operation, lookup_action)
        return found


@fault("server-lookup-next-of-second-message-returns-that-message", breaks=LOOKUP_RESULT_RULE, blind=True)
class ServerLookupNextOfSecondMessageReturnsThatMessage(MessageSearch):
    """A read of the next message returns the message with LookupId, unless this is the first message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        first = next(iter(queue.MessagePositionList), None)
        position = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.NEXT and position is not None and position is not first:
            lookup_action = MessageSeekAction.CURRENT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-peek-of-large-message-not-found", breaks=LOOKUP_RESULT_RULE, blind=True)
class ServerLookupPeekOfLargeMessageNotFound(MessageSearch):
    """A peek by the LookupId of a message whose body has more than 8 KB returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        large = position is not None and len(position.MessageReference.Body or b"") > 0x2000
        return (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None) if large and peek_operation else (status, position)


# -- hRemoteQueue 0


@fault("server-lookup-peek-with-hremotequeue-0-invalid-handle", breaks=ZERO_REMOTE_QUEUE_RULE, blind=True)
class ServerLookupPeekWithHremotequeue0InvalidHandle(RemoteReadStarting):
    """A peek by LookupId with hRemoteQueue 0 returns MQ_ERROR_INVALID_HANDLE."""

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        status = super().check_lookup_queue(desc)
        return Status.MQ_ERROR_INVALID_HANDLE if status and desc["ulAction"] not in RECEIVE_ACTIONS else status


@fault("server-lookup-with-hremotequeue-0-uses-dwqueue", breaks=ZERO_REMOTE_QUEUE_RULE, blind=True)
class ServerLookupWithHremotequeue0UsesDwqueue(RemoteReadStarting):
    """A read by LookupId with hRemoteQueue 0 reads the queue that dwQueue identifies."""

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        if desc["hRemoteQueue"] == 0:
            desc["hRemoteQueue"] = desc["dwQueue"]
        return super().check_lookup_queue(desc)


@fault("server-lookup-previous-with-hremotequeue-0-not-found", breaks=ZERO_REMOTE_QUEUE_RULE, blind=True)
class ServerLookupPreviousWithHremotequeue0NotFound(RemoteReadStarting):
    """A LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV with hRemoteQueue 0 returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        status = super().check_lookup_queue(desc)
        previous = desc["ulAction"] in (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        return Status.MQ_ERROR_MESSAGE_NOT_FOUND if status and previous else status


# -- queues that RemoteQMOpenQueue has not opened


@fault("server-lookup-peek-without-remote-qm-open-queue-accepted", breaks=OPENED_QUEUE_RULE, blind=True)
class ServerLookupPeekWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """A peek by LookupId is accepted for a queue handle for which RemoteQMOpenQueue was not called."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        peek = ReadAction.MQ_LOOKUP_PEEK_CURRENT <= desc["ulAction"] <= ReadAction.MQ_LOOKUP_PEEK_PREV
        return Status.MQ_OK if peek else super().check_open_queue(desc)


@fault("server-lookup-receive-without-remote-qm-open-queue-accepted", breaks=OPENED_QUEUE_RULE, blind=True)
class ServerLookupReceiveWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """A receive by LookupId is accepted for a queue handle for which RemoteQMOpenQueue was not called."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        receive = ReadAction.MQ_LOOKUP_RECEIVE_CURRENT <= desc["ulAction"] <= ReadAction.MQ_LOOKUP_RECEIVE_PREV
        return Status.MQ_OK if receive else super().check_open_queue(desc)


# -- dwSize


@fault("server-lookup-previous-dwsize-4-too-large", breaks="MQQP-3.1.4.11-54", blind=True)
class ServerLookupPreviousDwsize4TooLarge(RemoteReads):
    """The dwSize of a LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV is PacketSize plus 4."""

    is_answering_lookup_of_previous = False

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        actions = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        self.is_answering_lookup_of_previous = entry is not None and entry.Action in actions
        super().answer_read(call, status, entry)

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position) + bytes(4 if self.is_answering_lookup_of_previous else 0)


# -- LOOKUP_RECEIVE_CURRENT


class MessageKeeperAfterLookupReceive(RemoteReadEnding):
    """Keep some messages that a LOOKUP_RECEIVE_CURRENT received; a subclass selects which."""

    receive_count = 0

    def is_kept(self, position: MessagePosition) -> bool:
        """Return whether a message stays in its queue."""
        raise NotImplementedError

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        kept = False
        if position is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT and delete_message:
            self.receive_count += 1
            kept = self.is_kept(position)
        super().end_remote_read(entry, delete_message and not kept, ended)


@fault("server-second-lookup-receive-current-keeps-message", breaks=LOOKUP_RECEIVE_REMOVAL_RULE, blind=True)
class ServerSecondLookupReceiveCurrentKeepsMessage(MessageKeeperAfterLookupReceive):
    """The second LOOKUP_RECEIVE_CURRENT does not remove its message."""

    def is_kept(self, position: MessagePosition) -> bool:
        return self.receive_count == 2


@fault("server-lookup-receive-current-keeps-express-message", breaks=LOOKUP_RECEIVE_REMOVAL_RULE, blind=True)
class ServerLookupReceiveCurrentKeepsExpressMessage(MessageKeeperAfterLookupReceive):
    """A LOOKUP_RECEIVE_CURRENT does not remove an express message."""

    def is_kept(self, position: MessagePosition) -> bool:
        return position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("server-lookup-receive-current-keeps-transactional-message", breaks=LOOKUP_RECEIVE_REMOVAL_RULE, blind=True)
class ServerLookupReceiveCurrentKeepsTransactionalMessage(MessageKeeperAfterLookupReceive):
    """A LOOKUP_RECEIVE_CURRENT does not remove a message of a transactional queue."""

    def is_kept(self, position: MessagePosition) -> bool:
        return position.QueueReference.Transactional


@fault("server-lookup-receive-current-removes-first-message", breaks=LOOKUP_RECEIVE_REMOVAL_RULE, blind=True)
class ServerLookupReceiveCurrentRemovesFirstMessage(RemoteReadEnding):
    """A LOOKUP_RECEIVE_CURRENT of the last message removes the first message of the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None and delete_message and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT:
            positions = list(position.QueueReference.MessagePositionList)
            if position is positions[-1] and position is not positions[0]:
                first, state = positions[0], position.State
                self.qm.message_positions.unlock_message(position)
                first.State = state
                entry.UserMessagePacket = first
        super().end_remote_read(entry, delete_message, ended)
